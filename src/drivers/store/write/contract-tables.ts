import type { ClientBase } from 'pg';
import pg from 'pg';
import {
  type ColumnKind,
  type ColumnType,
  type ColumnTypes,
  type ColumnValues,
  columnKind,
} from '#domain/contracts/contract-interface.js';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import { addressBytes, listedLast } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';

/** The account state that a row was read from. */
export interface ContractSourceState {
  readonly address: Address;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

/** The table of a contract interface: its name and its own columns. */
export interface ContractTable {
  readonly name: string;
  readonly columns: ColumnTypes;
}

/** A row of such a table. */
export interface ContractTableRow {
  readonly state: ContractSourceState;
  readonly values: Readonly<Record<string, ColumnValue>>;
}

const STATE_COLUMNS = ['address', 'last_trans_lt', 'mc_seqno', 'code_hash', 'data_hash'] as const;

/** Name of the staging table, which is temporary. */
export function stagingTable(table: string): string {
  return `staged_${table}`;
}

/**
 * Copies rows to the empty staging table and merges them: known ones unless the known row is newer or equal. Ids are the first
 * transactions of the accounts.
 *
 * @returns addresses of new and changed rows
 */
export async function mergeRows(
  client: ClientBase,
  table: ContractTable,
  rows: readonly ContractTableRow[],
): Promise<readonly Uint8Array[]> {
  const own = Object.entries(table.columns).map(([name, type]) => [name, FORMS[columnKind(type)]] as const);
  const staged = pg.escapeIdentifier(stagingTable(table.name));
  const columns = ['id', ...STATE_COLUMNS, ...own.map(([name]) => name)];
  const names = columns.map(pg.escapeIdentifier).join(', ');
  await client.query(
    `CREATE TEMP TABLE IF NOT EXISTS ${staged} AS SELECT ${names} FROM ${pg.escapeIdentifier(table.name)} WITH NO DATA`,
  );
  const encoded = new CopyRows(rows.length * 512);
  for (const { state, values } of rows) {
    encoded.row(columns.length);
    const address = addressBytes(state.address);
    encoded.int8(listedLast(address));
    encoded.bytea(address);
    encoded.int8(state.last_trans_lt);
    encoded.int4(state.mc_seqno);
    encoded.bytea(state.code_hash);
    encoded.bytea(state.data_hash);
    for (const [name, form] of own) (form as ColumnForm<ColumnKind>).copy(encoded, values[name] ?? null);
  }
  await copyBinary(client, stagingTable(table.name), columns, [encoded.finish()]);
  const merged = await client.query<{ address: Uint8Array }>(mergeText(table.name, staged, columns));
  return merged.rows.map(({ address }) => address);
}

/** Empties the staging table for another merge in the same transaction. */
export async function clearStaged(client: ClientBase, table: string): Promise<void> {
  await client.query(`TRUNCATE ${pg.escapeIdentifier(stagingTable(table))}`);
}

/** The id of the staged row `s`. */
const FIRST = 'coalesce((SELECT a.first_tx FROM accounts a WHERE a.address = s.address), s.id)';

function mergeText(table: string, staged: string, columns: readonly string[]): string {
  const derived = DERIVED[table] ?? {};
  const all = [...columns, ...Object.keys(derived)].map(pg.escapeIdentifier);
  const values = [
    FIRST,
    ...columns.slice(1).map((name) => `s.${pg.escapeIdentifier(name)}`),
    ...Object.values(derived),
  ];
  const rest = [...all.filter((name) => name !== '"address"'), 'lapsed'];
  return `
    INSERT INTO ${pg.escapeIdentifier(table)} AS known (${all.join(', ')})
    SELECT ${values.join(', ')} FROM ${staged} s ORDER BY s.address
    ON CONFLICT (address) DO UPDATE SET ${rest.map((name) => `${name} = excluded.${name}`).join(', ')}
    WHERE known.last_trans_lt <= excluded.last_trans_lt
      AND (${rest.map((name) => `known.${name}`).join(', ')})
        IS DISTINCT FROM (${rest.map((name) => `excluded.${name}`).join(', ')})
    RETURNING known.address`;
}

/** A value of a column of a contract table. */
export type ColumnValue = ColumnValues[ColumnKind] | null;

interface ColumnForm<Kind extends ColumnKind> {
  /** Whether the column can hold the value: contracts return integers of 257 bits. Absent: any value of the type. */
  readonly holds?: (value: ColumnValues[Kind]) => boolean;
  readonly copy: (rows: CopyRows, value: ColumnValues[Kind] | null) => void;
}

const MIN_INT8 = -(1n << 63n);
const MAX_INT8 = (1n << 63n) - 1n;

const FORMS: { readonly [Kind in ColumnKind]: ColumnForm<Kind> } = {
  address: { copy: (rows, value) => rows.bytea(value === null ? null : addressBytes(value)) },
  addresses: { copy: (rows, value) => rows.byteaArray(value === null ? null : value.map(addressBytes)) },
  bytea: { copy: (rows, value) => rows.bytea(value) },
  boc: { copy: (rows, value) => rows.bytea(value === null ? null : serializeBoc(value)) },
  numeric: { copy: (rows, value) => rows.numeric(value) },
  int8: {
    holds: (value) =>
      typeof value === 'bigint' ? value >= MIN_INT8 && value <= MAX_INT8 : Number.isSafeInteger(value),
    copy: (rows, value) => rows.int8(value),
  },
  int4: { holds: (value) => (value | 0) === value, copy: (rows, value) => rows.int4(value) },
  boolean: { copy: (rows, value) => rows.bool(value) },
  text: { copy: (rows, value) => rows.text(value === null ? null : storableText(value)) },
  jsonb: { copy: (rows, value) => rows.jsonb(value === null ? null : storableJson(value)) },
};

/** Whether a column of this type can hold the value. */
export function holdsValue(type: ColumnType, value: ColumnValue): boolean {
  const { holds } = FORMS[columnKind(type)] as ColumnForm<ColumnKind>;
  return value === null || holds === undefined || holds(value);
}

/** PostgreSQL cannot store U+0000. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** As {@link storableText}, for all texts in JSON; jsonb refuses unpaired surrogates as well. */
function storableJson(json: string): string {
  return /\\u(?:0000|d[89a-f])/i.test(json) ? JSON.stringify(storableValue(JSON.parse(json))) : json;
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value).replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableValue(key) as string, storableValue(inner)]),
  );
}

