import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ExplorerOptions } from '#api/http/explorer-routes.js';
import type { AnyHttpApi, HttpNetwork, NetworkHealth } from '#api/http/http-api.js';
import { type HttpServer, startHttpServer } from '#api/http/server.js';
import { StreamRoutes } from '#api/stream/stream-routes.js';
import { AddressReadAhead } from '#api/v3/address-read-ahead.js';
import { followRoute } from '#api/v3/follow.js';
import { ReaderPool } from '#api/v3/reader-pool.js';
import { webhookRoutes } from '#api/webhooks/webhook-routes.js';
import type { ApiSettings } from '#app/config/api-settings.js';
import { configErrors } from '#app/config/errors.js';
import type { Listener } from '#app/config/listeners.js';
import { isSameNetwork, isTestnet, type NamedGroup, type NamedNetwork } from '#app/config/networks.js';
import { ForkAccountImporter } from '#app/service/account-import.js';
import { adminApi, emulateApi, indexFacts, localnetApi, networkEmulation, v2Api, v3Api } from '#app/service/apis.js';
import { type Environment, withClosers, withLogField } from '#app/service/environment.js';
import { serviceErrors } from '#app/service/errors.js';
import { IncarnationWatch } from '#app/service/incarnation-watch.js';
import { type MeasuredService, ProcessRegistry, registerServiceMetrics } from '#app/service/metrics.js';
import {
  NetworkSlot,
  type NetworkTvmOptions,
  type OpenNetwork,
  type OpenNetworkOptions,
  openNetwork,
  PUBLIC_GROUP,
  type Replacement,
} from '#app/service/network.js';
import { type NetworkIndex, type NetworkIndexOptions, openNetworkIndex } from '#app/service/network-index.js';
import { type OpenPending, type OpenPendingOptions, openPending } from '#app/service/pending.js';
import { affordableConnections, processLimits } from '#app/service/process-limits.js';
import { type OpenStreams, openStreams, type StreamPlan } from '#app/service/streams.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { coverageText } from '#drivers/store/index-state.js';
import type { Address } from '#formats/address/address.js';
import { isTernError } from '#kernel/tern-error.js';
import type { LocalNode } from '#localnet/node/local-node.js';
import type { ProducedCounts } from '#localnet/node/node-thread.js';
import { type Access, type AccessMetrics, openAccess } from '#services/access/access.js';
import { type AccessAdministration, plansIn, startKeyedAccess } from '#services/access/start-keyed-access.js';
import type { MessageFollow } from '#services/pending/message-follow.js';

/** Networks, listeners and settings of a service. */
export interface ServicePlan {
  /** Package version: `2.2.0`. */
  readonly version: string;
  readonly networks: readonly NamedNetwork[];
  readonly groups: readonly NamedGroup[];
  readonly listeners: readonly Listener[];
  readonly hostOf: readonly { readonly network: string; readonly host: string }[];
  /** Index options by network, or the reason why there is no index. */
  readonly indexes: ReadonlyMap<string, IndexPlan | string>;
  /** URL of the database of API keys; without it they are in the data folder. */
  readonly accessDatabase?: string | Promise<string> | null;
  /** Local nodes in this process by network, for the control API. */
  readonly localNodes?: ReadonlyMap<string, ServedLocalNode>;
  /** How old the newest block may be by network, where that is not set; default: any age. */
  readonly headAges?: ReadonlyMap<string, number>;
  /** Whether to store proven key blocks in the data folder. */
  readonly keepsKeyBlocks: boolean;
  /**
   * Reads a global config again. With it, networks that announce an incarnation are followed: when it changes, the next chain is
   * served in place of the one before.
   */
  readonly readConfig?: (source: string) => Promise<GlobalConfig>;
  readonly settings: ApiSettings;
  /** Path of the explorer, unless the settings turn it off. */
  readonly explorerAt: ExplorerOptions['base'];
}

