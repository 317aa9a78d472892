import { toBase64 } from '#kernel/bytes.js';
import type { BlockFacts } from '#test/support/chain-facts.js';
import { type ChainTruth, spreadOver } from '../../chain-truth.js';
import { type AccountTruth, clientTruth } from '../client-truth.js';
import { type TraceTruth, traceTruths } from './trace-truth.js';
import {
  type MessageTruth,
  roundsOf,
  type TransactionTruth,
  type TransactionTruths,
  transactionTruths,
} from './transaction-truth.js';
import { type WalletTruth, walletTruths } from './wallet-truth.js';

/** A block; the shard is a signed decimal number. */
interface BlockTruth {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
  readonly gen_utime: number;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly tx_count: number;
  readonly key_block: boolean;
}

/** What a masterchain block commits, and where the shards stand with it. */
interface BundleTruth {
  readonly mc_seqno: number;
  /** Its own block first. */
  readonly blocks: readonly BlockTruth[];
  readonly tops: readonly { readonly workchain: number; readonly shard: string; readonly seqno: number }[];
  /** Hashes by rising lt. */
  readonly transactions: readonly string[];
}

/** What clients of API v3 in any language compare with. Hashes are base64, accounts raw with upper-case digits. */
export interface V3Truth {
  readonly first_seqno: number;
  readonly head_seqno: number;
  readonly bundles: readonly BundleTruth[];
  readonly accounts: readonly AccountTruth[];
  readonly wallets: readonly WalletTruth[];
  /** The richest accounts. */
  readonly top: readonly { readonly account: string; readonly balance: string }[];
  /** Hashes of all transactions of one account, newest first. */
  readonly history: readonly string[];
  readonly traces: readonly TraceTruth[];
  /** A transaction with one before it and some after it. */
  readonly adjacent: { readonly hash: string; readonly before: string; readonly after: readonly string[] };
  readonly messages: {
    readonly internal: MessageTruth;
    readonly external_in: MessageTruth;
    /** Only of chains that have one. */
    readonly external_out?: MessageTruth;
  };
  /** Of each of those messages: who sent and who received it. */
  readonly sent_by: Readonly<Record<string, string>>;
  readonly received_by: Readonly<Record<string, string>>;
  /** All transactions that something above names. */
  readonly transactions: Readonly<Record<string, TransactionTruth>>;
}

const ROUNDS = 6;
const TOP = 10;
const WALLETS = 3;
const HISTORY = { least: 12, most: 60 };
const ADJACENT = 40;
const TRACES = { least: 2, most: 60, count: 5 };

/**
 * @param isAllowed what clients can read at all: nothing but bundles has other transactions in it
 */
export function v3Truth(truth: ChainTruth, isAllowed: (transaction: TransactionTruth) => boolean): V3Truth {
  const found = transactionTruths(truth);
  const bundles = bundleTruths(truth, found);
  const history = historyTruth(found, isAllowed);
  const traces = spreadOver(traceTruths(found, TRACES, isAllowed), TRACES.count);
  const adjacent = adjacentTruth(found, isAllowed);
  const messages = messageTruths(found, isAllowed);
  const hashes = [
    ...bundles.flatMap(({ transactions }) => transactions),
    ...history,
    ...traces.flatMap(({ transactions }) => transactions),
    ...[adjacent.hash, adjacent.before, ...adjacent.after],
  ];
  return {
    first_seqno: truth.masterchain[0]!.id.seqno,
    head_seqno: truth.head.id.seqno,
    bundles,
    accounts: clientTruth(truth).accounts.map((account) => ({ ...account, address: account.address.toUpperCase() })),
    wallets: walletTruths(truth, WALLETS),
    top: topTruth(truth),
    history,
    traces,
    adjacent,
    messages,
    sent_by: ofMessages(messages, found.sentBy),
    received_by: ofMessages(messages, found.receivedBy),
    transactions: Object.fromEntries(hashes.map((hash) => [hash, found.byHash.get(hash)!])),
  };
}

/** Of one account, newest first. */
function historyTruth({ byAccount }: TransactionTruths, isAllowed: (transaction: TransactionTruth) => boolean) {
  const fitting = required(
    [...byAccount.values()],
    (list) => list.length >= HISTORY.least && list.length <= HISTORY.most && list.every(isAllowed),
  );
  return fitting.map(({ hash }) => hash);
}

