import type pg from 'pg';
import { CopyRows } from '#drivers/store/copy.js';
import { addressBytes } from '#drivers/store/keys.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import type { CodeRow } from '#drivers/store/tables.js';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { messageBodyCell, messageInit } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';
import { readCsv } from '../../test/support/csv.js';
import { readBytes } from '../../test/support/vector-files.js';

/** A table as the reference indexer has it, with its rows in the form of COPY. */
export interface ColumnTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly create: string;
  readonly indexes: readonly string[];
  encode(): Uint8Array;
}

type Values = readonly Record<string, string>[];
type Type = 'boolean' | 'smallint' | 'integer' | 'bigint' | 'bytea' | 'jsonb';

/** What a column holds, by its values: truth values, integers, hashes, addresses, JSON, or words of a short list. */
interface Column {
  readonly name: string;
  readonly type: Type;
  put(rows: CopyRows, text: string): void;
}

const WIDE = /lt|fee|credit|value|created|gas|steps|cells|bits|balance|now|due/;

function columnOf(name: string, texts: readonly string[]): Column {
  const given = texts.filter((text) => text !== '');
  const all = (pattern: RegExp) => given.every((text) => pattern.test(text));
  const column = (type: Type, put: (rows: CopyRows, text: string) => void): Column => ({
    name,
    type,
    put: (rows, text) => (text === '' ? rows.bytea(null) : put(rows, text)),
  });
  if (given.length === 0) return column('bigint', () => {});
  if (all(/^[tf]$/)) return column('boolean', (rows, text) => rows.bool(text === 't'));
  if (all(/^-?\d+$/)) {
    return WIDE.test(name)
      ? column('bigint', (rows, text) => rows.int8(BigInt(text)))
      : column('integer', (rows, text) => rows.int4(Number(BigInt.asIntN(32, BigInt(text)))));
  }
  if (all(/^-?\d+:[0-9A-F]{64}$/)) {
    return column('bytea', (rows, text) => rows.bytea(addressBytes(parseAddress(text).address)));
  }
  if (all(/^[A-Za-z0-9+/]{43}=$/)) return column('bytea', (rows, text) => rows.bytea(fromBase64(text)!));
  if (all(/^\{/)) return column('jsonb', (rows, text) => rows.jsonb(text));
  const words = [...new Set(given)].sort();
  return column('smallint', (rows, text) => rows.int2(words.indexOf(text)));
}

function tableOf(name: string, values: Values, primary: string, indexes: readonly string[]): ColumnTable {
  const columns = Object.keys(values[0]!).map((field) =>
    columnOf(
      field,
      values.map((row) => row[field]!),
    ),
  );
  const fields = columns.map((column) => `${column.name} ${column.type}`).join(', ');
  return {
    name,
    columns: columns.map((column) => column.name),
    create: `CREATE TABLE IF NOT EXISTS ${name} (${fields}, PRIMARY KEY (${primary}))`,
    indexes,
    encode() {
      const rows = new CopyRows();
      for (const row of values) {
        rows.row(columns.length);
        for (const column of columns) column.put(rows, row[column.name]!);
      }
      return rows.finish();
    },
  };
}

/** The tables of the reference indexer that hold what `transactions`, `messages` and `codes` of Tern hold. */
export function columnTables(folder: string, bundles: readonly BundleRows[], codes: readonly CodeRow[]): ColumnTable[] {
  const read = (table: string) => [...readCsv(readBytes(`${folder}/v3-tables/${table}.csv.br`))];
  return [
    tableOf('transactions', read('transactions'), 'hash, lt', [
      ...['block_workchain, block_shard, block_seqno', 'lt', 'now, lt', 'account, lt', 'account, now, lt', 'hash'],
      ...['trace_id, lt', 'mc_block_seqno, lt', 'account, trace_id'],
    ]),
    tableOf('messages', read('messages'), 'tx_hash, tx_lt, msg_hash, direction', [
      ...['msg_hash', 'source, created_lt', 'destination, created_lt', 'body_hash', 'trace_id, tx_lt'],
      ...['opcode, created_lt', 'created_lt, msg_hash', 'created_at, msg_hash'],
      'msg_hash_norm) WHERE (msg_hash_norm IS NOT NULL',
    ]),
    contents(bundles, codes),
    tableOf('account_states', read('account_states'), 'hash', []),
  ];
}

/** `message_contents`: bodies and init states by hash. */
function contents(bundles: readonly BundleRows[], codes: readonly CodeRow[]): ColumnTable {
  const cells = new Map(codes.map(({ code_hash, boc }) => [toBase64(code_hash), parseBocRoot(boc)]));
  const found = new Map<string, readonly [Uint8Array, Uint8Array]>();
  for (const { transactions } of bundles) {
    for (const { boc } of transactions) {
      const cell = loadTransaction(boc, (hash) => cells.get(toBase64(hash)) ?? null);
      const { in_msg, out_msgs } = decodeCell(Transaction, cell);
      const messages = [...out_msgs].map(([, message]) => message.value);
      if (in_msg !== null) messages.push(in_msg.value);
      for (const message of messages) {
        const init = messageInit(message);
        const parts = [messageBodyCell(message), ...(init === null ? [] : [encodeCell(StateInit, init)])];
        for (const part of parts) found.set(toBase64(part.hash()), [part.hash(), serializeBoc(part)]);
      }
    }
  }
  return {
    name: 'message_contents',
    columns: ['hash', 'body'],
    create: 'CREATE TABLE IF NOT EXISTS message_contents (hash bytea PRIMARY KEY, body bytea)',
    indexes: [],
    encode() {
      const rows = new CopyRows();
      for (const [hash, body] of found.values()) {
        rows.row(2);
        rows.bytea(hash);
        rows.bytea(body);
      }
      return rows.finish();
    },
  };
}

/** Makes the tables and their indexes, without rows. */
export async function createColumnTables(client: pg.Client, tables: readonly ColumnTable[]): Promise<void> {
  for (const { name, create, indexes } of tables) {
    await client.query(create);
    for (const [at, columns] of indexes.entries()) {
      await client.query(`CREATE INDEX IF NOT EXISTS ${name}_${at} ON ${name} (${columns})`);
    }
  }
}

type Row = Record<string, unknown>;

/** A page of transactions with messages and the states around them, as values of JSON. */
export async function readColumns(client: pg.Client, below: bigint, limit: number): Promise<readonly object[]> {
  const { rows } = await client.query<Row>('SELECT * FROM transactions WHERE lt <= $1 ORDER BY lt DESC LIMIT $2', [
    below,
    limit,
  ]);
  const { rows: messages } = await client.query<Row>(
    `SELECT m.*, b.body, i.body AS init_state FROM messages m
     LEFT JOIN message_contents b ON b.hash = m.body_hash LEFT JOIN message_contents i ON i.hash = m.init_state_hash
     WHERE m.tx_hash = ANY($1)`,
    [rows.map(({ hash }) => hash)],
  );
  const hashes = rows.flatMap((row) => [row.account_state_hash_before, row.account_state_hash_after]);
  const { rows: states } = await client.query<Row>('SELECT * FROM account_states WHERE hash = ANY($1)', [hashes]);
  const stateOf = new Map(states.map((state) => [toBase64(state.hash as Uint8Array), plain(state)]));
  const messagesOf = new Map<string, Row[]>();
  for (const message of messages) {
    const key = toBase64(message.tx_hash as Uint8Array);
    const list = messagesOf.get(key);
    if (list === undefined) messagesOf.set(key, [plain(message)]);
    else list.push(plain(message));
  }
  return rows.map((row) => {
    const transaction = plain(row);
    return {
      ...transaction,
      messages: messagesOf.get(transaction.hash as string) ?? [],
      account_state_before: stateOf.get(transaction.account_state_hash_before as string) ?? null,
      account_state_after: stateOf.get(transaction.account_state_hash_after as string) ?? null,
    };
  });
}

function plain(row: Row): Row {
  const out: Row = {};
  for (const [name, value] of Object.entries(row)) {
    out[name] = value instanceof Uint8Array ? toBase64(value) : typeof value === 'bigint' ? String(value) : value;
  }
  return out;
}