/** A running service. */
export interface RunningService {
  /** In the order of the listeners. */
  readonly servers: readonly HttpServer[];
  /** Resolves when pending databases are open or unreachable; rejects when one is unusable. */
  readonly opened: Promise<void>;
  /** As {@link opened}, and when API v3 answers about the chain: when the first masterchain block is indexed. */
  readonly answering: Promise<void>;
  /** What the indexes have of their chains, by network; of those that were read. */
  coverage(): Readonly<Record<string, string>>;
  /**
   * Replaces the network of a name while the servers go on listening; see {@link NetworkSlot}.
   * @throws what `next` throws, and as {@link startService}
   */
  replace(name: string, how: NetworkReplacement): Promise<void>;
  close(): Promise<void>;
}

/** A network of a service with its index and local node. */
export interface PlannedNetwork {
  readonly network: NamedNetwork;
  readonly index: IndexPlan | string | null;
  readonly localNode: ServedLocalNode | null;
}

/** How a network of a service is replaced. `next` prepares the one that takes its place. */
interface NetworkReplacement extends Omit<Replacement<ServedNetwork>, 'open'> {
  readonly next: () => Promise<PlannedNetwork>;
}

/** The built page, in the package and in a checkout. */
const EXPLORER_FOLDER = fileURLToPath(new URL('../../../dist/web', import.meta.url));

/** What live services have, and this one not; the README lists it, too. */
const MISSING_PATHS = {
  '/api/v3/balanceChanges':
    'the balance changes of a transaction follow from `account_state_before` and `account_state_after` in /api/v3/transactions',
};

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/**
 * Starts all parts, HTTP servers last. When a part fails to start, the parts already started are closed.
 *
 * @throws http/cannot-listen, access/*, config/setting-conflict, and as {@link openServedNetwork}
 */
