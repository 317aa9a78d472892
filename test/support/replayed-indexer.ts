import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Indexer } from '#services/indexer/indexer.js';
import type { IndexerOptions } from '#services/indexer/options.js';
import { DirectSource } from '#test/support/direct-source.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { replayServer } from '#test/support/replayed-chain.js';

/** A recorded chain as a server has it, and reads of it in real time. */
export interface LiveReplay {
  readonly ledger: ReplayLedger;
  readonly chain: Chain;
  readonly source: DirectSource;
}

/** @param head the newest masterchain block at the beginning */
export function liveReplay(folder: string, head: number | null = null, to: number | null = null): LiveReplay {
  const ledger = keptReplay(folder, { to, head });
  const source = new DirectSource(replayServer(ledger, systemClock));
  const modules = { source, clock: systemClock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  return { ledger, source, chain: new Chain({ zero_state: ledger.zerostate, headMaxAgeMs: 20 }, modules) };
}

/** An indexer of such a chain, with its own connections to a database. */
export interface ReplayedIndexer {
  readonly indexer: Indexer;
  readonly database: Database;
  close(): Promise<void>;
}

export async function replayedIndexer(
  { chain, ledger }: LiveReplay,
  databaseUrl: string,
  options: Partial<IndexerOptions> = {},
  logger: Logger = silentLogger,
): Promise<ReplayedIndexer> {
  const clock = systemClock;
  const database = await Database.open({ url: databaseUrl, writeConnections: 4 }, { clock });
  const bundles = new BundleSource({ deadlineMs: 2000, retryMaxMs: 200 }, { chain, clock, logger });
  const settings = {
    zerostate: ledger.zerostate,
    databaseUrl,
    partitionMcBlocks: 100,
    ...options,
  } satisfies IndexerOptions;
  const modules = { bundles, chain, database, clock, unixTimeMs: Date.now, logger };
  try {
    const indexer = await Indexer.open(settings, modules);
    return {
      indexer,
      database,
      close: async () => {
        await indexer.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
