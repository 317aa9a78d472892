import type { ClientBase } from 'pg';
import { firstIdOf } from '#drivers/store/ids.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';
import { PARTITIONED_TABLES, partitionName } from '#drivers/store/write/partitions.js';

const LOCK_TIMEOUT_MS = 1000;

/**
 * Drops the partitions that lie wholly below a masterchain seqno, and what belongs to their traces elsewhere. The newest states
 * of accounts stay.
 *
 * @throws store/conflict (as the database says it) when somebody has used a table for too long: to be tried again
 * @returns the seqno below which everything is gone now; 0 while nothing was ever dropped; the one given without an index
 */
export async function pruneBelow(client: ClientBase, mc_seqno: number): Promise<number> {
  await client.query('BEGIN');
  try {
    // Whoever reads comes first: while this one waits for a table, nobody else gets it.
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
    await lockTraces(client);
    const { rows } = await client.query<{ partition_rounds: number; pruned_below: number }>(
      'SELECT partition_rounds, pruned_below FROM index_state FOR UPDATE',
    );
    const state = rows[0];
    const { partition_rounds, pruned_below } = state ?? { partition_rounds: 1, pruned_below: mc_seqno };
    const end = Math.floor(mc_seqno / partition_rounds);
    const bound = end * partition_rounds;
    if (bound <= pruned_below) {
      await client.query('ROLLBACK');
      return pruned_below;
    }
    for (let partition = Math.floor(pruned_below / partition_rounds); partition < end; partition++) {
      for (const table of PARTITIONED_TABLES) {
        await client.query(`DROP TABLE IF EXISTS ${partitionName(table, partition)}`);
      }
    }
    await client.query('DELETE FROM open_messages WHERE trace_root < $1', [firstIdOf(bound)]);
    await client.query('DELETE FROM orphan_messages WHERE tx_id < $1', [firstIdOf(bound)]);
    await client.query('UPDATE index_state SET pruned_below = $1, rounds = rounds - int4multirange(int4range(0, $1))', [
      bound,
    ]);
    await client.query('COMMIT');
    return bound;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
