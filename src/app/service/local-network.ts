import { join } from 'node:path';
import type { NamedNetwork } from '#app/config/networks.js';
import type { ForkSpec } from '#app/config/settings.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import { type OpenFork, openFork } from '#app/service/fork.js';
import { type IndexPlan, type RunningService, type ServicePlan, startService } from '#app/service/service.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { makeFolder, writeFileAtomic } from '#kernel/files.js';
import { chainOrigin } from '#localnet/ledger/genesis.js';
import { requireSnapshot, resetChain, restoreSnapshot } from '#localnet/ledger/snapshots.js';
import { globalConfig } from '#localnet/liteserver/server.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LocalNode, RunningNode } from '#localnet/node/local-node.js';
import { type ForkPlan, NodeThread, type ProducedCounts } from '#localnet/node/node-thread.js';
import type { NodeAddress } from '#localnet/node/start-node.js';

/** The chain of an index. */
interface FollowedChain {
  readonly zerostate: BlockId;
  readonly incarnation: string;
}

export interface LocalServiceOptions {
  readonly name: string;
  readonly version: string;
  /** Folder of the chain and its snapshots. */
  readonly folder: string;
  readonly blockTimeMs: number;
  readonly paused: boolean;
  readonly liteserverPort: number;
  readonly signatures: 'simplex' | 'ordinary';
  readonly listen: { readonly host: string; readonly port: number };
  readonly settings: ServicePlan['settings'];
  /** Fork source; null for a network without fork, or for an existing chain. */
  readonly fork: ForkSpec | null;
  /** The index options of a chain, or why it has no index. */
  readonly indexOf: (chain: FollowedChain) => IndexPlan | string;
}

/** A local network with its services. */
interface RunningParts extends Running {
  readonly local: RunningLocalNetwork;
  readonly service: RunningService;
  /** URL of the server; the port remains the same after a restart. */
  readonly url: string;
}

