import type { AnyHttpApi, ApiFreshness, CallThreads, HttpNetwork, NetworkHealth } from '#api/http/http-api.js';
import { localnetDescription } from '#api/localnet/description.js';
import type { V2Network } from '#api/v2/context.js';
import type { NamedGroup, NamedNetwork } from '#app/config/networks.js';
import { ForkedContractReads, type ImportAccount } from '#app/service/account-import.js';
import { type Environment, keyBlockPath, withClosers, withLogField } from '#app/service/environment.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { PoolMetrics } from '#drivers/lite/metrics.js';
import { LitePool } from '#drivers/lite/pool.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { KeptAccountMetrics } from '#services/chain/kept-accounts.js';
import { KeyBlockFile, KeyBlockMemory, type KeyBlockStore } from '#services/chain/key-blocks.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import { ContractService } from '#services/emulation/contract-service.js';
import type { GetMethodsMode } from '#services/emulation/options.js';

/** What a slot holds: an open network with its APIs. */
interface SlotContent {
  readonly http: HttpNetwork;
  close(): Promise<void>;
}

/** How a network is replaced. */
export interface Replacement<Content> {
  /** What requests fail with meanwhile. */
  readonly meanwhile: TernError;
  /** Opens the next network; the one before is closed. */
  readonly open: () => Promise<Content>;
  /** What requests fail with when `open` has failed, until the next replacement. */
  readonly failed: (error: unknown) => TernError;
}

/**
 * The place of a network behind a server, which goes on listening while the network is replaced. The APIs that it serves
 * are those of the first network; their work is done by the latest one.
 */
export class NetworkSlot<Content extends SlotContent> {
  #latest: Content;
  /** Why nothing is served; null when the latest network is open. */
  #problem: TernError | null = null;
  #epoch = 0;
  readonly http: HttpNetwork;

