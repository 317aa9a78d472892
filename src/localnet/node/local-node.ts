import type { Address } from '#formats/address/address.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { MiningMode } from '#localnet/node/block-loop.js';
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
  /** Seconds of network time per second of machine time, 0 to 1; below 1 only while the network is ahead. */
  readonly clock_speed: number;
  /** Milliseconds between blocks; in automatic mode, between blocks while messages do not end. */
  readonly block_time: number;
  /** `steady`: a block per block time; `auto`: a block as soon as a message waits, otherwise one every few seconds. */
  readonly mining: MiningMode;
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

/** A state that the accounts can be taken back to. */
export interface RecentState extends MinedIn {
  readonly id: string;
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

export type SeededKind =
  | 'dns_root'
  | 'dns_collection'
  | 'dns_domain'
  | 'library'
  | 'multisig'
  | 'multisig_order'
  | 'extra_currency';

/** Something that a network was seeded with. */
export interface SeededItem {
  readonly kind: SeededKind;
  readonly name: string;
  /** The contract, or the account that has it. */
  readonly address: Address;
  /** Of a library: its hash, 32 bytes. */
  readonly hash: Uint8Array | null;
  readonly about: string;
  /** Whether this call made it. */
  readonly created: boolean;
}

export interface Seeded extends MinedIn {
  readonly items: readonly SeededItem[];
}

/** Control methods of a running network. Cells are passed as BoCs. @throws localnet/*, ledger/* */
export interface RunningNode {
  status(): Promise<NodeStatus>;
  wallets(): Promise<readonly FundedWallet[]>;
  /** Produces masterchain blocks now. @returns the last one */
  mine(blocks: number): Promise<MinedIn>;
  setPaused(paused: boolean): Promise<void>;
  /** Produces blocks at this block time from now on. */
  setBlockTime(milliseconds: number): Promise<void>;
  setMining(mining: MiningMode): Promise<void>;
  /** Moves network time forward and produces a block at that time. */
  advanceTime(seconds: number): Promise<MinedIn>;
  /** Lets the machine catch up: network time runs slower, or stands still (0), until it is machine time again. */
  setClockSpeed(speed: number): Promise<void>;
  /** Sends coins from the faucet, and resolves when they have arrived. @param amount nanotons */
  fund(to: Address, amount: bigint, comment: string | null): Promise<MinedMessage>;
  setAccount(address: Address, change: AccountOverride): Promise<MinedIn>;
  /** Runs an internal message as if its `src` had sent it. @param message BoC of a `Message` with `int_msg_info` */
  runMessageAs(message: Uint8Array): Promise<MinedMessage>;
  /** @param value BoC of the parameter's cell; null deletes it */
  setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn>;
  /** Deploys DNS with a domain, a library, a multisig with an order, and sends an extra currency, unless they exist. */
  seed(): Promise<Seeded>;
  /** Resolves when the shard has been split, or merged with its sibling. */
  split(shard: Shard): Promise<MinedIn>;
  merge(shard: Shard): Promise<MinedIn>;
  saveSnapshot(name: string): Promise<SnapshotInfo>;
  snapshots(): Promise<readonly SnapshotInfo[]>;
  deleteSnapshot(name: string): Promise<void>;
  /** Remembers the state of all accounts. @returns its id for {@link revert}; any number of times */
  snapshot(): Promise<RecentState>;
  /**
   * Gives all accounts their state of a snapshot, in a block; messages on their way are lost. Blocks, logical time and the clock go
   * on: a chain never goes back.
   * @throws localnet/no-recent-state, localnet/not-quiet
   */
  revert(id: string): Promise<MinedIn>;
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
