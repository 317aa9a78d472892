// Reads from a running Tern with the toncenter client of tonutils-go, and compares with what the chain holds.
//
// checks v2|v3 URL TRUTH.json: prints one JSON object a line, {"name", "ok", "detail"}.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/toncenter"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

type transaction struct {
	Account string `json:"account"`
	LT      string `json:"lt"`
	Hash    []byte `json:"hash"`
}

type truth struct {
	Head struct {
		Seqno    uint64 `json:"seqno"`
		RootHash []byte `json:"root_hash"`
	} `json:"head"`
	Shards []struct {
		Workchain int32  `json:"workchain"`
		Shard     string `json:"shard"`
		Seqno     uint64 `json:"seqno"`
	} `json:"shards"`
	Accounts []struct {
		Address  string `json:"address"`
		Balance  string `json:"balance"`
		State    string `json:"state"`
		CodeHash []byte `json:"code_hash"`
		DataHash []byte `json:"data_hash"`
		LastLT   string `json:"last_lt"`
		LastHash []byte `json:"last_hash"`
	} `json:"accounts"`
	History []transaction `json:"history"`
	Block   struct {
		Workchain    int32         `json:"workchain"`
		Shard        string        `json:"shard"`
		Seqno        uint64        `json:"seqno"`
		RootHash     []byte        `json:"root_hash"`
		FileHash     []byte        `json:"file_hash"`
		GenUtime     uint32        `json:"gen_utime"`
		StartLT      string        `json:"start_lt"`
		EndLT        string        `json:"end_lt"`
		Transactions []transaction `json:"transactions"`
	} `json:"block"`
	Message struct {
		Source      string      `json:"source"`
		Destination string      `json:"destination"`
		CreatedLT   string      `json:"created_lt"`
		SentBy      transaction `json:"sent_by"`
		TakenBy     transaction `json:"taken_by"`
	} `json:"message"`
	ConfigHash   []byte            `json:"config_hash"`
	ConfigParams map[string][]byte `json:"config_params"`
}

