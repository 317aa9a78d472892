import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { IndexedContract, Listed, Page } from '#drivers/store/read/index-types.js';
import { type OrderKey, type RowWindow, readPage } from '#drivers/store/read/pages.js';
import { all, type IndexSession, join, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** A list of rows of a table. */
export interface WalkedList<Row extends object> {
  /** Name and filter: what its cursors are of. */
  readonly name: string;
  readonly filter: object;
  /** What it is sorted by first, rising; null: nothing else than the order. */
  readonly first: WalkColumn<Row> | null;
  readonly order: WalkOrder<Row>;
  /**
   * Rows of the table, in any order, with the first of the stretch among them; null: none can be. Rows before the stretch are
   * left out here.
   */
  readonly source: ((stretch: RowWindow) => Sql | Promise<Sql>) | null;
  /** Columns of a row, in terms of `t` and what is joined to it. */
  readonly columns: Sql;
  readonly joins: Sql;
}

/** A page of the list. */
export async function readWalkedList<Row extends object>(
  session: IndexSession,
  { name, filter, first, order, source, columns, joins }: WalkedList<Row>,
  page: Page,
): Promise<Listed<Row>> {
  const key = first === null ? order.columns : [first, ...order.columns];
  const sorted = first === null ? orderedBy(order) : sql`${first.expression}, ${orderedBy(order)}`;
  return readPage<Row, Row>(
    {
      name,
      filter,
      keyParts: key.length,
      keyBits: WALK_KEY_BITS,
      read: async (stretch) => {
        if (source === null) return [];
        const { after, offset, count } = stretch;
        const behind = first === null || after === null ? behindKey(order, after) : [behindFirst(first, order, after)];
        const limits = raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
        const statement = sql`SELECT ${columns} FROM (
            SELECT t.* FROM (${await source(stretch)}) AS t WHERE ${all(behind)} ORDER BY ${sorted} ${limits}
          ) AS t ${joins} ORDER BY ${sorted}`;
        return session.rows<Row>(statement, offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found,
      keyOf: (row) => key.map(({ part }) => part(row)),
    },
    page,
  );
}

function behindFirst(first: WalkColumn, order: WalkOrder, [begun, ...rest]: OrderKey): Sql {
  const value = first.value(begun!);
  return sql`(${first.expression} > ${value} OR (${first.expression} = ${value} AND ${all(behindKey(order, rest))}))`;
}

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

export function addressOrNull(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** As contracts were found. */
export const BY_ID_COLUMN = int8Column('id');
export const BY_ID: WalkOrder<ContractFound> = { columns: [BY_ID_COLUMN], sort: 'asc' };

/** Addresses as they are stored, each once, sorted; undefined as it is. */
export function distinctBytes(addresses: readonly Address[] | undefined): readonly Uint8Array[] | undefined {
  if (addresses === undefined) return undefined;
  const distinct = new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)]));
  return [...distinct.values()].sort(Buffer.compare);
}

/** Rows of a table by their addresses, those that meet the conditions. */
export function byAddress(table: string, addresses: readonly Uint8Array[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(addresses, 'bytea[]')}) AS k(address) CROSS JOIN LATERAL (
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
): ((stretch: RowWindow) => Sql) | null {
  if (addresses?.length === 0 || owners?.length === 0) return null;
  if (addresses !== undefined) return () => byAddress(table, addresses, oneOf(column, owners));
  return ({ after, offset, count }) => {
    const stretch = { after, most: offset + count };
    if (owners === undefined) return walk(table, [[]], BY_ID, [], stretch);
    const of = (value: Sql) => walk(table, [[{ column: raw(`t.${column}`), value }]], BY_ID, [], stretch);
    return mergedWalks(owners, BY_ID, of, stretch.most);
  };
}

/** What rows of the table `t` are sorted by. */
export interface WalkColumn<Row = never> {
  readonly expression: Sql;
  /** Its value in a row, as a part of a key. */
  readonly part: (row: Row) => bigint;
  /** No value is below and none above these. */
  readonly least: Sql;
  readonly greatest: Sql;
  /** A part of the key of a row as a value of the column. */
  readonly value: (part: bigint) => Sql;
}

/** How a list is sorted: by columns in one direction, the last of which tells rows apart that are equal in the others. */
export interface WalkOrder<Row = never> {
  readonly columns: readonly WalkColumn<Row>[];
  readonly sort: 'asc' | 'desc';
  /** Holds for all rows, and is the predicate of the indexes that have this order. Default: none. */
  readonly predicate?: Sql;
}

