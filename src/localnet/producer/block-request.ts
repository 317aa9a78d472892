import type { TickTockRequest, TransactionRequest, TransactionResult } from '#drivers/tvm/transaction.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Shard } from '#formats/proofs/block-id.js';
import type { ChainTip, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';

/** A message from outside that waits to be put into a block. */
export interface ExternalInMessage {
  /** Root of a `Message` with `ext_in_msg_info`, checked. */
  readonly message: Cell;
  readonly dest: Address;
}

/**
 * A change that no rule of the network brings about: what a developer does to the chain from outside. Each leaves its
 * trace in a block, so that every client sees it.
 */
export type StateOverride =
  /**
   * An internal message from any address, whether or not anything is there: it is imported as from another shard, its
   * value counts as imported. `message`: a `Message` with `int_msg_info`; its created_lt and created_at are set by the block.
   */
  | { readonly kind: 'message'; readonly message: Cell }
  /** An account is given another state, by a transaction that has no message and whose `state_update` is the change. */
  | { readonly kind: 'account'; readonly address: Address; readonly change: AccountOverride }
  /** An account that the chain does not have comes with its state as it is (`ShardAccount`), without a transaction. */
  | { readonly kind: 'import'; readonly address: Address; readonly shard_account: Cell }
  /** A library is published for all contracts, without a transaction. */
  | { readonly kind: 'library'; readonly library: Cell };

/** What is to be another in an account; what is left out stays. */
export interface AccountOverride {
  /** Nanotons. */
  readonly balance?: bigint;
  /** With code or data the account becomes active; `null` for none. */
  readonly code?: Cell | null;
  readonly data?: Cell | null;
}

/** What the next round is to be made of. */
export interface BlockRequest {
  readonly tip: ChainTip;
  /** Zerostates of workchains: those not in the tip yet are taken up by this round. */
  readonly zerostates: readonly Zerostate[];
  /** Unix seconds. A round is never earlier than the one before it: then that one's time is taken. */
  readonly now: number;
  /** In the order in which they came. */
  readonly externals: readonly ExternalInMessage[];
  readonly interventions: readonly StateOverride[];
  /** Shards that are told to want a split or a merge with their sibling (`want_split`, `want_merge`). */
  readonly wants: { readonly split: readonly Shard[]; readonly merge: readonly Shard[] };
  /** Whether it is time to end the blocks: what is left is for the next round. */
  readonly full: () => boolean;
}

/** What became of a message from outside. Those of which nothing is said wait for the next round. */
export type ExternalInOutcome =
  | { readonly message: ExternalInMessage; readonly kind: 'included' }
  /** The contract did not accept it, or there is none. */
  | {
      readonly message: ExternalInMessage;
      readonly kind: 'refused';
      readonly exit_code: number | null;
      readonly problem: string;
    };

export interface ProducedBundle {
  readonly round: NewBlockBundle;
  readonly externals: readonly ExternalInOutcome[];
  /** Interventions that could not be made, and why; all others are in the round. */
  readonly failed: readonly { readonly intervention: StateOverride; readonly problem: string }[];
  /** How much work it was. */
  readonly counts: { readonly transactions: number; readonly emulateMs: number; readonly totalMs: number };
}

/** Runs transactions: the pool of machines of drivers/tvm has this shape. */
export interface Emulation {
  emulateTransaction(request: TransactionRequest): Promise<TransactionResult>;
  emulateTickTock(request: TickTockRequest): Promise<TransactionResult>;
}

/** What a producer needs from outside. */
export interface ProducerModules {
  readonly emulation: Emulation;
  /** Ed25519 seed of the one validator, 32 bytes. */
  readonly validatorSeed: Uint8Array;
  readonly signatureKind: 'simplex' | 'ordinary';
  readonly randomBytes: (size: number) => Uint8Array;
  /** Milliseconds, for measuring. */
  readonly now: () => number;
  /**
   * The state of an account (`ShardAccount`) that this chain does not have and another one may: asked once for each
   * account that a message first reaches. `null`: there is none there either.
   */
  readonly foreignAccount?: (address: Address) => Promise<Cell | null>;
  /** A library that this chain does not publish and another one may. */
  readonly foreignLibrary?: (hash: Uint8Array) => Promise<Cell | null>;
}
