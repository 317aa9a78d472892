import { firstIdOf, seqnoOfId } from '#drivers/store/ids.js';
import { hashKey } from '#drivers/store/keys.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { sql, unseen } from '#drivers/store/read/sql.js';
import type { TransactionHead } from '#drivers/store/read/transaction-head.js';
import type { TransactionFound } from '#drivers/store/read/transaction-rows.js';

/** A transaction and what its first cell says. */
export interface WithHead {
  readonly found: TransactionFound;
  readonly head: TransactionHead;
}

/** Most accounts did something within so many rounds before. */
const RECENT_ROUNDS = 100_000;

/**
 * The column `state_after` of the transaction before each, on the same account: what the account was before it. The one
 * before has the logical time and the hash that the later one names, and an id below its own.
 */
export async function statesBefore(
  session: IndexSession,
  transactions: readonly WithHead[],
): Promise<readonly (Uint8Array | null)[]> {
  const onPage = new Map<string, TransactionFound>();
  for (const { found } of transactions) onPage.set(`${found.account_key}:${found.lt}`, found);
  const states: (Uint8Array | null)[] = [];
  const asked: { place: number; account_key: bigint; lt: bigint; hash_key: bigint; id: bigint; recent: bigint }[] = [];
  for (const [place, { found, head }] of transactions.entries()) {
    states.push(null);
    if (head.wasNonexist || head.prev_trans_lt === 0n) continue;
    const { account_key, id } = found;
    const hash_key = hashKey(head.prev_trans_hash);
    const before = onPage.get(`${account_key}:${head.prev_trans_lt}`);
    if (before?.hash_key === hash_key) states[place] = before.state_after;
    else {
      const recent = firstIdOf(Math.max(0, seqnoOfId(id) - RECENT_ROUNDS));
      asked.push({ place, account_key, lt: head.prev_trans_lt, hash_key, id, recent });
    }
  }
  if (asked.length === 0) return states;
  const column = (name: 'account_key' | 'lt' | 'hash_key' | 'id' | 'recent') =>
    unseen(
      asked.map((row) => row[name]),
      'bigint[]',
    );
  const before = sql`p.account_key = k.account_key AND p.lt = k.lt AND p.hash_key = k.hash_key`;
  const rows = await session.rows<{ n: bigint; state_after: Uint8Array | null }>(sql`
    SELECT k.n, coalesce(
      (SELECT p.state_after FROM transactions p WHERE ${before} AND p.id >= k.recent AND p.id < k.id LIMIT 1),
      (SELECT p.state_after FROM transactions p WHERE ${before} AND p.id < k.recent LIMIT 1)
    ) AS state_after
    FROM unnest(
      ${column('account_key')}, ${column('lt')}, ${column('hash_key')}, ${column('id')}, ${column('recent')}
    ) WITH ORDINALITY AS k(account_key, lt, hash_key, id, recent, n)`);
  for (const { n, state_after } of rows) states[asked[Number(n) - 1]!.place] = state_after;
  return states;
}
