import { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Cell } from '#formats/cells/cell.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import type { LogFields } from '#kernel/logger.js';
import type { MetricRow } from '#kernel/metric-rows.js';
import type { PlainError } from '#kernel/tern-error.js';
import type { PlainAddress } from '#localnet/fork/fork-source.js';
import type { ForkOrigin } from '#localnet/ledger/genesis.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import type { LiveNodeOptions, NodeAddress } from '#localnet/node/start-node.js';

/** How a fork begins, as plain data. */
export interface ForkPlan {
  readonly origin: ForkOrigin;
  /** BoC of the root of the configuration (`Hashmap 32 ^Cell`). */
  readonly config: Uint8Array;
  /** The lt after which it goes on. */
  readonly startLt: bigint;
  readonly globalId: number;
}

/** How a new chain begins, as plain data. */
export interface GenesisPlan {
  /** Unix seconds. */
  readonly now: number;
  readonly fork: ForkPlan | null;
}

/** What the thread of a node is started with. */
export interface NodeStart {
  readonly options: LiveNodeOptions;
  readonly genesis: GenesisPlan;
  /** Whether there is another network to ask. */
  readonly hasForeign: boolean;
}

/** What a node asks of the network that it is a fork of. Values as plain values. */
export type ForkQuery =
  | { readonly name: 'account'; readonly address: PlainAddress }
  | { readonly name: 'library'; readonly hash: Uint8Array }
  | {
      readonly name: 'transactions';
      readonly address: PlainAddress;
      readonly from: TransactionRef;
      readonly count: number;
    };

export type ToNode =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: keyof RunningNode;
      readonly args: readonly unknown[];
    }
  /** What was asked for, or null. */
  | { readonly kind: 'answer'; readonly id: number; readonly bytes: Uint8Array | null }
  | { readonly kind: 'refused'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'close' };

/** Of rounds, summed up. */
export interface ProducedCounts {
  readonly rounds: number;
  readonly transactions: number;
  readonly emulateMs: number;
  readonly totalMs: number;
}

export type FromNode =
  | { readonly kind: 'started'; readonly address: NodeAddress }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'question'; readonly id: number; readonly question: ForkQuery }
  | { readonly kind: 'produced'; readonly counts: ProducedCounts }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: LogFields };

/** What stands for a value whose class would be lost between threads. */
interface Marked {
  readonly $cell?: Uint8Array;
  readonly $address?: { readonly workchain: number; readonly hash: Uint8Array };
}

/** A copy that goes to another thread: cells and addresses in it are made plain, all else is so already. */
export function toPlainValue(value: unknown): unknown {
  if (value instanceof Cell) return { $cell: serializeBoc(value) };
  if (value instanceof Address) return { $address: { workchain: value.workchain, hash: value.hash } };
  return mapped(value, toPlainValue);
}

/** The inverse of {@link toPlainValue}. */
export function fromPlainValue(value: unknown): unknown {
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
    (m) => m.rounds,
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
