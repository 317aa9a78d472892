import { addressBytes, firstIdOf, hashKey, seqnoOfId, shardPosition } from '#drivers/store/keys.js';
import type {
  HeldTransaction,
  HeldTransactions,
  IndexedTransaction,
  StateSummary,
} from '#drivers/store/read/index-types.js';
import { type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { decodeState, type StoredState } from '#drivers/store/stored-state.js';
import { StoredTransaction, type TransactionHead, transactionHead } from '#drivers/store/stored-transaction.js';
import { currenciesOf, type StoredRowOf, selectList, TRANSACTIONS } from '#drivers/store/tables.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** The state of a non-existent account. */
const NONEXIST: StateSummary = {
  status: 'nonexist',
  balance: 0n,
  extra_currencies: new Map(),
  frozen_hash: null,
  code_hash: null,
  data_hash: null,
};

/**
 * Rows as transactions, with whole bags of cells and the states before and after. Takes one statement where the transaction before one
 * of them is not among them, and one for codes that are not cached.
 *
 * @param beyond a row that was read with them
 */
export async function assembleTransactions(
  session: IndexSession,
  rows: readonly TransactionFound[],
  beyond: TransactionFound | null = null,
): Promise<IndexedTransaction[]> {
  if (rows.length === 0) return [];
  const { slices } = session;
  const transactions = await slices.map(rows, (found) => ({
    found,
    head: transactionHead(found.boc),
    stored: new StoredTransaction(found.boc),
  }));
  const before = await statesBefore(session, transactions, beyond);
  const cells = await completeTransactions(
    session,
    transactions.map(({ stored }) => stored),
  );
  const partial: StateAt[] = [];
  const decoded = (bytes: Uint8Array | null, { found, head }: WithHead): StoredState | null => {
    if (bytes === null || bytes.length === 0) return null;
    const state = decodeState(bytes);
    if (state.extra_hash === null) return state;
    const address = Address.ofParts(found.workchain, head.account_addr);
    partial.push({ state, address, account_key: found.account_key, lt: found.lt });
    return state;
  };
  const states = await slices.map(transactions, (each, i) => ({
    before: each.head.wasNonexist ? NONEXIST : decoded(before[i]!, each),
    after: each.head.isNonexist ? NONEXIST : decoded(each.found.state_after, each),
  }));
  const currencies = partial.length === 0 ? null : await findCurrencies(session, partial);
  const whole = (state: StateSummary | null): StateSummary | null =>
    state !== null && currencies?.has(state) === true ? { ...state, extra_currencies: currencies.get(state)! } : state;
  return transactions.map(({ found, head }, i) => ({
    id: found.id,
    hash_key: found.hash_key,
    mc_seqno: seqnoOfId(found.id),
    block: shardPosition(found.workchain, found.shard, found.block_seqno),
    global_version: found.global_version,
    trace_root: found.trace_root,
    trace_id: found.trace_id,
    cell: cells[i]!,
    state_before: whole(states[i]!.before),
    state_after: whole(states[i]!.after),
    isFinal:
      found.trace_id !== null &&
      (before[i] !== null || head.wasNonexist || head.prev_trans_lt === 0n) &&
      isWhole(states[i]!.before) &&
      isWhole(states[i]!.after),
  }));
  function isWhole(state: StateSummary | null): boolean {
    return state === null || currencies?.get(state) !== null;
  }
}

/** A row of `transactions`, with the hash of the root of its trace. */
export type TransactionFound = Omit<StoredRowOf<typeof TRANSACTIONS>, 'in_msg_key'> & {
  readonly trace_id: Uint8Array | null;
};

/** Columns of a {@link TransactionFound}, of the table `t`. */
export const TRANSACTION_COLUMNS = raw(
  `${selectList(TRANSACTIONS, 't', 'in_msg_key')}, (SELECT x.trace_id FROM traces x WHERE x.root = t.trace_root) AS trace_id`,
);

/** The keys of a row of `transactions`, and what lists sort by. */
export type TransactionKeysFound = Pick<
  TransactionFound,
  'id' | 'hash_key' | 'trace_root' | 'workchain' | 'lt' | 'now'
>;

/** Columns of a {@link TransactionKeysFound}, of the table `t`. */
export const TRANSACTION_KEY_COLUMNS = raw('t.id, t.hash_key, t.trace_root, t.workchain, t.lt, t.now');

/** With what the first cell of a transaction of an account begins, in hexadecimal: the four bits 0111 and the account id. */
export function transactionBegin({ hash }: Address): string {
  return `7${toHex(hash)}`;
}

/** Whether a stored transaction begins so. Reads its start only. @param boc the column @param begin {@link transactionBegin} */
export function beginsWithAccount(boc: Sql, begin: Sql): Sql {
  return sql`strpos(encode(substring(${boc} FROM 1 FOR 640), 'hex'), ${begin}) > 0`;
}

/** For each row its transaction: one that the caller holds, or the whole row. Takes one statement where rows have only keys. */
export async function heldOrFound(
  session: IndexSession,
  rows: readonly (TransactionKeysFound | TransactionFound)[],
  held: HeldTransactions,
): Promise<readonly (HeldTransaction | TransactionFound | null)[]> {
  const known = rows.map((row) => held.find(row) ?? ('boc' in row ? row : null));
  const missing = rows.filter((_, i) => known[i] === null).map(({ id }) => id);
  if (missing.length === 0) return known;
  const found = await session.rows<TransactionFound>(
    sql`SELECT ${TRANSACTION_COLUMNS} FROM unnest(${opaqueToPlanner(missing, 'bigint[]')}) AS k(id)
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = k.id LIMIT 1) AS t`,
  );
  const byId = new Map(found.map((row) => [row.id, row]));
  return rows.map(({ id }, i) => known[i] ?? byId.get(id) ?? null);
}

/** Assembles those that the caller does not hold. */
export async function assembleOthers(
  session: IndexSession,
  rows: readonly (HeldTransaction | TransactionFound)[],
  beyond: TransactionFound | null = null,
): Promise<(HeldTransaction | IndexedTransaction)[]> {
  const assembled = await assembleTransactions(session, rows.filter(isFound), beyond);
  let next = 0;
  return rows.map((row) => (isFound(row) ? assembled[next++]! : row));
}

export function isFound(row: HeldTransaction | TransactionFound): row is TransactionFound {
  return 'boc' in row;
}

/** A transaction row and its root cell. */
export interface WithHead {
  readonly found: TransactionFound;
  readonly head: TransactionHead;
}

/** Most accounts had a transaction within so many masterchain blocks before. */
const RECENT_MC_BLOCKS = 100_000;

/**
 * The column `state_after` of the previous transaction of the same account, for each transaction: the state before it. The previous
 * one has the lt and hash that the later one contains, and a lower id. Null: it is not indexed; empty: its row has no state.
 */
export async function statesBefore(
  session: IndexSession,
  transactions: readonly WithHead[],
  beyond: TransactionFound | null = null,
): Promise<readonly (Uint8Array | null)[]> {
  const onPage = new Map<string, TransactionFound>();
  if (beyond !== null) onPage.set(`${beyond.account_key}:${beyond.lt}`, beyond);
  for (const { found } of transactions) onPage.set(`${found.account_key}:${found.lt}`, found);
  const states: (Uint8Array | null)[] = [];
  const asked: { place: number; account_key: bigint; lt: bigint; hash_key: bigint; id: bigint; recent: bigint }[] = [];
  for (const [place, { found, head }] of transactions.entries()) {
    states.push(null);
    if (head.wasNonexist || head.prev_trans_lt === 0n) continue;
    const { account_key, id } = found;
    const hash_key = hashKey(head.prev_trans_hash);
    const before = onPage.get(`${account_key}:${head.prev_trans_lt}`);
    if (before?.hash_key === hash_key) states[place] = before.state_after ?? NO_STATE;
    else {
      const recent = firstIdOf(Math.max(0, seqnoOfId(id) - RECENT_MC_BLOCKS));
      asked.push({ place, account_key, lt: head.prev_trans_lt, hash_key, id, recent });
    }
  }
  if (asked.length === 0) return states;
  const column = (name: 'account_key' | 'lt' | 'hash_key' | 'id' | 'recent') =>
    opaqueToPlanner(
      asked.map((row) => row[name]),
      'bigint[]',
    );
  const before = sql`p.account_key = k.account_key AND p.lt = k.lt AND p.hash_key = k.hash_key`;
  const rows = await session.rows<{ n: bigint; state_after: Uint8Array | null }>(sql`
    SELECT k.n, coalesce(
      (SELECT coalesce(p.state_after, '') FROM transactions p WHERE ${before} AND p.id >= k.recent AND p.id < k.id LIMIT 1),
      (SELECT coalesce(p.state_after, '') FROM transactions p WHERE ${before} AND p.id < k.recent LIMIT 1)
    ) AS state_after
    FROM unnest(
      ${column('account_key')}, ${column('lt')}, ${column('hash_key')}, ${column('id')}, ${column('recent')}
    ) WITH ORDINALITY AS k(account_key, lt, hash_key, id, recent, n)`);
  for (const { n, state_after } of rows) states[asked[Number(n) - 1]!.place] = state_after;
  return states;
}

const NO_STATE = new Uint8Array(0);

type Currencies = ReadonlyMap<number, bigint>;

/** A stored state before or after a transaction of an account. */
interface StateAt {
  readonly state: StoredState;
  readonly address: Address;
  readonly account_key: bigint;
  readonly lt: bigint;
}

/** Transactions of an account that are searched on each side. */
const MOST_SEARCHED = 200;

/**
 * Extra currencies of states whose blocks do not contain them because they did not change: those of the current state, or of a nearby
 * state, when their dictionary has the stored hash. Null: not found.
 */
async function findCurrencies(
  session: IndexSession,
  states: readonly StateAt[],
): Promise<ReadonlyMap<StateSummary, Currencies | null>> {
  const byState = new Map<StateSummary, Currencies | null>();
  // They rarely change.
  const byHash = new Map<string, Currencies | null>();
  for (const { address, account_key, lt, state } of states) {
    const hash = state.extra_hash!;
    const name = `${account_key} ${toHex(hash)}`;
    let found = byHash.get(name);
    if (found === undefined) {
      found = (await currentOf(session, address, hash)) ?? (await nearbyOf(session, account_key, lt, hash));
      byHash.set(name, found);
    }
    byState.set(state, found);
  }
  return byState;
}

async function currentOf(session: IndexSession, address: Address, hash: Uint8Array): Promise<Currencies | null> {
  const [row] = await session.rows<{ extra_currencies: Readonly<Record<string, string>> | null }>(
    sql`SELECT a.extra_currencies FROM accounts a WHERE a.address = ${addressBytes(address)}::bytea`,
  );
  return ofHash(hash, currenciesOf(row?.extra_currencies ?? null));
}

async function nearbyOf(
  session: IndexSession,
  account_key: bigint,
  lt: bigint,
  hash: Uint8Array,
): Promise<Currencies | null> {
  const rows = await session.rows<{ state_after: Uint8Array }>(sql`
    SELECT x.state_after FROM (
      (SELECT t.state_after FROM transactions t WHERE t.account_key = ${account_key} AND t.lt < ${lt}
        ORDER BY t.lt DESC LIMIT ${MOST_SEARCHED})
      UNION ALL
      (SELECT t.state_after FROM transactions t WHERE t.account_key = ${account_key} AND t.lt > ${lt}
        ORDER BY t.lt LIMIT ${MOST_SEARCHED})
    ) x WHERE x.state_after IS NOT NULL`);
  for (const { state_after } of rows) {
    const { extra_hash, extra_currencies } = decodeState(state_after);
    const found = extra_hash === null ? ofHash(hash, extra_currencies) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The currencies if their dictionary has the hash. */
function ofHash(hash: Uint8Array, currencies: Currencies): Currencies | null {
  const root = dictionaryOf(currencies);
  return root !== null && bytesEqual(root.hash(), hash) ? currencies : null;
}

/** `dict:(HashmapE 32 (VarUInteger 32))` */
function dictionaryOf(currencies: Currencies) {
  return buildDictionary(
    32,
    [...currencies].map(([id, amount]) => {
      const key = new Uint8Array(4);
      new DataView(key.buffer).setUint32(0, id);
      const length = Math.ceil(amount.toString(16).length / 2);
      return [key, new Builder().storeUint(length, 5).storeUint(amount, length * 8)] as const;
    }),
  );
}

interface CodeFound {
  readonly code_hash: Uint8Array;
  readonly boc: Uint8Array;
}

/**
 * The whole cells of stored transactions, in their order, with the codes that are stored apart in their places. Codes that are
 * not cached are read in one statement.
 */
export async function completeTransactions(
  session: IndexSession,
  stored: readonly StoredTransaction[],
): Promise<readonly Cell[]> {
  const { codes } = session.caches;
  const found = new Map<string, Cell>();
  const missing = new Map<string, Uint8Array>();
  for (const { sharedCodes } of stored) {
    for (const hash of sharedCodes) {
      const key = toHex(hash);
      const known = codes.get(key);
      if (known !== undefined) found.set(key, known);
      else if (!found.has(key)) missing.set(key, hash);
    }
  }
  if (missing.size > 0) {
    const rows = await session.rows<CodeFound>(
      sql`SELECT c.code_hash, c.boc FROM codes c WHERE c.code_hash = ANY(${[...missing.values()]}::bytea[])`,
    );
    for (const { code_hash, boc } of rows) {
      const key = toHex(code_hash);
      const cell = parseBocRoot(boc);
      codes.set(key, cell, boc.length);
      found.set(key, cell);
    }
  }
  return session.slices.map(stored, (each) => each.whole((hash) => found.get(toHex(hash)) ?? null));
}
