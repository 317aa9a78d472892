import { inboundKind, TraceAssembler, type TraceTransaction } from '#domain/traces/trace-assembler.js';
import type { DatabaseReader } from '#drivers/store/database.js';
import { firstIdOf, seqnoOfId } from '#drivers/store/keys.js';
import { loadTransaction, sharedCodes } from '#drivers/store/stored-transaction.js';
import { BLOCKS, MESSAGES, TRACES, TRANSACTIONS } from '#drivers/store/tables.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { AccountStateChange, BundleRows, BundleTransaction } from '#services/indexer/rows/bundle-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { traceRow } from '#services/indexer/write/batch-writer.js';

const TRANSACTION_COLUMNS = TRANSACTIONS.columns.filter((column) => column !== 'trace_root');

/** Compared columns of an account that has not changed since. */
const ACCOUNT_COLUMNS = [
  ...['state_hash', 'status', 'balance', 'last_trans_hash', 'mc_seqno', 'gen_utime', 'code_hash', 'data_hash'],
  'frozen_hash',
];

interface AccountFound extends CheckedRow {
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly data_hash: Uint8Array | null;
  readonly data_boc: Uint8Array | null;
  readonly incomplete: boolean;
  readonly first_tx: bigint | null;
}

/**
 * Compares the rows of a bundle with the rows built from its blocks.
 *
 * @returns the trace roots of its transactions, as indexed
 */
export async function checkBundle(
  reader: DatabaseReader,
  rows: BundleRows,
  differences: IndexDifferences,
): Promise<readonly bigint[]> {
  const bounds = [firstIdOf(rows.mc_seqno), firstIdOf(rows.mc_seqno + 1)];
  const select = (table: string, id: string) => `SELECT * FROM ${table} WHERE ${id} >= $1 AND ${id} < $2`;
  const blocks = await reader.query<CheckedRow>({ text: select('blocks', 'id'), values: bounds });
  const expectedBlocks = byKey(rows.blocks.map(checkedRow), 'id');
  differences.compareRows('block', 'blocks', BLOCKS.columns, expectedBlocks, byKey(blocks, 'id'));

  const transactions = await reader.query<CheckedRow & { id: bigint; trace_root: bigint }>({
    text: select('transactions', 'id'),
    values: bounds,
  });
  const expected = byKey(rows.transactions.map(checkedRow), 'id');
  differences.compareRows('transaction', 'transactions', TRANSACTION_COLUMNS, expected, byKey(transactions, 'id'));

  // The table has no index by transaction; a row with another key is found as missing.
  const keys = rows.messages.map(({ msg_key }) => msg_key);
  for (const { in_msg_key } of rows.transactions) if (in_msg_key !== null) keys.push(in_msg_key);
  const messages = await reader.query<CheckedRow>({
    text: `${select('messages', 'tx_id')} AND msg_key = ANY($3::bigint[])`,
    values: [...bounds, keys],
  });
  const orphans = await reader.query<{ tx_id: bigint }>({ text: select('orphan_messages', 'tx_id'), values: bounds });
  const received = receivedByOrphans(rows.transactions, new Set(orphans.map(({ tx_id }) => tx_id)));
  const expectedMessages = byKey([...rows.messages, ...received].map(checkedRow), 'tx_id', 'position');
  differences.compareRows(
    'message',
    'messages',
    MESSAGES.columns,
    expectedMessages,
    byKey(messages, 'tx_id', 'position'),
  );

  await checkAccounts(reader, rows.accounts, differences);
  await checkCodes(reader, rows.transactions, differences);
  return [...new Set(transactions.map(({ trace_root }) => trace_root))];
}

function checkedRow(row: object): CheckedRow {
  return row as CheckedRow;
}

/** The rows of messages that are written with the receiver, because the sender is not indexed. */
function receivedByOrphans(transactions: readonly BundleTransaction[], orphans: ReadonlySet<bigint>) {
  return transactions
    .filter(({ id, in_msg }) => in_msg?.kind === 'internal' && orphans.has(id))
    .map((transaction) => receivedMessage(transaction)!);
}

/** The index has the newest state of an account: the one of this bundle, or a later one. */
async function checkAccounts(
  reader: DatabaseReader,
  changes: readonly AccountStateChange[],
  differences: IndexDifferences,
): Promise<void> {
  const newest = new Map<string, AccountStateChange>();
  const first = new Map<string, AccountStateChange>();
  for (const change of changes) {
    const key = toHex(change.address);
    newest.set(key, change);
    if (!first.has(key)) first.set(key, change);
  }
  const found = await reader.query<AccountFound>({
    text: 'SELECT * FROM accounts WHERE address = ANY($1::bytea[])',
    values: [[...newest.values()].map(({ address }) => address)],
  });
  const rows = byKey(found, 'address');
  for (const [key, change] of newest) {
    const row = rows.get(key) ?? null;
    const name = `accounts ${key}`;
    if (row === null || row.last_trans_lt === change.last_trans_lt) {
      differences.compareRow('account', name, ACCOUNT_COLUMNS, checkedRow(change), row);
    } else if (row.last_trans_lt < change.last_trans_lt) {
      differences.compareRow('account', name, ['last_trans_lt'], checkedRow(change), row);
    }
    if (row !== null) checkData(name, row, differences);
    const { first_tx } = first.get(key)!;
    if (row !== null && first_tx !== null && (row.first_tx === null || row.first_tx > first_tx)) {
      differences.compareRow('account', name, ['first_tx'], { first_tx }, row);
    }
  }
}