export function startService(plan: ServicePlan, modules: Environment): Promise<RunningService> {
  return withClosers(async (closers) => {
    const { settings, networks, listeners } = plan;
    const groups = groupsByNetwork(networks, plan.groups);
    const named = plan.groups.map(({ group }) => group);
    const { access, administration, metrics: accessMetrics, close } = await startAccess(plan, named, modules);
    closers.add(close);

    const cores = Math.min(availableParallelism(), 8);
    const tvmWorkers = settings.tvmWorkers ?? Math.max(1, Math.floor(cores / networks.length));
    const openPlanned = (planned: PlannedNetwork): Promise<ServedNetwork> => {
      const { network, index } = planned;
      return openServedNetwork(
        {
          ...planned,
          administration,
          isValidKey: (id) => access.isValidKey?.(id) ?? true,
          hosts: plan.hostOf.filter((each) => each.network === network.name).map(({ host }) => host),
          groups: groups.get(network.name) ?? [],
          dataFolder: plan.keepsKeyBlocks ? settings.data : null,
          getMethods: settings.getMethods,
          // A pure indexer runs no get-methods.
          tvm: tvmLimits(settings, isIndexer(index) ? 1 : tvmWorkers),
          cacheBytes: settings.nodeCacheMb * MIB,
          deadlineMs: settings.requestTimeout,
          maxHeadAgeMs: settings.maxHeadAge ?? plan.headAges?.get(network.name) ?? 0,
          maxIndexLagMs: settings.maxIndexLag,
          streams: streamPlan(settings),
          largeWork: settings.largeWork,
          pending: {
            isOn: settings.pending === 'on',
            redisUrl: settings.redisUrl ?? null,
            channel: settings.pendingChannel ?? null,
          },
        },
        modules,
      );
    };
    const open = new Map<string, NetworkSlot<ServedNetwork>>();
    for (const network of networks) {
      const index = plan.indexes.get(network.name) ?? null;
      const localNode = plan.localNodes?.get(network.name) ?? null;
      const slot = new NetworkSlot(await openPlanned({ network, index, localNode }));
      closers.add(() => slot.close());
      open.set(network.name, slot);
    }

    const maxConnections = affordableConnections(settings.maxConnections, processLimits(), listeners.length);
    if (maxConnections < settings.maxConnections) {
      const message = 'fewer connections are taken than configured: the process may not open so many files';
      modules.logger.info(message, { max_connections: maxConnections });
    }
    const explorer = settings.explorer === 'off' ? null : { folder: EXPLORER_FOLDER, base: plan.explorerAt };
    const servers: HttpServer[] = [];
    // All servers drain concurrently.
    closers.add(async () => void (await Promise.all(servers.map((server) => server.close()))));
    const plans = streamPlan(settings);
    const webhooks =
      plans.webhooks === 'off'
        ? []
        : webhookRoutes({
            webhooksOf: (name) => open.get(name)?.latest.streams?.webhooks ?? null,
            access: plans.webhooks,
          });
    const streams = new StreamRoutes(plans.streams, {
      hubOf: (name) => open.get(name)?.latest.streams?.hub ?? null,
      ageOf: (name) => open.get(name)?.latest.index?.figures().head_age_seconds ?? null,
      unixTime: () => modules.unixTimeMs() / 1000,
      clock: modules.clock,
    });
    for (const { address, networks: names } of listeners) {
      const served = names.map((name) => open.get(name)!);
      const registry = new ProcessRegistry();
      registerServiceMetrics(registry, measured(plan, served, accessMetrics), modules.clock);
      const server = await startHttpServer(
        { ...address, version: plan.version, ...httpSettings(settings), maxConnections, explorer },
        {
          ...modules,
          access,
          metrics: registry,
          networks: served.map(({ http }) => http),
          missingPaths: MISSING_PATHS,
          rawRoutes: [
            followRoute({ followOf: (network) => followOf(served, network), clock: modules.clock }),
            ...streams.routes(),
            ...webhooks,
          ],
        },
      );
      modules.logger.info('listening', { url: server.url, networks: names.join() });
      servers.push(server);
    }
    for (const network of networks) {
      const { incarnation } = network.config;
      const { readConfig } = plan;
      if (incarnation === null || readConfig === undefined) continue;
      const watch = new IncarnationWatch(incarnation, {
        read: () => readConfig(network.source),
        replace: (config) =>
          open.get(network.name)!.replace({
            meanwhile: serviceErrors['other-chain']({}),
            failed: (error) => serviceErrors['chain-not-open']({ problem: problemOf(error) }),
            open: () =>
              openPlanned({
                network: { ...network, config },
                index: plan.indexes.get(network.name) ?? null,
                localNode: null,
              }),
          }),
        clock: modules.clock,
        logger: withLogField(modules.logger, 'network', network.name),
      });
      watch.start();
      closers.add(() => watch.close());
    }
    const opened = Promise.all([...open.values()].map(({ latest }) => latest.index?.opened)).then(() => {});
    opened.catch(() => {});
    const answering = Promise.all([...open.values()].map(({ latest }) => latest.index?.answering)).then(() => {});
    answering.catch(() => {});
    return {
      servers,
      opened,
      answering,
      coverage: () =>
        Object.fromEntries(
          [...open].flatMap(([name, { latest }]) => {
            const covered = latest.index?.coverage();
            return covered === undefined || covered.history.length === 0 ? [] : [[name, coverageText(covered)]];
          }),
        ),
      replace: (name, { next, ...how }) =>
        open.get(name)!.replace({ ...how, open: async () => openPlanned(await next()) }),
      close: () => closers.close(),
    };
  });
}

function problemOf(error: unknown): string {
  return isTernError(error) ? `${error.code}: ${error.message}` : String(error);
}

function isIndexer(index: IndexPlan | string | null): boolean {
  return index !== null && typeof index !== 'string' && index.role === 'indexer';
}

function tvmLimits(settings: ApiSettings, workers: number): NetworkTvmOptions {
  const { tvmCpuTime, tvmKeyCpuTime, tvmMemory, tvmEndedTime: endedCpuMs, tvmSlowWorkers = null } = settings;
  const slowWorkers = tvmSlowWorkers ?? Math.max(1, Math.floor(workers / 2));
  return { workers, slowWorkers, rememberMs: tvmMemory, endedCpuMs, cpuMs: tvmCpuTime, keyCpuMs: tvmKeyCpuTime };
}

function streamPlan(settings: ApiSettings): StreamPlan {
  const { maxStreamsPerClient, maxStreamAddresses, maxStreamAccounts, maxStreamBufferKb } = settings;
  const { webhooks, webhookTargets, profile } = settings;
  return {
    streams: {
      maxConnections: maxStreamsPerClient,
      maxAddresses: maxStreamAddresses,
      maxWatched: maxStreamAccounts,
      maxBufferedBytes: maxStreamBufferKb * KIB,
    },
    ...{ webhooks, webhookTargets, profile },
  };
}

