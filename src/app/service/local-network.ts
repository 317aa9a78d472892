import { join } from 'node:path';
import type { NamedNetwork } from '#app/config/networks.js';
import type { ForkSpec } from '#app/config/settings.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import { type OpenFork, openFork } from '#app/service/fork.js';
import {
  type IndexPlan,
  type PlannedNetwork,
  type RunningService,
  type ServicePlan,
  startService,
} from '#app/service/service.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { CancelSchedule } from '#kernel/clock.js';
import { makeFolder, writeFileAtomic } from '#kernel/files.js';
import { isTernError } from '#kernel/tern-error.js';
import { chainOrigin } from '#localnet/ledger/genesis.js';
import { requireSpace } from '#localnet/ledger/ledger-files.js';
import { requireSnapshot, restoreSnapshot, returnToChain, startFromSnapshot } from '#localnet/ledger/snapshots.js';
import { globalConfig } from '#localnet/liteserver/server.js';
import type { BlockLoopOptions } from '#localnet/node/block-loop.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LocalNode, RunningNode } from '#localnet/node/local-node.js';
import { type ForkPlan, NodeThread, type NodeThreadModules, type ProducedCounts } from '#localnet/node/node-thread.js';
import type { ProducedTransactions } from '#localnet/node/produced-transactions.js';
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
  readonly production: BlockLoopOptions;
  readonly liteserverPort: number;
  readonly signatures: 'simplex' | 'ordinary';
  readonly listen: { readonly host: string; readonly port: number };
  readonly settings: ServicePlan['settings'];
  /** Called with the transactions of each masterchain block that has some; null: they are not reported. */
  readonly onTransactions: ((produced: ProducedTransactions) => void) | null;
  /** Fork source; null for a network without fork, or for an existing chain. */
  readonly fork: ForkSpec | null;
  readonly change: ChainChange;
  /** The index options of a chain, or why it has no index. */
  readonly indexOf: (chain: FollowedChain) => IndexPlan | string;
}

/** What takes the place of the stored chain at the start, one at most. When the start fails, the stored chain stays. */
export interface ChainChange {
  /** A new chain. */
  readonly reset: boolean;
  /** The chain of this snapshot; null: none. */
  readonly snapshot: string | null;
}

/** A local network with its APIs. */
export interface LocalService {
  /** URL of the server. */
  readonly url: string;
  readonly service: RunningService;
  readonly node: LocalNode;
  /** Path of the global.config.json for third-party lite clients. */
  readonly configFile: string;
  close(): Promise<void>;
}

/** @throws as startLocalNetwork and startService */
export function startLocalService(options: LocalServiceOptions, modules: Environment): Promise<LocalService> {
  return withClosers(async (closers) => {
    const { name, version, settings, listen, change } = options;
    const chain = new LocalChain(options, modules);
    const changes = new ChainChanges(chain, name, modules);
    closers.add(() => chain.stop());
    const start = () => chain.start(changes, change.reset ? 'anew' : 'continue');
    const { network, index, localNode } =
      change.snapshot === null ? await start() : await startFromSnapshot(options.folder, change.snapshot, start);
    const service = await startService(
      {
        version,
        networks: [network],
        groups: [],
        listeners: [{ address: listen, networks: [name] }],
        hostOf: [],
        indexes: new Map(index === null ? [] : [[name, index]]),
        localNodes: new Map(localNode === null ? [] : [[name, localNode]]),
        keepsKeyBlocks: false,
        explorerAt: '',
        settings,
      },
      modules,
    );
    closers.add(() => service.close());
    changes.allow(service);
    closers.add(() => changes.close());
    const { node } = localNode!;
    return { url: service.servers[0]!.url, service, node, configFile: network.source, close: () => closers.close() };
  });
}

/** How a chain starts: as it is stored, or as a new one that takes the place of the stored one. */
type ChainStart = 'continue' | 'anew';

/** The chain of a local network in its folder, and the thread that runs it. */
class LocalChain {
  readonly #options: LocalServiceOptions;
  readonly #modules: Environment;
  /** Fork source of a new chain: the configured one, after a reset the same block again. */
  #fork: ForkSpec | null;
  /** As it was started, or set since: it belongs to the caller, not to a chain. */
  #production: BlockLoopOptions;
  #hasStarted = false;
  /** Of the chain that ran last. */
  #incarnation: string | null = null;
  readonly #pooled = new Set<(message: Uint8Array) => void>();
  #counts: ProducedCounts = { mcBlocks: 0, transactions: 0, emulateMs: 0, totalMs: 0 };
  #running: { readonly node: RunningNode; close(): Promise<void> } | null = null;

