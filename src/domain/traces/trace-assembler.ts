import { tracesErrors } from '#domain/traces/errors.js';
import { HashMap } from '#domain/traces/hash-map.js';
import { OpenMessages, type Trace, type TraceGrowth, traceState, type UnmatchedMessage } from '#domain/traces/trace.js';
import { Address } from '#formats/address/address.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';

/** A trace whose root is in the batch. */
interface StartedTrace extends Trace {
  /** Keys of the accounts with a transaction in the trace, each once. */
  readonly accounts: readonly bigint[];
}

/** What the batch adds to a trace whose root is in an earlier batch. */
interface ContinuedTrace extends TraceGrowth {
  /** Keys of the accounts with a transaction of this batch in the trace, each once. */
  readonly accounts: readonly bigint[];
}

/** The changes of one batch to the traces of the index. */
export interface TraceBatch {
  /** By root; traces of orphans included. */
  readonly started: readonly StartedTrace[];
  readonly continued: readonly ContinuedTrace[];
  /** Sent in the batch and not received in it. */
  readonly opened: readonly UnmatchedMessage[];
  /** Received in the batch; the sender is neither in the batch nor known. */
  readonly orphans: readonly UnmatchedMessage[];
  /** The known open messages that were received in the batch. */
  readonly received: readonly UnmatchedMessage[];
}

/** Accumulator of one trace while the batch is read. */
interface GrowingTrace {
  readonly root: bigint;
  /** `null` when the root is in an earlier batch. */
  readonly first: TraceTransaction | null;
  readonly orphaned: boolean;
  end_lt: bigint;
  end_utime: number;
  mc_seqno_end: number;
  nodes: number;
  edges: number;
  pending_edges: number;
  /** Key of the account of each transaction. */
  readonly accounts: bigint[];
}

/**
 * Assembles the transactions of one batch of masterchain blocks into traces. In the order of their ids, the sender of a
 * message comes before its receiver, for two reasons of the protocol:
 *
 * - The receiver is never committed by an earlier masterchain block. A block imports messages from its own shard's queue and
 *   from the queues of other shards as of the masterchain block it refers to, which is older than the masterchain block that
 *   commits it. A masterchain block imports from the shard blocks that it commits itself.
 * - Under one masterchain block lt decides: validators reject a block where `created_lt` of an inbound message is not less than
 *   the lt of its transaction, and `created_lt` is greater than the lt of the sender.
 *
 * So one lookup per message suffices, and the root of a transaction is known when the transaction is read.
 */
export class TraceAssembler {
  readonly #known: OpenMessages;
  /** The sender's trace, by message hash. */
  readonly #sent = new HashMap<GrowingTrace>();
  readonly #started: GrowingTrace[] = [];
  readonly #continued = new Map<bigint, GrowingTrace>();
  readonly #orphans: UnmatchedMessage[] = [];
  readonly #arrived = new HashMap<UnmatchedMessage>();
  #last = -1n;
  #finished = false;

  /**
   * @param known open messages of the index; all of them, or those that this batch may receive. Without them, traces that
   * continue in the batch start there as orphans, to be joined with `joinTraces`. Not modified.
   */
  constructor(known: OpenMessages = new OpenMessages()) {
    this.#known = known;
  }