/** What a leading column of an index is equal to. */
export interface Equal {
  readonly column: Sql;
  readonly value: Sql;
}

/** Where to begin and how many rows to take. */
export interface WalkWindow {
  readonly after: OrderKey | null;
  readonly most: number;
}

/** Bits of the parts of keys: an address with a digit in front, and all integers of contracts. */
export const WALK_KEY_BITS = 400;

/** Bytes as a part of a key; a first digit 1 keeps zeros. */
function walkKeyOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes).toString('hex')}`);
}

function bytesOfWalkKey(part: bigint): Uint8Array {
  return Buffer.from(part.toString(16).slice(1), 'hex');
}

export function int8Column<Name extends string>(name: Name): WalkColumn<Readonly<Record<Name, bigint>>> {
  return {
    expression: raw(`t.${name}`),
    part: (row) => row[name],
    least: raw(`'${-(1n << 63n)}'::bigint`),
    greatest: raw(`'${(1n << 63n) - 1n}'::bigint`),
    value: (part) => sql`${BigInt.asIntN(64, part)}::bigint`,
  };
}

/** @param least of integers */
export function numericColumn<Name extends string>(
  name: Name,
  least = '-Infinity',
): WalkColumn<Readonly<Record<Name, bigint>>> {
  return {
    expression: raw(`t.${name}`),
    part: (row) => row[name],
    least: raw(`'${least}'::numeric`),
    greatest: raw(`'Infinity'::numeric`),
    value: (part) => sql`${part}::numeric`,
  };
}

/** Above all addresses, as the indexes have it where there is none. */
const NO_ADDRESS = new Uint8Array(33).fill(0xff);
const NO_ADDRESS_TEXT = `'\\x${Buffer.from(NO_ADDRESS).toString('hex')}'::bytea`;

/** Rows without such an address come last. */
export function addressColumn<Name extends string>(
  name: Name,
  has: 'always' | 'perhaps',
): WalkColumn<Readonly<Record<Name, Uint8Array | null>>> {
  return {
    expression: raw(has === 'always' ? `t.${name}` : `coalesce(t.${name}, ${NO_ADDRESS_TEXT})`),
    part: (row) => walkKeyOfBytes(row[name] ?? NO_ADDRESS),
    least: raw(`'\\x'::bytea`),
    greatest: raw(NO_ADDRESS_TEXT),
    value: (part) => sql`${bytesOfWalkKey(part)}::bytea`,
  };
}

/**
 * Rows of a table that are not lapsed, in their order, as a `SELECT`. An index has first the columns of one of the branches
 * and then those of the order; the rows of several branches are merged.
 *
 * Everything is a comparison of rows, and sorted by all columns of the index: with `owner = …` the planner takes each owner for
 * one like the others, and sorts the millions of rows of a great one. And where several indexes begin with the same column, the
 * predicate leaves the one that need not be sorted.
 */
export function walk(
  table: string,
  branches: readonly (readonly Equal[])[],
  order: WalkOrder,
  conditions: readonly Sql[],
  { after, most }: WalkWindow,
): Sql {
  const predicate = order.predicate === undefined ? [] : [order.predicate];
  const parts = branches.map((equal) => {
    const sorted = [...equal.map(({ column }) => column), ...order.columns.map(({ expression }) => expression)];
    return sql`SELECT t.* FROM ${raw(table)} t
      WHERE ${all([raw('t.lapsed IS NULL'), ...predicate, ...rangeOf(equal, order, after), ...conditions])}
      ORDER BY ${directed(sorted, order.sort)} LIMIT ${raw(most)}`;
  });
  if (parts.length === 1) return parts[0]!;
  const union = join(
    parts.map((part) => sql`(${part})`),
    ' UNION ALL ',
  );
  return sql`SELECT t.* FROM (${union}) AS t ORDER BY ${orderedBy(order)} LIMIT ${raw(most)}`;
}

/** The same for each of several keys, merged by the order. @param rows by the key */
export function mergedWalks(keys: readonly Uint8Array[], order: WalkOrder, rows: (key: Sql) => Sql, most: number): Sql {
  if (keys.length === 1) return rows(sql`${keys[0]}::bytea`);
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(keys, 'bytea[]')}) AS k(key) CROSS JOIN LATERAL (${rows(raw('k.key'))}) AS t
    ORDER BY ${orderedBy(order)} LIMIT ${raw(most)}`;
}