function httpSettings(settings: ApiSettings) {
  return {
    profile: settings.profile,
    trustProxy: settings.trustProxy,
    cacheBytes: settings.cacheMb * MIB,
    deadlineMs: settings.requestTimeout,
    maxConcurrent: settings.maxRequests,
    maxConnectionsPerAddress: settings.maxConnectionsPerAddress,
    maxBodiesPerAddress: settings.maxBodiesPerAddress,
    minBytesPerSecond: settings.minClientRate,
    acceptsPerTurn: settings.acceptsPerTurn,
    turnMs: settings.turnTime,
    maxUnbegun: settings.maxUnbegun,
    maxUnbegunPerClient: settings.maxUnbegunPerClient,
    maxBodyBytes: settings.maxBodyKb * KIB,
    maxBodiesBytes: settings.maxBodiesMb * MIB,
    maxHeldBytes: settings.maxAnswersMb * MIB,
    maxJsonNames: settings.maxBodyNames,
    maxJsonValues: settings.maxBodyValues,
    maxNesting: settings.maxBodyDepth,
    maxWork: settings.maxWork,
    smallWork: settings.smallWork,
    largeWork: settings.largeWork,
    maxLargePerClient: settings.maxLargeAnswers,
    notReadyMs: settings.drainDelay,
    drainMs: settings.drainTimeout,
    requestLog: settings.requestLog,
  };
}

/** @throws config/setting-conflict */
function groupsByNetwork(
  networks: readonly NamedNetwork[],
  groups: readonly NamedGroup[],
): ReadonlyMap<string, readonly NamedGroup[]> {
  const found = new Map<string, NamedGroup[]>();
  for (const each of groups) {
    const { group, source, config } = each;
    const network = networks.find((candidate) => isSameNetwork(candidate.config, config));
    if (network === undefined) {
      const problem = `the liteserver group ${group} (${source}) does not match the zerostate of any served network`;
      throw configErrors['setting-conflict']({ problem });
    }
    if (group === PUBLIC_GROUP) {
      const problem = `a liteserver group (${source}) cannot have the name "${group}": that is the group of everybody`;
      throw configErrors['setting-conflict']({ problem });
    }
    const own = found.get(network.name) ?? [];
    if (own.some((other) => other.group === group)) {
      throw configErrors['setting-conflict']({ problem: `${network.name} has two liteserver groups "${group}"` });
    }
    found.set(network.name, [...own, each]);
  }
  return found;
}

function measured(
  { version, localNodes }: ServicePlan,
  networks: readonly NetworkSlot<ServedNetwork>[],
  access: (() => AccessMetrics) | null,
): MeasuredService {
  // Each figure is one of the network that is in the slot when it is read.
  const pools = networks.flatMap((slot) =>
    [...slot.latest.open.pools.keys()].map((group) => ({
      labels: { network: slot.http.name, group },
      pool: () => slot.latest.open.pools.get(group)!,
    })),
  );
  const indexes = networks.flatMap((slot) =>
    slot.latest.index === null ? [] : [{ labels: { network: slot.http.name }, index: () => slot.latest.index! }],
  );
  return {
    version,
    access,
    networks: networks.map(({ http }) => ({
      labels: { network: http.name },
      snapshot: () => {
        const { ready, headSeqno, headAgeMs } = http.health();
        return { ready, head_seqno: headSeqno, head_age_seconds: headAgeMs === null ? null : headAgeMs / 1000 };
      },
    })),
    pools: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool().lite.metrics() })),
    keptAccounts: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool().keptAccounts() })),
    connections: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool().connections })),
    contracts: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool().contracts.metrics() })),
    tvm: networks.map((slot) => ({
      labels: { network: slot.http.name },
      snapshot: () => slot.latest.open.tvm.metrics(),
    })),
    indexes: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index().figures() })),
    writers: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index().writing() })),
    lookUps: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index().lookUpMetrics() })),
    metadata: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index().metadata() })),
    localnets: networks.flatMap(({ http: { name } }) => {
      const local = localNodes?.get(name);
      return local === undefined ? [] : [{ labels: { network: name }, snapshot: local.counts }];
    }),
    pending: networks.flatMap((slot) =>
      slot.latest.pending === null
        ? []
        : [{ labels: { network: slot.http.name }, snapshot: () => slot.latest.pending!.metrics() }],
    ),
    readers: networks.flatMap((slot) =>
      slot.latest.readers === null
        ? []
        : [{ labels: { network: slot.http.name }, snapshot: () => slot.latest.readers!.metrics() }],
    ),
    streams: networks.flatMap((slot) =>
      slot.latest.streams === null
        ? []
        : [{ labels: { network: slot.http.name }, snapshot: () => slot.latest.streams!.hub.metrics() }],
    ),
    webhooks: networks.flatMap((slot) =>
      slot.latest.streams?.webhooks == null
        ? []
        : [{ labels: { network: slot.http.name }, snapshot: () => slot.latest.streams!.webhooks!.metrics() }],
    ),
    databases: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index().databaseFigures() })),
  };
}

