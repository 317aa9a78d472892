import type { Cell } from '#formats/cells/cell.js';
import type { VmStack, VmStackValue } from '#formats/tlb/vm-stack.js';

/** A get method of an account, with all that it may look at, of one masterchain block and the shard block it commits. */
export interface GetMethodRun {
  readonly code: Cell;
  readonly data: Cell | null;
  /** Id of the method: int64. */
  readonly method_id: bigint;
  /** Arguments, the last one on top; no continuations. */
  readonly stack: VmStack;
  /** What the contract finds in `c7`: itself, time, configuration, blocks before. */
  readonly c7: VmStackValue;
  /** Nothing lifts it. */
  readonly gas_limit: number;
  /** Root of `Hashmap 32 ^Cell`: the configuration of the masterchain block, which the machine keeps to. */
  readonly config: Cell;
  /** Root of a dictionary by hash, with a reference to the library first in each value. */
  readonly libraries: Cell | null;
}

/** What came of a run. A contract that throws is a result, too. */
export interface GetMethodOutcome {
  readonly exit_code: number;
  /** The last result on top. */
  readonly stack: VmStack;
}

/** Runs get methods: a virtual machine, which the server is given. */
export type RunGetMethod = (run: GetMethodRun) => Promise<GetMethodOutcome>;
