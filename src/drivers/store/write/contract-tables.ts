import pg, { type ClientBase } from 'pg';
import type { ColumnType } from '#domain/contracts/kinds/contract-kind.js';
import { copyBinary } from '#drivers/store/copy.js';
import { CopyRows } from '#drivers/store/copy-rows.js';
import { addressBytes } from '#drivers/store/keys.js';
import { type ColumnValue, copyValue } from '#drivers/store/write/contract-values.js';
import { realOwner } from '#drivers/store/write/real-owners.js';
import type { Address } from '#formats/address/address.js';

/** The state of an account that a row was read from. */
export interface ContractState {
  readonly address: Address;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

/** A table of contracts of one kind: its name, and the columns that are the kind's own. */
export interface ContractTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
}

/** A row of such a table. */
export interface StatedRow {
  readonly state: ContractState;
  readonly values: Readonly<Record<string, ColumnValue>>;
}

const STATE_COLUMNS = ['address', 'last_trans_lt', 'mc_seqno', 'code_hash', 'data_hash'] as const;

/** Where rows wait to be taken over: a table of the session. */
export function stagingTable(table: string): string {
  return `staged_${table}`;
}

/**
 * Copies rows to the staging table, which was empty, and takes them over: new ones in the order of (last_trans_lt, address),
 * which their ids follow; known ones unless what is known is newer, or the same.
 *
 * @returns addresses of the rows that are new or have changed
 */
export async function mergeRows(
  client: ClientBase,
  table: ContractTable,
  rows: readonly StatedRow[],
): Promise<readonly Uint8Array[]> {
  const own = Object.entries(table.columns);
  const staged = pg.escapeIdentifier(stagingTable(table.name));
  const columns = [...STATE_COLUMNS, ...own.map(([name]) => name)];
  const names = columns.map(pg.escapeIdentifier).join(', ');
  await client.query(
    `CREATE TEMP TABLE IF NOT EXISTS ${staged} AS SELECT ${names} FROM ${pg.escapeIdentifier(table.name)} WITH NO DATA`,
  );
  const encoded = new CopyRows(rows.length * 512);
  for (const { state, values } of rows) {
    encoded.row(columns.length);
    encoded.bytea(addressBytes(state.address));
    encoded.int8(state.last_trans_lt);
    encoded.int4(state.mc_seqno);
    encoded.bytea(state.code_hash);
    encoded.bytea(state.data_hash);
    for (const [name, type] of own) copyValue(encoded, type, values[name] ?? null);
  }
  await copyBinary(client, stagingTable(table.name), columns, [encoded.finish()]);
  const merged = await client.query<{ address: Uint8Array }>(mergeText(table.name, staged, columns));
  return merged.rows.map(({ address }) => address);
}

/** Empties the staging table, for who writes once more in the same transaction. */
export async function clearStaged(client: ClientBase, table: string): Promise<void> {
  await client.query(`TRUNCATE ${pg.escapeIdentifier(stagingTable(table))}`);
}

function mergeText(table: string, staged: string, columns: readonly string[]): string {
  const derived = DERIVED[table] ?? {};
  const all = [...columns, ...Object.keys(derived)].map(pg.escapeIdentifier);
  const values = [...columns.map((name) => `s.${pg.escapeIdentifier(name)}`), ...Object.values(derived)];
  const rest = [...all.slice(1), 'lapsed'];
  return `
    INSERT INTO ${pg.escapeIdentifier(table)} AS known (${all.join(', ')})
    SELECT ${values.join(', ')} FROM ${staged} s ORDER BY s.last_trans_lt, s.address
    ON CONFLICT (address) DO UPDATE SET ${rest.map((name) => `${name} = excluded.${name}`).join(', ')}
    WHERE known.last_trans_lt <= excluded.last_trans_lt
      AND (${rest.map((name) => `known.${name}`).join(', ')})
        IS DISTINCT FROM (${rest.map((name) => `excluded.${name}`).join(', ')})
    RETURNING known.address`;
}

/** Columns that are told by other tables, by table; in terms of the staged row `s`. */
const DERIVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nft_items: { real_owner: realOwner('s') },
};
