import { storeErrors } from '#drivers/store/errors.js';
import { firstIdOf } from '#drivers/store/keys.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { all, type IndexSession, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { sha256 } from '#formats/cells/digests.js';
import { bytesEqual, fromBase64, toBase64Url, toHex } from '#kernel/bytes.js';

/** Which rows of an ordered list to read next. */
export interface RowWindow {
  /** Begin behind this row; null: at the first. */
  readonly after: OrderKey | null;
  /** Leave out so many. */
  readonly offset: number;
  /** Read so many, or as many as there are. */
  readonly count: number;
}

/** An ordered list in the database. */
export interface KeysetList<Found, Row> {
  /** Name, filter and key of the list: what its cursors are of. */
  readonly name: string;
  readonly filter: object;
  readonly keyParts: number;
  /** Bits of a part of the key. Default: 64. */
  readonly keyBits?: number;
  /** The first part of a key may be null. */
  readonly keyHasNull?: boolean;
  read(stretch: RowWindow): Promise<readonly Found[]>;
  /** Of what was found, what is meant: each with its row, or null for a wrong hit. */
  check(found: readonly Found[]): Promise<readonly (Row | null)[]> | readonly (Row | null)[];
  keyOf(found: Found): OrderKey;
}

/** A page of the list. What turns out as a wrong hit is replaced by what comes behind. */
export async function readPage<Found, Row>(list: KeysetList<Found, Row>, page: Page): Promise<Listed<Row>> {
  const digest = queryDigest(list.name, list.filter, page.sort);
  const form = { parts: list.keyParts, bits: list.keyBits ?? 64, hasNull: list.keyHasNull ?? false };
  let after = page.cursor === null ? null : decodeCursor(digest, page.cursor, form);
  let offset = page.cursor === null ? page.offset : 0;
  const rows: Row[] = [];
  let last: OrderKey | null = null;
  // One more than is wanted tells whether there is a page behind.
  for (let more = true; more && rows.length <= page.limit; offset = 0) {
    const count = page.limit + 1 - rows.length;
    const found = await list.read({ after, offset, count });
    const checked = await list.check(found);
    for (const [i, row] of checked.entries()) {
      if (row === null) continue;
      rows.push(row);
      if (rows.length === page.limit) last = list.keyOf(found[i]!);
    }
    more = found.length === count;
    if (more) after = list.keyOf(found[count - 1]!);
  }
  if (rows.length <= page.limit || last === null) return { rows, next: null };
  return { rows: rows.slice(0, page.limit), next: encodeCursor(digest, last) };
}

/** The place of a row in its order: all that it is sorted by, and what tells rows apart that are equal in it. */
export type OrderKey = readonly (bigint | null)[];

const DIGEST_BYTES = 8;
const encoder = new TextEncoder();

/** Tells queries apart: which list, its filter and its direction. */
export function queryDigest(list: string, filter: object, sort: string): Uint8Array {
  const text = JSON.stringify([list, sort, Object.entries(filter).sort(byName)], plain);
  return sha256(encoder.encode(text)).slice(0, DIGEST_BYTES);
}

/** The cursor for what stands behind a row. */
export function encodeCursor(digest: Uint8Array, key: OrderKey): string {
  const text = encoder.encode(key.map((part) => (part === null ? '' : part.toString(36))).join(','));
  const bytes = new Uint8Array(DIGEST_BYTES + text.length);
  bytes.set(digest);
  bytes.set(text, DIGEST_BYTES);
  return toBase64Url(bytes);
}

/** What keys of a list are like. */
export interface KeyForm {
  /** How many parts they have. */
  readonly parts: number;
  /** What a part fits into, signed. */
  readonly bits: number;
  /** Whether the first part may be null. */
  readonly hasNull: boolean;
}