  /**
   * Adds the next transaction and returns the root id of its trace.
   * @throws traces/id-order, traces/finished
   */
  add(transaction: TraceTransaction): bigint {
    const { id, lt, now, mc_seqno } = transaction;
    if (this.#finished) throw tracesErrors.finished({ id });
    if (id <= this.#last) throw tracesErrors['id-order']({ id, previous: this.#last });
    this.#last = id;
    const trace = this.#traceOf(transaction);
    trace.nodes++;
    trace.accounts.push(transaction.account_key);
    if (lt > trace.end_lt) trace.end_lt = lt;
    if (now > trace.end_utime) trace.end_utime = now;
    if (mc_seqno > trace.mc_seqno_end) trace.mc_seqno_end = mc_seqno;
    for (const { hash, external } of transaction.out_msgs) {
      if (external) {
        trace.edges++;
      } else {
        trace.pending_edges++;
        this.#sent.set(hash, trace);
      }
    }
    return trace.root;
  }

  /** Finishes the batch. */
  finish(): TraceBatch {
    this.#finished = true;
    const opened: UnmatchedMessage[] = [];
    this.#sent.forEach(({ root }, hash) => void opened.push({ hash, root }));
    const arrived: UnmatchedMessage[] = [];
    this.#arrived.forEach((message) => void arrived.push(message));
    return {
      started: this.#started.map(startedTrace),
      continued: Array.from(this.#continued.values(), continuedTrace),
      opened,
      orphans: this.#orphans,
      received: arrived,
    };
  }

  #traceOf(transaction: TraceTransaction): GrowingTrace {
    const { in_msg } = transaction;
    if (in_msg === null) return this.#start(transaction, 0, false);
    if (in_msg.kind !== 'internal') return this.#start(transaction, 1, false);
    const trace = this.#sent.take(in_msg.hash) ?? this.#continue(in_msg.hash);
    if (trace !== null) {
      trace.edges++;
      trace.pending_edges--;
      return trace;
    }
    this.#orphans.push({ hash: in_msg.hash, root: transaction.id });
    return this.#start(transaction, 0, true);
  }

  #start(first: TraceTransaction, edges: number, orphaned: boolean): GrowingTrace {
    const trace = growing(first.id, first, edges, orphaned);
    this.#started.push(trace);
    return trace;
  }

  /** The trace of a known open message, which is thereby received. */
  #continue(hash: Uint8Array): GrowingTrace | null {
    const message = this.#known.find(hash);
    if (message === undefined || this.#arrived.get(hash) !== undefined) return null;
    this.#arrived.set(hash, message);
    const { root } = message;
    let trace = this.#continued.get(root);
    if (trace === undefined) {
      trace = growing(root, null, 0, false);
      this.#continued.set(root, trace);
    }
    return trace;
  }
}

function growing(root: bigint, first: TraceTransaction | null, edges: number, orphaned: boolean): GrowingTrace {
  return {
    root,
    first,
    orphaned,
    end_lt: 0n,
    end_utime: 0,
    mc_seqno_end: 0,
    nodes: 0,
    edges,
    pending_edges: 0,
    accounts: [],
  };
}

function startedTrace(trace: GrowingTrace): StartedTrace {
  const { hash, lt, now, mc_seqno } = trace.first!;
  return {
    root: trace.root,
    trace_id: hash,
    start_lt: lt,
    start_utime: now,
    mc_seqno_start: mc_seqno,
    end_lt: trace.end_lt,
    end_utime: trace.end_utime,
    mc_seqno_end: trace.mc_seqno_end,
    nodes: trace.nodes,
    edges: trace.edges,
    pending_edges: trace.pending_edges,
    state: traceState(trace.orphaned, trace.pending_edges),
    accounts: distinct(trace.accounts),
  };
}

function continuedTrace(trace: GrowingTrace): ContinuedTrace {
  return {
    root: trace.root,
    end_lt: trace.end_lt,
    end_utime: trace.end_utime,
    mc_seqno_end: trace.mc_seqno_end,
    nodes: trace.nodes,
    edges: trace.edges,
    pending_edges: trace.pending_edges,
    accounts: distinct(trace.accounts),
  };
}

function distinct(keys: readonly bigint[]): readonly bigint[] {
  return keys.length < 2 ? keys : [...new Set(keys)];
}

/** Inbound message of a transaction: external-in, a system message created by validators (fees, minted coins), or internal. */
export type InboundKind = 'external' | 'system' | 'internal';

export interface InboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  readonly kind: InboundKind;
}

export interface OutboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Whether it is external-out (`ext_out_msg_info`), so that no transaction receives it. */
  readonly external: boolean;
}

/** A transaction as trace assembly needs it. Hashes may be views: they are referenced until the batch is dropped. */
export interface TraceTransaction {
  /** Position in index order: masterchain seqno, then lt, workchain, account. */
  readonly id: bigint;
  readonly hash: Uint8Array;
  readonly lt: bigint;
  /** Unix seconds. */
  readonly now: number;
  /** Seqno of the masterchain block that commits it. */
  readonly mc_seqno: number;
  /** Any number that identifies its account. */
  readonly account_key: bigint;
  /** `null` for tick-tock transactions and those of splits and merges. */
  readonly in_msg: InboundMessage | null;
  readonly out_msgs: readonly OutboundMessage[];
}

/**
 * The kind of an inbound message, from its header and the `start_lt` of the block with the transaction. Validators create
 * system messages with account zero of the masterchain as source and this `start_lt` as `created_lt`. The source alone is not
 * enough: that account may send messages itself (some networks have a wallet there), but with a `created_lt` after the start
 * of its block and before the start of the next.
 */
export function inboundKind(info: CommonMsgInfo, start_lt: bigint): InboundKind {
  if (info.kind !== 'int_msg_info') return 'external';
  const { src, created_lt } = info;
  if (created_lt !== start_lt || !(src instanceof Address) || src.workchain !== -1) return 'internal';
  return src.hash.every((byte) => byte === 0) ? 'system' : 'internal';
}