/** Index options without the network. */
export interface IndexPlan extends Omit<NetworkIndexOptions, 'config'> {
  /** Reader threads for large calls of API v3; `null` for the default. */
  readonly apiWorkers: number | null;
  /** Texts of final transactions and traces, here and in each reader thread; 0: none are kept. */
  readonly textCacheMb: number;
}

/** One core is for the thread that serves all clients. */
const DEFAULT_READERS = Math.max(1, Math.min(availableParallelism() - 1, 4));

interface ServedNetworkOptions extends OpenNetworkOptions {
  /** `null` for a network without an index, or the reason why there is none. */
  readonly index: IndexPlan | string | null;
  readonly hosts: readonly string[];
  /** How far the index may be behind the head for the network to be ready; 0 for any lag. */
  readonly maxIndexLagMs: number;
  /** `null` unless the network runs in this process. */
  readonly localNode: ServedLocalNode | null;
  /** For the admin API; `null` with open access. */
  readonly administration: AccessAdministration | null;
  /** Whether an API key can still be used, or that is not known. */
  readonly isValidKey: (id: string) => boolean;
  readonly pending: PendingPlan;
  readonly streams: StreamPlan;
  /** Calls above this price are large. */
  readonly largeWork: number;
}

/** Whether and how messages are followed. */
interface PendingPlan extends Pick<OpenPendingOptions, 'redisUrl' | 'channel'> {
  readonly isOn: boolean;
}

/** A local node in this process. */
interface ServedLocalNode {
  readonly node: LocalNode;
  /** Counters of block production since the start. */
  readonly counts: () => ProducedCounts;
  /** Whether it is a fork with lazy account import. */
  readonly isFork: boolean;
  /** Calls the listener with the BoC of each message that waits for a block. @returns ends that */
  readonly onPooled: (listener: (message: Uint8Array) => void) => () => void;
}

/** A network with its index and APIs. */
interface ServedNetwork {
  readonly open: OpenNetwork;
  /** `null` without an index. */
  readonly index: NetworkIndex | null;
  /** `null` without API v3. */
  readonly readers: ReaderPool | null;
  /** `null` where messages are not followed. */
  readonly pending: OpenPending | null;
  /** `null` without an index. */
  readonly streams: OpenStreams | null;
  readonly http: HttpNetwork;
  close(): Promise<void>;
}

const NO_DATABASE = 'no database is configured';

/**
 * Opens a network with its index, if any.
 *
 * @throws as {@link openNetwork} and {@link openNetworkIndex}
 */
