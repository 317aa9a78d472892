// A write thread: makes the rows of batches and writes them, over a database connection of its own.
import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { BEHIND, lowerPriority, ownThreadCpuTime } from '#kernel/os-thread.js';
import { WorkerSide } from '#kernel/worker-side.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { unpackBundles, type WriteThreadContract } from '#services/indexer/write/write-pool.js';

lowerPriority(ownThreadCpuTime(), BEHIND.worker);

const side = new WorkerSide<WriteThreadContract>({
  unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
});

let database: Database | null = null;
let writer: BatchWriter | null = null;

/** The database need not be available when the thread starts. */
async function openWriter(): Promise<BatchWriter> {
  const { url, partition_rounds, accounts } = side.start;
  database ??= await Database.open({ url, writeConnections: 1, readConnections: 1 }, { clock: systemClock });
  const options = { partition_rounds, accounts: accounts === null ? null : new Set(accounts) };
  const globalVersion = (key_block: number): Promise<number> => side.host.globalVersion(key_block);
  const mcBlockId = (mc_seqno: number) => side.host.mcBlockId(mc_seqno);
  return new BatchWriter(options, { database, clock: systemClock, globalVersion, mcBlockId });
}

void side.serve(async () => ({
  ready: undefined,
  methods: {
    write: async ({ packed, zerostates, exclusive }) => {
      writer ??= await openWriter();
      const order = { exclusive, awaitPrevious: () => side.host.awaitPrevious() };
      return writer.write({ bundles: unpackBundles(packed), zerostates }, order);
    },
  },
  close: async () => {
    await database?.close();
  },
}));
