import type { V2Network } from '#api/v2/context.js';
import { startTogether } from '#app/service/closers.js';
import { HeadWatch } from '#app/service/head-watch.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { LitePool } from '#drivers/lite/pool.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import { Chain } from '#services/chain/chain.js';
import type { KeyBlockStore } from '#services/chain/key-block-store.js';
import { ContractService } from '#services/contracts/contracts-service.js';
import type { GetMethodsMode } from '#services/contracts/options.js';

/** How a group of liteservers is used. */
export interface LiteserverPoolOptions {
  readonly config: GlobalConfig;
  readonly getMethods: GetMethodsMode;
  /** Memory for answers that stay true. */
  readonly cacheBytes: number;
  /** For a read that says nothing else. */
  readonly deadlineMs: number;
}

/** What everything in a service needs from outside. */
export interface Surroundings {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** [0, 1), need not be secret. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
}

export interface LiteserverPoolModules extends Surroundings {
  readonly tvm: TvmPool;
  readonly keyBlocks: KeyBlockStore;
}

/** Liteservers of a network, and verified reads through them. */
export interface LiteserverPool {
  readonly lite: LitePool;
  readonly connections: AdnlMetrics;
  readonly contracts: ContractService;
  readonly watch: HeadWatch;
  /** As API v2 sees the network through these servers. */
  readonly v2: V2Network;
  close(): Promise<void>;
}

/**
 * Connects to liteservers and begins to prove the head; does not wait for either.
 *
 * @throws chain/key-block-file, chain/key-block-network, lite/bad-option, contracts/option
 */
export function openLiteserverPool(
  options: LiteserverPoolOptions,
  modules: LiteserverPoolModules,
): Promise<LiteserverPool> {
  return startTogether(async (closers) => {
    const { config, getMethods, cacheBytes, deadlineMs } = options;
    const { clock, unixTimeMs, random, randomBytes, logger, tvm, keyBlocks } = modules;
    const connections = createAdnlMetrics();
    const lite = new LitePool(
      { servers: config.servers, cacheBytes, deadlineMs },
      { clock, unixTimeMs, random, randomBytes, logger, adnlMetrics: connections },
    );
    closers.add(() => lite.close());
    const chain = new Chain(
      { zero_state: config.zeroState, init_block: config.initBlock, deadlineMs },
      { source: lite, clock, keyBlocks, logger },
    );
    await chain.start();
    closers.add(() => chain.close());
    const contracts = new ContractService({ getMethods, deadlineMs }, { chain, tvm, askNode: lite, clock, logger });
    lite.start();
    const watch = new HeadWatch({ deadlineMs }, { chain, source: lite, clock, logger });
    watch.start();
    closers.add(() => watch.close());
    const servers = () =>
      lite.metrics().servers.map(({ server, state, is_archive, seqno }) => ({
        name: server,
        alive: state === 'healthy',
        archival: is_archive,
        seqno,
      }));
    const v2 = { chain, contracts, servers, now: unixTimeMs };
    return { lite, connections, contracts, watch, v2, close: () => closers.close() };
  });
}
