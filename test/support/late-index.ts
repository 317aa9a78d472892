import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

/** An index of the recorded network that begins late, with its indexer, which goes on running. */
export interface LateIndex {
  readonly database: TestDatabase;
  readonly replay: LiveReplay;
  readonly indexer: ReplayedIndexer;
  close(): Promise<void>;
}

/** As in the shared indexes. */
const PARTITION_MC_BLOCKS = 256;

/** @param from its first masterchain block */
export async function lateIndex(from: number): Promise<LateIndex> {
  const { folder, to } = RECORDED_NET;
  const database = await testDatabase();
  const replay = liveReplay(folder, to, to);
  const indexer = await replayedIndexer(replay, database.url, { from, partitionMcBlocks: PARTITION_MC_BLOCKS });
  void indexer.indexer.run();
  const close = async (): Promise<void> => {
    await indexer.close();
    await database.close();
  };
  const client = await database.connect();
  for (;;) {
    const { rows } = await client.query<{ head: number | null; queued: bigint }>(
      'SELECT upper(rounds) - 1 AS head, (SELECT count(*) FROM contract_queue) AS queued FROM index_state',
    );
    if (rows[0]?.head === to && rows[0].queued === 0n) return { database, replay, indexer, close };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Fills the blocks before it, and waits until contract detection has nothing to do. */
export async function fillBelow({ database, replay, indexer }: LateIndex, range: { from: number; to: number }) {
  await indexer.close();
  const options = { ...range, follow: false, partitionMcBlocks: PARTITION_MC_BLOCKS };
  const filling = await replayedIndexer(replay, database.url, options);
  await filling.indexer.run();
  await filling.close();
}
