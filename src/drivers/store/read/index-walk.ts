import type { OrderKey } from '#drivers/store/read/cursor.js';
import { all, join, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';

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
export interface WalkStretch {
  readonly after: OrderKey | null;
  readonly most: number;
}

/** Bits of the parts of keys: an address with a digit in front, and all integers of contracts. */
export const WALK_KEY_BITS = 400;

/** Bytes as a part of a key; a first digit 1 keeps zeros. */
function keyOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes).toString('hex')}`);
}

function bytesOfKey(part: bigint): Uint8Array {
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
    part: (row) => keyOfBytes(row[name] ?? NO_ADDRESS),
    least: raw(`'\\x'::bytea`),
    greatest: raw(NO_ADDRESS_TEXT),
    value: (part) => sql`${bytesOfKey(part)}::bytea`,
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
  { after, most }: WalkStretch,
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
  return sql`SELECT t.* FROM unnest(${unseen(keys, 'bytea[]')}) AS k(key) CROSS JOIN LATERAL (${rows(raw('k.key'))}) AS t
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
  rows: (key: Sql, stretch: WalkStretch) => Sql,
  { after, most }: WalkStretch,
): Sql {
  const begun = after?.[0] == null ? null : bytesOfKey(after[0]);
  const rest = begun === null ? keys : keys.filter((key) => Buffer.compare(key, begun) > 0);
  const others = sql`SELECT t.*, k.key AS walk_key FROM (
      SELECT k.key FROM unnest(${unseen(rest, 'bytea[]')}) AS k(key) ORDER BY k.key
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