function openServedNetwork(options: ServedNetworkOptions, modules: Environment): Promise<ServedNetwork> {
  return withClosers(async (closers) => {
    const { network, index: plan, hosts, localNode } = options;
    const accounts = localNode?.isFork === true ? new ForkAccountImporter(localNode.node) : null;
    const imported = accounts === null ? {} : { importAccount: (address: Address) => accounts.importAccount(address) };
    const open = await openNetwork({ ...options, ...imported }, modules);
    closers.add(() => open.close());
    const logger = withLogField(modules.logger, 'network', network.name);
    let index: NetworkIndex | null = null;
    if (plan === null || typeof plan === 'string') {
      logger.info('API v3 is not served without an index', { reason: plan ?? NO_DATABASE });
    } else {
      const source = open.pools.get(PUBLIC_GROUP)!;
      const { config } = network;
      index = await openNetworkIndex({ ...plan, config, isFork: accounts !== null }, { ...modules, logger, source });
      closers.add(() => index?.close());
    }
    const pending = await openPendingOf(options, { open, index }, { ...modules, logger });
    closers.add(() => pending?.close());
    const apis: AnyHttpApi[] = index?.role === 'indexer' ? [] : [v2Api(open, pending?.live ?? null)];
    let readers: ReaderPool | null = null;
    let streams: OpenStreams | null = null;
    if (plan !== null && typeof plan !== 'string' && index !== null) {
      const testnet = await isTestnet(network.config);
      const covered = index;
      const textBytes = plan.textCacheMb * MIB;
      const facts = indexFacts(index, { isTestnet: testnet, textBytes, pending: pending?.live ?? null });
      if (index.role !== 'indexer') {
        if (facts.addressRows !== undefined) {
          const ahead = new AddressReadAhead({ ...facts, index: index.reads }, facts.addressRows);
          closers.add(() => ahead.close());
          index.onChange(() => ahead.noteChange(covered.changes.newest));
        }
        const threads = readersOf({ ...plan, largeWork: options.largeWork }, testnet, index, { ...modules, logger });
        readers = threads;
        closers.add(() => threads.close());
        index.onChange(() => threads.noteChange(covered.version, covered.changes.newest));
        apis.push(v3Api(open, index, readers, facts));
        apis.push(emulateApi(open, plan.dnsRoots, { index, facts }));
      }
      const { config } = network;
      streams = await openStreams(options.streams, {
        ...{ ...modules, logger, config, index, facts, live: pending?.live ?? null },
        isValidOwner: options.isValidKey,
      });
      closers.add(() => streams?.close());
    }
    if (index === null) apis.push(emulateApi(open, [], null));
    const ended = new AbortController();
    closers.add(() => ended.abort());
    if (localNode !== null) apis.push(localnetApi(localNode.node, open, ended.signal));
    const { administration } = options;
    if (administration !== null) apis.push(adminApi(administration, modules.unixTimeMs));
    const reason = typeof plan === 'string' ? plan : NO_DATABASE;
    return {
      open,
      index,
      pending,
      readers,
      streams,
      http: {
        name: network.name,
        hosts,
        apis,
        health: () =>
          index === null ? withoutIndex(open.health(), reason) : withIndex(open.health(), index, options.maxIndexLagMs),
        headSeqno: open.headSeqno,
      },
      close: () => closers.close(),
    };
  });
}

/** Null: the network has no index, or follows no messages. */
function followOf(served: readonly NetworkSlot<ServedNetwork>[], { name }: HttpNetwork): MessageFollow | null {
  return served.find(({ http }) => http.name === name)?.latest.pending?.follow ?? null;
}

/** Follows messages where their transactions can be read from an index, by processes that serve API v3. */
async function openPendingOf(
  { network: { config }, index: indexPlan, localNode, pending: { isOn, ...plan } }: ServedNetworkOptions,
  { open, index }: Pick<ServedNetwork, 'open' | 'index'>,
  modules: Environment,
): Promise<OpenPending | null> {
  if (!isOn || index === null || index.role === 'indexer') return null;
  const source = open.pools.get(PUBLIC_GROUP)!;
  const { chain, lite } = source;
  const pool = localNode?.onPooled ?? null;
  const dnsRoots = indexPlan === null || typeof indexPlan === 'string' ? [] : indexPlan.dnsRoots;
  const emulation = networkEmulation(source, dnsRoots);
  return openPending(
    { config, ...plan },
    {
      ...{ ...modules, chain, emulation, index, pool },
      claimedSeqno: () => lite.headSeqno,
      isConnected: () => lite.metrics().servers.some(({ state }) => state === 'healthy'),
    },
  );
}

