import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** A get method of an account, with all that it may look at, of one masterchain block and the shard block it commits. */
export interface GetMethodRun {
  readonly code: Cell;
  readonly data: Cell | null;
  readonly address: Address;
  /** Nanotons. */
  readonly balance: bigint;
  /** Amounts by id of the currency. */
  readonly extra_currencies: Iterable<readonly [id: number, amount: bigint]>;
  /** Id of the method: int32. */
  readonly method_id: bigint;
  /** Arguments, the last one on top; no continuations. */
  readonly stack: VmStack;
  readonly gas_limit: number;
  /** Unix seconds: the time of the shard block. */
  readonly now: number;
  /** lt of the state of the shard. */
  readonly block_lt: bigint;
  /** Root of `Hashmap 32 ^Cell`: the configuration of the masterchain block. */
  readonly config: Cell;
  /** Root of the public libraries of the masterchain. */
  readonly libraries: Cell | null;
  /** Blocks that the contract may name. */
  readonly prev_blocks_info: PreviousBlocks;
}

/** Blocks of the masterchain that contracts may name, newest first. */
export interface PreviousBlocks {
  /** The last 16, the masterchain block itself included. */
  readonly last_mc_blocks: readonly BlockId[];
  readonly prev_key_block: BlockId;
  /** The last 16 whose seqno is a multiple of 100. */
  readonly last_mc_blocks_100: readonly BlockId[];
}

/** What came of a run. A contract that throws is a result, too. */
export interface GetMethodOutcome {
  readonly exit_code: number;
  /** The last result on top. */
  readonly stack: VmStack;
}

/** Runs get methods: a virtual machine, which the server is given. */
export type RunGetMethod = (run: GetMethodRun) => Promise<GetMethodOutcome>;
