import type { Address } from '#formats/address/address.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** How a local network is doing. */
export interface NodeStatus {
  /** Tells chains apart: it is another one after a reset, or when a snapshot was loaded. */
  readonly chain: string;
  readonly head: BlockId;
  /** Unix seconds: the time of the head. */
  readonly gen_utime: number;
  /** Unix seconds: the time that the next block will have. */
  readonly now: number;
  /** Seconds by which the time of the network is ahead of the machine's. */
  readonly time_offset: number;
  /** Milliseconds between blocks. */
  readonly block_time: number;
  readonly paused: boolean;
  /** Messages from outside that wait for a block. */
  readonly waiting_messages: number;
  readonly shards: readonly BlockId[];
  /** What this chain is a fork of; null when it stands alone. */
  readonly fork: { readonly source: string; readonly block: BlockId } | null;
}

export interface SnapshotInfo {
  readonly name: string;
  readonly head: BlockId;
  /** Unix seconds, of the machine. */
  readonly saved_at: number;
}

/** What an intervention came to: the masterchain block in which it is. */
export interface MinedIn {
  readonly block: BlockId;
}

/** A message that was sent: how its trace can be found. */
export interface MinedMessage extends MinedIn {
  /** Hash of the message, 32 bytes. */
  readonly message_hash: Uint8Array;
}

/** What can be done to a network that goes on. Cells are given as bags of cells. @throws localnet/*, ledger/* */
export interface RunningNode {
  status(): Promise<NodeStatus>;
  wallets(): Promise<readonly FundedWallet[]>;
  /** Makes masterchain blocks at once. @returns the last one */
  mine(blocks: number): Promise<MinedIn>;
  setPaused(paused: boolean): Promise<void>;
  setBlockTime(milliseconds: number): Promise<void>;
  /** Moves the network's time forward, and makes a block at that time. */
  advanceTime(seconds: number): Promise<MinedIn>;
  /** Sends coins from the faucet. @param amount nanotons */
  fund(to: Address, amount: bigint, comment: string | null): Promise<MinedMessage>;
  setAccount(address: Address, change: AccountOverride): Promise<MinedIn>;
  /** Runs an internal message as if its `src` had sent it. @param message BoC of a `Message` with `int_msg_info` */
  runMessageAs(message: Uint8Array): Promise<MinedMessage>;
  /** @param value BoC of the parameter's cell; null takes it out */
  setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn>;
  /** Resolves when the shard has been split in two, or merged with its sibling. */
  split(shard: Shard): Promise<MinedIn>;
  merge(shard: Shard): Promise<MinedIn>;
  saveSnapshot(name: string): Promise<SnapshotInfo>;
  snapshots(): Promise<readonly SnapshotInfo[]>;
  deleteSnapshot(name: string): Promise<void>;
  /** Writes the chain up to the head into a folder, as packs that `tern replay` reads. */
  exportTo(folder: string): Promise<{ readonly blocks: number }>;
  /**
   * Brings an account of the forked network here; nothing is done where the chain stands alone or has the account.
   * @returns a masterchain block after which the account is here; null: it is neither here nor there
   * @throws fork/unreachable
   */
  touch(address: Address): Promise<MinedIn | null>;
}

/** Everything that can be done to a local network from outside. @throws localnet/*, ledger/* */
export interface LocalNode extends RunningNode {
  /** The network ends, and begins anew from the snapshot: everything that follows the chain does, too. */
  loadSnapshot(name: string): Promise<void>;
  /** As {@link loadSnapshot}, from a new zerostate. */
  reset(): Promise<void>;
}
