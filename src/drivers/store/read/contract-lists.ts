import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type {
  ContractFound,
  ContractReader,
  IndexedInterface,
  IndexedRow,
  StoredContract,
} from '#drivers/store/read/contract-rows.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { type OrderKey, type RowWindow, readPage } from '#drivers/store/read/pages.js';
import {
  all,
  emptySql,
  type IndexSession,
  join,
  opaqueToPlanner,
  raw,
  type Sql,
  sql,
} from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** A list of rows of a contract table. */
export interface WalkedList<Row extends object> {
  /** Name and filter, to which its cursors are bound. */
  readonly name: string;
  readonly filter: object;
  /** The column that is sorted by before the order, ascending; null: none. */
  readonly first: WalkColumn<Row> | null;
  readonly order: WalkOrder<Row>;
  /**
   * Selects rows in any order, those of the window among them; null: nothing can match. Rows before the window are left out by the
   * list.
   */
  readonly source: ((window: RowWindow) => Sql | Promise<Sql>) | null;
  /** Columns of a row, in terms of `t` and its joins. */
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
      read: async (window) => {
        if (source === null) return [];
        const { after, offset, count } = window;
        const behind = first === null || after === null ? behindKey(order, after) : [behindFirst(first, order, after)];
        const limits = raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
        const statement = sql`SELECT ${columns} FROM (
            SELECT t.* FROM (${await source(window)}) AS t WHERE ${all(behind)} ORDER BY ${sorted} ${limits}
          ) AS t ${joins} ORDER BY ${sorted}`;
        return session.rows<Row>(statement, offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found,
      keyOf: (row) => key.map(({ part }) => part(row)),
    },
    page,
  );
}

/** A page of the contracts of one table. */
export async function readContracts<Interface extends IndexedInterface>(
  session: IndexSession,
  { columns, row }: ContractReader<Interface>,
  list: Pick<WalkedList<StoredContract<Interface>>, 'name' | 'filter' | 'order' | 'source'>,
  page: Page,
): Promise<Listed<IndexedRow<Interface>>> {
  const whole = { ...list, first: null, columns: raw(columns('t')), joins: emptySql };
  const { rows, next } = await readWalkedList<StoredContract<Interface>>(session, whole, page);
  return { rows: rows.map(row), next };
}

function behindFirst(first: WalkColumn, order: WalkOrder, [begun, ...rest]: OrderKey): Sql {
  const value = first.value(begun!);
  return sql`(${first.expression} > ${value} OR (${first.expression} = ${value} AND ${all(behindKey(order, rest))}))`;
}

export function addressOrNull(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** Ids follow the order of the first transactions of the contracts. */
export const BY_ID_COLUMN = int8Column('id');
export const BY_ID: WalkOrder<ContractFound> = { columns: [BY_ID_COLUMN], sort: 'asc' };

/** Distinct stored addresses. */
export function distinctAddresses(addresses: readonly Address[]): Uint8Array[] {
  return [...new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)])).values()];
}

/** Distinct stored addresses, sorted; undefined stays undefined. */
export function distinctBytes(addresses: readonly Address[] | undefined): readonly Uint8Array[] | undefined {
  return addresses && distinctAddresses(addresses).sort(Buffer.compare);
}

