import { tracesErrors } from '#domain/traces/errors.js';

/**
 * - `broken`: its root is an orphan, that is, the transaction that sent its message is not indexed;
 * - `pending`: some message has not arrived, as far as indexed;
 * - `complete`: neither.
 */
export type TraceState = 'complete' | 'pending' | 'broken';

/** What one trace adds up to: the tree of transactions that internal messages connect. */
export interface Trace {
  /** Id of its first transaction, in the order of the index. */
  readonly root: bigint;
  /** Hash of that transaction. */
  readonly trace_id: Uint8Array;
  /** Of the root. */
  readonly start_lt: bigint;
  /** Of the root, in unix seconds. */
  readonly start_utime: number;
  /** Of the root. */
  readonly mc_seqno_start: number;
  /** The greatest of all transactions. */
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  /** Transactions. */
  readonly nodes: number;
  /** Messages that arrived: those between two transactions, the root's from outside or of the system, those to outside. */
  readonly edges: number;
  /** Internal messages that were sent and have not arrived. */
  readonly pending_edges: number;
  readonly state: TraceState;
}

/** What a batch of rounds adds to a trace that began before it. */
export interface TraceGrowth {
  readonly root: bigint;
  /** The greatest of the batch. */
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  readonly nodes: number;
  readonly edges: number;
  /** Below zero when more messages arrived than were sent. */
  readonly pending_edges: number;
}

/** The state of a trace; `orphaned` when its root is an orphan. */
export function traceState(orphaned: boolean, pending_edges: number): TraceState {
  if (orphaned) return 'broken';
  return pending_edges > 0 ? 'pending' : 'complete';
}

/**
 * The trace with what a batch adds to it.
 *
 * @param trace the row of `growth.root`; undefined when the index has none
 * @throws traces/trace-missing
 */
export function growTrace(trace: Trace | undefined, growth: TraceGrowth): Trace {
  if (trace === undefined) throw tracesErrors['trace-missing']({ root: growth.root });
  const pending_edges = trace.pending_edges + growth.pending_edges;
  return {
    ...trace,
    end_lt: trace.end_lt > growth.end_lt ? trace.end_lt : growth.end_lt,
    end_utime: Math.max(trace.end_utime, growth.end_utime),
    mc_seqno_end: Math.max(trace.mc_seqno_end, growth.mc_seqno_end),
    nodes: trace.nodes + growth.nodes,
    edges: trace.edges + growth.edges,
    pending_edges,
    state: traceState(trace.state === 'broken', pending_edges),
  };
}