  constructor(first: Content) {
    this.#latest = first;
    const { name, hosts, apis } = first.http;
    this.http = {
      name,
      hosts,
      apis: apis.map((api) => this.#delegating(api)),
      epoch: () => this.#epoch,
      health: () =>
        this.#problem === null
          ? this.#latest.http.health()
          : { ready: false, problem: this.#problem.message, headSeqno: 0, headAgeMs: null },
      headSeqno: () => this.#latest.http.headSeqno(),
    };
  }

  /** The open network, or the last one, which is closed. */
  get latest(): Content {
    return this.#latest;
  }

  /** Closes the network and opens another one. Only one caller at a time may do so. @throws what `open` throws */
  async replace({ meanwhile, open, failed }: Replacement<Content>): Promise<void> {
    this.#problem = meanwhile;
    this.#epoch++;
    try {
      await this.#latest.close();
      this.#latest = await open();
    } catch (error) {
      this.#problem = failed(error);
      throw error;
    }
    this.#epoch++;
    this.#problem = null;
  }

  close(): Promise<void> {
    return this.#latest.close();
  }

  #delegating(api: AnyHttpApi): AnyHttpApi {
    const now = (): AnyHttpApi => this.#latest.http.apis.find(({ prefix }) => prefix === api.prefix) ?? api;
    // The control API works always: it is what a network that does not run is repaired with.
    const isControl = api.prefix === localnetDescription.prefix;
    return {
      ...api,
      ...(api.headSeqno === undefined ? {} : { headSeqno: () => now().headSeqno!() }),
      ...(api.freshness === undefined ? {} : { freshness: (group) => now().freshness!(group) }),
      ...(api.hasten === undefined ? {} : { hasten: (group) => now().hasten?.(group) }),
      ...(api.threads === undefined ? {} : { threads: this.#threadsOf(now) }),
      context: (request) => {
        if (this.#problem !== null && !isControl) throw this.#problem;
        return now().context(request);
      },
    };
  }

  /** While nothing is served, calls stay here, where `context` refuses them. */
  #threadsOf(now: () => AnyHttpApi): CallThreads {
    return {
      takes: (endpoint, price) => this.#problem === null && now().threads?.takes(endpoint, price) === true,
      helps: (endpoint, price) => this.#problem === null && now().threads?.helps(endpoint, price) === true,
      answer: (call, caller) => now().threads!.answer(call, caller),
    };
  }
}

/** Threads and limits of the TVM of a network; times in milliseconds. */
export interface NetworkTvmOptions {
  readonly workers: number;
  /** Threads for slow runs. */
  readonly slowWorkers: number;
  /** How long runs that were ended by a limit are answered from memory. */
  readonly rememberMs: number;
  /** CPU time in a minute and for each client, of runs that do not end by themselves; 0: any. */
  readonly endedCpuMs: number;
  /** CPU time of a request of a client without an API key. */
  readonly cpuMs: number;
  /** The same with one. */
  readonly keyCpuMs: number;
}

const MIB = 2 ** 20;

/** Of each client, so that the queue has room for others; and memory that the slowest runs of some hundred milliseconds need. */
const TVM_BOUNDS = {
  maxWaitingOfClient: 256,
  maxWaitingOfContract: 64,
  emulatorBytes: 96 * MIB,
  maxEmulatorBytes: 384 * MIB,
};

/** Options of a network. */
export interface OpenNetworkOptions {
  readonly network: NamedNetwork;
  /** Private liteserver groups of this network. */
  readonly groups: readonly NamedGroup[];
  /** Folder of proven key blocks; `null` to store them in memory only, as for recorded chains, which may become shorter. */
  readonly dataFolder: string | null;
  readonly getMethods: GetMethodsMode;
  readonly tvm: NetworkTvmOptions;
  /** Cache size for immutable answers, per liteserver group. */
  readonly cacheBytes: number;
  readonly deadlineMs: number;
  /** Maximum age of the newest block; 0 for any age. */
  readonly maxHeadAgeMs: number;
  /** Imports accounts into a fork. */
  readonly importAccount?: ImportAccount;
}

/** Name of the public liteserver group. */
export const PUBLIC_GROUP = 'public';

/** An open network. */
export interface OpenNetwork {
  readonly name: string;
  readonly tvm: TvmPool;
  /** By group, including {@link PUBLIC_GROUP}. */
  readonly pools: ReadonlyMap<string, LiteserverPool>;
  /** The pool of a group; the public pool for unknown groups. */
  poolOf(group: string | null): LiteserverPool;
  health(): NetworkHealth;
  /** Seqno of the newest masterchain block that liteservers of the public group have reported. */
  readonly headSeqno: () => number;
  close(): Promise<void>;
}

/**
 * Opens a network: TVM pool, and a liteserver pool for each group. Does not wait for liteservers; `health()` reports their
 * state.
 *
 * @throws tvm/not-started, and as {@link openLiteserverPool}
 */
export function openNetwork(options: OpenNetworkOptions, modules: Environment): Promise<OpenNetwork> {
  return withClosers(async (closers) => {
    const { network, groups, maxHeadAgeMs, importAccount } = options;
    const imported = importAccount === undefined ? {} : { importAccount };
    const logger = withLogField(modules.logger, 'network', network.name);
    const { workers, slowWorkers, rememberMs, endedCpuMs } = options.tvm;
    const tvm = new TvmPool(
      { workers, slowWorkers, rememberMs, endedCpuMs, ...TVM_BOUNDS },
      { clock: modules.clock, logger },
    );
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
              { path: keyBlockPath(options.dataFolder, name, config), zero_state: zeroState },
              { logger },
            );
      const own = group === PUBLIC_GROUP ? logger : withLogField(logger, 'group', group);
      const pool = await openLiteserverPool(
        { ...options, config },
        { ...modules, ...imported, logger: own, tvm, keyBlocks },
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
      headSeqno: () => everybody.lite.headSeqno,
      close: () => closers.close(),
    };
  });
}

/** Options of a group of liteservers. */
interface LiteserverPoolOptions extends ChainSourceOptions {
  readonly getMethods: GetMethodsMode;
  readonly tvm: Pick<NetworkTvmOptions, 'cpuMs' | 'keyCpuMs'>;
}

interface LiteserverPoolModules extends ChainSourceModules {
  readonly tvm: TvmPool;
}

/** A group of liteservers with verified reads and contract reads. */
interface LiteserverPool extends ChainSource {
  readonly contracts: ContractService;
  /** The network for API v2. */
  readonly v2: V2Network;
  /** How recent reads of the head are. */
  freshness(): ApiFreshness;
}

/**
 * Connects to liteservers and starts to prove the head, without waiting for either.
 *
 * @throws chain/key-block-file, chain/key-block-network, lite/bad-option, contracts/option
 */
function openLiteserverPool(options: LiteserverPoolOptions, modules: LiteserverPoolModules): Promise<LiteserverPool> {
  return withClosers(async (closers) => {
    const { getMethods, deadlineMs } = options;
    const { cpuMs, keyCpuMs } = options.tvm;
    const { clock, unixTimeMs, logger, tvm } = modules;
    const source = await openChainSource(options, modules);
    closers.add(() => source.close());
    const { lite, chain } = source;
    const contracts = new ContractService(
      { getMethods, deadlineMs, cpuMs, keyCpuMs },
      { chain, tvm, lite, clock, unixTimeMs, randomBytes: modules.randomBytes, logger },
    );
    const servers = () =>
      lite.metrics().servers.map(({ server, state, is_archive, seqno }) => ({
        name: server,
        alive: state === 'healthy',
        archival: is_archive,
        seqno,
      }));
    const v2 = { chain, contracts: forked(contracts, chain, modules), servers, now: unixTimeMs };
    return { ...source, contracts, v2, freshness: headFreshness(source, clock), close: () => closers.close() };
  });
}

/** The proven head, and since when servers claim a newer one. */
function headFreshness({ chain, lite }: ChainSource, clock: Clock): () => ApiFreshness {
  let behind: { readonly seqno: number; readonly since: number } | null = null;
  return () => {
    const { provenSeqno: mcSeqno } = chain;
    if (mcSeqno === 0) return { mcSeqno, lagMs: null };
    if (lite.headSeqno <= mcSeqno) behind = null;
    else if (behind === null || behind.seqno !== mcSeqno) behind = { seqno: mcSeqno, since: clock.now() };
    return { mcSeqno, lagMs: behind === null ? 0 : clock.now() - behind.since };
  };
}

/** Contract reads for the APIs; on a fork, with account import. */
function forked(contracts: ContractReads, chain: ChainReads, { importAccount }: LiteserverPoolModules): ContractReads {
  if (importAccount === undefined) return contracts;
  return new ForkedContractReads(contracts, importAccount, (seqno, { deadlineMs, signal }) =>
    chain.waitForHead(seqno, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

/** Options of a chain source. */
export interface ChainSourceOptions {
  readonly config: GlobalConfig;
  /** Cache size for immutable answers. */
  readonly cacheBytes: number;
  /** Default deadline of a read. */
  readonly deadlineMs: number;
}

export interface ChainSourceModules extends Environment {
  readonly keyBlocks: KeyBlockStore;
  /** Imports accounts into a fork. */
  readonly importAccount?: ImportAccount;
}

/** What part of the cache has account states that are kept while they do not change. */
const SHARE_OF_ACCOUNTS = 1 / 4;

/** Verified reads of a chain over liteservers. */
export interface ChainSource {
  readonly lite: LitePool;
  readonly connections: AdnlMetrics;
  readonly chain: ChainReads;
  /** `null` when no account states are kept. */
  readonly keptAccounts: () => KeptAccountMetrics | null;
  readonly watch: HeadWatch;
  close(): Promise<void>;
}

/**
 * Connects to liteservers and starts to prove the head, without waiting for either.
 *
 * @throws chain/key-block-file, chain/key-block-network, lite/bad-option
 */
export function openChainSource(options: ChainSourceOptions, modules: ChainSourceModules): Promise<ChainSource> {
  return withClosers(async (closers) => {
    const { config, cacheBytes, deadlineMs } = options;
    const { clock, unixTimeMs, random, randomBytes, logger, keyBlocks, importAccount } = modules;
    const connections = createAdnlMetrics();
    const accountBytes = Math.floor(cacheBytes * SHARE_OF_ACCOUNTS);
    const lite = new LitePool(
      { servers: config.servers, cacheBytes: cacheBytes - accountBytes, deadlineMs },
      { clock, unixTimeMs, random, randomBytes, logger, adnlMetrics: connections },
    );
    closers.add(() => lite.close());
    const chain = new Chain(
      { zero_state: config.zeroState, init_block: config.initBlock, deadlineMs, accountBytes },
      { source: lite, clock, keyBlocks, logger, ...(importAccount === undefined ? {} : { importAccount }) },
    );
    await chain.start();
    closers.add(() => chain.close());
    lite.start();
    const watch = new HeadWatch({ deadlineMs }, { chain, source: lite, clock, logger });
    watch.start();
    closers.add(() => watch.close());
    const keptAccounts = () => chain.keptAccounts;
    return { lite, connections, chain, keptAccounts, watch, close: () => closers.close() };
  });
}

/** Input of the health of a network. */
export interface HealthFacts {
  readonly pool: PoolMetrics;
  readonly watch: Pick<HeadWatch, 'head' | 'problem'>;
  readonly unixTimeMs: number;
  /** Maximum age of the newest block; 0 for any age. */
  readonly maxHeadAgeMs: number;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

/** Longest text about the servers. */
const MAX_TEXT = 2_000;

/** A network is ready when a server is healthy and the head is proven and not too old. */
export function networkHealth({ pool, watch, unixTimeMs, maxHeadAgeMs, details }: HealthFacts): NetworkHealth {
  const { head } = watch;
  const healthy = pool.servers.filter(({ state }) => state === 'healthy').length;
  const bornMs = head?.gen_utime == null ? null : head.gen_utime * 1000;
  // The clock of a recorded chain may have been ahead.
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

/** How many servers are in which state, and why; without their addresses, as the page is public. */
function serversText({ servers }: PoolMetrics): string {
  const counts = new Map<string, number>();
  for (const { state, reason } of servers) {
    const known = reason.replaceAll(ADDRESS, '').trim();
    const kind = known === '' ? state : `${state} (${known})`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`);
  const text = `no liteserver of ${servers.length} is available: ${most.join('; ')}`;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** An address with a port, IPv4 or IPv6, with the words before it that lead to it. */
const ADDRESS = / ?(?:to )?(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9a-fA-F:]*::[0-9a-fA-F:.]*\]?):\d+/g;

/** The newest proven masterchain block. */
export interface ProvenHead {
  readonly seqno: number;
  /** Unix seconds; `null` for the zerostate. */
  readonly gen_utime: number | null;
}

export interface HeadWatchModules {
  readonly chain: Pick<ChainReads, 'head'>;
  readonly source: Pick<LiteSource, 'headSeqno'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of checks for a newer block. */
const LOOK_MS = 250;

/** While all servers are behind the proven head, a proof is made this often. */
const BEHIND_MS = 5_000;

/** Pause after a failed proof. */
const RETRY_MS = 1_000;

/**
 * Proves the newest masterchain block continuously, independent of requests. This shows whether the network is readable,
 * records key blocks, and keeps a proven head for requests.
 */
export class HeadWatch {
  readonly #options: { readonly deadlineMs: number };
  readonly #modules: HeadWatchModules;
  readonly #polling: Polling;
  #head: ProvenHead | null = null;
  #problem: string | null = null;
  #operatorProblem: string | null = null;
  /** When the last proof began; milliseconds of the clock. */
  #proven = 0;

  constructor(options: { readonly deadlineMs: number }, modules: HeadWatchModules) {
    this.#options = options;
    this.#modules = modules;
    this.#polling = new Polling(async (signal) => {
      if (this.#isDue(modules.source.headSeqno)) await this.#prove(signal);
      return this.#problem === null ? LOOK_MS : RETRY_MS;
    }, modules.clock);
  }

  /** `null` before the first proof. */
  get head(): ProvenHead | null {
    return this.#head;
  }

  /** Why the last proof failed, without addresses of servers; `null` when it succeeded. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The same with the servers that were asked, for who runs the service. */
  get operatorProblem(): string | null {
    return this.#operatorProblem;
  }

  /** Proves a newer block at once, if servers have one: somebody waits for it. */
  hasten(): void {
    const { headSeqno } = this.#modules.source;
    if (this.#problem === null && headSeqno > (this.#head?.seqno ?? 0)) this.#polling.wake();
  }

  start(): void {
    this.#polling.start();
  }

  close(): Promise<void> {
    return this.#polling.close();
  }

  /** When all servers are behind the proven head, they may be on another branch: that is looked at from time to time. */
  #isDue(claimed: number): boolean {
    if (this.#head === null || this.#problem !== null || claimed > this.#head.seqno) return true;
    return claimed > 0 && claimed < this.#head.seqno && this.#modules.clock.now() - this.#proven >= BEHIND_MS;
  }

  async #prove(signal: AbortSignal): Promise<void> {
    this.#proven = this.#modules.clock.now();
    const { chain, logger } = this.#modules;
    try {
      const { block, gen_utime } = await chain.head({ deadlineMs: this.#options.deadlineMs, signal });
      if (this.#problem !== null || this.#head === null) logger.info('the head is proven', { seqno: block.seqno });
      this.#head = { seqno: block.seqno, gen_utime };
      this.#problem = null;
      this.#operatorProblem = null;
    } catch (error) {
      if (signal.aborted) return;
      const problem = isTernError(error) ? `${error.code}: ${error.message}` : String(error);
      if (this.#problem === null) logger.warn('the newest block cannot be proven; retrying', { problem });
      // The page that shows it is public.
      this.#problem = isTernError(error) ? `${error.code}: ${error.publicMessage}` : problem;
      this.#operatorProblem = problem;
    }
  }
}
