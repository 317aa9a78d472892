import type { CopyRows } from '#drivers/store/copy.js';

/**
 * A column of a table: which method of {@link CopyRows} writes it, and with it the types of its values.
 *
 * @typeParam Written what is given to be written
 * @typeParam Stored what node-postgres returns (see connection.ts)
 *
 * @public named in emitted declarations
 */
export interface Column<Written, Stored> {
  readonly copy: Exclude<keyof CopyRows, 'row' | 'rows' | 'length' | 'finish' | 'reset'>;
  /** Makes of a value what `copy` takes. Default: the value itself. */
  readonly encode?: (value: Written) => unknown;
  /** The SQL type that {@link selectAsWritten} casts it to, where the types differ. */
  readonly writtenType?: string;
  /** Only types. */
  readonly written?: Written;
  readonly stored?: Stored;
}

// Any column is one of these types; the variance of `encode` leaves no better way to say so.
// biome-ignore lint/suspicious/noExplicitAny: see above
type AnyColumn = Column<any, any>;
type Columns = Readonly<Record<string, AnyColumn>>;
type WrittenOf<C> = C extends { readonly written?: infer Written } ? Exclude<Written, undefined> : never;
type StoredOf<C> = C extends { readonly stored?: infer Stored } ? Exclude<Stored, undefined> : never;

/** How the rows of a table are written with COPY: its columns, and a writer of their fields in this order. */
export interface TableRows<Row> {
  readonly table: string;
  readonly columns: readonly string[];
  write(rows: CopyRows, row: Row): void;
}

/** A table of the index, declared once: COPY encoder, SELECT lists and row types follow from its columns. */
export interface IndexTable<Map extends Columns = Columns>
  extends TableRows<{ readonly [Name in keyof Map]: WrittenOf<Map[Name]> }> {
  readonly map: Map;
}

/** A row as it is written. */
type RowOf<Table> =
  Table extends IndexTable<infer Map> ? { readonly [Name in keyof Map]: WrittenOf<Map[Name]> } : never;

/** A row as it is read. */
export type StoredRowOf<Table> =
  Table extends IndexTable<infer Map> ? { readonly [Name in keyof Map]: StoredOf<Map[Name]> } : never;

const bool: Column<boolean, boolean> = { copy: 'bool' };
const int2: Column<number, number> = { copy: 'int2' };
const int4: Column<number, number> = { copy: 'int4' };
const int8: Column<bigint, bigint> = { copy: 'int8' };
/** An integer below 2^53 in a column of int8. */
const uint: Column<number, bigint> = { copy: 'int8', writtenType: 'float8' };
const bytea: Column<Uint8Array, Uint8Array> = { copy: 'bytea' };
const numeric: Column<bigint, bigint> = { copy: 'numeric' };
const int8Array: Column<readonly bigint[], readonly bigint[]> = { copy: 'int8Array' };
const int4Array: Column<readonly number[], readonly number[]> = { copy: 'int4Array' };
/** Amounts by currency id, as JSON with the amounts as text: they may be larger than numbers of JSON are exact. Null: none. */
const currencies: Column<ReadonlyMap<number, bigint> | null, Readonly<Record<string, string>> | null> = {
  copy: 'jsonb',
  encode: currenciesJson,
};

function orNull<Written, Stored>(column: Column<Written, Stored>): Column<Written | null, Stored | null> {
  return column as Column<Written | null, Stored | null>;
}

/** The column `extra_currencies` as JSON text. */
export function currenciesJson(amounts: ReadonlyMap<number, bigint> | null): string | null {
  if (amounts === null) return null;
  return JSON.stringify(Object.fromEntries([...amounts].map(([id, amount]) => [id, String(amount)])));
}

/** The opposite of {@link currenciesJson}, as node-postgres returns the column. */
export function currenciesOf(json: Readonly<Record<string, string>> | null): ReadonlyMap<number, bigint> {
  return new Map(Object.entries(json ?? {}).map(([id, amount]) => [Number(id), BigInt(amount)]));
}

/** Declares a table. Its writer is compiled when the module loads: a loop over the columns is several times as slow. */
function indexTable<const Map extends Columns>(table: string, map: Map): IndexTable<Map> {
  const columns = Object.keys(map);
  const lines = columns.map((name) => {
    const { copy, encode } = map[name]!;
    return `rows.${copy}(${encode === undefined ? `row.${name}` : `map.${name}.encode(row.${name})`});`;
  });
  const source = `return (rows, row) => { rows.row(${columns.length}); ${lines.join(' ')} };`;
  const write = new Function('map', source)(map) as IndexTable<Map>['write'];
  return { table, columns, map, write };
}

/** The columns of a table by the alias of its rows, without those that are left out: a SELECT list. */
export function selectList(table: IndexTable, alias: string, ...without: readonly string[]): string {
  return table.columns
    .filter((name) => !without.includes(name))
    .map((name) => `${alias}.${name}`)
    .join(', ');
}

/** A SELECT list of a table whose values come as they are written. */
export function selectAsWritten({ columns, map }: IndexTable): string {
  return columns
    .map((name) => {
      const { writtenType } = map[name]!;
      return writtenType === undefined ? name : `${name}::${writtenType}`;
    })
    .join(', ');
}

// The tables; what the columns mean stands in the migrations.