/** @throws store/cursor */
export function decodeCursor(digest: Uint8Array, cursor: string, { parts, bits, hasNull }: KeyForm): OrderKey {
  const bytes = cursor.length > 1000 ? null : fromBase64(cursor);
  if (bytes === null || bytes.length <= DIGEST_BYTES) throw storeErrors.cursor({ problem: 'is not one' });
  if (!bytesEqual(bytes.subarray(0, DIGEST_BYTES), digest)) {
    throw storeErrors.cursor({ problem: 'belongs to another query' });
  }
  const texts = Buffer.from(bytes.subarray(DIGEST_BYTES)).toString('latin1').split(',');
  if (texts.length !== parts) throw storeErrors.cursor({ problem: 'is not one' });
  const key = texts.map((text) => parsePart(text, bits));
  if (key.some((part, i) => part === null && (i > 0 || !hasNull))) throw storeErrors.cursor({ problem: 'is not one' });
  return key;
}

function parsePart(text: string, bits: number): bigint | null {
  if (text === '') return null;
  if (!/^-?[0-9a-z]{1,80}$/.test(text)) throw storeErrors.cursor({ problem: 'is not one' });
  let value = 0n;
  for (const digit of text.replace('-', '')) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  if (text.startsWith('-')) value = -value;
  if (BigInt.asIntN(bits, value) !== value) throw storeErrors.cursor({ problem: 'is not one' });
  return value;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Bytes as hexadecimal, whatever kind of array they are. */
function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const given = this[key];
  if (given instanceof Uint8Array) return toHex(given);
  return typeof value === 'bigint' ? value.toString() : value;
}

/** A range of logical time, of unix time, and of ids; both ends belong to it. Undefined: no end. */
export interface TimeRange {
  readonly start_lt?: bigint | undefined;
  readonly end_lt?: bigint | undefined;
  readonly start_utime?: number | undefined;
  readonly end_utime?: number | undefined;
}

interface ClockRow {
  readonly lt: bigint | null;
  readonly utime: bigint | null;
  readonly id: bigint | null;
}

export function hasTime(bounds: TimeRange): boolean {
  return bounds.start_utime !== undefined || bounds.end_utime !== undefined;
}

export function hasLt(bounds: TimeRange): boolean {
  return bounds.start_lt !== undefined || bounds.end_lt !== undefined;
}

/** The conditions of the bounds on two columns. */
export function withinTimeRange(bounds: TimeRange, lt: Sql, utime: Sql): Sql[] {
  const { start_lt, end_lt, start_utime, end_utime } = bounds;
  const conditions: Sql[] = [];
  if (start_lt !== undefined) conditions.push(sql`${lt} >= ${start_lt}::bigint`);
  if (end_lt !== undefined) conditions.push(sql`${lt} <= ${end_lt}::bigint`);
  if (start_utime !== undefined) conditions.push(sql`${utime} >= ${start_utime}::bigint`);
  if (end_utime !== undefined) conditions.push(sql`${utime} <= ${end_utime}::bigint`);
  return conditions;
}

/** Most that a column of logical time holds: 2^63 - 1. What is asked for above is above all. */
const MOST_LT = (1n << 63n) - 1n;

/** Bounds that the columns can be compared with. */
export function storableTimeRange(bounds: TimeRange): TimeRange {
  const clamp = (lt: bigint | undefined) => (lt === undefined || lt <= MOST_LT ? lt : MOST_LT);
  const { start_utime, end_utime } = bounds;
  return { start_lt: clamp(bounds.start_lt), end_lt: clamp(bounds.end_lt), start_utime, end_utime };
}

/**
 * Says bounds of logical time in unix time as well, and the other way round, so that an index by one of them serves both.
 * Exact: nothing within the bounds that were given is outside of those that are added.
 *
 * What makes it so: every block descends from one of the newest blocks of the shards (*tops*) of any masterchain block before
 * the one that commits it; neither its times nor its logical times are below theirs. And no block is newer, by either, than
 * the masterchain block that commits it.
 */
