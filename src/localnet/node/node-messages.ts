import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import type { PlainError } from '#kernel/errors/tern-error.js';
import type { LogFields } from '#kernel/observe/logger.js';
import type { AccountName } from '#localnet/fork/fork-source.js';
import type { ForkOrigin } from '#localnet/ledger/genesis.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import type { LiveNodeOptions, NodeAddress } from '#localnet/node/options.js';

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
export type ForeignQuestion =
  | { readonly name: 'account'; readonly address: AccountName }
  | { readonly name: 'library'; readonly hash: Uint8Array }
  | {
      readonly name: 'transactions';
      readonly address: AccountName;
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
export interface RoundCounts {
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
  | { readonly kind: 'question'; readonly id: number; readonly question: ForeignQuestion }
  | { readonly kind: 'produced'; readonly counts: RoundCounts }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: LogFields };