// same panics with both values when they differ; run catches it.
func same(expected, found any, what string) {
	if a, b := fmt.Sprint(expected), fmt.Sprint(found); a != b {
		panic(fmt.Errorf("%s: expected %s, found %s", what, a, b))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func number(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }

func run(name string, check func() string) {
	line := map[string]any{"name": name, "ok": true}
	func() {
		defer func() {
			if problem := recover(); problem != nil {
				line["ok"], line["detail"] = false, fmt.Sprint(problem)
			}
		}()
		line["detail"] = check()
	}()
	fmt.Println(string(must(json.Marshal(line))))
}

func readTruth[T any]() T {
	var t T
	if err := json.Unmarshal(must(os.ReadFile(os.Args[3])), &t); err != nil {
		panic(err)
	}
	return t
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := toncenter.New(os.Args[2])
	if os.Args[1] == "v3" {
		checkV3(ctx, client.V3(), readTruth[truthV3]())
		return
	}
	t := readTruth[truth]()
	v2 := client.V2()
	checkAccounts(ctx, v2, t)
	checkBlocks(ctx, v2, t)
	checkTransactions(ctx, v2, t)
	checkRest(ctx, v2, t)
}

func checkAccounts(ctx context.Context, v2 *toncenter.V2, t truth) {
	run("account states", func() string {
		for _, a := range t.Accounts {
			addr := address.MustParseRawAddr(a.Address)
			info := must(v2.GetAddressInformation(ctx, addr))
			same(a.Balance, info.Balance.MustCoins(9).Nano(), "balance of "+a.Address)
			same(a.State, info.State, "state of "+a.Address)
			if a.State == "active" { // of no code this client makes a cell that cannot be hashed
				same(a.CodeHash, info.Code.Hash(), "code of "+a.Address)
				same(a.DataHash, info.Data.Hash(), "data of "+a.Address)
			}
			same(a.LastLT, info.LastTransactionID.LT, "last lt of "+a.Address)
			same(a.LastHash, info.LastTransactionID.Hash, "last hash of "+a.Address)
			extended := must(v2.GetExtendedAddressInformation(ctx, addr))
			same(a.Balance, extended.Balance.MustCoins(9).Nano(), "extended balance of "+a.Address)
			same(t.Head.Seqno, extended.BlockId.Seqno, "block of "+a.Address)
			wallet := must(v2.GetWalletInformation(ctx, addr))
			same(a.Balance, wallet.Balance.MustCoins(9).Nano(), "wallet balance of "+a.Address)
			balance := must(v2.GetAddressBalance(ctx, addr))
			same(a.Balance, balance.MustCoins(9).Nano(), "plain balance of "+a.Address)
		}
		return fmt.Sprintf("%d accounts, four ways", len(t.Accounts))
	})
}

func checkBlocks(ctx context.Context, v2 *toncenter.V2, t truth) {
	run("head and shards", func() string {
		info := must(v2.GetMasterchainInfo(ctx))
		same(t.Head.Seqno, info.Last.Seqno, "seqno")
		same(t.Head.RootHash, info.Last.RootHash, "root hash")
		same(t.Head.Seqno, must(v2.GetConsensusBlock(ctx)).Seqno, "consensus block")
		shards := must(v2.GetShards(ctx, t.Head.Seqno))
		same(len(t.Shards), len(shards), "number of shards")
		for i, shard := range t.Shards {
			same(shard.Seqno, shards[i].Seqno, "seqno of shard "+shard.Shard)
		}
		queues := must(v2.GetOutMsgQueueSizes(ctx))
		same(len(t.Shards)+1, len(queues.Shards), "number of queues")
		return fmt.Sprintf("block %d, %d shards", t.Head.Seqno, len(shards))
	})
	run("look-ups, header, signatures, proof", func() string {
		b := t.Block
		shard := must(strconv.ParseInt(b.Shard, 10, 64))
		byNumber := must(v2.LookupBlock(ctx, b.Workchain, shard, &toncenter.LookupBlockV2Options{Seqno: &b.Seqno}))
		same(b.RootHash, byNumber.RootHash, "block by seqno")
		lt := number(b.EndLT) - 1
		byLT := must(v2.LookupBlock(ctx, b.Workchain, shard, &toncenter.LookupBlockV2Options{LT: &lt}))
		same(b.RootHash, byLT.RootHash, "block by lt")
		hashes := &toncenter.GetBlockHeaderOptions{RootHash: b.RootHash, FileHash: b.FileHash}
		for _, options := range []*toncenter.GetBlockHeaderOptions{nil, hashes} {
			header := must(v2.GetBlockHeader(ctx, b.Workchain, shard, b.Seqno, options))
			same(b.StartLT, header.StartLt, "start_lt")
			same(b.EndLT, header.EndLt, "end_lt")
			same(b.GenUtime, header.GenUtime, "gen_utime")
		}
		same(true, len(must(v2.GetMasterchainBlockSignatures(ctx, t.Head.Seqno)).Signatures) > 0, "signatures")
		proof := must(v2.GetShardBlockProof(ctx, b.Workchain, shard, b.Seqno, nil))
		same(t.Head.Seqno, proof.From.Seqno, "start of the proof")
		same(b.RootHash, proof.Links[len(proof.Links)-1].ID.RootHash, "end of the proof")
		return fmt.Sprintf("block %d of shard %s", b.Seqno, b.Shard)
	})
}

func checkTransactions(ctx context.Context, v2 *toncenter.V2, t truth) {
	run("transactions of a block", func() string {
		b := t.Block
		shard := must(strconv.ParseInt(b.Shard, 10, 64))
		short := must(v2.GetBlockTransactions(ctx, b.Workchain, shard, b.Seqno, nil))
		same(len(b.Transactions), len(short.Transactions), "number of transactions")
		long := must(v2.GetBlockTransactionsExt(ctx, b.Workchain, shard, b.Seqno, nil))
		for i, transaction := range b.Transactions {
			same(transaction.Hash, short.Transactions[i].Hash, "hash of a transaction")
			same(transaction.LT, short.Transactions[i].LT, "lt of a transaction")
			same(transaction.Hash, long.Transactions[i].TransactionID.Hash, "hash of a whole transaction")
		}
		return fmt.Sprintf("%d transactions, two ways", len(b.Transactions))
	})
	run("history of an account", func() string {
		// Of this client's own type every message is base64; comments are texts.
		type entry struct {
			TransactionID toncenter.TransactionID `json:"transaction_id"`
			Data          *cell.Cell              `json:"data"`
		}
		query := url.Values{"address": {t.History[0].Account}, "limit": {"7"}}
		seen := 0
		for seen < len(t.History) {
			page := *must(toncenter.V2GetCall[[]entry](ctx, v2, "getTransactions", query))
			if query.Has("lt") {
				page = page[1:]
			}
			if len(page) == 0 {
				break
			}
			for _, transaction := range page {
				same(t.History[seen].LT, transaction.TransactionID.LT, "lt")
				same(t.History[seen].Hash, transaction.TransactionID.Hash, "hash")
				same(t.History[seen].Hash, transaction.Data.Hash(), "hash of the data")
				seen++
			}
			last := page[len(page)-1].TransactionID
			query.Set("lt", strconv.FormatUint(last.LT, 10))
			query.Set("hash", base64.StdEncoding.EncodeToString(last.Hash))
		}
		same(len(t.History), seen, "number of transactions")
		return fmt.Sprintf("%d transactions in pages", seen)
	})
	run("the two ends of a message", func() string {
		m := t.Message
		from, to := address.MustParseRawAddr(m.Source), address.MustParseRawAddr(m.Destination)
		same(m.TakenBy.Hash, must(v2.TryLocateTx(ctx, from, to, number(m.CreatedLT))).TransactionID.Hash, "taken by")
		same(m.TakenBy.Hash, must(v2.TryLocateResultTx(ctx, from, to, number(m.CreatedLT))).TransactionID.Hash, "taken by")
		same(m.SentBy.Hash, must(v2.TryLocateSourceTx(ctx, from, to, number(m.CreatedLT))).TransactionID.Hash, "sent by")
		return "message of lt " + m.CreatedLT
	})
}

func checkRest(ctx context.Context, v2 *toncenter.V2, t truth) {
	run("configuration", func() string {
		same(t.ConfigHash, must(v2.GetConfigAll(ctx, nil)).Hash(), "the whole")
		for id, hash := range t.ConfigParams {
			if id[0] == '-' {
				continue // the API takes no negative numbers
			}
			same(hash, must(v2.GetConfigParam(ctx, int64(number(id)), nil)).Hash(), "parameter "+id)
		}
		return fmt.Sprintf("%d parameters", len(t.ConfigParams))
	})
	run("get-method of the elector", func() string {
		elector := address.MustParseRawAddr("-1:" + "3333333333333333333333333333333333333333333333333333333333333333")
		none := must(v2.RunGetMethod(ctx, elector, "compute_returned_stake", []any{big.NewInt(5)}, nil))
		same(0, none.ExitCode, "exit code")
		same(0, none.Stack[0].(*big.Int), "stake of nobody")
		return fmt.Sprintf("%d gas", none.GasUsed)
	})
	run("a fee", func() string {
		for _, a := range t.Accounts {
			if a.State != "active" {
				continue
			}
			request := toncenter.EstimateFeeRequest{Address: address.MustParseRawAddr(a.Address), Body: cell.BeginCell().EndCell()}
			fee := must(v2.EstimateFee(ctx, request))
			same(true, fee.SourceFees.InFwdFee > 0, "import fee")
			return fmt.Sprintf("%d to import", fee.SourceFees.InFwdFee)
		}
		panic("no account is active")
	})
	run("a message that nobody takes", func() string {
		err := v2.SendBoc(ctx, bytes.Repeat([]byte{7}, 9))
		same(true, err != nil, "refused")
		return "refused"
	})
}
