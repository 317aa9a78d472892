import type { NetworkHealth } from '#api/http/http-api.js';
import type { V2Network } from '#api/v2/context.js';
import type { NamedGroup, NamedNetwork } from '#app/config/networks.js';
import { ForkedContractReads, type ImportAccount } from '#app/service/account-import.js';
import { type Environment, keyBlockPath, withClosers, withLogField } from '#app/service/environment.js';
import { HeadWatch } from '#app/service/head-watch.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { PoolMetrics } from '#drivers/lite/metrics.js';
import { LitePool } from '#drivers/lite/pool.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { KeyBlockFile, KeyBlockMemory, type KeyBlockStore } from '#services/chain/key-blocks.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import { ContractService } from '#services/emulation/contract-service.js';
import type { GetMethodsMode } from '#services/emulation/options.js';

/** How a network is served. */
export interface OpenNetworkOptions {
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
  readonly bringAccount?: ImportAccount;
}

/** The name of the group of liteservers that is for everybody. */
export const PUBLIC_GROUP = 'public';

/** A network that can be read. */
export interface OpenNetwork {
  readonly name: string;
  readonly tvm: TvmPool;
  /** By group; {@link PUBLIC_GROUP} is one of them. */
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
export function openNetwork(options: OpenNetworkOptions, modules: Environment): Promise<OpenNetwork> {
  return withClosers(async (closers) => {
    const { network, groups, tvmWorkers, maxHeadAgeMs, bringAccount } = options;
    const brought = bringAccount === undefined ? {} : { bringAccount };
    const logger = withLogField(modules.logger, 'network', network.name);
    const tvm = new TvmPool({ workers: tvmWorkers }, { clock: modules.clock, logger });
    closers.add(() => tvm.close());
    await tvm.start();

    const pools = new Map<string, LiteserverPool>();
    for (const { group, config } of [{ group: PUBLIC_GROUP, config: network.config }, ...groups]) {
      const { zeroState } = config;
      const name = group === PUBLIC_GROUP ? network.name : `${network.name}-${group}`;
      const keyBlocks: KeyBlockStore =
        options.dataFolder === null
          ? new KeyBlockMemory()
          : new KeyBlockFile(
              { path: keyBlockPath(options.dataFolder, name, zeroState), zero_state: zeroState },
              { logger },
            );
      const own = group === PUBLIC_GROUP ? logger : withLogField(logger, 'group', group);
      const pool = await openLiteserverPool(
        { ...options, config },
        { ...modules, ...brought, logger: own, tvm, keyBlocks },
      );
      closers.add(() => pool.close());
      pools.set(group, pool);
    }
    const everybody = pools.get(PUBLIC_GROUP)!;
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

/** How a group of liteservers is used. */
export interface LiteserverPoolOptions extends ChainSourceOptions {
  readonly getMethods: GetMethodsMode;
}

export interface LiteserverPoolModules extends ChainSourceModules {
  readonly tvm: TvmPool;
}

/** Liteservers of a network, and verified reads through them. */
export interface LiteserverPool extends ChainSource {
  readonly contracts: ContractService;
  /** As API v2 sees the network through these servers. */
  readonly v2: V2Network;
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
  return withClosers(async (closers) => {
    const { getMethods, deadlineMs } = options;
    const { clock, unixTimeMs, logger, tvm } = modules;
    const source = await openChainSource(options, modules);
    closers.add(() => source.close());
    const { lite, chain } = source;
    const contracts = new ContractService({ getMethods, deadlineMs }, { chain, tvm, askNode: lite, clock, logger });
    const servers = () =>
      lite.metrics().servers.map(({ server, state, is_archive, seqno }) => ({
        name: server,
        alive: state === 'healthy',
        archival: is_archive,
        seqno,
      }));
    const v2 = { chain, contracts: forked(contracts, chain, modules), servers, now: unixTimeMs };
    return { ...source, contracts, v2, close: () => closers.close() };
  });
}

/** Contracts as API v2 asks them: of a fork, they may have to be brought. */
function forked(contracts: ContractReads, chain: ChainReads, { bringAccount }: LiteserverPoolModules): ContractReads {
  if (bringAccount === undefined) return contracts;
  return new ForkedContractReads(contracts, bringAccount, (seqno, { deadlineMs, signal }) =>
    chain.waitForHead(seqno, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

/** How liteservers are asked. */
export interface ChainSourceOptions {
  readonly config: GlobalConfig;
  /** Memory for answers that stay true. */
  readonly cacheBytes: number;
  /** For a read that says nothing else. */
  readonly deadlineMs: number;
}

export interface ChainSourceModules extends Environment {
  readonly keyBlocks: KeyBlockStore;
  /** For a network that does not have all of its accounts from the start. */
  readonly bringAccount?: ImportAccount;
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
  return withClosers(async (closers) => {
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

/** What the health of a network is judged from. */
export interface HealthFacts {
  readonly pool: PoolMetrics;
  readonly watch: Pick<HeadWatch, 'head' | 'problem'>;
  readonly unixTimeMs: number;
  /** How old the newest block may be; 0 for any age. */
  readonly maxHeadAgeMs: number;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

/** Longest text about servers. */
const MAX_TEXT = 2_000;

/** A network is ready when a server is healthy, the head is proven, and that is not too old. */
export function networkHealth({ pool, watch, unixTimeMs, maxHeadAgeMs, details }: HealthFacts): NetworkHealth {
  const { head } = watch;
  const healthy = pool.servers.filter(({ state }) => state === 'healthy').length;
  const bornMs = head?.gen_utime == null ? null : head.gen_utime * 1000;
  // Recorded chains may have been made by a clock that is ahead.
  const headAgeMs = bornMs === null ? null : Math.max(0, unixTimeMs - bornMs);
  const isOld = maxHeadAgeMs > 0 && (headAgeMs ?? Number.POSITIVE_INFINITY) > maxHeadAgeMs;
  let problem: string | null = null;
  if (healthy === 0) problem = serversText(pool);
  else if (watch.problem !== null) problem = `the newest block cannot be proven: ${watch.problem}`;
  else if (head === null) problem = 'the newest block is not proven yet';
  else if (isOld) problem = `the newest block, ${head.seqno}, is ${ageText(headAgeMs)} old`;
  return {
    ready: problem === null,
    problem,
    headSeqno: head?.seqno ?? 0,
    headAgeMs,
    details: { servers: pool.servers.length, healthy_servers: healthy, ...details },
  };
}

function ageText(ms: number | null): string {
  return ms === null ? 'of unknown age, so too' : `${Math.round(ms / 1000)} s`;
}

/** Each server with the reason why it is not asked. */
function serversText({ servers }: PoolMetrics): string {
  const each = servers.map(({ server, state, reason }) => `${server}: ${state}${reason === '' ? '' : ` (${reason})`}`);
  const text = `no liteserver can be asked: ${each.join('; ')}`;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