export const BLOCKS = indexTable('blocks', {
  id: int8,
  workchain: int4,
  /** Signed. */
  shard: int8,
  seqno: int4,
  root_hash: bytea,
  file_hash: bytea,
  global_id: int4,
  version: uint,
  bits: int2,
  flags: int2,
  gen_utime: uint,
  start_lt: int8,
  end_lt: int8,
  validator_list_hash_short: uint,
  gen_catchain_seqno: uint,
  min_ref_mc_seqno: uint,
  prev_key_block_seqno: uint,
  vert_seqno: uint,
  master_ref_seqno: orNull(uint),
  rand_seed: bytea,
  created_by: bytea,
  global_version: int4,
  tx_count: int4,
  /** workchain, shard (signed), seqno of each previous block. */
  prev_blocks: int8Array,
  /** Of a masterchain block: the same of the newest block of each shard. */
  shard_tops: orNull(int8Array),
});
export type BlockRow = RowOf<typeof BLOCKS>;

export const TRANSACTIONS = indexTable('transactions', {
  id: int8,
  lt: int8,
  now: uint,
  account_key: int8,
  hash_key: int8,
  trace_root: int8,
  in_msg_key: orNull(int8),
  /** Signed. */
  shard: int8,
  workchain: int4,
  block_seqno: int4,
  global_version: int2,
  state_after: orNull(bytea),
  boc: bytea,
});
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

export const MESSAGES = indexTable('messages', {
  tx_id: int8,
  msg_key: int8,
  body_key: int8,
  norm_key: orNull(int8),
  source_key: orNull(int8),
  destination_key: orNull(int8),
  created_lt: orNull(int8),
  created_at: orNull(uint),
  /** Signed. */
  opcode: orNull(int4),
  position: int2,
});
export type MessageRow = RowOf<typeof MESSAGES>;

export const TOKEN_EVENTS = indexTable('token_events', {
  tx_id: int8,
  lt: int8,
  now: uint,
  account_key: int8,
  token_key: orNull(int8),
  source_key: int8,
  destination_key: orNull(int8),
  kind: int2,
  aborted: bool,
  confirmed: bool,
});
export type TokenEventRow = RowOf<typeof TOKEN_EVENTS>;

export const TRACES = indexTable('traces', {
  root: int8,
  start_lt: int8,
  start_utime: uint,
  end_lt: int8,
  end_utime: uint,
  mc_seqno_end: int4,
  nodes: int4,
  edges: int4,
  pending_edges: int4,
  /** 0 complete, 1 pending, 2 broken. */
  state: int2,
  trace_id: bytea,
});
export type TraceRow = RowOf<typeof TRACES>;

/** An account with a transaction in a trace, and the end of the trace. */
export const TRACE_ACCOUNTS = indexTable('trace_accounts', {
  root: int8,
  account_key: int8,
  end_lt: int8,
  end_utime: uint,
});
export type TraceAccountRow = RowOf<typeof TRACE_ACCOUNTS>;

/** A message that was sent and not received yet, and the trace that it belongs to. */
export const OPEN_MESSAGES = indexTable('open_messages', { msg_hash: bytea, trace_root: int8 });

/** A message that was received and whose sender is not indexed, and the transaction that received it. */
export const ORPHAN_MESSAGES = indexTable('orphan_messages', { msg_hash: bytea, tx_id: int8 });

/** A trace that was classified into actions. */
export const CLASSIFIED_TRACES = indexTable('classified_traces', {
  root: int8,
  version: int2,
  /** 0 unclassified, 1 ok, 2 failed, 3 broken. */
  state: int2,
  external_hash: orNull(bytea),
  external_hash_norm: orNull(bytea),
});

export const ACTIONS = indexTable('actions', {
  root: int8,
  position: int4,
  layout: int2,
  ancestors: orNull(int4Array),
  end_lt: int8,
  id_key: int8,
  data: bytea,
});

/** A participant of an action. */
export const ACTION_ACCOUNTS = indexTable('action_accounts', {
  root: int8,
  account_key: int8,
  end_lt: int8,
  position: int4,
  layout: int2,
});

const account = {
  address: bytea,
  state_hash: bytea,
  /** 0 uninit, 1 active, 2 frozen, 3 nonexist. */
  status: int2,
  balance: numeric,
  extra_currencies: currencies,
  last_trans_lt: int8,
  last_trans_hash: bytea,
  mc_seqno: int4,
  gen_utime: uint,
  code_hash: orNull(bytea),
  data_hash: orNull(bytea),
  frozen_hash: orNull(bytea),
  /** Null: there is no data, it is as before (`data_hash` says so), or a part of it is not known. */
  data_boc: orNull(bytea),
} as const satisfies Columns;

export const ACCOUNTS = indexTable('accounts', {
  ...account,
  incomplete: bool,
  /** Its first transaction; null: none is indexed. */
  first_tx: orNull(int8),
});
/** An account before the merge finds out whether it is incomplete. */
export type AccountRow = Omit<RowOf<typeof ACCOUNTS>, 'incomplete'>;

/** Accounts as a batch stages them: `incomplete` is what the batch knows of it, and the merge adds the rest. */
export const STAGED_ACCOUNTS = indexTable('staged_accounts', ACCOUNTS.map);

export const STAGED_CODES = indexTable('staged_codes', {
  code_hash: bytea,
  boc: bytea,
  /** Ids of its get methods; null: not known, or it has no table of methods. */
  methods: orNull(int4Array),
  /** Whether they were looked for; not in a library reference, whose methods are those of the library. */
  methods_read: bool,
});
export type CodeRow = RowOf<typeof STAGED_CODES>;
