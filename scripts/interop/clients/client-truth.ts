import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import type { Account } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { type BlockFacts, transactionsByAccount } from '#test/support/chain-facts.js';
import { type ChainTruth, spreadOver } from '../chain-truth.js';

/** An account after the head. */
export interface AccountTruth {
  /** `0:` and 64 hex digits. */
  readonly address: string;
  /** Nanotons. */
  readonly balance: string;
  readonly state: 'active' | 'frozen' | 'uninitialized';
  /** Hashes in base64; empty when there is none. */
  readonly code_hash: string;
  readonly data_hash: string;
  readonly last_lt: string;
  readonly last_hash: string;
}

export interface TransactionTruth {
  readonly account: string;
  readonly lt: string;
  readonly hash: string;
}

/** What programs in any language compare with: facts of a chain as JSON. */
export interface ClientTruth {
  readonly head: { readonly seqno: number; readonly root_hash: string; readonly file_hash: string };
  readonly shards: readonly { readonly workchain: number; readonly shard: string; readonly seqno: number }[];
  readonly accounts: readonly AccountTruth[];
  /** The whole history of one account, newest first. */
  readonly history: readonly TransactionTruth[];
  /** A block with at most 40 transactions: what clients take for one page. */
  readonly block: {
    readonly workchain: number;
    readonly shard: string;
    readonly seqno: number;
    readonly root_hash: string;
    readonly file_hash: string;
    readonly gen_utime: number;
    readonly start_lt: string;
    readonly end_lt: string;
    readonly transactions: readonly TransactionTruth[];
  };
  /** A message between two accounts, with the transactions that sent and took it. */
  readonly message: {
    readonly source: string;
    readonly destination: string;
    readonly created_lt: string;
    readonly sent_by: TransactionTruth;
    readonly taken_by: TransactionTruth;
  };
  /** Root hash of the configuration's dictionary. */
  readonly config_hash: string;
  /** Hash of the cell of each parameter, by number. */
  readonly config_params: Readonly<Record<string, string>>;
}

const ACCOUNTS = 24;
const HISTORY = { least: 12, most: 60 };
const PAGE = 40;

export function clientTruth(truth: ChainTruth): ClientTruth {
  const { head } = truth;
  const { config } = truth.extra;
  const params: Record<string, string> = {};
  forEachEntry(config.config.root, 32, (key, value) => {
    params[String(new DataView(key.buffer, key.byteOffset, 4).getInt32(0))] = toBase64(value.loadRef().hash());
  });
  return {
    head: { seqno: head.id.seqno, root_hash: toBase64(head.id.root_hash), file_hash: toBase64(head.id.file_hash) },
    shards: head.tops.map(({ workchain, shard, seqno }) => ({ workchain, shard: signed(shard), seqno })),
    accounts: accountTruths(truth),
    history: historyTruth(truth),
    block: blockTruth(truth),
    message: messageTruth(truth),
    config_hash: toBase64(config.config.root!.hash()),
    config_params: params,
  };
}

function signed(shard: bigint): string {
  return BigInt.asIntN(64, shard).toString();
}

function accountTruths({ states }: ChainTruth): AccountTruth[] {
  return states.flatMap(({ id, state }) =>
    spreadOver([...state.accounts.value], ACCOUNTS).flatMap(([key, { account, last_trans_lt, last_trans_hash }]) => {
      const value: Account = account.value;
      if (value.kind === 'account_none') return [];
      const { balance, state: status } = value.storage;
      const init = status.kind === 'account_active' ? status.state_init : null;
      const names = { account_active: 'active', account_frozen: 'frozen', account_uninit: 'uninitialized' } as const;
      return [
        {
          address: `${id.workchain}:${toHex(key)}`,
          balance: String(balance.grams),
          state: init !== null && init.code === null ? 'uninitialized' : names[status.kind],
          code_hash: hashOf(init?.code),
          data_hash: hashOf(init?.data),
          last_lt: String(last_trans_lt),
          last_hash: toBase64(last_trans_hash),
        },
      ];
    }),
  );
}

function hashOf(cell: { hash(): Uint8Array } | null | undefined): string {
  return cell === null || cell === undefined ? '' : toBase64(cell.hash());
}

function transactionTruth({ account, lt, hash }: { account: string; lt: bigint; hash: string }): TransactionTruth {
  return { account, lt: String(lt), hash: Buffer.from(hash, 'hex').toString('base64') };
}

/** Of an account that began once, so that its last transaction leads back to all others. */
function historyTruth({ masterchain, shards }: ChainTruth): TransactionTruth[] {
  const histories = transactionsByAccount({ masterchain: [masterchain[0]!, ...masterchain], shards });
  for (const list of histories.values()) {
    const isWhole = list.at(-1)!.first && !list.slice(0, -1).some(({ first }) => first);
    if (isWhole && list.length >= HISTORY.least && list.length <= HISTORY.most) return list.map(transactionTruth);
  }
  throw new Error('no account of the chain has a history of a fitting length');
}

function blockTruth({ shards, masterchain }: ChainTruth): ClientTruth['block'] {
  const fitting = [...shards, ...masterchain].filter(({ transactions }) => transactions.length <= PAGE);
  const { id, gen_utime, start_lt, end_lt, transactions } = fitting.reduce((a, b) =>
    b.transactions.length > a.transactions.length ? b : a,
  );
  return {
    workchain: id.workchain,
    shard: signed(id.shard),
    seqno: id.seqno,
    root_hash: toBase64(id.root_hash),
    file_hash: toBase64(id.file_hash),
    gen_utime,
    start_lt: String(start_lt),
    end_lt: String(end_lt),
    transactions: transactions.map(transactionTruth),
  };
}

function messageTruth({ shards }: ChainTruth): ClientTruth['message'] {
  const sent = new Map<string, { source: string; sent_by: TransactionTruth }>();
  for (const block of shards) {
    for (const { facts, transaction } of transactionsOf(block)) {
      const message = transaction.in_msg?.value.info;
      if (message?.kind === 'int_msg_info' && message.dest instanceof Address) {
        const found = sent.get(`${message.dest.toRaw()} ${message.created_lt}`);
        if (found !== undefined && found.source !== facts.account) {
          const created_lt = String(message.created_lt);
          return { ...found, destination: facts.account, created_lt, taken_by: transactionTruth(facts) };
        }
      }
      for (const [, out] of transaction.out_msgs) {
        const { info } = out.value;
        if (info.kind !== 'int_msg_info' || !(info.dest instanceof Address)) continue;
        const key = `${info.dest.toRaw()} ${info.created_lt}`;
        sent.set(key, { source: facts.account, sent_by: transactionTruth(facts) });
      }
    }
  }
  throw new Error('no message of the chain went from one account to another');
}

function* transactionsOf(block: BlockFacts) {
  const decoded = decodeCell(Block, parseBocRoot(block.bytes));
  const cells = new Map<string, Transaction>();
  for (const [, { transactions }] of decoded.extra.value.account_blocks.value) {
    forEachEntry(transactions.root, 64, (_, value) => {
      const cell = value.loadRef();
      cells.set(toHex(cell.hash()), decodeCell(Transaction, cell));
    });
  }
  const inOrder = [...block.transactions].sort((a, b) => (a.lt < b.lt ? -1 : 1));
  for (const facts of inOrder) yield { facts, transaction: cells.get(facts.hash)! };
}