  constructor(options: LocalServiceOptions, modules: Environment) {
    this.#options = options;
    this.#modules = modules;
    this.#fork = options.fork;
    this.#production = options.production;
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** Null when it does not run. */
  get node(): RunningNode | null {
    return this.#running?.node ?? null;
  }

  /** Starts the thread. @throws as startLocalNetwork, and openFork */
  start(changes: ChainChanges, how: ChainStart): Promise<PlannedNetwork> {
    return withClosers(async (closers) => {
      const { folder, settings, indexOf } = this.#options;
      const replacesChain = how === 'anew';
      const chain = replacesChain ? null : chainOrigin(folder);
      const given = !this.#hasStarted || chain === null ? this.#fork : null;
      const fork = await openFork({ given, folder, chain, dataFolder: settings.data }, this.#modules);
      closers.add(() => fork?.close());
      const planned = { ...this.#options, production: this.#production, replacesChain, fork };
      const local = await startLocalNetwork(planned, this.#modules, {
        onProduced: (more) => {
          this.#counts = sumOf(this.#counts, more);
        },
        onPooled: (message) => {
          for (const listener of this.#pooled) listener(message);
        },
      });
      closers.add(() => local.close());
      this.#fork = fork === null ? null : { source: fork.origin.source, seqno: fork.origin.block.seqno };
      this.#hasStarted = true;
      this.#incarnation = local.address.incarnation;
      const running = { node: local.node, close: () => closers.close() };
      this.#running = running;
      local.ended.catch((error: unknown) => {
        if (this.#running === running) changes.noteLost(error);
      });
      return {
        network: local.network,
        index: indexOf(local.address),
        localNode: {
          node: changes.node,
          counts: () => this.#counts,
          isFork: fork !== null,
          onPooled: (listener) => {
            this.#pooled.add(listener);
            return () => this.#pooled.delete(listener);
          },
        },
      };
    });
  }

  /** After a failed replacement: the chain that ran last is the stored one again, if it is still there. */
  restore(): void {
    if (this.#incarnation !== null) returnToChain(this.folder, this.#incarnation);
  }

  /** Ends the thread, if it runs: then the folder may be changed. @throws localnet/thread-stuck */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    // A thread that has ended has no status; then it starts as before.
    const status = await running?.node.status().catch(() => null);
    if (status != null) {
      const { block_time: blockTimeMs, paused, mining } = status;
      this.#production = { blockTimeMs, paused, mining };
    }
    await running?.close();
  }
}

function sumOf(a: ProducedCounts, b: ProducedCounts): ProducedCounts {
  return {
    mcBlocks: a.mcBlocks + b.mcBlocks,
    transactions: a.transactions + b.transactions,
    emulateMs: a.emulateMs + b.emulateMs,
    totalMs: a.totalMs + b.totalMs,
  };
}

/** Pauses between attempts to start a network again that does not run. */
const RETRY_MS = { first: 1_000, most: 30_000 } as const;

/**
 * Replaces the chain of a running service, one change at a time. When a change fails, the stored chain is started again: the
 * one before, or the new one if it is complete. When that fails as well, it is tried again and again.
 */
class ChainChanges {
  readonly #chain: LocalChain;
  readonly #name: string;
  readonly #modules: Environment;
  #service: RunningService | null = null;
  /** What the network is being changed by; null when it is not. */
  #command: string | null = 'its start';
  #work: Promise<unknown> = Promise.resolve();
  #isClosing = false;
  #problem: string | null = null;
  #retryMs: number = RETRY_MS.first;
  #cancel: CancelSchedule = () => {};
  readonly node: LocalNode;

  constructor(chain: LocalChain, name: string, modules: Environment) {
    this.#chain = chain;
    this.#name = name;
    this.#modules = modules;
    const own: Pick<LocalNode, 'loadSnapshot' | 'reset'> = {
      loadSnapshot: async (snapshot) => {
        requireSnapshot(chain.folder, snapshot);
        await this.#change('the load of a snapshot', () => {
          restoreSnapshot(chain.folder, snapshot);
          return chain.start(this, 'continue');
        });
      },
      reset: () => this.#change('a reset', () => chain.start(this, 'anew')),
    };
    this.node = new Proxy(own as LocalNode, {
      get: (_, method) => {
        if (Object.hasOwn(own, method)) return Reflect.get(own, method);
        // A promise that resolves with this object asks for `then`.
        return method === 'then' ? undefined : (...args: readonly unknown[]) => this.#call(method, args);
      },
    });
  }

  /** From now on the chain may be replaced. */
  allow(service: RunningService): void {
    this.#service = service;
    this.#command = null;
  }

  /** The thread has ended by itself. */
  noteLost(error: unknown): void {
    if (this.#command === null) this.#retryLater(error);
  }

  /** Waits for the change in progress; later ones are refused. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancel();
    await this.#work;
  }

  async #call(method: string | symbol, args: readonly unknown[]): Promise<unknown> {
    const { node } = this.#chain;
    if (node !== null && this.#problem === null) return Reflect.get(node, method)(...args);
    throw this.#command === null
      ? localnetErrors.stopped({ problem: this.#problem ?? 'it is closed' })
      : localnetErrors['other-command']({ command: this.#command });
  }

  /** @param start replaces the chain, and starts it */
  async #change(command: string, start: () => Promise<PlannedNetwork>): Promise<void> {
    if (this.#command !== null) throw localnetErrors['other-command']({ command: this.#command });
    if (this.#isClosing) throw localnetErrors.closing({});
    // Found before the running chain is ended: where nothing can be written, it could not be started again either.
    if (this.#problem === null) requireSpace(this.#chain.folder);
    this.#command = command;
    this.#cancel();
    const work = this.#replace(command, start);
    this.#work = work.catch(() => {});
    await work;
  }

  async #replace(command: string, start: () => Promise<PlannedNetwork>): Promise<void> {
    const { logger } = this.#modules;
    let failure: { readonly error: unknown } | null = null;
    try {
      await this.#service!.replace(this.#name, {
        meanwhile: localnetErrors['other-command']({ command }),
        failed: (error) => localnetErrors.stopped({ problem: problemOf(error) }),
        next: async () => {
          await this.#chain.stop();
          try {
            return await start();
          } catch (error) {
            failure = { error };
            logger.warn('the chain could not be replaced; the stored one is started again', {
              command,
              problem: problemOf(error),
            });
            await this.#chain.stop();
            this.#chain.restore();
            return this.#chain.start(this, 'continue');
          }
        },
      });
      this.#problem = null;
      this.#retryMs = RETRY_MS.first;
    } catch (error) {
      failure ??= { error };
      this.#command = null;
      this.#retryLater(error);
    }
    this.#command = null;
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
  }

  #retryLater(error: unknown): void {
    if (this.#isClosing) return;
    const { logger, clock } = this.#modules;
    this.#problem = problemOf(error);
    logger.warn('the local network does not run; it is started again', {
      problem: this.#problem,
      in_ms: this.#retryMs,
    });
    this.#cancel = clock.schedule(this.#retryMs, () => {
      this.#change('a start after a failure', () => this.#chain.start(this, 'continue')).catch(() => {});
    });
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.most);
  }
}