/**
 * The same for each of several keys, one after the other: keys behind the first `most` rows are not looked for.
 *
 * @param after key of the last row before, whose first part is its key here
 */
export function successiveWalks(
  keys: readonly Uint8Array[],
  order: WalkOrder,
  rows: (key: Sql, stretch: WalkWindow) => Sql,
  { after, most }: WalkWindow,
): Sql {
  const begun = after?.[0] == null ? null : bytesOfWalkKey(after[0]);
  const rest = begun === null ? keys : keys.filter((key) => Buffer.compare(key, begun) > 0);
  const others = sql`SELECT t.*, k.key AS walk_key FROM (
      SELECT k.key FROM unnest(${opaqueToPlanner(rest, 'bytea[]')}) AS k(key) ORDER BY k.key
    ) AS k CROSS JOIN LATERAL (${rows(raw('k.key'), { after: null, most })}) AS t
    ORDER BY k.key, ${orderedBy(order)} LIMIT ${raw(most)}`;
  if (begun === null) return others;
  const first = rows(sql`${begun}::bytea`, { after: after!.slice(1), most });
  return sql`SELECT t.* FROM (
      (SELECT t.*, ${begun}::bytea AS walk_key FROM (${first}) AS t) UNION ALL (${others})
    ) AS t ORDER BY t.walk_key, ${orderedBy(order)} LIMIT ${raw(most)}`;
}

/** What stands behind a row in the order. */
export function behindKey(order: WalkOrder, after: OrderKey | null): Sql[] {
  if (after === null) return [];
  const columns = order.columns.map(({ expression }) => expression);
  return [sql`${row(columns)} ${raw(order.sort === 'asc' ? '>' : '<')} ${row(valuesOf(order, after))}`];
}

export function orderedBy({ columns, sort }: WalkOrder): Sql {
  return directed(
    columns.map(({ expression }) => expression),
    sort,
  );
}

function rangeOf(equal: readonly Equal[], order: WalkOrder, after: OrderKey | null): Sql[] {
  const { columns, sort } = order;
  const values = equal.map(({ value }) => value);
  const first = columns[0]!;
  const edge = (compare: string, bound: Sql) =>
    sql`${row([...equal.map(({ column }) => column), first.expression])} ${raw(compare)} ${row([...values, bound])}`;
  const [from, to] = [edge('>=', first.least), edge('<=', first.greatest)];
  if (after === null) return [from, to];
  const every = [...equal.map(({ column }) => column), ...columns.map(({ expression }) => expression)];
  const behind = sql`${row(every)} ${raw(sort === 'asc' ? '>' : '<')} ${row([...values, ...valuesOf(order, after)])}`;
  return sort === 'asc' ? [behind, to] : [from, behind];
}

function valuesOf({ columns }: WalkOrder, after: OrderKey): Sql[] {
  return columns.map(({ value }, i) => value(after[i]!));
}

function row(columns: readonly Sql[]): Sql {
  return columns.length === 1 ? columns[0]! : sql`(${join(columns, ', ')})`;
}

function directed(columns: readonly Sql[], sort: 'asc' | 'desc'): Sql {
  return join(
    columns.map((column) => sql`${column} ${raw(sort)}`),
    ', ',
  );
}

export function maybeAddress(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** Addresses as they are stored, each once. */
export function distinctAddresses(addresses: readonly Address[]): Uint8Array[] {
  return [...new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)])).values()];
}

/** Rows of a table by their primary key, whatever the planner thinks of the number of addresses. */
export function rowsAt(table: string, addresses: readonly Address[]): Sql {
  return sql`unnest(${opaqueToPlanner(distinctAddresses(addresses), 'bytea[]')}) AS k(address)
    CROSS JOIN LATERAL (SELECT * FROM ${raw(table)} r WHERE r.address = k.address LIMIT 1)`;
}

/** Bytes as a part of a cursor; a first digit 1 keeps zeros. */
export function keyOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes).toString('hex')}`);
}

/** The opposite of {@link keyOfBytes}. */
export function bytesOfKey(key: bigint): Uint8Array {
  return Buffer.from(key.toString(16).slice(1), 'hex');
}
