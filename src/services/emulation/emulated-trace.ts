import { EMULATOR } from '#drivers/tvm/emulator-binary.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockPosition } from '#formats/proofs/block-id.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import { emulationErrors } from '#services/emulation/errors.js';

/** What is emulated, and from where. */
export interface TraceRequest {
  /** `Message Any`: external-in, or internal as if a block had brought it. */
  readonly message: Cell;
  /** Seqno of the masterchain block whose state it begins with; absent: the newest one. */
  readonly mc_seqno?: number | undefined;
  /** Signature checks succeed. Default false. */
  readonly ignore_chksig?: boolean | undefined;
  /** 32 bytes; absent: random. The same seed and time give the same transactions. */
  readonly rand_seed?: Uint8Array | undefined;
  /** Unix seconds of the first block; absent: as the next block of the shard is expected. */
  readonly now?: number | undefined;
  /**
   * The time of a block: the first one of the shard after the state, and with each hop to another shard a later one. Undefined: as
   * the network is expected to go on.
   */
  readonly blockTime?: ((shard: BlockPosition, hop: number) => BlockTime | undefined) | undefined;
}

/** When the transactions of an emulated block happen. */
export interface BlockTime {
  /** Least lt of its transactions; absent: the next multiple of a million. */
  readonly lt?: bigint | undefined;
  /** Unix seconds. */
  readonly now: number;
  /** 32 bytes; absent: that of the trace. */
  readonly rand_seed?: Uint8Array | undefined;
}

/** A transaction that may come, and the place where it is expected. */
export interface EmulatedTransaction {
  /** `Transaction` */
  readonly cell: Cell;
  readonly account: Address;
  /** The masterchain block that is expected to commit it. */
  readonly mc_seqno: number;
  /** The block that is expected to contain it. */
  readonly block: { readonly workchain: number; readonly shard: bigint; readonly seqno: number };
  /** `ShardAccount` before and after it. */
  readonly before: Cell;
  readonly after: Cell;
}

/** A message and all that follows from it. */
export interface EmulatedTrace {
  readonly message: Cell;
  /** Masterchain block whose state it began with. */
  readonly mc_seqno: number;
  /** `global_version` of the configuration. */
  readonly global_version: number;
  readonly rand_seed: Uint8Array;
  /** Breadth first: the transaction of the message first. */
  readonly transactions: readonly EmulatedTransaction[];
  /** Memory of the states before and after the transactions, about. */
  readonly bytes: number;
  /** More follows than {@link MOST_EMULATED_TRANSACTIONS}, {@link MOST_EMULATED_MESSAGES} or {@link MOST_EMULATED_DEPTH} allow. */
  readonly is_incomplete: boolean;
}

/** Newest rules that emulations know: `global_version` of the configuration. */
export const EMULATED_VERSION: number = EMULATOR.global_version;

/** A trace of this many transactions is cut. */
export const MOST_EMULATED_TRANSACTIONS = 256;

/** A trace is cut after the transaction that sends the last of so many messages: who reads it should not wait for a hostile contract. */
export const MOST_EMULATED_MESSAGES = 4_096;

/** Messages of transactions this deep are not followed. */
export const MOST_EMULATED_DEPTH = 32;

/**
 * Checks the block whose state an emulation begins with.
 *
 * @param newest seqno of the newest masterchain block
 * @throws emulation/no-state, emulation/too-new
 */
export function requireStateBlock(mc_seqno: number, newest: number): void {
  if (mc_seqno === 0) throw emulationErrors['no-state']({ mc_seqno });
  if (mc_seqno > newest) throw emulationErrors['too-new']({ mc_seqno, newest });
}

/** Emulates messages on verified state. */
export interface TraceEmulation {
  /**
   * @throws emulation/not-accepted with the exit code, when the contract does not accept the message; emulation/no-account,
   * emulation/too-new, tvm/*, chain/*, lite/*
   */
  emulateTrace(request: TraceRequest, options: ReadOptions): Promise<EmulatedTrace>;
}