/** A local network with its APIs, which restarts when its chain is replaced. */
export interface LocalService {
  readonly parts: () => RunningParts;
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** @throws as startLocalNetwork and startService */
export async function startLocalService(options: LocalServiceOptions, modules: Environment): Promise<LocalService> {
  const { name, folder, blockTimeMs, paused, liteserverPort, signatures, version, settings } = options;
  let { port } = options.listen;
  let restartable: Restartable<RunningParts> | null = null;

  /** Restarts everything that follows the chain, after the response to the request is sent. */
  const change = async (command: string, work: () => void): Promise<void> => {
    if (restartable?.change(async () => work()) !== true) throw localnetErrors['other-command']({ command });
  };

  /** Fork source of a new chain: the configured one, after a reset the same block again. */
  let given = options.fork;
  let isFirst = true;

  const start = (): Promise<RunningParts> =>
    withClosers(async (closers) => {
      const chain = chainOrigin(folder);
      const wanted = isFirst || chain === null ? given : null;
      const fork = await openFork({ given: wanted, folder, chain, dataFolder: settings.data }, modules);
      closers.add(() => fork?.close());
      isFirst = false;
      given = fork === null ? null : { source: fork.origin.source, seqno: fork.origin.block.seqno };
      const local = await startLocalNetwork(
        { name, folder, blockTimeMs, paused, liteserverPort, signatures, fork },
        modules,
      );
      closers.add(() => local.close());
      const service = await startService(
        {
          version,
          networks: [local.network],
          groups: [],
          listeners: [{ address: { host: options.listen.host, port }, networks: [name] }],
          hostOf: [],
          indexes: new Map([[name, options.indexOf(local.address)]]),
          localNodes: new Map([
            [name, { node: changeableNode(local.node, folder, change), counts: local.counts, isFork: fork !== null }],
          ]),
          keepsKeyBlocks: false,
          settings,
        },
        modules,
      );
      closers.add(() => service.close());
      const [http] = service.servers;
      port = Number(new URL(http!.url).port);
      return { local, service, url: http!.url, ended: local.ended, close: () => closers.close() };
    });

  const running = await Restartable.begin(start);
  restartable = running;
  return { parts: () => running.current, ended: running.ended, close: () => running.close() };
}

/** The node with operations that replace the chain: stop, change the folder, restart. */
function changeableNode(
  node: RunningNode,
  folder: string,
  change: (command: string, work: () => void) => Promise<void>,
): LocalNode {
  const changes: Pick<LocalNode, 'loadSnapshot' | 'reset'> = {
    loadSnapshot: async (name) => {
      requireSnapshot(folder, name);
      await change('the load of a snapshot', () => restoreSnapshot(folder, name));
    },
    reset: () => change('a reset', () => resetChain(folder)),
  };
  return new Proxy(node as LocalNode, {
    get: (target, method) =>
      Object.hasOwn(changes, method) ? Reflect.get(changes, method) : Reflect.get(target, method),
  });
}

interface LocalNetworkOptions {
  /** Name in metrics and the log. */
  readonly name: string;
  /** Folder of the chain. */
  readonly folder: string;
  readonly blockTimeMs: number;
  readonly paused: boolean;
  /** Port of the liteserver; 0 for a free port. */
  readonly liteserverPort: number;
  /** Signature format of the validator. */
  readonly signatures: 'simplex' | 'ordinary';
  /** The open fork source; null for a network without fork. */
  readonly fork: OpenFork | null;
}

/** A local network in a worker thread. */
interface RunningLocalNetwork {
  readonly network: NamedNetwork;
  readonly node: RunningNode;
  readonly address: NodeAddress;
  /** Path of the global.config.json for third-party lite clients. */
  readonly configFile: string;
  readonly counts: () => ProducedCounts;
  /** Rejects when it ends unexpectedly. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** One for block production, one for client queries. */
const TVM_WORKERS = 2;

/**
 * Starts a local network: a chain in the folder and a liteserver on this computer.
 * @throws ledger/*, genesis/*, adnl/listen-failed, localnet/thread-lost
 */
function startLocalNetwork(options: LocalNetworkOptions, modules: Environment): Promise<RunningLocalNetwork> {
  return withClosers(async (closers) => {
    const { name, folder, blockTimeMs, paused, liteserverPort, signatures, fork } = options;
    const { logger, unixTimeMs } = modules;
    makeFolder(folder);
    let counts: ProducedCounts = { mcBlocks: 0, transactions: 0, emulateMs: 0, totalMs: 0 };
    const thread = new NodeThread(
      {
        options: {
          folder,
          blockTimeMs,
          paused,
          liteserver: { host: HOST, port: liteserverPort },
          signatureKind: signatures,
          tvmWorkers: TVM_WORKERS,
        },
        genesis: {
          now: Math.max(Math.floor(unixTimeMs() / 1000), fork?.start?.gen_utime ?? 0),
          fork: fork === null ? null : forkPlan(fork),
        },
        isFork: fork !== null,
      },
      {
        logger,
        forkSource: fork?.forkSource ?? null,
        onProduced: (more) => {
          counts = {
            mcBlocks: counts.mcBlocks + more.mcBlocks,
            transactions: counts.transactions + more.transactions,
            emulateMs: counts.emulateMs + more.emulateMs,
            totalMs: counts.totalMs + more.totalMs,
          };
        },
      },
    );
    closers.add(() => thread.close());
    const address = await thread.started();
    const config = globalConfig(address, address.zerostate);
    const configFile = join(folder, 'global.config.json');
    await writeFileAtomic(configFile, config, { mode: 0o644 });
    return {
      network: { name, source: configFile, config: parseGlobalConfig(config, configFile) },
      node: thread.node,
      address,
      configFile,
      counts: () => counts,
      ended: thread.ended,
      close: () => closers.close(),
    };
  });
}

/** The initial state of a fork; null when the chain continues. */
function forkPlan({ origin, start }: OpenFork): ForkPlan | null {
  if (start === null) return null;
  const { config, end_lt: startLt, global_id: globalId } = start;
  return { origin, config: serializeBoc(config), startLt, globalId };
}

/** A part that can be stopped and restarted. */
export interface Running {
  /** Rejects when it ends unexpectedly; resolves when closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Runs a part: `change` stops it, executes a change, and starts a new one. */
export class Restartable<Current extends Running> {
  readonly #start: () => Promise<Current>;
  #current: Current;
  #closing = false;
  #changing: Promise<void> | null = null;
  #end: { resolve: () => void; reject: (error: unknown) => void } | null = null;
  /** Resolves when closed; rejects when the part ends unexpectedly or cannot be restarted. */
  readonly ended: Promise<void>;

  private constructor(start: () => Promise<Current>, first: Current) {
    this.#start = start;
    this.#current = first;
    this.ended = new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
    });
    this.ended.catch(() => {});
    this.#watch(first);
  }

  static async begin<Current extends Running>(start: () => Promise<Current>): Promise<Restartable<Current>> {
    return new Restartable(start, await start());
  }

  /** The current or last part. */
  get current(): Current {
    return this.#current;
  }

  get isChanging(): boolean {
    return this.#changing !== null || this.#closing;
  }

  /** Starts a change unless one is in progress; a failure is fatal. @returns whether it was started */
  change(work: () => Promise<void>): boolean {
    if (this.isChanging) return false;
    this.#changing = (async () => {
      await this.#current.close();
      await work();
      if (this.#closing) return;
      this.#current = await this.#start();
      this.#watch(this.#current);
    })();
    this.#changing.then(
      () => {
        this.#changing = null;
      },
      (error) => this.#end?.reject(error),
    );
    return true;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#changing?.catch(() => {});
    await this.#current.close();
    this.#end?.resolve();
  }

  #watch(running: Current): void {
    running.ended.catch((error) => {
      if (this.#current === running && !this.isChanging) this.#end?.reject(error);
    });
  }
}