function problemOf(error: unknown): string {
  if (isTernError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface LocalNetworkOptions {
  /** Name in metrics and the log. */
  readonly name: string;
  /** Folder of the chain. */
  readonly folder: string;
  readonly production: BlockLoopOptions;
  /** Port of the liteserver; 0 for a free port. */
  readonly liteserverPort: number;
  /** Signature format of the validator. */
  readonly signatures: 'simplex' | 'ordinary';
  /** The open fork source; null for a network without fork. */
  readonly fork: OpenFork | null;
  /** Whether a new chain takes the place of a stored one. */
  readonly replacesChain: boolean;
  /** As in `LocalServiceOptions`. */
  readonly onTransactions: LocalServiceOptions['onTransactions'];
}

/** A local network in a worker thread. */
interface RunningLocalNetwork {
  readonly network: NamedNetwork;
  readonly node: RunningNode;
  readonly address: NodeAddress;
  /** Rejects when it ends unexpectedly. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Starts a local network: a chain in the folder and a liteserver on this computer.
 * @throws ledger/*, genesis/*, adnl/listen-failed, localnet/thread-lost
 */
function startLocalNetwork(
  options: LocalNetworkOptions,
  modules: Environment,
  told: Pick<NodeThreadModules, 'onProduced' | 'onPooled'>,
): Promise<RunningLocalNetwork> {
  return withClosers(async (closers) => {
    const { name, folder, production, liteserverPort, signatures, fork, replacesChain, onTransactions } = options;
    const { clock, logger, unixTimeMs } = modules;
    makeFolder(folder);
    const thread = new NodeThread(
      {
        options: {
          folder,
          replacesChain,
          production,
          liteserver: { host: HOST, port: liteserverPort },
          signatureKind: signatures,
        },
        genesis: {
          now: Math.max(Math.floor(unixTimeMs() / 1000), fork?.start?.gen_utime ?? 0),
          fork: fork === null ? null : forkPlan(fork),
        },
        isFork: fork !== null,
        reportsTransactions: onTransactions !== null,
      },
      {
        clock,
        logger,
        forkSource: fork?.forkSource ?? null,
        ...told,
        onTransactions: onTransactions ?? (() => {}),
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