/** Reader threads of a network, which start when they are needed. */
function readersOf(
  { apiWorkers, database, queryTimeoutMs, textCacheMb, largeWork }: IndexPlan & Pick<ServedNetworkOptions, 'largeWork'>,
  testnet: boolean,
  index: NetworkIndex,
  { clock, logger }: Environment,
): ReaderPool {
  const start = async () => {
    const { url, readUrl } = await database;
    const { version } = index;
    return { url: readUrl ?? url, isTestnet: testnet, queryTimeoutMs, textBytes: textCacheMb * MIB, version };
  };
  const { lookUps } = index;
  return new ReaderPool(
    { threads: apiWorkers ?? DEFAULT_READERS, largeAbovePrice: largeWork },
    { start, coverage: () => index.coverage(), ...(lookUps === null ? {} : { lookUps }), clock, logger },
  );
}

function withoutIndex(health: NetworkHealth, reason: string): NetworkHealth {
  return { ...health, details: { ...health.details, index: `none: ${reason}` } };
}

/**
 * API v2 is ready without a readable index; a pure indexer is not, and no process is while the chain contradicts the index, while
 * nothing is indexed yet, or while the index is further behind than it may be.
 */
export function withIndex(
  health: NetworkHealth,
  index: Pick<NetworkIndex, 'role' | 'figures' | 'coverage' | 'problem' | 'emptiness' | 'contradiction' | 'writing'>,
  maxLagMs: number,
): NetworkHealth {
  const { readable, head_seqno, lag_seconds, missing_blocks } = index.figures();
  const indexProblem = index.problem();
  const decisive =
    index.contradiction() ??
    index.emptiness() ??
    (index.role === 'indexer' ? indexProblem : null) ??
    (maxLagMs === 0 ? null : lagProblem(lag_seconds, maxLagMs / 1000, head_seqno));
  const problem = health.problem ?? (decisive === null ? null : `the index: ${decisive}`);
  const details = {
    index: readable ? 'readable' : 'unreadable',
    index_role: index.role,
    index_head_seqno: head_seqno,
    index_lag_seconds: lag_seconds,
    index_missing_blocks: missing_blocks,
    index_coverage: coverageText(index.coverage()),
    index_problem: indexProblem,
    ...writingDetails(index),
  };
  return { ...health, ready: problem === null, problem, details: { ...health.details, ...details } };
}

function lagProblem(lagSeconds: number | null, mostSeconds: number, seqno: number): string | null {
  if (lagSeconds === null) return 'how far it is behind the newest block is not known';
  if (lagSeconds <= mostSeconds) return null;
  return `its newest block, ${seqno}, is ${Math.round(lagSeconds)} s behind the chain, more than ${mostSeconds} s`;
}

/** Health details of a process that writes the index or stands by. */
function writingDetails(index: Pick<NetworkIndex, 'writing'>): Readonly<Record<string, string | number | null>> {
  const writing = index.writing();
  if (writing === null) return {};
  const { leader, fill_left } = writing;
  return { index_writer: leader ? 'leader' : 'stand-by', index_fill_missing_blocks: fill_left };
}

/** Access control from the settings. */
interface ServiceAccess {
  readonly access: Access;
  /** `null` with open access. */
  readonly administration: AccessAdministration | null;
  /** `null` with open access. */
  readonly metrics: (() => AccessMetrics) | null;
  close(): Promise<void>;
}

/**
 * Starts access control.
 * @param groups the configured private liteserver groups
 * @throws access/*
 */
async function startAccess(
  { settings, accessDatabase = null }: ServicePlan,
  groups: readonly string[],
  modules: Environment,
): Promise<ServiceAccess> {
  const { access, data: folder, plans: file, redisUrl } = settings;
  if (access === 'open') return { access: openAccess, administration: null, metrics: null, close: async () => {} };
  const plans = plansIn(folder, file);
  for (const name of plans.names) {
    const group = plans.find(name)?.group ?? null;
    if (group === null || groups.includes(group)) continue;
    const message = 'a plan opens an unknown liteserver group; its keys use the public group';
    modules.logger.warn(message, { plan: name, group });
  }
  const started = await startKeyedAccess({ folder, plans: file, redisUrl, databaseUrl: accessDatabase }, modules);
  const { administration } = started;
  return { access: started.access, administration, metrics: () => started.metrics(), close: () => started.close() };
}
