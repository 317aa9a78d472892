import { startTogether } from '#app/service/closers.js';
import type { BringAccount } from '#app/service/forked-contracts.js';
import { HeadWatch } from '#app/service/head-watch.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { LitePool } from '#drivers/lite/pool.js';
import { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { KeyBlockStore } from '#services/chain/key-block-store.js';

/** How liteservers are asked. */
export interface ChainSourceOptions {
  readonly config: GlobalConfig;
  /** Memory for answers that stay true. */
  readonly cacheBytes: number;
  /** For a read that says nothing else. */
  readonly deadlineMs: number;
}

export interface ChainSourceModules extends Surroundings {
  readonly keyBlocks: KeyBlockStore;
  /** For a network that does not have all of its accounts from the start. */
  readonly bringAccount?: BringAccount;
}

/** Verified reads of a chain, through some liteservers. */
export interface ChainSource {
  readonly lite: LitePool;
  readonly connections: AdnlMetrics;
  readonly chain: ChainReads;
  readonly watch: HeadWatch;
  close(): Promise<void>;
}

/**
 * Connects to liteservers and begins to prove the head; does not wait for either.
 *
 * @throws chain/key-block-file, chain/key-block-network, lite/bad-option
 */
export function openChainSource(options: ChainSourceOptions, modules: ChainSourceModules): Promise<ChainSource> {
  return startTogether(async (closers) => {
    const { config, cacheBytes, deadlineMs } = options;
    const { clock, unixTimeMs, random, randomBytes, logger, keyBlocks, bringAccount } = modules;
    const connections = createAdnlMetrics();
    const lite = new LitePool(
      { servers: config.servers, cacheBytes, deadlineMs },
      { clock, unixTimeMs, random, randomBytes, logger, adnlMetrics: connections },
    );
    closers.add(() => lite.close());
    const chain = new Chain(
      { zero_state: config.zeroState, init_block: config.initBlock, deadlineMs },
      { source: lite, clock, keyBlocks, logger, ...(bringAccount === undefined ? {} : { bringAccount }) },
    );
    await chain.start();
    closers.add(() => chain.close());
    lite.start();
    const watch = new HeadWatch({ deadlineMs }, { chain, source: lite, clock, logger });
    watch.start();
    closers.add(() => watch.close());
    return { lite, connections, chain, watch, close: () => closers.close() };
  });
}
