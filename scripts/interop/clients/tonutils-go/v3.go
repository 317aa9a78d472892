package main

import (
	"context"
	"fmt"
	"math/big"
	"net/url"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/toncenter"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// What is used of the truth of API v3: see ../v3/v3-truth.ts.
type truthV3 struct {
	HeadSeqno uint64 `json:"head_seqno"`
	Accounts  []struct {
		Address  string `json:"address"`
		Balance  string `json:"balance"`
		State    string `json:"state"`
		CodeHash []byte `json:"code_hash"`
		DataHash []byte `json:"data_hash"`
		LastLT   string `json:"last_lt"`
		LastHash []byte `json:"last_hash"`
	} `json:"accounts"`
	Wallets []struct {
		Address    string `json:"address"`
		Balance    string `json:"balance"`
		WalletType string `json:"wallet_type"`
		Seqno      uint64 `json:"seqno"`
		WalletID   *int64 `json:"wallet_id"`
	} `json:"wallets"`
	History []string `json:"history"`
}

func checkV3(ctx context.Context, v3 *toncenter.V3, t truthV3) {
	run("account states", func() string {
		for _, a := range t.Accounts {
			info := must(v3.GetAddressInformation(ctx, address.MustParseRawAddr(a.Address)))
			same(a.Balance, info.Balance.MustCoins(9).Nano(), "balance of "+a.Address)
			same(a.LastLT, info.LastTxLT, "last lt of "+a.Address)
			same(a.LastHash, info.LastTxHash, "last hash of "+a.Address)
			if a.State == "active" {
				same(a.State, info.Status, "status of "+a.Address)
				same(a.CodeHash, info.Code.Hash(), "code of "+a.Address)
				same(a.DataHash, info.Data.Hash(), "data of "+a.Address)
			}
		}
		return fmt.Sprintf("%d accounts", len(t.Accounts))
	})
	run("wallets", func() string {
		for _, w := range t.Wallets {
			info := must(v3.GetWalletInformation(ctx, address.MustParseRawAddr(w.Address)))
			same(w.Balance, info.Balance.MustCoins(9).Nano(), "balance of "+w.Address)
			same(w.WalletType, info.WalletType, "kind of "+w.Address)
			same(w.Seqno, info.Seqno, "seqno of "+w.Address)
			if w.WalletID != nil {
				same(*w.WalletID, info.WalletId, "id of "+w.Address)
			}
		}
		return fmt.Sprintf("%d wallets", len(t.Wallets))
	})
	run("get-methods", func() string {
		elector := address.MustParseRawAddr("-1:3333333333333333333333333333333333333333333333333333333333333333")
		none := must(v3.RunGetMethod(ctx, elector, "compute_returned_stake", []any{big.NewInt(5)}, nil))
		same(0, none.ExitCode, "exit code")
		same(0, none.Stack[0].(*big.Int), "stake of nobody")
		runs := 1
		for _, w := range t.Wallets {
			if w.WalletID == nil {
				continue // these kinds have no get-methods
			}
			result := must(v3.RunGetMethod(ctx, address.MustParseRawAddr(w.Address), "seqno", nil, nil))
			same(w.Seqno, result.Stack[0].(*big.Int), "seqno of "+w.Address)
			runs++
		}
		return fmt.Sprintf("%d runs", runs)
	})
	run("a fee", func() string {
		wallet := address.MustParseRawAddr(t.Wallets[0].Address)
		request := toncenter.EstimateFeeRequest{Address: wallet, Body: cell.BeginCell().EndCell(), IgnoreChkSig: true}
		fee := must(v3.EstimateFee(ctx, request))
		same(true, fee.SourceFees.InFwdFee > 0, "import fee")
		return fmt.Sprintf("%d to import", fee.SourceFees.InFwdFee)
	})
	run("a message that nobody takes", func() string {
		err := v3.SendMessage(ctx, []byte{7, 7, 7})
		same(true, err != nil, "refused")
		return err.Error()
	})
	run("calls by name", func() string {
		type transactions struct {
			Transactions []struct {
				Hash string `json:"hash"`
			} `json:"transactions"`
		}
		for _, hash := range t.History {
			found := must(toncenter.V3GetCall[transactions](ctx, v3, "transactions", url.Values{"hash": {hash}}))
			same(1, len(found.Transactions), "transactions with hash "+hash)
			same(hash, found.Transactions[0].Hash, "hash")
		}
		return fmt.Sprintf("%d transactions", len(t.History))
	})
}
