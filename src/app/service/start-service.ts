import { availableParallelism } from 'node:os';
import { Registry } from 'prom-client';
import { type HttpServer, startHttpServer } from '#api/http/server.js';
import type { ApiSettings } from '#app/config/api-settings.js';
import { configErrors } from '#app/config/errors.js';
import type { Listener } from '#app/config/listeners.js';
import { isSameNetwork, type NamedGroup, type NamedNetwork } from '#app/config/networks.js';
import { startTogether } from '#app/service/closers.js';
import {
  type IndexPlan,
  openServedNetwork,
  type ServedLocalNode,
  type ServedNetwork,
} from '#app/service/served-network.js';
import { startAccess } from '#app/service/start-access.js';
import type { Surroundings } from '#app/service/surroundings.js';
import {
  type MeasuredService,
  registerProcessMetrics,
  registerServiceMetrics,
} from '#app/telemetry/service-metrics.js';
import type { AccessMetrics } from '#services/access/metrics.js';

/** What is served where. */
export interface ServicePlan {
  /** Of the package: `2.2.0`. */
  readonly version: string;
  readonly networks: readonly NamedNetwork[];
  readonly groups: readonly NamedGroup[];
  readonly listeners: readonly Listener[];
  readonly hostOf: readonly { readonly network: string; readonly host: string }[];
  /** The indexes, by network; instead of one, why there is none. */
  readonly indexes: ReadonlyMap<string, IndexPlan | string>;
  /** The nodes of networks that run in this process, by network: they can be controlled. */
  readonly localNodes?: ReadonlyMap<string, ServedLocalNode>;
  /** Whether proven key blocks are kept in the data folder. */
  readonly keepsKeyBlocks: boolean;
  readonly settings: ApiSettings;
}

/** A service that runs until it is closed. */
export interface RunningService {
  /** In the order of the listeners. */
  readonly servers: readonly HttpServer[];
  /** Resolves when what databases were still awaited have been opened; rejects when one is of no use. */
  readonly opened: Promise<void>;
  close(): Promise<void>;
}

const MIB = 2 ** 20;

/**
 * Starts everything, HTTP last; when one part cannot start, those before it are closed again.
 *
 * @throws http/cannot-listen, access/*, config/setting-conflict, and as {@link openServedNetwork}
 */
export function startService(plan: ServicePlan, modules: Surroundings): Promise<RunningService> {
  return startTogether(async (closers) => {
    const { settings, networks, listeners } = plan;
    const groups = groupsByNetwork(networks, plan.groups);
    const named = plan.groups.map(({ group }) => group);
    const { access, metrics: accessMetrics, close } = await startAccess(settings, named, modules);
    closers.add(close);

    const cores = Math.min(availableParallelism(), 8);
    const tvmWorkers = settings.tvmWorkers ?? Math.max(1, Math.floor(cores / networks.length));
    const open = new Map<string, ServedNetwork>();
    for (const network of networks) {
      const index = plan.indexes.get(network.name) ?? null;
      const opened = await openServedNetwork(
        {
          network,
          index,
          localNode: plan.localNodes?.get(network.name) ?? null,
          hosts: plan.hostOf.filter((each) => each.network === network.name).map(({ host }) => host),
          groups: groups.get(network.name) ?? [],
          dataFolder: plan.keepsKeyBlocks ? settings.data : null,
          getMethods: settings.getMethods,
          // Who only writes the index runs no get-methods.
          tvmWorkers: isIndexer(index) ? 1 : tvmWorkers,
          cacheBytes: settings.nodeCacheMb * MIB,
          deadlineMs: settings.requestTimeout,
          maxHeadAgeMs: settings.maxHeadAge,
        },
        modules,
      );
      closers.add(() => opened.close());
      open.set(network.name, opened);
    }

    const servers: HttpServer[] = [];
    // They all end their requests at the same time, so that the longest drain is the whole one.
    closers.add(async () => void (await Promise.all(servers.map((server) => server.close()))));
    for (const { address, networks: names } of listeners) {
      const served = names.map((name) => open.get(name)!);
      const registry = new Registry();
      registerProcessMetrics(registry);
      registerServiceMetrics(registry, measured(plan, served, accessMetrics), modules.clock);
      const server = await startHttpServer(
        { ...address, version: plan.version, ...httpSettings(settings) },
        {
          ...modules,
          access,
          metrics: registry,
          networks: served.map(({ http }) => http),
        },
      );
      modules.logger.info('listening', { url: server.url, networks: names.join() });
      servers.push(server);
    }
    const opened = Promise.all([...open.values()].map(({ index }) => index?.opened)).then(() => {});
    opened.catch(() => {});
    return { servers, opened, close: () => closers.close() };
  });
}

function isIndexer(index: IndexPlan | string | null): boolean {
  return index !== null && typeof index !== 'string' && index.role === 'indexer';
}

function httpSettings(settings: ApiSettings) {
  return {
    profile: settings.profile,
    trustProxy: settings.trustProxy,
    cacheBytes: settings.cacheMb * MIB,
    deadlineMs: settings.requestTimeout,
    maxConcurrent: settings.maxRequests,
    maxConnections: settings.maxConnections,
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
      const problem = `the liteserver group ${group} (${source}) is of a network that is not served: its zerostate is another`;
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
  networks: readonly ServedNetwork[],
  access: (() => AccessMetrics) | null,
): MeasuredService {
  const pools = networks.flatMap(({ http: { name }, open }) =>
    [...open.pools].map(([group, pool]) => ({ labels: { network: name, group }, pool })),
  );
  const indexes = networks.flatMap(({ http: { name }, index }) =>
    index === null ? [] : [{ labels: { network: name }, index }],
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
    pools: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool.lite.metrics() })),
    connections: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool.connections })),
    contracts: pools.map(({ labels, pool }) => ({ labels, snapshot: () => pool.contracts.metrics() })),
    tvm: networks.map(({ http: { name }, open }) => ({
      labels: { network: name },
      snapshot: () => open.tvm.metrics(),
    })),
    indexes: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index.figures() })),
    writers: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index.writing() })),
    metadata: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index.metadata() })),
    localnets: networks.flatMap(({ http: { name } }) => {
      const local = localNodes?.get(name);
      return local === undefined ? [] : [{ labels: { network: name }, snapshot: local.counts }];
    }),
    databases: indexes.map(({ labels, index }) => ({ labels, snapshot: () => index.databaseFigures() })),
  };
}
