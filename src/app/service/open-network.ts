import type { NetworkHealth } from '#api/http/http-api.js';
import type { NamedGroup, NamedNetwork } from '#app/config/networks.js';
import { startTogether } from '#app/service/closers.js';
import { keyBlockPath } from '#app/service/data-folder.js';
import type { BringAccount } from '#app/service/forked-contracts.js';
import { type LiteserverPool, openLiteserverPool } from '#app/service/liteserver-pool.js';
import { networkHealth } from '#app/service/network-health.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { withField } from '#app/service/with-field.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { KeyBlockFile } from '#services/chain/key-block-file.js';
import { KeyBlockMemory } from '#services/chain/key-block-memory.js';
import type { KeyBlockStore } from '#services/chain/key-block-store.js';
import type { GetMethodsMode } from '#services/contracts/options.js';

/** How a network is served. */
export interface NetworkOptions {
  readonly network: NamedNetwork;
  /** Private groups of liteservers of this network. */
  readonly groups: readonly NamedGroup[];
  /** Where proven key blocks are kept; `null` for memory alone, as for recorded chains, which may grow shorter. */
  readonly dataFolder: string | null;
  readonly getMethods: GetMethodsMode;
  /** Threads for get-methods. */
  readonly tvmWorkers: number;
  /** Memory for answers that stay true, of each group of liteservers. */
  readonly cacheBytes: number;
  readonly deadlineMs: number;
  /** How old the newest block may be; 0 for any age. */
  readonly maxHeadAgeMs: number;
  /** For a network that does not have all of its accounts from the start. */
  readonly bringAccount?: BringAccount;
}

/** The name of the group of liteservers that is for everybody. */
export const PUBLIC = 'public';

/** A network that can be read. */
export interface OpenNetwork {
  readonly name: string;
  readonly tvm: TvmPool;
  /** By group; {@link PUBLIC} is one of them. */
  readonly pools: ReadonlyMap<string, LiteserverPool>;
  /** The servers of a group; those of everybody for a group that the network does not have. */
  poolOf(group: string | null): LiteserverPool;
  health(): NetworkHealth;
  close(): Promise<void>;
}

/**
 * Opens a network: machines that run contracts, and a pool of liteservers for each group. Resolves without waiting for
 * liteservers: whether they can be asked, its health tells.
 *
 * @throws tvm/not-started, and as {@link openLiteserverPool}
 */
export function openNetwork(options: NetworkOptions, modules: Surroundings): Promise<OpenNetwork> {
  return startTogether(async (closers) => {
    const { network, groups, tvmWorkers, maxHeadAgeMs, bringAccount } = options;
    const brought = bringAccount === undefined ? {} : { bringAccount };
    const logger = withField(modules.logger, 'network', network.name);
    const tvm = new TvmPool({ workers: tvmWorkers }, { clock: modules.clock, logger });
    closers.add(() => tvm.close());
    await tvm.start();

    const pools = new Map<string, LiteserverPool>();
    for (const { group, config } of [{ group: PUBLIC, config: network.config }, ...groups]) {
      const { zeroState } = config;
      const name = group === PUBLIC ? network.name : `${network.name}-${group}`;
      const keyBlocks: KeyBlockStore =
        options.dataFolder === null
          ? new KeyBlockMemory()
          : new KeyBlockFile(
              { path: keyBlockPath(options.dataFolder, name, zeroState), zero_state: zeroState },
              { logger },
            );
      const own = group === PUBLIC ? logger : withField(logger, 'group', group);
      const pool = await openLiteserverPool(
        { ...options, config },
        { ...modules, ...brought, logger: own, tvm, keyBlocks },
      );
      closers.add(() => pool.close());
      pools.set(group, pool);
    }
    const everybody = pools.get(PUBLIC)!;
    return {
      name: network.name,
      tvm,
      pools,
      poolOf: (group) => (group === null ? everybody : (pools.get(group) ?? everybody)),
      health: () => {
        const { mode, ran_on, reason } = everybody.contracts.status();
        return networkHealth({
          pool: everybody.lite.metrics(),
          watch: everybody.watch,
          unixTimeMs: modules.unixTimeMs(),
          maxHeadAgeMs,
          details: { get_methods: mode, get_methods_run: ran_on, get_methods_reason: reason },
        });
      },
      close: () => closers.close(),
    };
  });
}
