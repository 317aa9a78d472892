import { seqnoOfId } from '#drivers/store/ids.js';
import { pruneBelow } from '#drivers/store/write/prune.js';
import type { IndexWork } from '#services/indexer/index-work.js';

/** The first masterchain seqno that is young enough to be kept, as the chain has it; 1 when all is. */
export async function keepBound({ settings, facts, unixTimeMs }: IndexWork, signal: AbortSignal): Promise<number> {
  const { keepMs } = settings;
  if (keepMs === null) return 1;
  const head = await facts.head(signal);
  const bound = Math.floor((unixTimeMs() - keepMs) / 1000);
  if (head.gen_utime !== null && head.gen_utime < bound) return head.block.seqno;
  return (await facts.seqnoAt(bound, signal)) ?? 1;
}

/**
 * Drops the partitions all of whose blocks are too old, if there are any. The newest masterchain block stays in any case.
 *
 * @returns everything below is gone; null when all is kept
 * @throws indexer/stopped
 */
export async function pruneHistory(work: IndexWork, signal: AbortSignal): Promise<number | null> {
  const { settings, database, retries, unixTimeMs, logger } = work;
  const { keepMs } = settings;
  if (keepMs === null) return null;
  return retries.run(async () => {
    const bound = Math.floor((unixTimeMs() - keepMs) / 1000);
    return database.withWriter(async (client) => {
      const { rows } = await client.query<{ id: bigint | null }>(
        `SELECT coalesce(
           (SELECT id FROM blocks WHERE gen_utime >= $1 AND workchain = -1 ORDER BY gen_utime, id LIMIT 1),
           (SELECT max(id) FROM blocks WHERE workchain = -1)) AS id`,
        [bound],
      );
      const first = rows[0]!.id;
      if (first === null) return 0;
      const before = await client.query<{ pruned_below: number }>('SELECT pruned_below FROM index_state');
      const pruned_below = await pruneBelow(client, seqnoOfId(first));
      if (pruned_below > before.rows[0]!.pruned_below)
        logger.info('dropped old blocks from the index', { pruned_below });
      return pruned_below;
    });
  }, signal);
}
