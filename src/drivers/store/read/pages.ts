import { storeErrors } from '#drivers/store/errors.js';
import { accountKey, addressBytes, firstIdOf } from '#drivers/store/keys.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { all, type IndexSession, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { Address } from '#formats/address/address.js';
import { sha256 } from '#formats/cells/digests.js';
import { bytesEqual, fromBase64, toBase64Url, toHex } from '#kernel/bytes.js';

/** Which rows of an ordered list to read next. */
export interface RowWindow {
  /** Start after this row; null: at the first. */
  readonly after: OrderKey | null;
  /** Skip so many. */
  readonly offset: number;
  /** Read so many, or as many as there are. */
  readonly count: number;
}

/** An ordered list in the database. */
export interface KeysetList<Found, Row> {
  /** Name, filter and key of the list, to which its cursors are bound. */
  readonly name: string;
  readonly filter: object;
  readonly keyParts: number;
  /** Bits of a part of the key. Default: 64. */
  readonly keyBits?: number;
  /** The first part of a key may be null. */
  readonly keyHasNull?: boolean;
  read(window: RowWindow): Promise<readonly Found[]>;
  /** For each row that was found by keys its result, or null for a false positive. */
  check(found: readonly Found[]): Promise<readonly (Row | null)[]> | readonly (Row | null)[];
  keyOf(found: Found): OrderKey;
}

/** A page of the list. False positives are replaced by the rows after them. */
export async function readPage<Found, Row>(list: KeysetList<Found, Row>, page: Page): Promise<Listed<Row>> {
  const { rows, next } = await readPageAndBeyond(list, page);
  return { rows, next };
}

/** The same page, and the row after it that was read on the way; null: there is none. */
export async function readPageAndBeyond<Found, Row>(
  list: KeysetList<Found, Row>,
  page: Page,
): Promise<Listed<Row> & { readonly beyond: Row | null }> {
  const digest = () => queryDigest(list.name, list.filter, page.sort);
  const form = { parts: list.keyParts, bits: list.keyBits ?? 64, hasNull: list.keyHasNull ?? false };
  let after = page.cursor === null ? null : decodeCursor(digest(), page.cursor, form);
  let offset = page.cursor === null ? page.offset : 0;
  const rows: Row[] = [];
  let last: OrderKey | null = null;
  // One row more than wanted shows whether there is a next page.
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
  if (rows.length <= page.limit || last === null) return { rows, next: null, beyond: null };
  return { rows: rows.slice(0, page.limit), next: encodeCursor(digest(), last), beyond: rows[page.limit]! };
}

/** The position of a row in its order: all sort columns, and a tie-breaker. */
export type OrderKey = readonly (bigint | null)[];

const DIGEST_BYTES = 8;
const encoder = new TextEncoder();

/** Identifies a query: its list, filter and direction. */
export function queryDigest(list: string, filter: object, sort: string): Uint8Array {
  const text = JSON.stringify([list, sort, Object.entries(filter).sort(byName)], plain);
  return sha256(encoder.encode(text)).slice(0, DIGEST_BYTES);
}

/** The cursor for the rows after a row. */
function encodeCursor(digest: Uint8Array, key: OrderKey): string {
  const text = encoder.encode(key.map((part) => (part === null ? '' : part.toString(36))).join(','));
  const bytes = new Uint8Array(DIGEST_BYTES + text.length);
  bytes.set(digest);
  bytes.set(text, DIGEST_BYTES);
  return toBase64Url(bytes);
}

/** The form of the keys of a list. */
interface KeyForm {
  /** Number of parts. */
  readonly parts: number;
  /** Bits of a part, signed. */
  readonly bits: number;
  /** Whether the first part may be null. */
  readonly hasNull: boolean;
}

/** @throws store/cursor */
function decodeCursor(digest: Uint8Array, cursor: string, { parts, bits, hasNull }: KeyForm): OrderKey {
  const bytes = cursor.length > 1000 ? null : fromBase64(cursor);
  if (bytes === null || bytes.length <= DIGEST_BYTES) throw storeErrors.cursor({ problem: 'is malformed' });
  if (!bytesEqual(bytes.subarray(0, DIGEST_BYTES), digest)) {
    throw storeErrors.cursor({ problem: 'belongs to another query' });
  }
  const texts = Buffer.from(bytes.subarray(DIGEST_BYTES)).toString('latin1').split(',');
  if (texts.length !== parts) throw storeErrors.cursor({ problem: 'is malformed' });
  const key = texts.map((text) => parsePart(text, bits));
  if (key.some((part, i) => part === null && (i > 0 || !hasNull)))
    throw storeErrors.cursor({ problem: 'is malformed' });
  return key;
}