/** The first bundle and the last, those with most blocks and most transactions, and some between. */
function bundleTruths(truth: ChainTruth, { byRound }: TransactionTruths): BundleTruth[] {
  const all = roundsOf(truth);
  const most = (size: (bundle: (typeof all)[number]) => number) => all.reduce((a, b) => (size(b) > size(a) ? b : a));
  const busiest = most(({ mc_seqno }) => byRound.get(mc_seqno)?.length ?? 0);
  const widest = most(({ blocks }) => blocks.length);
  const chosen = new Set([...spreadOver(all, ROUNDS), busiest, widest]);
  return [...chosen].map(({ mc_seqno, blocks }) => ({
    mc_seqno,
    blocks: blocks.map(blockTruth),
    tops: blocks[0]!.tops.map(({ workchain, shard, seqno }) => ({ workchain, shard: signed(shard), seqno })),
    transactions: (byRound.get(mc_seqno) ?? []).map(({ hash }) => hash),
  }));
}

function blockTruth({ id, gen_utime, start_lt, end_lt, key_block, transactions }: BlockFacts): BlockTruth {
  return {
    ...{ workchain: id.workchain, shard: signed(id.shard), seqno: id.seqno },
    ...{ root_hash: toBase64(id.root_hash), file_hash: toBase64(id.file_hash) },
    ...{ gen_utime, start_lt: String(start_lt), end_lt: String(end_lt), tx_count: transactions.length, key_block },
  };
}

function signed(shard: bigint): string {
  return BigInt.asIntN(64, shard).toString();
}

function topTruth({ states }: ChainTruth): V3Truth['top'] {
  const all = states.flatMap(({ id, state }) =>
    [...state.accounts.value].flatMap(([key, { account }]) => {
      const { value } = account;
      if (value.kind === 'account_none') return [];
      const digits = Buffer.from(key).toString('hex').toUpperCase();
      return [{ account: `${id.workchain}:${digits}`, balance: value.storage.balance.grams }];
    }),
  );
  all.sort((a, b) => (a.balance < b.balance ? 1 : a.balance > b.balance ? -1 : a.account < b.account ? -1 : 1));
  return all.slice(0, TOP).map(({ account, balance }) => ({ account, balance: String(balance) }));
}

function adjacentTruth(
  { all, sentBy, receivedBy }: TransactionTruths,
  isAllowed: (transaction: TransactionTruth) => boolean,
): V3Truth['adjacent'] {
  const found = all.flatMap(({ hash, in_msg, out_msgs }) => {
    const before = in_msg === null ? undefined : sentBy.get(in_msg.hash);
    const after = out_msgs.flatMap((message) => receivedBy.get(message.hash) ?? []);
    if (before === undefined || after.length === 0 || after.length > ADJACENT || ![before, ...after].every(isAllowed))
      return [];
    return [{ hash, before: before.hash, after: after.map((each) => each.hash) }];
  });
  return found.reduce((a, b) => (b.after.length > a.after.length ? b : a));
}

function messageTruths(
  { all, receivedBy }: TransactionTruths,
  isAllowed: (transaction: TransactionTruth) => boolean,
): V3Truth['messages'] {
  const allowed = all.filter(isAllowed);
  const received = allowed.flatMap(({ in_msg }) => in_msg ?? []);
  const sent = allowed.flatMap(({ out_msgs }) => out_msgs);
  const isBetween = ({ hash, source, destination, opcode }: MessageTruth) => {
    const receiver = receivedBy.get(hash);
    return receiver !== undefined && isAllowed(receiver) && source !== destination && opcode !== null;
  };
  const external_out = sent.find(({ destination }) => destination === null);
  return {
    internal: required(sent, isBetween),
    external_in: required(received, ({ hash, hash_norm }) => hash_norm !== null && hash_norm !== hash),
    ...(external_out === undefined ? {} : { external_out }),
  };
}

function required<T>(items: readonly T[], holds: (item: T) => boolean): T {
  const found = items.find(holds);
  if (found === undefined) throw new Error(`the chain has nothing for which holds ${holds}`);
  return found;
}

function ofMessages(
  messages: V3Truth['messages'],
  ends: ReadonlyMap<string, TransactionTruth>,
): Readonly<Record<string, string>> {
  const entries = Object.values(messages).flatMap(({ hash }) => {
    const end = ends.get(hash);
    return end === undefined ? [] : [[hash, end.hash] as const];
  });
  return Object.fromEntries(entries);
}
