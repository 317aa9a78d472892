import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import type { ProducedRound, ProducerModules } from '#localnet/producer/round-request.js';

/** What a node is started with; plain data. */
export interface LiveNodeOptions {
  /** Where the chain is kept. */
  readonly folder: string;
  /** Milliseconds between blocks. */
  readonly blockTimeMs: number;
  /** Whether it makes blocks only when asked to. */
  readonly paused: boolean;
  readonly liteserver: { readonly host: string; readonly port: number };
  readonly signatureKind: ProducerModules['signatureKind'];
  /** Threads that run contracts. */
  readonly tvmWorkers: number;
}

/** What a node needs from outside. */
export interface LiveNodeModules {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** [0, 1), need not be secret. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** How the chain begins, where there is none yet. */
  readonly makeGenesis: () => Genesis;
  readonly onProduced: (produced: ProducedRound) => void;
  /** The network that this one is a fork of. */
  readonly foreign?: ForkSource;
}

/** Where a node listens, and which chain it has; plain data. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  /** 32 bytes */
  readonly publicKey: Uint8Array;
  /** Of the masterchain. */
  readonly zerostate: BlockId;
  /** Of the chain: after a reset or another snapshot it is another one. */
  readonly incarnation: string;
}
