import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { hasLt, hasTime } from '#drivers/store/read/bounds.js';
import type { MessageFilter } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { all, join, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import type { StoredMessage } from '#drivers/store/read/stored-messages.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** What a message itself has to be like. */
export type MessagePredicate = Pick<MessageFilter, 'msg_hash' | 'body_hash' | 'source' | 'destination' | 'opcode'>;

/** A condition that an index of `messages` may find rows by. */
export interface KeyCondition {
  readonly name: 'msg_hash' | 'body_hash' | 'source' | 'destination' | 'opcode';
  /** For the index. */
  readonly finds: Sql;
  /** The column and its value, where the index goes on with created_lt. */
  readonly ordered: { readonly column: Sql; readonly value: Sql } | null;
  /** The same, in a form that no index serves: for a condition that is to be looked at only in rows found otherwise. */
  readonly holds: Sql;
}

/** The conditions of a predicate by the keys of the table `m`. */
export function keyConditions(filter: MessagePredicate): KeyCondition[] {
  const { msg_hash, body_hash, source, destination, opcode } = filter;
  const conditions: KeyCondition[] = [];
  if (msg_hash !== undefined) {
    const keys = [...new Set(msg_hash.map(hashKey))];
    // The cast makes it one value, and not rows to be looked for.
    const list = sql`${unseen(keys, 'bigint[]')}::bigint[]`;
    const finds = sql`(m.msg_key = ANY(${list}) OR m.norm_key = ANY(${list}))`;
    const holds = sql`(m.msg_key + 0 = ANY(${keys}::bigint[]) OR m.norm_key + 0 = ANY(${keys}::bigint[]))`;
    conditions.push({ name: 'msg_hash', finds, holds, ordered: null });
  }
  const add = (name: KeyCondition['name'], column: string, type: string, value: bigint | number | null) => {
    const [plain, hidden] = [raw(`m.${column}`), raw(`m.${column} + 0`)];
    if (value === null) {
      conditions.push({ name, finds: sql`${plain} IS NULL`, holds: sql`${hidden} IS NULL`, ordered: null });
    } else {
      const given = sql`${value}::${raw(type)}`;
      const ordered = { column: plain, value: given };
      conditions.push({ name, finds: sql`${plain} = ${given}`, holds: sql`${hidden} = ${given}`, ordered });
    }
  };
  if (body_hash !== undefined) add('body_hash', 'body_key', 'bigint', hashKey(body_hash));
  if (source !== undefined) add('source', 'source_key', 'bigint', source && accountKey(addressBytes(source)));
  if (destination !== undefined) {
    add('destination', 'destination_key', 'bigint', destination && accountKey(addressBytes(destination)));
  }
  if (opcode !== undefined) add('opcode', 'opcode', 'integer', opcode | 0);
  return conditions;
}

/** Compares a message with the whole values that were asked for. */
export function meetsPredicate(filter: MessagePredicate, message: StoredMessage): boolean {
  const { msg_hash, body_hash, source, destination, opcode } = filter;
  if (msg_hash !== undefined) {
    const wanted = new Set(msg_hash.map(toHex));
    if (!message.hashes.some((hash) => wanted.has(toHex(hash)))) return false;
  }
  if (opcode !== undefined && message.opcode !== opcode >>> 0) return false;
  if (source === null ? !message.isFromOutside : source !== undefined && message.source?.equals(source) !== true)
    return false;
  if (
    destination === null
      ? !message.isToOutside
      : destination !== undefined && message.destination?.equals(destination) !== true
  ) {
    return false;
  }
  return body_hash === undefined || bytesEqual(message.bodyHash, body_hash);
}

/** A condition that rows are found by, and how many it finds: exactly, or at least `most`. */
export interface Driver {
  readonly condition: KeyCondition;
  readonly count: number;
}

/**
 * The condition that finds the fewest rows. Only so many are counted: behind that, rows come soon in any order.
 *
 * @param within more conditions of the rows to count, such as bounds
 */
export async function fewest(
  session: IndexSession,
  conditions: readonly KeyCondition[],
  within: readonly Sql[],
  most: number,
): Promise<Driver> {
  const byHash = conditions.find(({ name }) => name === 'msg_hash');
  if (byHash !== undefined) return { condition: byHash, count: 0 };
  const counts = conditions.map(
    ({ finds }) => sql`(SELECT count(*) FROM (
      SELECT FROM messages m WHERE ${all([finds, ...within])} LIMIT ${raw(most)}
    ) AS c)`,
  );
  const [row] = await session.rows<{ counts: bigint[] }>(sql`SELECT ARRAY[${join(counts, ', ')}] AS counts`);
  const best = row!.counts.reduce((least, count, i, list) => (count < list[least]! ? i : least), 0);
  return { condition: conditions[best]!, count: Number(row!.counts[best]!) };
}

/** Whether no message can meet the filter, by what it says alone. */
export function isImpossible(filter: MessageFilter): boolean {
  const { source, destination, direction, exclude_externals, only_externals } = filter;
  const fromOutside = source === null || only_externals === true;
  if (filter.msg_hash?.length === 0) return true;
  // From outside, and sent by a contract, or to the outside, or excluded, or with the times that only contracts give.
  if (fromOutside && (source instanceof Object || destination === null || direction === 'out')) return true;
  if (fromOutside && (exclude_externals === true || hasTime(filter) || hasLt(filter))) return true;
  return destination === null && direction === 'in';
}