/** Rows of a table by address that meet the conditions. */
export function byAddress(table: string, addresses: readonly Uint8Array[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(addresses, 'bytea[]')}) AS k(address) CROSS JOIN LATERAL (
      SELECT * FROM ${raw(table)} t WHERE t.address = k.address AND t.lapsed IS NULL LIMIT 1
    ) AS t WHERE ${all(conditions)}`;
}

/** The condition that a column has one of some values. */
export function oneOf(column: string, values: readonly Uint8Array[] | undefined): Sql[] {
  return values === undefined ? [] : [sql`t.${raw(column)} = ANY(${values}::bytea[])`];
}

/** Rows by id of a table whose contracts have an owner; null when nothing can match the filter. */
export function ownedById(
  table: string,
  column: string,
  addresses: readonly Uint8Array[] | undefined,
  owners: readonly Uint8Array[] | undefined,
  order: WalkOrder<ContractFound> = BY_ID,
): ((window: RowWindow) => Sql) | null {
  if (addresses?.length === 0 || owners?.length === 0) return null;
  if (addresses !== undefined) return () => byAddress(table, addresses, oneOf(column, owners));
  return ({ after, offset, count }) => {
    const window = { after, most: offset + count };
    if (owners === undefined) return walk(table, [[]], order, [], window);
    const of = (value: Sql) => walk(table, [[{ column: raw(`t.${column}`), value }]], order, [], window);
    return mergedWalks(owners, order, of, window.most);
  };
}

/** A sort column of the table `t`. */
export interface WalkColumn<Row = never> {
  readonly expression: Sql;
  /** Its value in a row, as a part of an order key. */
  readonly part: (row: Row) => bigint;
  /** Lower and upper bound of all values. */
  readonly least: Sql;
  readonly greatest: Sql;
  /** A part of an order key as a value of the column. */
  readonly value: (part: bigint) => Sql;
}

/** A sort order: columns in one direction, the last of which is unique. */
export interface WalkOrder<Row = never> {
  readonly columns: readonly WalkColumn<Row>[];
  readonly sort: 'asc' | 'desc';
  /** True for all rows, and the predicate of the indexes with this order. Default: none. */
  readonly predicate?: Sql;
}

/** An equality on a leading column of an index. */
export interface Equal {
  readonly column: Sql;
  readonly value: Sql;
}

/** Where to start and how many rows to take. */
export interface WalkWindow {
  readonly after: OrderKey | null;
  readonly most: number;
}

/** Bits of the parts of order keys: enough for an address with a leading digit and all integers of contracts. */
const WALK_KEY_BITS = 400;

/** Bytes as a part of an order key; a leading digit 1 keeps zeros. */
export function keyOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes).toString('hex')}`);
}

/** The inverse of {@link keyOfBytes}. */
export function bytesOfKey(part: bigint): Uint8Array {
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

/** Stands for no address in the indexes: above all addresses. */
const NO_ADDRESS = new Uint8Array(33).fill(0xff);
const NO_ADDRESS_TEXT = `'\\x${Buffer.from(NO_ADDRESS).toString('hex')}'::bytea`;

/** Rows without an address come last. */
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
 * A `SELECT` of the rows of a table that are not superseded, in order. An index starts with the columns of one of the branches,
 * followed by those of the order; rows of several branches are merged.
 *
 * Conditions are row comparisons, sorted by all columns of the index: with `owner = …` the planner assumes an average owner and
 * sorts the millions of rows of a large one. Where several indexes start with the same column, the predicate selects the one that
 * needs no sort.
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

/** The same for several keys, merged in order. @param rows the rows of a key */
export function mergedWalks(keys: readonly Uint8Array[], order: WalkOrder, rows: (key: Sql) => Sql, most: number): Sql {
  if (keys.length === 1) return rows(sql`${keys[0]}::bytea`);
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(keys, 'bytea[]')}) AS k(key) CROSS JOIN LATERAL (${rows(raw('k.key'))}) AS t
    ORDER BY ${orderedBy(order)} LIMIT ${raw(most)}`;
}

/**
 * The same for several keys, one after the other: keys after the first `most` rows are not searched.
 *
 * @param after order key of the last row, whose first part is its key here
 */
export function successiveWalks(
  keys: readonly Uint8Array[],
  order: WalkOrder,
  rows: (key: Sql, window: WalkWindow) => Sql,
  { after, most }: WalkWindow,
): Sql {
  const begun = after?.[0] == null ? null : bytesOfKey(after[0]);
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

/** The condition for rows after an order key. */
function behindKey(order: WalkOrder, after: OrderKey | null): Sql[] {
  if (after === null) return [];
  const columns = order.columns.map(({ expression }) => expression);
  return [sql`${row(columns)} ${raw(order.sort === 'asc' ? '>' : '<')} ${row(valuesOf(order, after))}`];
}

function orderedBy({ columns, sort }: WalkOrder): Sql {
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
