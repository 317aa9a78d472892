import type { ClientBase } from 'pg';
import { firstIdOf } from '#drivers/store/ids.js';
import { advisoryLock } from '#drivers/store/write/advisory-locks.js';
import type { SeqnoRange } from '#drivers/store/write/index-state.js';

/** The tables that are cut by masterchain seqno. */
export const PARTITIONED_TABLES = [
  'blocks',
  'transactions',
  'messages',
  'traces',
  'trace_accounts',
  'token_events',
] as const;

/** The numbers of the partitions that hold a range of rounds. */
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
 * Makes the partitions of a range of rounds that are not there yet, beside those who read and write the others: a table that
 * is attached needs a weaker lock than one that is made as a partition.
 */
export async function ensurePartitions(client: ClientBase, range: SeqnoRange, partition_rounds: number): Promise<void> {
  await client.query('BEGIN');
  try {
    // Of two sessions that make the same table, one would fail.
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
