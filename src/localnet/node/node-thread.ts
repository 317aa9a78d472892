import { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Cell } from '#formats/cells/cell.js';
import type { Clock } from '#kernel/clock.js';
import { withDeadline } from '#kernel/deadline.js';
import type { Logger } from '#kernel/logger.js';
import type { MetricRow } from '#kernel/metric-rows.js';
import type { ValueCodec } from '#kernel/worker-channel.js';
import type { LogMethods } from '#kernel/worker-side.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { ForkOrigin } from '#localnet/ledger/genesis.js';
import { removeThreadLock } from '#localnet/ledger/ledger-files.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import type { ProducedTransactions } from '#localnet/node/produced-transactions.js';
import type { LiveNodeOptions, NodeAddress } from '#localnet/node/start-node.js';

/** The two sides of a node thread: see `WorkerContract`. Arguments and results cross it by {@link plainValues}. */
export interface NodeThreadContract {
  readonly start: NodeStart;
  readonly host: NodeHost;
  readonly methods: RunningNode;
  readonly ready: NodeAddress;
}

/** What a node thread calls. Of a network that is no fork, the methods of `ForkSource` are not called. */
interface NodeHost extends ForkSource, LogMethods {
  produced(counts: ProducedCounts): void;
  /** An external-in message waits for a block. @param message BoC */
  pooled(message: Uint8Array): void;
  /** Of a new masterchain block; only called when `NodeStart` wants it. */
  reported(produced: ProducedTransactions): void;
}

/** How a fork begins, as plain data. */
export interface ForkPlan {
  readonly origin: ForkOrigin;
  /** BoC of the root of the configuration (`Hashmap 32 ^Cell`). */
  readonly config: Uint8Array;
  /** Logical time after which the chain continues. */
  readonly startLt: bigint;
  readonly globalId: number;
}

/** How a new chain begins, as plain data. */
interface GenesisPlan {
  /** Unix seconds. */
  readonly now: number;
  readonly fork: ForkPlan | null;
}

/** What a node thread is started with. */
export interface NodeStart {
  readonly options: LiveNodeOptions;
  readonly genesis: GenesisPlan;
  /** Whether the chain is a fork: then the host answers as a `ForkSource`. */
  readonly isFork: boolean;
  /** Whether transactions are reported. */
  readonly reportsTransactions: boolean;
}

/** Sums over the masterchain blocks that were produced since the last report. */
export interface ProducedCounts {
  readonly mcBlocks: number;
  readonly transactions: number;
  readonly emulateMs: number;
  readonly totalMs: number;
}

export interface NodeThreadModules {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onProduced: (counts: ProducedCounts) => void;
  /** Called with the BoC of each external-in message that was accepted. */
  readonly onPooled: (message: Uint8Array) => void;
  /** Called with the transactions of each masterchain block that has some. */
  readonly onTransactions: (produced: ProducedTransactions) => void;
  /** The network that this one is a fork of. */
  readonly forkSource: ForkSource | null;
}

/** How long a node may take to end in order: a block may be in production, and the states are written when the chain is closed. */
const GIVE_UP_MS = 20_000;

/** How long a thread that is terminated may take to end: what it is doing natively cannot be interrupted. */
const TERMINATE_MS = 5_000;

/** A node in a thread of its own. */
export class NodeThread {
  readonly #thread: WorkerThread<NodeThreadContract>;
  readonly #clock: Clock;
  /** Resolves when the thread was closed; rejects when it has ended by itself. The folder is unlocked then. */
  readonly ended: Promise<void>;

  constructor(start: NodeStart, modules: NodeThreadModules) {
    const { clock, logger, onProduced, onPooled, onTransactions, forkSource } = modules;
    this.#thread = new WorkerThread({
      entry: new URL('./node-main.js', import.meta.url),
      start,
      host: {
        ...logMethods(logger),
        produced: onProduced,
        pooled: onPooled,
        reported: onTransactions,
        account: (address) => forkSource!.account(address),
        library: (hash) => forkSource!.library(hash),
        transactions: (address, from, count) => forkSource!.transactions(address, from, count),
      },
      values: plainValues,
      lost: (problem, thrown) => localnetErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
      closed: () => localnetErrors.closing({}),
      unexpected: (problem, cause) => localnetErrors['round-failed']({ problem }, cause),
    });
    this.#clock = clock;
    const { id } = this.#thread;
    // A thread that was terminated has not unlocked it.
    this.ended = this.#thread.ended.finally(() => removeThreadLock(start.options.folder, id));
    this.ended.catch(() => {});
  }

  /** The node; its methods also throw localnet/thread-lost and localnet/closing. */
  get node(): RunningNode {
    return this.#thread.call;
  }

  /** Resolves when the liteserver listens. @throws ledger/*, genesis/*, adnl/*, localnet/thread-lost */
  started(): Promise<NodeAddress> {
    return this.#thread.ready;
  }

  /**
   * Ends the node: no block is lost, nor any message that is in a block.
   * @throws localnet/thread-stuck
   */
  async close(giveUpMs = GIVE_UP_MS): Promise<void> {
    const closed = this.#thread.close(giveUpMs).then(() => this.ended.catch(() => {}));
    const mostMs = giveUpMs + TERMINATE_MS;
    await withDeadline(
      closed,
      {
        until: this.#clock.now() + mostMs,
        expired: () => localnetErrors['thread-stuck']({ seconds: mostMs / 1_000 }),
        aborted: () => localnetErrors.closing({}),
      },
      this.#clock,
    );
  }
}

/** Keeps cells and addresses across threads, where a value loses its class. */
export const plainValues: ValueCodec = { encode: toPlainValue, decode: fromPlainValue };

/** Plain data in the place of a cell or an address. */
interface Marked {
  readonly $cell?: Uint8Array;
  readonly $address?: { readonly workchain: number; readonly hash: Uint8Array };
}

function toPlainValue(value: unknown): unknown {
  if (value instanceof Cell) return { $cell: serializeBoc(value) };
  if (value instanceof Address) return { $address: { workchain: value.workchain, hash: value.hash } };
  return mapped(value, toPlainValue);
}

function fromPlainValue(value: unknown): unknown {
  if (isPlainObject(value)) {
    const { $cell, $address } = value as Marked;
    if ($cell !== undefined) return wholeCell($cell);
    if ($address !== undefined) return Address.ofParts($address.workchain, $address.hash);
  }
  return mapped(value, fromPlainValue);
}

function mapped(value: unknown, map: (each: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Metrics of block production in local networks. */
export const localnetMetricRows: readonly MetricRow<ProducedCounts>[] = [
  producerMetric(
    'rounds_total',
    'Masterchain blocks produced, each with the shard blocks that it commits',
    (m) => m.mcBlocks,
  ),
  producerMetric('transactions_total', 'Transactions in produced blocks', (m) => m.transactions),
  producerMetric('emulate_seconds_total', 'Time for executing transactions', (m) => m.emulateMs / 1000),
  producerMetric('round_seconds_total', 'Time for producing blocks, including execution', (m) => m.totalMs / 1000),
];

function producerMetric(
  name: string,
  help: string,
  read: (counts: ProducedCounts) => number,
): MetricRow<ProducedCounts> {
  return { name: `tern_localnet_${name}`, help, kind: 'counter', read };
}
