import type { EmulateArguments } from '#drivers/tvm/emulator.js';
import type { SharedBoc } from '#drivers/tvm/shared-bocs.js';
import type { ThreadCpuTime } from '#kernel/os-thread.js';

/** What a worker starts with. */
export interface WorkerStart {
  readonly module: WebAssembly.Module;
  /** This and the next ones as in the options of the pool. */
  readonly nice: number;
  readonly configs: number;
  readonly emulatorBytes: number;
  readonly maxEmulatorBytes: number;
  /** A `Float64Array` of one: CPU milliseconds of the thread at the beginning of its job. */
  readonly begunAt: SharedArrayBuffer;
  /** An `Int32Array` of one: a {@link JobOrder}. */
  readonly order: SharedArrayBuffer;
}

/** What the thread shall do with its job: `giveUp` is answered with `givenUp`, and then with an `interrupted` reply. */
export const JobOrder = { goOn: 0, giveUp: 1, givenUp: 2 } as const;

/** Bags of cells travel as bytes. */
export interface GetMethodJob {
  readonly kind: 'get-method';
  readonly config: SharedBoc;
  readonly code: Uint8Array;
  readonly data: Uint8Array;
  readonly libraries: Uint8Array | null;
  /** A `VmStackValue`, in base64. */
  readonly prevBlocksInfo: string | null;
  readonly stack: Uint8Array;
  /** Further parameters, as named by the emulator. */
  readonly params: Readonly<Record<string, string | number | boolean | Readonly<Record<string, string>>>>;
  /** Whether the log is wanted. */
  readonly wantLog: boolean;
}

export interface TransactionJob {
  readonly kind: 'transaction';
  readonly config: SharedBoc;
  readonly verbosity: number;
  readonly libraries: SharedBoc | null;
  readonly account: Uint8Array;
  /** Null for a tick or tock transaction. */
  readonly message: Uint8Array | null;
  readonly prevBlocksInfo: string | null;
  readonly params: EmulateArguments['params'];
}

export type Job = GetMethodJob | TransactionJob;

export interface GetMethodReply {
  readonly kind: 'get-method';
  readonly exitCode: number;
  readonly gasUsed: number;
  /** A bag of cells with a `VmStack`. */
  readonly stack: Uint8Array;
  readonly log: string | null;
  /** 64 hex digits. */
  readonly missingLibrary: string | null;
  /** Whether the run may have seen more of the configuration than prices and limits, or previous blocks. */
  readonly sawConfig: boolean;
}

export interface TransactionReply {
  readonly kind: 'transaction';
  readonly transaction: Uint8Array;
  readonly shardAccount: Uint8Array;
  readonly actions: Uint8Array | null;
  readonly log: string;
}

/** A message that the account does not accept. */
export interface NotAcceptedReply {
  readonly kind: 'not-accepted';
  readonly problem: string;
  /** Null when the contract was not run. */
  readonly exitCode: number | null;
  readonly log: string;
}

/**
 * `refused`: the emulator says that it cannot do it. `crashed`: it broke; `out-of-memory`: it needed more than it may have;
 * after both the next job gets a fresh one.
 */
export interface FailureReply {
  readonly kind: 'refused' | 'crashed' | 'out-of-memory';
  readonly problem: string;
}

/** The job was given up; the next one gets a fresh emulator. */
interface InterruptedReply {
  readonly kind: 'interrupted';
}

export type Reply = InterruptedReply | GetMethodReply | TransactionReply | NotAcceptedReply | FailureReply;

/** A reply, and what it took. */
export interface JobResult {
  readonly reply: Reply;
  /** Memory of the worker's emulator after the job. */
  readonly memoryBytes: number;
  /** CPU milliseconds; elapsed ones where the system does not tell. */
  readonly cpuMs: number;
}

/** The two sides of a TVM worker: see `WorkerContract`. A worker runs one job at a time. */
export interface TvmWorkerContract {
  readonly start: WorkerStart;
  readonly host: object;
  readonly methods: { run(job: Job): Promise<JobResult> };
  /** How its CPU time can be read. */
  readonly ready: ThreadCpuTime | null;
}