function checkData(
  row: string,
  { data_hash, data_boc, incomplete }: AccountFound,
  differences: IndexDifferences,
): void {
  if (data_boc === null) {
    if (data_hash === null || incomplete) return;
    differences.add({ kind: 'account', row, column: 'data_boc', expected: 'the data', found: 'null' });
    return;
  }
  const hash = parseBocRoot(data_boc).hash();
  if (data_hash !== null && bytesEqual(hash, data_hash)) return;
  const expected = data_hash === null ? 'null' : `data of hash ${toHex(data_hash)}`;
  differences.add({ kind: 'account', row, column: 'data_boc', expected, found: `data of hash ${toHex(hash)}` });
}

/** The codes that stored transactions leave out must exist. */
async function checkCodes(
  reader: DatabaseReader,
  transactions: readonly BundleTransaction[],
  differences: IndexDifferences,
): Promise<void> {
  const wanted = new Map<string, Uint8Array>();
  for (const { boc } of transactions) for (const hash of sharedCodes(boc)) wanted.set(toHex(hash), hash);
  if (wanted.size === 0) return;
  const codes = await reader.query<{ code_hash: Uint8Array; boc: Uint8Array }>({
    text: 'SELECT code_hash, boc FROM codes WHERE code_hash = ANY($1::bytea[])',
    values: [[...wanted.values()]],
  });
  const found = new Map(codes.map(({ code_hash, boc }) => [toHex(code_hash), toHex(parseBocRoot(boc).hash())]));
  for (const hash of wanted.keys()) {
    const has = found.get(hash) ?? null;
    if (has !== hash)
      differences.add({ kind: 'code', row: `codes ${hash}`, column: 'boc', expected: hash, found: has });
  }
}

interface StoredRow {
  readonly id: bigint;
  readonly trace_root: bigint;
  readonly account_key: bigint;
  readonly boc: Uint8Array;
  /** `start_lt` of its block; null when the block is not indexed. */
  readonly start_lt: bigint | null;
}

/** Assembles traces again from their indexed transactions, and compares all rows of them. */
export async function checkTraces(
  reader: DatabaseReader,
  roots: readonly bigint[],
  differences: IndexDifferences,
): Promise<void> {
  const transactions = await reader.query<StoredRow>({
    text: `SELECT t.id, t.trace_root, t.account_key, t.boc, b.start_lt FROM transactions t
           LEFT JOIN blocks b ON b.id >= (t.id >> 24) << 24 AND b.id < ((t.id >> 24) + 1) << 24
             AND b.workchain = t.workchain AND b.shard = t.shard AND b.seqno = t.block_seqno
           WHERE t.trace_root = ANY($1::bigint[]) ORDER BY t.id`,
    values: [roots],
  });
  const byRoot = new Map<bigint, StoredRow[]>(roots.map((root) => [root, []]));
  for (const row of transactions) byRoot.get(row.trace_root)!.push(row);
  const traces: CheckedRow[] = [];
  const accountRows: CheckedRow[] = [];
  const open: CheckedRow[] = [];
  const orphan: CheckedRow[] = [];
  for (const root of roots) {
    const assembler = new TraceAssembler();
    for (const row of byRoot.get(root)!) assembler.add(traceTransaction(row));
    const { started, opened, orphans } = assembler.finish();
    const [trace] = started;
    if (trace === undefined || trace.root !== root || started.length > 1) {
      const found = started.map((each) => each.root).join(', ') || 'none';
      const expected = `one trace of ${root}`;
      differences.add({ kind: 'trace', row: `traces ${root}`, column: 'transactions', expected, found });
      continue;
    }
    const { accounts, ...sums } = trace;
    const { end_lt, end_utime } = sums;
    traces.push(traceRow(sums) as unknown as CheckedRow);
    for (const account_key of accounts) accountRows.push({ root, account_key, end_lt, end_utime });
    for (const { hash } of opened) open.push({ msg_hash: hash, trace_root: root });
    for (const { hash } of orphans) orphan.push({ msg_hash: hash, tx_id: root });
  }
  const whole = traces.map(({ root }) => root as bigint);
  const compare = async (
    table: string,
    rootColumn: string,
    key: string[],
    columns: readonly string[],
    expected: CheckedRow[],
  ) => {
    const found = await reader.query<CheckedRow>({
      text: `SELECT * FROM ${table} WHERE ${rootColumn} = ANY($1::bigint[])`,
      values: [whole],
    });
    differences.compareRows('trace', table, columns, byKey(expected, ...key), byKey(found, ...key));
  };
  await compare('traces', 'root', ['root'], TRACES.columns, traces);
  await compare('trace_accounts', 'root', ['root', 'account_key'], ['end_lt', 'end_utime'], accountRows);
  await compare('open_messages', 'trace_root', ['msg_hash'], ['trace_root'], open);
  await compare('orphan_messages', 'tx_id', ['msg_hash'], ['tx_id'], orphan);
}

