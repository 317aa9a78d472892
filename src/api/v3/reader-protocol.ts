import type { ThreadAnswer, ThreadCall } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/parameters.js';
import type { V3Switches } from '#api/v3/context.js';
import type { IndexCoverage } from '#drivers/store/index-state.js';
import type { LogMethods } from '#kernel/worker-side.js';
import type { LookUpReport, NamedContracts } from '#services/lookups/named-contracts.js';

/** A call as a reader thread gets it. */
export interface ReaderCall extends ThreadCall<SwitchValues<V3Switches>> {
  /** What the index has of its chain; null: all of it. */
  readonly coverage: IndexCoverage | null;
}

/** What reader threads call. */
interface ReaderHost extends LogMethods {
  /** Looks up for a call what it names. @param id of the call; called off with it @throws as `LookUps.lookUp` */
  lookUp(id: number, named: NamedContracts, deadlineMs: number): Promise<LookUpReport>;
}

/** What a reader thread is started with. */
export interface ReaderStart {
  /** Connection URL of the database of the index, for reading. */
  readonly url: string;
  readonly isTestnet: boolean;
  /** Connections at most: as many calls as the thread gets at a time. */
  readonly connections: number;
  /** Timeout of a query where a call does not set one, in milliseconds. */
  readonly queryTimeoutMs: number;
  /** Size of the cache for texts of final transactions and traces; 0: none are kept. */
  readonly textBytes: number;
  /** Of the data, as `HttpApi.headSeqno` counts them. */
  readonly version: number;
  /** Whether what the index has never seen can be looked up. */
  readonly looksUp: boolean;
}

/** The two sides of a reader thread: see `WorkerContract`. */
export interface ReaderContract {
  readonly start: ReaderStart;
  readonly host: ReaderHost;
  readonly methods: {
    /** The answer, whose bytes are moved. @param id of this call @throws what the endpoint throws */
    answer(id: number, call: ReaderCall): Promise<ThreadAnswer>;
    /** Calls a call off: its query is cancelled, and it fails soon; without effect when it has ended. */
    cancel(id: number): void;
    /** The data have a new version. @param keys what changed with it; null: anything */
    noteChange(version: number, keys: readonly string[] | null): void;
  };
  readonly ready: undefined;
}
