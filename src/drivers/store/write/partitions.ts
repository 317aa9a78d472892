import type { ClientBase } from 'pg';
import { appendEvents } from '#drivers/store/event-log.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';
import { advisoryLock } from '#drivers/store/write/locks.js';
import { lockTraces } from '#drivers/store/write/traces.js';

/** The tables that are partitioned by masterchain seqno. */
export const PARTITIONED_TABLES = [
  'blocks',
  'transactions',
  'messages',
  'traces',
  'trace_accounts',
  'token_events',
  'classified_traces',
  'actions',
  'action_accounts',
] as const;

/** The numbers of the partitions of a range of masterchain blocks. */
export function partitionsOf({ from, to }: SeqnoRange, partition_rounds: number): readonly number[] {
  const first = Math.floor(from / partition_rounds);
  const last = Math.floor(to / partition_rounds);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The table of a partition: `transactions_p12`. */
export function partitionName(table: string, partition: number): string {
  return `${table}_p${partition}`;
}

/**
 * Creates missing partitions of a range of masterchain blocks without blocking readers and writers of the others: attaching a table
 * needs a weaker lock than creating a partition.
 */
export async function ensurePartitions(client: ClientBase, range: SeqnoRange, partition_rounds: number): Promise<void> {
  await client.query('BEGIN');
  try {
    // Of two sessions that create the same table, one would fail.
    await advisoryLock(client, 'partitions');
    for (const partition of partitionsOf(range, partition_rounds)) {
      for (const table of PARTITIONED_TABLES) await ensurePartition(client, table, partition, partition_rounds);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function ensurePartition(
  client: ClientBase,
  table: string,
  partition: number,
  partition_rounds: number,
): Promise<void> {
  const name = partitionName(table, partition);
  const { rows } = await client.query<{ known: string | null }>('SELECT to_regclass($1)::text AS known', [name]);
  if (rows[0]!.known !== null) return;
  const begin = firstIdOf(partition * partition_rounds);
  const end = firstIdOf((partition + 1) * partition_rounds);
  await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
  await client.query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${begin}) TO (${end})`);
}

const LOCK_TIMEOUT_MS = 1000;

/**
 * Drops the partitions below a masterchain seqno, and what belongs to their traces in other tables, in a transaction for each partition:
 * what is dropped stays dropped when a later one fails. The newest states of accounts stay.
 *
 * @throws store/conflict when another session has used a table for too long: retry
 * @returns the seqno below which everything is pruned now; 0: nothing was ever pruned; without an index the given one
 */
export async function pruneBelow(client: ClientBase, mc_seqno: number): Promise<number> {
  for (;;) {
    const { pruned_below, isLast } = await pruneNext(client, mc_seqno);
    if (isLast) return pruned_below;
  }
}

interface PrunedStep {
  readonly pruned_below: number;
  /** Whether nothing is left to prune. */
  readonly isLast: boolean;
}

/** Drops the oldest partition below a masterchain seqno. */
async function pruneNext(client: ClientBase, mc_seqno: number): Promise<PrunedStep> {
  await client.query('BEGIN');
  try {
    // Readers have priority: while this session waits for a table lock, all others wait behind it.
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
    await lockTraces(client);
    const { rows } = await client.query<{ partition_rounds: number; pruned_below: number }>(
      'SELECT partition_rounds, pruned_below FROM index_state FOR UPDATE',
    );
    const state = rows[0];
    const { partition_rounds, pruned_below } = state ?? { partition_rounds: 1, pruned_below: mc_seqno };
    const end = Math.floor(mc_seqno / partition_rounds);
    if (end * partition_rounds <= pruned_below) {
      await client.query('ROLLBACK');
      return { pruned_below, isLast: true };
    }
    const partition = await firstPartition(client, Math.floor(pruned_below / partition_rounds), end);
    if (partition !== null) {
      for (const table of PARTITIONED_TABLES) {
        await client.query(`DROP TABLE IF EXISTS ${partitionName(table, partition)}`);
      }
    }
    const next = partition === null ? end : partition + 1;
    await markPruned(client, { from: pruned_below, to: next * partition_rounds - 1 });
    await client.query('COMMIT');
    return { pruned_below: next * partition_rounds, isLast: next === end };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** The first partition that exists from one number to before another; null: none. An index may begin at any block. */
async function firstPartition(client: ClientBase, from: number, end: number): Promise<number | null> {
  const names = Array.from({ length: end - from }, (_, i) => partitionName(PARTITIONED_TABLES[0], from + i));
  const { rows } = await client.query<{ place: bigint }>(
    'SELECT n.place FROM unnest($1::text[]) WITH ORDINALITY n (name, place) WHERE to_regclass(n.name) IS NOT NULL ORDER BY 1 LIMIT 1',
    [names],
  );
  return rows[0] === undefined ? null : from + Number(rows[0].place) - 1;
}

/** Deletes what belongs to the traces of dropped masterchain blocks in other tables, and records that they are dropped. */
async function markPruned(client: ClientBase, range: SeqnoRange): Promise<void> {
  const bound = range.to + 1;
  await client.query('DELETE FROM open_messages WHERE trace_root < $1', [firstIdOf(bound)]);
  await client.query('DELETE FROM orphan_messages WHERE tx_id < $1', [firstIdOf(bound)]);
  // What an account was before its first transaction in a trace is that after the block before.
  await client.query('DELETE FROM past_contracts WHERE mc_seqno < $1', [bound - 1]);
  await client.query('DELETE FROM classification_queue WHERE root < $1', [firstIdOf(bound)]);
  await client.query('DELETE FROM classification_waits WHERE root < $1', [firstIdOf(bound)]);
  const changed = await client.query<{ last_event: bigint }>(
    `UPDATE index_state SET pruned_below = $1, rounds = rounds - int4multirange(int4range(0, $1)),
       last_event = last_event + 1 RETURNING last_event`,
    [bound],
  );
  await appendEvents(client, [{ id: changed.rows[0]!.last_event, kind: 'reset', range, touched: null }]);
}
