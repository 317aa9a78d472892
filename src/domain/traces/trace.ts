import { tracesErrors } from '#domain/traces/errors.js';
import { HashMap } from '#domain/traces/hash-map.js';

/**
 * - `broken`: its root is an orphan, i.e. the transaction that sent its inbound message is not indexed;
 * - `pending`: some internal message has not been received in the indexed blocks;
 * - `complete`: neither.
 */
export type TraceState = 'complete' | 'pending' | 'broken';

/** Totals of one trace, the tree of transactions that are connected by internal messages. */
export interface Trace {
  /** Id of its first transaction in index order. */
  readonly root: bigint;
  /** Hash of that transaction. */
  readonly trace_id: Uint8Array;
  /** Of the root. */
  readonly start_lt: bigint;
  /** Of the root, in unix seconds. */
  readonly start_utime: number;
  /** Of the root. */
  readonly mc_seqno_start: number;
  /** Maximum over all its transactions. */
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  /** Number of transactions. */
  readonly nodes: number;
  /** Number of received messages: between two transactions, the root's external-in or system message, and external-out messages. */
  readonly edges: number;
  /** Number of internal messages that were sent and not yet received. */
  readonly pending_edges: number;
  readonly state: TraceState;
}

/** What a batch of masterchain blocks adds to a trace whose root is in an earlier batch. */
export interface TraceGrowth {
  readonly root: bigint;
  /** Maximum over the batch. */
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  readonly nodes: number;
  readonly edges: number;
  /** Negative when more messages were received than sent. */
  readonly pending_edges: number;
}

/** @param orphaned whether the root is an orphan */
export function traceState(orphaned: boolean, pending_edges: number): TraceState {
  if (orphaned) return 'broken';
  return pending_edges > 0 ? 'pending' : 'complete';
}

/**
 * Applies the growth of one batch to a trace.
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

/** A message whose sender and receiver are both indexed now: the orphan's trace becomes a part of the sender's trace. */
export interface OrphanJoin {
  /** Hash of the message cell. */
  readonly hash: Uint8Array;
  /** Id of the root of the sender's trace. */
  readonly parent: bigint;
  /** Id of the transaction that received the message. */
  readonly orphan: bigint;
}

/** A trace that was merged into another one with an earlier root. */
interface AbsorbedTrace {
  readonly from: bigint;
  readonly to: bigint;
}

export interface JoinedTraces {
  /** The complete new rows of the traces that grew, in any order. */
  readonly traces: readonly Trace[];
  /** Each `to` is one of `traces`. The row of `from` is to be deleted, and references to it become `to`. */
  readonly absorbed: readonly AbsorbedTrace[];
}

/** Matches open messages with orphans by the full message hash. */
export function findOrphanJoins(opened: Iterable<UnmatchedMessage>, orphans: Iterable<UnmatchedMessage>): OrphanJoin[] {
  const parents = new HashMap<bigint>();
  for (const { hash, root } of opened) parents.set(hash, root);
  const joins: OrphanJoin[] = [];
  for (const { hash, root } of orphans) {
    const parent = parents.get(hash);
    if (parent !== undefined) joins.push({ hash, parent, orphan: root });
  }
  return joins;
}

/**
 * Joins traces. A parent may itself be the orphan of another join, to any depth. Whatever the batches and their order,
 * joining all pairs gives the same rows as adding all blocks in one batch.
 *
 * @param traces the rows of all parents and orphans of `joins`; other rows are ignored
 * @throws traces/trace-missing, traces/joined-twice, traces/join-order
 */
export function joinTraces(joins: readonly OrphanJoin[], traces: Iterable<Trace>): JoinedTraces {
  const rows = new Map<bigint, Trace>();
  for (const trace of traces) rows.set(trace.root, trace);
  const final = new Map<bigint, bigint>();
  const grown = new Map<bigint, Writable<Trace>>();
  // Ids ascend along a trace, so in ascending order of orphan the final root of a parent is always known.
  for (const { parent, orphan } of joins.toSorted((a, b) => (a.orphan < b.orphan ? -1 : 1))) {
    if (parent >= orphan) throw tracesErrors['join-order']({ parent, orphan });
    if (final.has(orphan)) throw tracesErrors['joined-twice']({ orphan });
    const root = final.get(parent) ?? parent;
    final.set(orphan, root);
    let trace = grown.get(root);
    if (trace === undefined) {
      trace = { ...rowOf(rows, root) };
      grown.set(root, trace);
    }
    append(trace, rowOf(rows, orphan));
  }
  for (const trace of grown.values()) trace.state = traceState(trace.state === 'broken', trace.pending_edges);
  return { traces: [...grown.values()], absorbed: Array.from(final, ([from, to]) => ({ from, to })) };
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function rowOf(rows: ReadonlyMap<bigint, Trace>, root: bigint): Trace {
  const row = rows.get(root);
  if (row === undefined) throw tracesErrors['trace-missing']({ root });
  return row;
}

function append(trace: Writable<Trace>, part: Trace): void {
  if (part.end_lt > trace.end_lt) trace.end_lt = part.end_lt;
  trace.end_utime = Math.max(trace.end_utime, part.end_utime);
  trace.mc_seqno_end = Math.max(trace.mc_seqno_end, part.mc_seqno_end);
  trace.nodes += part.nodes;
  trace.edges += part.edges + 1;
  trace.pending_edges += part.pending_edges - 1;
}

/**
 * An internal message of which only one side is indexed: sent and not received (`root`: the trace of its sender), or received
 * while its sender is not indexed (an orphan; `root`: the receiving transaction).
 */
export interface UnmatchedMessage {
  /** Hash of the message cell. */
  readonly hash: Uint8Array;
  /** Id of the root transaction of the trace. */
  readonly root: bigint;
}

/** The messages that the index knows as sent and not received (table `open_messages`), by hash. */
export class OpenMessages {
  readonly #messages = new HashMap<UnmatchedMessage>();

  constructor(messages: Iterable<UnmatchedMessage> = []) {
    this.add(messages);
  }

  get size(): number {
    return this.#messages.size;
  }

  find(hash: Uint8Array): UnmatchedMessage | undefined {
    return this.#messages.get(hash);
  }

  add(messages: Iterable<UnmatchedMessage>): void {
    for (const message of messages) this.#messages.set(message.hash, message);
  }

  remove(messages: Iterable<UnmatchedMessage>): void {
    for (const { hash } of messages) this.#messages.take(hash);
  }

  [Symbol.iterator](): Iterator<UnmatchedMessage> {
    const messages: UnmatchedMessage[] = [];
    this.#messages.forEach((message) => void messages.push(message));
    return messages.values();
  }
}
