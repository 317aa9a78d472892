import { tracesErrors } from '#domain/traces/errors.js';
import { HashMap } from '#domain/traces/hash-map.js';
import type { LooseMessage } from '#domain/traces/open-messages.js';
import { type Trace, traceState } from '#domain/traces/trace.js';

/** A message whose both sides are there now: the trace of its sender goes on in the trace that the orphan began. */
export interface Join {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Id of the root of the sender's trace. */
  readonly parent: bigint;
  /** Id of the transaction that received the message. */
  readonly orphan: bigint;
}

/** A trace that has become a part of another one, which begins earlier. */
export interface MovedTrace {
  readonly from: bigint;
  readonly to: bigint;
}

export interface Stitched {
  /** The traces that have grown, whole, in no order that matters. */
  readonly traces: readonly Trace[];
  /** By `from`; each `to` is one of `traces`. Their rows are gone, and what names them names `to` from now on. */
  readonly moved: readonly MovedTrace[];
}

/** The messages that are on both lists, by all bytes of their hashes. */
export function joinsOf(opened: Iterable<LooseMessage>, orphans: Iterable<LooseMessage>): Join[] {
  const parents = new HashMap<bigint>();
  for (const { hash, root } of opened) parents.set(hash, root);
  const joins: Join[] = [];
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
export function stitch(joins: readonly Join[], traces: Iterable<Trace>): Stitched {
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
