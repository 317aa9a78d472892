import type { Address } from '#formats/address/address.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** Status of a local network. */
export interface NodeStatus {
  /** Identifies the chain; changes after a reset or when a snapshot is loaded. */
  readonly chain: string;
  readonly head: BlockId;
  /** Unix seconds: time of the head. */
  readonly gen_utime: number;
  /** Unix seconds: time of the next block. */
  readonly now: number;
  /** Seconds by which network time is ahead of machine time. */
  readonly time_offset: number;
  /** Milliseconds between blocks. */
  readonly block_time: number;
  readonly paused: boolean;
  /** Pending external-in messages. */
  readonly waiting_messages: number;
  readonly shards: readonly BlockId[];
  /** What this chain is a fork of; null when it is not a fork. */
  readonly fork: { readonly source: string; readonly block: BlockId } | null;
}

export interface SnapshotInfo {
  readonly name: string;
  readonly head: BlockId;
  /** Unix seconds, machine time. */
  readonly saved_at: number;
}

/** Result of a command: the masterchain block that contains it. */
export interface MinedIn {
  readonly block: BlockId;
}

/** A message that was sent, with what its trace can be found by. */
export interface MinedMessage extends MinedIn {
  /** Hash of the message, 32 bytes. */
  readonly message_hash: Uint8Array;
}

/** State files that were written. */
export interface WrittenStates extends MinedIn {
  /** Paths, the masterchain first. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** Control methods of a running network. Cells are passed as BoCs. @throws localnet/*, ledger/* */
export interface RunningNode {
  status(): Promise<NodeStatus>;
  wallets(): Promise<readonly FundedWallet[]>;
  /** Produces masterchain blocks now. @returns the last one */
  mine(blocks: number): Promise<MinedIn>;
  setPaused(paused: boolean): Promise<void>;
  setBlockTime(milliseconds: number): Promise<void>;
  /** Moves network time forward and produces a block at that time. */
  advanceTime(seconds: number): Promise<MinedIn>;
  /** Sends coins from the faucet. @param amount nanotons */
  fund(to: Address, amount: bigint, comment: string | null): Promise<MinedMessage>;
  setAccount(address: Address, change: AccountOverride): Promise<MinedIn>;
  /** Runs an internal message as if its `src` had sent it. @param message BoC of a `Message` with `int_msg_info` */
  runMessageAs(message: Uint8Array): Promise<MinedMessage>;
  /** @param value BoC of the parameter's cell; null deletes it */
  setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn>;
  /** Resolves when the shard has been split, or merged with its sibling. */
  split(shard: Shard): Promise<MinedIn>;
  merge(shard: Shard): Promise<MinedIn>;
  saveSnapshot(name: string): Promise<SnapshotInfo>;
  snapshots(): Promise<readonly SnapshotInfo[]>;
  deleteSnapshot(name: string): Promise<void>;
  /** Writes the chain up to the head into a folder, as archive packs for `tern replay`. */
  exportTo(folder: string): Promise<{ readonly blocks: number }>;
  /**
   * Writes the states of all shards at the head into a folder, as nodes write persistent states.
   *
   * @param splitDepth length of the account prefixes by which states are divided into parts; 0: they are not
   */
  exportStatesTo(folder: string, splitDepth: number): Promise<WrittenStates>;
  /**
   * Imports an account of the forked network; does nothing when the chain is not a fork or has the account.
   * @returns a masterchain block that has the account; null: it exists on neither network
   * @throws fork/unreachable
   */
  touch(address: Address): Promise<MinedIn | null>;
}

/** All control methods of a local network. @throws localnet/*, ledger/* */
export interface LocalNode extends RunningNode {
  /** Stops the network and everything that follows the chain, and restarts them from the snapshot. */
  loadSnapshot(name: string): Promise<void>;
  /** As {@link loadSnapshot}, from a new zerostate. */
  reset(): Promise<void>;
}
