import type { ClientBase } from 'pg';
import { firstIdOf } from '#drivers/store/ids.js';
import { advisoryLock } from '#drivers/store/write/advisory-locks.js';
import type { SeqnoRange } from '#drivers/store/write/index-state.js';

/** The tables that are cut by masterchain seqno. */
export const PARTITIONED_TABLES = ['blocks', 'transactions', 'messages', 'traces', 'trace_accounts'] as const;

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

/** Makes the partitions of a range of rounds that are not there yet. */
export async function ensurePartitions(client: ClientBase, range: SeqnoRange, partition_rounds: number): Promise<void> {
  await client.query('BEGIN');
  try {
    // CREATE TABLE IF NOT EXISTS of two sessions at once ends in an error for one of them.
    await advisoryLock(client, 'partitions');
    for (const partition of partitionsOf(range, partition_rounds)) {
      for (const table of PARTITIONED_TABLES) {
        const begin = firstIdOf(partition * partition_rounds);
        const end = firstIdOf((partition + 1) * partition_rounds);
        await client.query(
          `CREATE TABLE IF NOT EXISTS ${partitionName(table, partition)} PARTITION OF ${table}
           FOR VALUES FROM (${begin}) TO (${end})`,
        );
      }
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
