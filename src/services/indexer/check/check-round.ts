import { sharedCodes } from '#drivers/store/encode/stored-transaction.js';
import { BLOCKS, MESSAGES, TRANSACTIONS } from '#drivers/store/encode/table-rows.js';
import { firstIdOf } from '#drivers/store/ids.js';
import type { Reader } from '#drivers/store/reading.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import { byKey, type CheckedRow, type Differences } from '#services/indexer/check/differences.js';
import type { AccountChange, RoundRows, RoundTransaction } from '#services/indexer/rows/round-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';

const TRANSACTION_COLUMNS = TRANSACTIONS.columns.filter((column) => column !== 'trace_root');

/** Of an account that has not changed since. */
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
}

/**
 * Compares the rows of a round with those that its blocks give.
 *
 * @returns the roots of the traces that its transactions belong to, as the index has them
 */
export async function checkRound(
  reader: Reader,
  rows: RoundRows,
  differences: Differences,
): Promise<readonly bigint[]> {
  const bounds = [firstIdOf(rows.mc_seqno), firstIdOf(rows.mc_seqno + 1)];
  const select = (table: string, id: string) => `SELECT * FROM ${table} WHERE ${id} >= $1 AND ${id} < $2`;
  const blocks = await reader.query<CheckedRow>({ text: select('blocks', 'id'), values: bounds });
  const expectedBlocks = byKey(rows.blocks.map(plain), 'id');
  differences.compareRows('block', 'blocks', BLOCKS.columns, expectedBlocks, byKey(blocks, 'id'));

  const transactions = await reader.query<CheckedRow & { id: bigint; trace_root: bigint }>({
    text: select('transactions', 'id'),
    values: bounds,
  });
  const expected = byKey(rows.transactions.map(plain), 'id');
  differences.compareRows('transaction', 'transactions', TRANSACTION_COLUMNS, expected, byKey(transactions, 'id'));

  // There is no index by transaction; what has another key is found as missing.
  const keys = rows.messages.map(({ msg_key }) => msg_key);
  for (const { in_msg_key } of rows.transactions) if (in_msg_key !== null) keys.push(in_msg_key);
  const messages = await reader.query<CheckedRow>({
    text: `${select('messages', 'tx_id')} AND msg_key = ANY($3::bigint[])`,
    values: [...bounds, keys],
  });
  const orphans = await reader.query<{ tx_id: bigint }>({ text: select('orphan_messages', 'tx_id'), values: bounds });
  const received = receivedByOrphans(rows.transactions, new Set(orphans.map(({ tx_id }) => tx_id)));
  const expectedMessages = byKey([...rows.messages, ...received].map(plain), 'tx_id', 'position');
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

function plain(row: object): CheckedRow {
  return row as CheckedRow;
}

/** The rows of messages that are written by who received them. */
function receivedByOrphans(transactions: readonly RoundTransaction[], orphans: ReadonlySet<bigint>) {
  return transactions
    .filter(({ id, in_msg }) => in_msg?.kind === 'internal' && orphans.has(id))
    .map((transaction) => receivedMessage(transaction)!);
}

/** The index has the newest state of an account: that of this round, or a later one. */
async function checkAccounts(
  reader: Reader,
  changes: readonly AccountChange[],
  differences: Differences,
): Promise<void> {
  const newest = new Map<string, AccountChange>();
  for (const change of changes) newest.set(toHex(change.address), change);
  const found = await reader.query<AccountFound>({
    text: 'SELECT * FROM accounts WHERE address = ANY($1::bytea[])',
    values: [[...newest.values()].map(({ address }) => address)],
  });
  const rows = byKey(found, 'address');
  for (const [key, change] of newest) {
    const row = rows.get(key) ?? null;
    const name = `accounts ${key}`;
    if (row === null || row.last_trans_lt === change.last_trans_lt) {
      differences.compareRow('account', name, ACCOUNT_COLUMNS, plain(change), row);
    } else if (row.last_trans_lt < change.last_trans_lt) {
      differences.compareRow('account', name, ['last_trans_lt'], plain(change), row);
    }
    if (row !== null) checkData(name, row, differences);
  }
}

function checkData(row: string, { data_hash, data_boc, incomplete }: AccountFound, differences: Differences): void {
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

/** The codes that stored transactions leave out must be there. */
async function checkCodes(
  reader: Reader,
  transactions: readonly RoundTransaction[],
  differences: Differences,
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
