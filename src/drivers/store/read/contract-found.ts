import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { int8Column, mergedWalks, type WalkOrder, walk } from '#drivers/store/read/index-walk.js';
import type { IndexedContract } from '#drivers/store/read/indexed-tokens.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import { all, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';

/** Columns that all kinds of contracts have. */
export interface ContractFound {
  readonly id: bigint;
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

export const CONTRACT_FOUND = raw('t.id, t.address, t.last_trans_lt, t.code_hash, t.data_hash');

export function contractOf({ address, last_trans_lt, code_hash, data_hash }: ContractFound): IndexedContract {
  return { address: addressOfBytes(address), last_trans_lt, code_hash, data_hash };
}

export function maybeAddress(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** As contracts were found. */
export const ID = int8Column('id');
export const BY_ID: WalkOrder<ContractFound> = { columns: [ID], sort: 'asc' };

/** Addresses as they are stored, each once, sorted; undefined as it is. */
export function distinctBytes(addresses: readonly Address[] | undefined): readonly Uint8Array[] | undefined {
  if (addresses === undefined) return undefined;
  const distinct = new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)]));
  return [...distinct.values()].sort(Buffer.compare);
}

/** Rows of a table by their addresses, those that meet the conditions. */
export function byAddress(table: string, addresses: readonly Uint8Array[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${unseen(addresses, 'bytea[]')}) AS k(address) CROSS JOIN LATERAL (
      SELECT * FROM ${raw(table)} t WHERE t.address = k.address AND t.lapsed IS NULL LIMIT 1
    ) AS t WHERE ${all(conditions)}`;
}

/** That a column has one of some values. */
export function oneOf(column: string, values: readonly Uint8Array[] | undefined): Sql[] {
  return values === undefined ? [] : [sql`t.${raw(column)} = ANY(${values}::bytea[])`];
}

/** Rows by id, of a table whose contracts have an owner; null when nothing can meet the filter. */
export function ownedById(
  table: string,
  column: string,
  addresses: readonly Uint8Array[] | undefined,
  owners: readonly Uint8Array[] | undefined,
): ((stretch: Stretch) => Sql) | null {
  if (addresses?.length === 0 || owners?.length === 0) return null;
  if (addresses !== undefined) return () => byAddress(table, addresses, oneOf(column, owners));
  return ({ after, offset, count }) => {
    const stretch = { after, most: offset + count };
    if (owners === undefined) return walk(table, [[]], BY_ID, [], stretch);
    const of = (value: Sql) => walk(table, [[{ column: raw(`t.${column}`), value }]], BY_ID, [], stretch);
    return mergedWalks(owners, BY_ID, of, stretch.most);
  };
}