function traceTransaction({ id, account_key, boc, start_lt }: StoredRow): TraceTransaction {
  // A code that is stored separately stays a pruned branch: level-0 hashes are those of the complete cell.
  const cell = loadTransaction(boc, () => null);
  const { lt, now, in_msg, out_msgs } = decodeCell(Transaction, cell);
  return {
    id,
    hash: cell.hash(0),
    lt,
    now,
    mc_seqno: seqnoOfId(id),
    account_key,
    in_msg:
      in_msg === null ? null : { hash: in_msg.cell.hash(0), kind: inboundKind(in_msg.value.info, start_lt ?? 0n) },
    out_msgs: [...out_msgs].map(([, message]) => ({
      hash: message.cell.hash(0),
      external: message.value.info.kind === 'ext_out_msg_info',
    })),
  };
}

/** A message that is both open and an orphan should have been joined. */
export async function checkUnjoined(reader: DatabaseReader, differences: IndexDifferences): Promise<void> {
  const rows = await reader.query<{ msg_hash: Uint8Array; trace_root: bigint; tx_id: bigint }>({
    text: 'SELECT msg_hash, trace_root, tx_id FROM open_messages JOIN orphan_messages USING (msg_hash)',
  });
  for (const { msg_hash, trace_root, tx_id } of rows) {
    const row = `open_messages ${toHex(msg_hash)}`;
    const expected = `transaction ${tx_id} in the trace ${trace_root}`;
    differences.add({ kind: 'trace', row, column: null, expected, found: 'two traces' });
  }
}

/** Kind of the compared row. */
export type CheckedKind = 'block' | 'transaction' | 'message' | 'account' | 'code' | 'trace';

/** A difference between the index and the chain. */
export interface IndexDifference {
  readonly kind: CheckedKind;
  /** Table and key of the row: `transactions 6442450944`. */
  readonly row: string;
  /** The column, or null when the whole row is missing or unexpected. */
  readonly column: string | null;
  /** Value from the chain; null: no such row. */
  readonly expected: string | null;
  /** Value in the index; null: no such row. */
  readonly found: string | null;
}

/** A row by column name. */
export type CheckedRow = Readonly<Record<string, unknown>>;

/** Collects differences: all are counted, the first ones retained. */
export class IndexDifferences {
  readonly #most: number;
  readonly #kept: IndexDifference[] = [];
  readonly #counts: Partial<Record<CheckedKind, number>> = {};

  /** @param most number of differences retained in detail */
  constructor(most: number) {
    this.#most = most;
  }

  get kept(): readonly IndexDifference[] {
    return this.#kept;
  }

  get counts(): Readonly<Partial<Record<CheckedKind, number>>> {
    return this.#counts;
  }

  add(difference: IndexDifference): void {
    const { kind } = difference;
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    if (this.#kept.length < this.#most) this.#kept.push(difference);
  }

  /** Compares one row; `null`: no row. */
  compareRow(
    kind: CheckedKind,
    row: string,
    columns: readonly string[],
    expected: CheckedRow | null,
    found: CheckedRow | null,
  ): void {
    if (expected === null || found === null) {
      if (expected === found) return;
      const present = expected === null ? { expected: null, found: 'a row' } : { expected: 'a row', found: null };
      this.add({ kind, row, column: null, ...present });
      return;
    }
    for (const column of columns) {
      const [wanted, has] = [print(expected[column]), print(found[column])];
      if (wanted !== has) this.add({ kind, row, column, expected: wanted, found: has });
    }
  }

  /** Compares all rows of one table by key. */
  compareRows(
    kind: CheckedKind,
    table: string,
    columns: readonly string[],
    expected: ReadonlyMap<string, CheckedRow>,
    found: ReadonlyMap<string, CheckedRow>,
  ): void {
    for (const [key, row] of expected) {
      this.compareRow(kind, `${table} ${key}`, columns, row, found.get(key) ?? null);
    }
    for (const [key, row] of found) {
      if (!expected.has(key)) this.compareRow(kind, `${table} ${key}`, columns, null, row);
    }
  }
}

/** A value as text, independent of its representation: bytes in hex, lists separated by commas. */
function print(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(print).join(',');
  if (value instanceof Map) return [...value].map(([key, each]) => `${key}:${print(each)}`).join(',');
  return String(value);
}

/** Rows by key. */
function byKey<Row extends CheckedRow>(rows: Iterable<Row>, ...columns: (keyof Row & string)[]): Map<string, Row> {
  const map = new Map<string, Row>();
  for (const row of rows) map.set(columns.map((column) => print(row[column])).join(' '), row);
  return map;
}