export async function translateTimeRange(session: IndexSession, bounds: TimeRange): Promise<TimeRange> {
  const { start_lt, end_lt, start_utime, end_utime } = bounds;
  const asked: Sql[] = [];
  if (start_lt !== undefined)
    asked.push(
      lowerClock('start_lt', sql`b.start_lt <= ${start_lt}::bigint AND b.end_lt <= ${start_lt}::bigint`, 'start_lt'),
    );
  if (start_utime !== undefined)
    asked.push(lowerClock('start_utime', sql`b.gen_utime < ${start_utime}::bigint`, 'gen_utime'));
  if (end_lt !== undefined)
    asked.push(
      upperClock('end_lt', sql`b.start_lt > ${end_lt}::bigint`, 'start_lt', sql`t.end_lt > ${end_lt}::bigint`),
    );
  if (end_utime !== undefined) {
    asked.push(
      upperClock(
        'end_utime',
        sql`b.gen_utime > ${end_utime}::bigint`,
        'gen_utime',
        sql`t.gen_utime > ${end_utime}::bigint`,
      ),
    );
  }
  if (asked.length === 0) return bounds;
  const found = await session.rows<ClockRow & { bound: string }>(
    asked.reduce((before, next) => sql`${before} UNION ALL ${next}`),
  );
  let result = bounds;
  for (const { bound, lt, utime } of found) {
    if (lt === null || utime === null) continue;
    result = bound.startsWith('start')
      ? { ...result, start_lt: larger(result.start_lt, lt), start_utime: larger(result.start_utime, Number(utime)) }
      : { ...result, end_lt: smaller(result.end_lt, lt), end_utime: smaller(result.end_utime, Number(utime)) };
  }
  return result;
}

/** Tops of the masterchain block `m`, which is one of them. No row when one is not indexed. */
const TOPS = raw(`
  SELECT min(t.end_lt) AS lt, min(t.gen_utime) AS utime, count(*) AS tops
  FROM generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
  CROSS JOIN LATERAL (
    SELECT b.end_lt, b.gen_utime FROM blocks b
    WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1] AND b.seqno = m.shard_tops[n + 2]::integer
    LIMIT 1
  ) AS t`);

/** The newest masterchain block before a moment: all that is at or behind the moment descends from its tops. */
function lowerClock(bound: string, before: Sql, order: string): Sql {
  return sql`(
    SELECT ${raw(`'${bound}'`)} AS bound, least(m.end_lt, tops.lt) AS lt, least(m.gen_utime, tops.utime) AS utime
    FROM (
      SELECT b.end_lt, b.gen_utime, b.shard_tops FROM blocks b
      WHERE b.workchain = -1 AND ${before} ORDER BY b.${raw(order)} DESC, b.id DESC LIMIT 1
    ) AS m
    CROSS JOIN LATERAL (${TOPS}) AS tops
    WHERE tops.tops = cardinality(m.shard_tops) / 3
  )`;
}

/**
 * A masterchain block behind a moment, so far behind that all tops are behind it too: what it does not commit, and no block
 * before it does, is behind the moment. A few are tried, farther and farther away; any will do.
 */
function upperClock(bound: string, behind: Sql, order: string, past: Sql): Sql {
  return sql`(
    SELECT ${raw(`'${bound}'`)} AS bound, m.end_lt AS lt, m.gen_utime AS utime
    FROM unnest(ARRAY[4, 32, 256, 2048]) AS skip
    CROSS JOIN LATERAL (
      SELECT b.end_lt, b.gen_utime, b.shard_tops FROM blocks b
      WHERE b.workchain = -1 AND ${behind} ORDER BY b.${raw(order)}, b.id OFFSET skip LIMIT 1
    ) AS m
    WHERE (
      SELECT count(*) FROM generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
      CROSS JOIN LATERAL (
        SELECT b.end_lt, b.gen_utime FROM blocks b
        WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1]
          AND b.seqno = m.shard_tops[n + 2]::integer
        LIMIT 1
      ) AS t
      WHERE ${past}
    ) = cardinality(m.shard_tops) / 3
    LIMIT 1
  )`;
}

function larger<T extends number | bigint>(a: T | undefined, b: T): T {
  return a === undefined || b > a ? b : a;
}

function smaller<T extends number | bigint>(a: T | undefined, b: T): T {
  return a === undefined || b < a ? b : a;
}

/** The ids of one round. */
export function idsOfMcBlock(mc_seqno: number, id: Sql): Sql {
  return all([sql`${id} >= ${firstIdOf(mc_seqno)}::bigint`, sql`${id} < ${firstIdOf(mc_seqno + 1)}::bigint`]);
}
