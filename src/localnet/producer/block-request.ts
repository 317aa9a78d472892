import type { Emulation } from '#drivers/tvm/transaction-runner.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Shard } from '#formats/proofs/block-id.js';
import type { ChainTip, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';

/** An external-in message that waits for a block. */
export interface PendingExternalIn {
  /** Root of a `Message` with `ext_in_msg_info`, validated. */
  readonly message: Cell;
  readonly dest: Address;
}

/**
 * A state override: a change that no rule of the network causes, made by a developer. It appears in a block, so that
 * every client sees it.
 */
export type StateOverride =
  /**
   * An internal message from any address, whether or not that account exists: imported as from another shard, with its
   * value counted as imported. `message`: a `Message` with `int_msg_info`; the block sets `created_lt` and
   * `created_at`.
   */
  | { readonly kind: 'message'; readonly message: Cell }
  /** Sets the state of an account, by a transaction without messages whose `state_update` is the change. */
  | { readonly kind: 'account'; readonly address: Address; readonly change: AccountOverride }
  /**
   * Sets an account to a former state (`Account`; `account_none`: it is removed), by a transaction without messages whose
   * `state_update` is the change.
   */
  | { readonly kind: 'restore'; readonly address: Address; readonly account: Cell }
  /** Imports an account that the chain does not have (`ShardAccount`), without a transaction. */
  | { readonly kind: 'import'; readonly address: Address; readonly shard_account: Cell }
  /** Publishes a library for all contracts, without a transaction. */
  | { readonly kind: 'library'; readonly library: Cell };

/** Fields of an account to set; omitted fields stay. */
export interface AccountOverride {
  /** Nanotons. */
  readonly balance?: bigint;
  /** Setting code or data makes the account active; `null` removes it. */
  readonly code?: Cell | null;
  readonly data?: Cell | null;
}

/**
 * Whether no further message of the kind may be received, for reasons of time; the remaining ones wait for the next bundle. Called
 * before each message. Internal messages may have more time than external ones: they are what the received messages cause.
 */
export type BlockIsFull = (messages: 'external' | 'internal') => boolean;

/** What the next bundle is made of. */
export interface BlockRequest {
  readonly tip: ChainTip;
  /** Zerostates of workchains; the bundle starts those that are not in the tip yet. */
  readonly zerostates: readonly Zerostate[];
  /** Unix seconds. Block time never decreases: an earlier time is replaced by that of the tip. */
  readonly now: number;
  /** In the order of arrival. */
  readonly externals: readonly PendingExternalIn[];
  readonly overrides: readonly StateOverride[];
  /** Shards whose next block sets `want_split`, or `want_merge` with their sibling. */
  readonly wants: { readonly split: readonly Shard[]; readonly merge: readonly Shard[] };
  readonly full: BlockIsFull;
}

/** Outcome of an external-in message. Messages without an outcome wait for the next bundle. */
export type ExternalInOutcome =
  | { readonly message: PendingExternalIn; readonly kind: 'included' }
  /** The contract did not accept it, or there is no contract. */
  | {
      readonly message: PendingExternalIn;
      readonly kind: 'refused';
      readonly exit_code: number | null;
      readonly problem: string;
    };

export interface ProducedBundle {
  readonly bundle: NewBlockBundle;
  readonly externals: readonly ExternalInOutcome[];
  /** Overrides that failed; all others are in the bundle. */
  readonly failed: readonly { readonly override: StateOverride; readonly problem: string }[];
  /** Work statistics. */
  readonly counts: { readonly transactions: number; readonly emulateMs: number; readonly totalMs: number };
}

/** Dependencies of the producer. */
export interface ProducerModules {
  readonly emulation: Emulation;
  /** Ed25519 seed of the only validator, 32 bytes. */
  readonly validatorSeed: Uint8Array;
  readonly signatureKind: 'simplex' | 'ordinary';
  readonly randomBytes: (size: number) => Uint8Array;
  /** Milliseconds, for measurements. */
  readonly now: () => number;
  /**
   * The state (`ShardAccount`) of an account in the forked network, looked up when a message reaches an account that does
   * not exist here. `null`: it does not exist there either.
   */
  readonly forkedAccount?: (address: Address) => Promise<Cell | null>;
  /** A library of the forked network that this chain does not publish. */
  readonly forkedLibrary?: (hash: Uint8Array) => Promise<Cell | null>;
}
