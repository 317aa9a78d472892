import { tracesErrors } from '#domain/traces/errors.js';
import { HashMap } from '#domain/traces/hash-map.js';
import { OpenMessages, type Trace, type TraceGrowth, traceState, type UnmatchedMessage } from '#domain/traces/trace.js';
import { Address } from '#formats/address/address.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';

/** A trace whose root is in the batch. */
export interface StartedTrace extends Trace {
  /** Keys of the accounts with a transaction in it, each once. */
  readonly accounts: readonly bigint[];
}

/** What the batch adds to a trace whose root is not in it. */
export interface ContinuedTrace extends TraceGrowth {
  /** Keys of the accounts with a transaction of this batch in it, each once. */
  readonly accounts: readonly bigint[];
}

/** What a batch does to the traces of an index. */
export interface TraceBatch {
  /** In the order of their roots; those of orphans too. */
  readonly started: readonly StartedTrace[];
  readonly continued: readonly ContinuedTrace[];
  /** Sent in the batch and not arrived in it. */
  readonly opened: readonly UnmatchedMessage[];
  /** Arrived in the batch; whoever sent them is neither in it nor known. */
  readonly orphans: readonly UnmatchedMessage[];
  /** Those of the known open messages that arrived in the batch. */
  readonly arrived: readonly UnmatchedMessage[];
}

/** A trace that grows while the batch is read. */
interface GrowingTrace {
  readonly root: bigint;
  /** `null` when the trace began before the batch. */
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
 * Puts the transactions of one batch of rounds together to traces. Given in the order of their ids, a transaction that
 * sends a message comes before the one that it begins, for two reasons of the protocol:
 *
 * - The receiver is never in an earlier round. A block takes messages from the queues of its own shard, and of others as
 *   the masterchain block that it refers to has them; that one is older than the masterchain block that commits it.
 *   A block of the masterchain takes them from the shard blocks that it commits itself.
 * - In one round lt decides: validators refuse a block where `created_lt` of an inbound message is not less than the lt of
 *   its transaction, and `created_lt` is greater than the lt of the sender.
 *
 * So each message is looked up once, and the root of a transaction is known when the transaction is read.
 */
export class TraceAssembler {
  readonly #known: OpenMessages;
  /** The trace of the sender, by message. */
  readonly #sent = new HashMap<GrowingTrace>();
  readonly #started: GrowingTrace[] = [];
  readonly #continued = new Map<bigint, GrowingTrace>();
  readonly #orphans: UnmatchedMessage[] = [];
  readonly #arrived = new HashMap<UnmatchedMessage>();
  #last = -1n;
  #finished = false;

  /**
   * @param known open messages of the index; all of them, or those that this batch may receive. Without them, traces that
   * go on in the batch begin there as orphans, to be joined with `stitch`. They are only read.
   */
  constructor(known: OpenMessages = new OpenMessages()) {
    this.#known = known;
  }

  /**
   * Takes the next transaction, and gives the id of the root of its trace.
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

  /** Ends the batch. */
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
      arrived,
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

  /** The trace of a known open message, which is not open any more. */
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

/** What began a transaction: a message from outside, one that validators made (fees, minted coins), or one of an account. */
export type InboundKind = 'external' | 'system' | 'internal';

export interface InboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  readonly kind: InboundKind;
}

export interface OutboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Whether it leaves the chain (`ext_out_msg_info`), so that nothing on the chain consumes it. */
  readonly external: boolean;
}

/** What assembling traces needs to know of a transaction. Hashes may be views: they are kept until the batch is dropped. */
export interface TraceTransaction {
  /** Its place in the order of the index: masterchain seqno first, then lt, workchain, account. */
  readonly id: bigint;
  readonly hash: Uint8Array;
  readonly lt: bigint;
  /** Unix seconds. */
  readonly now: number;
  /** Of the masterchain block that commits it. */
  readonly mc_seqno: number;
  /** Any number that stands for its account. */
  readonly account_key: bigint;
  /** `null` for tick-tock transactions and those of splits and merges. */
  readonly in_msg: InboundMessage | null;
  readonly out_msgs: readonly OutboundMessage[];
}

/**
 * The kind of an inbound message by its header and the `start_lt` of the block that has the transaction. Validators write
 * account zero of the masterchain as the source of theirs, and this `start_lt` as `created_lt`. The source alone does not
 * tell: that account may send messages of its own, and some networks have a wallet there. They are made after the start of
 * their block, and before the start of the next.
 */
export function inboundKind(info: CommonMsgInfo, start_lt: bigint): InboundKind {
  if (info.kind !== 'int_msg_info') return 'external';
  const { src, created_lt } = info;
  if (created_lt !== start_lt || !(src instanceof Address) || src.workchain !== -1) return 'internal';
  return src.hash.every((byte) => byte === 0) ? 'system' : 'internal';
}