function parsePart(text: string, bits: number): bigint | null {
  if (text === '') return null;
  if (!/^-?[0-9a-z]{1,80}$/.test(text)) throw storeErrors.cursor({ problem: 'is malformed' });
  let value = 0n;
  for (const digit of text.replace('-', '')) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  if (text.startsWith('-')) value = -value;
  if (BigInt.asIntN(bits, value) !== value) throw storeErrors.cursor({ problem: 'is malformed' });
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

/** A range of logical time and of unix time, both ends included. Undefined: open. */
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

/** The greatest value of a column of logical time: 2^63 - 1. Greater bounds are clamped. */
const MOST_LT = (1n << 63n) - 1n;

/** Bounds clamped to the range of the columns. */
export function storableTimeRange(bounds: TimeRange): TimeRange {
  const clamp = (lt: bigint | undefined) => (lt === undefined || lt <= MOST_LT ? lt : MOST_LT);
  const { start_utime, end_utime } = bounds;
  return { start_lt: clamp(bounds.start_lt), end_lt: clamp(bounds.end_lt), start_utime, end_utime };
}

/**
 * Translates bounds of logical time to unix time and vice versa, so that an index by either serves both. Exact: nothing within the
 * given bounds is outside the added ones.
 *
 * Why: every block descends from one of the newest shard blocks (*tops*) of any masterchain block before the one that commits it, so
 * neither its utime nor its lt is below theirs. And no block is newer, by either, than the masterchain block that commits it.
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

/** The shard tops of the masterchain block `m`. */
const TOPS = raw(`
  SELECT min(t.end_lt) AS lt, min(t.gen_utime) AS utime, count(*) AS tops
  FROM generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
  CROSS JOIN LATERAL (
    SELECT b.end_lt, b.gen_utime FROM blocks b
    WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1] AND b.seqno = m.shard_tops[n + 2]::integer
    LIMIT 1
  ) AS t`);

/** The newest masterchain block before a moment: everything at or after the moment descends from its tops. */
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
 * A masterchain block so far after a moment that all its tops are after it, too: blocks that neither it nor an earlier one commits
 * are after the moment. A few are tried, farther and farther away; any will do.
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

/** The condition for the ids of one masterchain block. */
export function idsOfMcBlock(mc_seqno: number, id: Sql): Sql {
  return all([sql`${id} >= ${firstIdOf(mc_seqno)}::bigint`, sql`${id} < ${firstIdOf(mc_seqno + 1)}::bigint`]);
}

/** Account 0 of the masterchain: the source of special messages, by which a masterchain block pays validators and mints. */
const SYSTEM_SENDER = accountKey(addressBytes(Address.ofParts(-1, new Uint8Array(32))));

/**
 * Whether a transaction is one of the machinery of the masterchain: a tick-tock transaction, or one that received a special message
 * (`recover_create_msg`, `mint_msg`). Reads the message only of transactions of the masterchain.
 * @param alias of `transactions`
 */
export function isSystemTransaction(alias: string): Sql {
  const t = raw(alias);
  return sql`(${t}.workchain = -1 AND (${t}.in_msg_key IS NULL OR EXISTS (
    SELECT FROM messages sm WHERE sm.msg_key = ${t}.in_msg_key AND sm.source_key = ${SYSTEM_SENDER}::bigint OFFSET 0
  )))`;
}

/** Whether a trace begins with such a transaction. @param root the id of its first transaction */
export function isSystemTrace(root: Sql): Sql {
  return sql`EXISTS (
    SELECT FROM (SELECT * FROM transactions t WHERE t.id = ${root} LIMIT 1) AS t WHERE ${isSystemTransaction('t')} OFFSET 0
  )`;
}

/** Whether a message is a special one. @param alias of `messages` */
export function isSystemMessage(alias: string): Sql {
  return sql`${raw(alias)}.source_key IS NOT DISTINCT FROM ${SYSTEM_SENDER}::bigint`;
}
