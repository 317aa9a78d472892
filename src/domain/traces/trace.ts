import { tracesErrors } from '#domain/traces/errors.js';
import { HashMap } from '#domain/traces/hash-map.js';

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

/** A message whose both sides are there now: the trace of its sender goes on in the trace that the orphan began. */
export interface OrphanJoin {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Id of the root of the sender's trace. */
  readonly parent: bigint;
  /** Id of the transaction that received the message. */
  readonly orphan: bigint;
}

/** A trace that has become a part of another one, which begins earlier. */
export interface AbsorbedTrace {
  readonly from: bigint;
  readonly to: bigint;
}

export interface JoinedTraces {
  /** The traces that have grown, whole, in no order that matters. */
  readonly traces: readonly Trace[];
  /** By `from`; each `to` is one of `traces`. Their rows are gone, and what names them names `to` from now on. */
  readonly moved: readonly AbsorbedTrace[];
}

/** The messages that are on both lists, by all bytes of their hashes. */
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
 * Joins traces. A parent may itself be the orphan of another join, to any depth. In whatever batches and order the rounds
 * were added, joining all pairs gives the rows that adding them in one go would have given.
 *
 * @param traces the rows of all parents and orphans of `joins`; others are left alone
 * @throws traces/trace-missing, traces/joined-twice, traces/join-order
 */
export function joinTraces(joins: readonly OrphanJoin[], traces: Iterable<Trace>): JoinedTraces {
  const rows = new Map<bigint, Trace>();
  for (const trace of traces) rows.set(trace.root, trace);
  const final = new Map<bigint, bigint>();
  const grown = new Map<bigint, Writable<Trace>>();
  // Ids grow along a trace, so with the least orphan first, the final root of a parent is always known.
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
  return { traces: [...grown.values()], moved: Array.from(final, ([from, to]) => ({ from, to })) };
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
 * One side of a link between two transactions whose other side is not indexed: an internal message that was sent and has
 * not arrived (`root`: the trace of its sender), or one that arrived and whose sender is not there (an orphan; `root`: the
 * transaction that it began).
 */
export interface UnmatchedMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Id of the root of the trace. */
  readonly root: bigint;
}

/** The messages that an index holds as sent and not arrived, by hash. */
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
