import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { hasWorkchain } from '#drivers/store/read/block-rows.js';
import { hasLt, hasTime, roundIds, storableBounds, translateBounds, within } from '#drivers/store/read/bounds.js';
import type { TransactionFilter } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import { all, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import {
  accountOrder,
  behind,
  boundsBehind,
  ofAccount,
  type TransactionOrder,
} from '#drivers/store/read/transaction-order.js';
import type { Address } from '#formats/address/address.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** Nothing can meet the filter. */
export const NONE = Symbol('none');

/** A shard that an account's transactions may be in, without asking the database. @param shard unsigned */
function shardHolds(shard: bigint, { hash }: Address): boolean {
  const end = shard & -shard;
  const prefix = new DataView(hash.buffer, hash.byteOffset).getBigUint64(0);
  return end !== 0n && ((prefix ^ shard) & ~(end | (end - 1n)) & ((1n << 64n) - 1n)) === 0n;
}

/** The accounts to look for, after all that the filter says of accounts; undefined: any. */
export function wantedAccounts(filter: TransactionFilter): readonly Address[] | undefined {
  const { account, exclude_account = [], workchain, shard } = filter;
  return account?.filter(
    (address) =>
      (workchain === undefined || address.workchain === workchain) &&
      (shard === undefined || shardHolds(shard, address)) &&
      !exclude_account.some((other) => other.equals(address)),
  );
}

/**
 * The rows of a filter, as a piece of `FROM` with the alias `t` and all conditions in it, so that the one index is used that
 * finds the fewest rows in the order that is wanted. What is found by a key is to be compared with what it stands for.
 */
export async function transactionSource(
  session: IndexSession,
  filter: TransactionFilter,
  order: TransactionOrder,
  stretch: Stretch,
): Promise<Sql | typeof NONE> {
  const accounts = wantedAccounts(filter);
  if (accounts?.length === 0 || filter.hash?.length === 0) return NONE;
  const { hash, mc_seqno, seqno, lt, workchain } = filter;
  const shard = filter.shard ?? (workchain === -1 ? 1n << 63n : undefined);
  const signedShard = shard === undefined ? undefined : BigInt.asIntN(64, shard);
  const conditions = behind(order, stretch.after);
  if (lt !== undefined) conditions.push(sql`t.lt = ${storableBounds({ start_lt: lt }).start_lt}::bigint`);
  if (workchain !== undefined) conditions.push(sql`t.workchain = ${workchain}::integer`);
  if (signedShard !== undefined) conditions.push(sql`t.shard = ${signedShard}::bigint`);
  if (seqno !== undefined) conditions.push(sql`t.block_seqno = ${seqno}::integer`);
  if (mc_seqno !== undefined) conditions.push(roundIds(mc_seqno, raw('t.id')));
  if (accounts === undefined) conditions.push(...without(filter.exclude_account ?? []));

  const given = storableBounds(filter);
  const bounds = within(given, raw('t.lt'), raw('t.now'));
  const keys =
    accounts === undefined ? null : [...new Set(accounts.map((address) => accountKey(addressBytes(address))))];
  const ofAccounts = keys === null ? [] : [sql`t.account_key = ANY(${keys}::bigint[])`];

  if (hash !== undefined) {
    const hashes = [...new Set(hash.map(hashKey))];
    return sql`unnest(${unseen(hashes, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
      SELECT * FROM transactions t WHERE t.hash_key = k.key OFFSET 0
    ) AS t WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (mc_seqno !== undefined) {
    return sql`(SELECT * FROM transactions t WHERE ${roundIds(mc_seqno, raw('t.id'))} OFFSET 0) AS t
      WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (seqno !== undefined) {
    const blocks = [sql`b.seqno = ${seqno}::integer`];
    if (workchain !== undefined) blocks.push(sql`b.workchain = ${workchain}::integer`);
    if (signedShard !== undefined) blocks.push(sql`b.shard = ${signedShard}::bigint`);
    return sql`(SELECT DISTINCT b.id >> 24 AS round FROM blocks b WHERE ${all(blocks)} OFFSET 0) AS r
      CROSS JOIN LATERAL (
        SELECT * FROM transactions t WHERE t.id >= r.round << 24 AND t.id < (r.round + 1) << 24 OFFSET 0
      ) AS t WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (keys !== null) {
    // A bound of time is found in the index by lt.
    const open = boundsBehind(order, stretch.after, lt === undefined ? given : { ...given, start_lt: lt, end_lt: lt });
    const more = order.byTime && lt === undefined ? await translateBounds(session, open) : open;
    const life = signedShard === undefined || workchain === undefined ? [] : lifetime(workchain, signedShard, order);
    const of = (key: Sql) =>
      all([ofAccount(key, storableBounds(more)), ...conditions, ...within(given, raw('t.lt'), raw('t.now')), ...life]);
    const most = raw(stretch.count + stretch.offset);
    return sql`unnest(${unseen(keys, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
      SELECT * FROM transactions t WHERE ${of(raw('k.key'))} ORDER BY ${accountOrder(order)} LIMIT ${most}
    ) AS t WHERE true`;
  }
  if (lt !== undefined) {
    return sql`(SELECT * FROM transactions t WHERE t.lt = ${storableBounds({ start_lt: lt }).start_lt}::bigint OFFSET 0) AS t
      WHERE ${all([...conditions, ...bounds])}`;
  }
  if (signedShard !== undefined) {
    return shardSource(workchain, signedShard, all([...conditions, ...bounds]), filter, order, stretch);
  }
  const mixed = hasTime(given) && hasLt(given);
  const more = mixed ? within(await translateBounds(session, given), raw('t.lt'), raw('t.now')) : bounds;
  // A workchain that there is not would be looked for in all there is.
  const exists = workchain === undefined ? [] : [hasWorkchain(workchain)];
  return sql`transactions t WHERE ${all([...conditions, ...more, ...exists])}`;
}

/** Without the transactions of some accounts. The key alone would hide another account with the same one. */
function without(addresses: readonly Address[]): Sql[] {
  if (addresses.length === 0) return [];
  const distinct = addresses.filter(
    (a, i) => addresses.findIndex((b) => b.workchain === a.workchain && bytesEqual(a.hash, b.hash)) === i,
  );
  const keys = distinct.map((address) => accountKey(addressBytes(address)));
  // The first cell of a transaction begins with the four bits 0111 and the account id.
  const begins = distinct.map(({ hash }) => `7${toHex(hash)}`);
  return [
    sql`(t.account_key <> ALL(${keys}::bigint[]) OR NOT EXISTS (
      SELECT FROM unnest(${keys}::bigint[], ${begins}::text[]) AS x(key, begin)
      WHERE x.key = t.account_key AND strpos(encode(substring(t.boc FROM 1 FOR 640), 'hex'), x.begin) > 0 OFFSET 0
    ))`,
  ];
}

/** When a shard was, in the order's own terms. */
function lifetime(workchain: number, shard: bigint, { byTime }: TransactionOrder): Sql[] {
  const of = (column: string, sort: string) =>
    sql`(SELECT b.${raw(column)} FROM blocks b WHERE b.workchain = ${workchain}::integer AND b.shard = ${shard}::bigint ORDER BY b.seqno ${raw(sort)} LIMIT 1)`;
  return byTime
    ? [sql`t.now >= ${of('gen_utime', 'ASC')}`, sql`t.now <= ${of('gen_utime', 'DESC')}`]
    : [sql`t.lt >= ${of('start_lt', 'ASC')}`, sql`t.lt <= ${of('end_lt', 'DESC')}`];
}

/**
 * The transactions of a shard, block by block: later blocks of a shard have later transactions. Without a workchain, of each
 * that there is.
 */
function shardSource(
  workchain: number | undefined,
  shard: bigint,
  conditions: Sql,
  filter: TransactionFilter,
  order: TransactionOrder,
  stretch: Stretch,
): Sql {
  const bounds = storableBounds(filter);
  const blocks = [sql`b.workchain = w.workchain`, sql`b.shard = ${shard}::bigint`, sql`b.tx_count > 0`];
  if (bounds.start_utime !== undefined) blocks.push(sql`b.gen_utime >= ${bounds.start_utime}::bigint`);
  if (bounds.end_utime !== undefined) blocks.push(sql`b.gen_utime <= ${bounds.end_utime}::bigint`);
  if (bounds.start_lt !== undefined) blocks.push(sql`b.end_lt >= ${bounds.start_lt}::bigint`);
  if (bounds.end_lt !== undefined) blocks.push(sql`b.start_lt <= ${bounds.end_lt}::bigint`);
  if (stretch.after !== null) {
    const id = stretch.after.at(-1);
    blocks.push(sql`b.seqno ${raw(order.sort === 'desc' ? '<=' : '>=')} coalesce(
      (SELECT c.block_seqno FROM transactions c WHERE c.id = ${id}::bigint AND c.workchain = w.workchain AND c.shard = ${shard}::bigint),
      ${raw(order.sort === 'desc' ? '2147483647' : '0')})`);
  }
  const workchains =
    workchain === undefined
      ? sql`(
          WITH RECURSIVE known(workchain) AS (
            (SELECT b.workchain FROM blocks b ORDER BY b.workchain, b.shard, b.seqno LIMIT 1)
            UNION ALL
            SELECT (SELECT b.workchain FROM blocks b WHERE b.workchain > k.workchain ORDER BY b.workchain, b.shard, b.seqno LIMIT 1)
            FROM known k WHERE k.workchain IS NOT NULL
          )
          SELECT k.workchain FROM known k WHERE k.workchain IS NOT NULL
        )`
      : sql`(SELECT ${workchain}::integer AS workchain)`;
  return sql`${workchains} AS w CROSS JOIN LATERAL (
      SELECT t.* FROM blocks b CROSS JOIN LATERAL (
        SELECT * FROM transactions t
        WHERE t.id >= (b.id >> 24) << 24 AND t.id < ((b.id >> 24) + 1) << 24
          AND t.block_seqno = b.seqno AND t.workchain = w.workchain AND ${conditions} OFFSET 0
      ) AS t
      WHERE ${all(blocks)}
      ORDER BY b.seqno ${raw(order.sort)}, t.lt ${raw(order.sort)}, t.id LIMIT ${raw(stretch.count + stretch.offset)}
    ) AS t WHERE true`;
}