/** Tables of contracts that own an item while it is on sale. They are written before the items. */
export const SALE_TABLES: readonly string[] = ['nft_sales', 'nft_auctions'];

/** Columns computed from other tables, by table; in terms of the staged row `s`. */
const DERIVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nft_items: { real_owner: realOwner('s') },
};

/** The owner that the sale or auction which owns an item names; else the owner. @param item alias of its row in SQL */
function realOwner(item: string): string {
  const sellers = SALE_TABLES.map(
    (table) =>
      `(SELECT x.nft_owner FROM ${table} x WHERE x.address = ${item}.owner AND x.nft = ${item}.address AND x.lapsed IS NULL)`,
  );
  return `coalesce(${sellers.join(', ')}, ${item}.owner)`;
}

/** The items of sales and auctions, given by address. */
export async function itemsOfSales(
  client: ClientBase,
  addresses: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  if (addresses.length === 0) return [];
  const { rows } = await client.query<{ nft: Uint8Array }>({
    name: 'items-of-sales',
    text: SALE_TABLES.map(
      (table) => `SELECT nft FROM ${table} WHERE address = ANY($1::bytea[]) AND nft IS NOT NULL`,
    ).join(' UNION '),
    values: [addresses],
  });
  return rows.map(({ nft }) => nft);
}

/** Recomputes the real owners of items. @returns how many changed */
export async function setRealOwners(client: ClientBase, items: readonly Uint8Array[]): Promise<number> {
  if (items.length === 0) return 0;
  const { rowCount } = await client.query({
    name: 'set-real-owners',
    text: `UPDATE nft_items i SET real_owner = ${realOwner('i')}
           WHERE i.address = ANY($1::bytea[]) AND i.real_owner IS DISTINCT FROM ${realOwner('i')}`,
    values: [items],
  });
  return rowCount ?? 0;
}
