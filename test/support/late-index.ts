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

/**
 * @param from its first masterchain block
 * @param head the newest block of the chain at first
 */
export async function lateIndex(from: number, head = RECORDED_NET.to!): Promise<LateIndex> {
  const { folder, to } = RECORDED_NET;
  const database = await testDatabase();
  const replay = liveReplay(folder, head, to);
  const indexer = await replayedIndexer(replay, database.url, { from, partitionMcBlocks: PARTITION_MC_BLOCKS });
  void indexer.indexer.run();
  const close = async (): Promise<void> => {
    await indexer.close();
    await database.close();
  };
  const late = { database, replay, indexer, close };
  await untilIndexed(late, { from, to: head });
  return late;
}

/** Waits until the index has these blocks, without a gap and nothing else, and contract detection has nothing to do. */
export async function untilIndexed({ database }: Pick<LateIndex, 'database'>, range: { from: number; to: number }) {
  const client = await database.connect();
  const wanted = `{[${range.from},${range.to + 1})}`;
  for (;;) {
    const { rows } = await client.query<{ rounds: string; waiting: bigint }>(
      `SELECT rounds::text AS rounds, (SELECT count(*) FROM contract_queue) + (SELECT count(*) FROM changed_contracts)
         + (SELECT count(*) FROM accounts WHERE incomplete) AS waiting FROM index_state`,
    );
    if (rows[0]?.rounds === wanted && rows[0].waiting === 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Goes on with the indexer from block 1 on: history is filled while the head is followed. */
export async function fillFromGenesis(late: LateIndex): Promise<ReplayedIndexer> {
  await late.indexer.close();
  const filling = await replayedIndexer(late.replay, late.database.url, {
    ...{ from: 1, partitionMcBlocks: PARTITION_MC_BLOCKS, batchMcBlocks: 16 },
  });
  void filling.indexer.run();
  return filling;
}
