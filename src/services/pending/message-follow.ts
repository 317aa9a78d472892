import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message, normalizedExternalHash } from '#formats/tlb/message.js';
import type { Clock } from '#kernel/clock.js';
import { liveTransactionOf } from '#services/pending/follow-blocks.js';
import type { LiveMessages, MessageStage } from '#services/pending/live-messages.js';
import type { Finality, Invalidation, LiveTransaction } from '#services/pending/live-trace.js';
import { failuresOf, type TransactionFailure } from '#services/pending/message-outcome.js';
import { messagesOf } from '#services/pending/placed-trace.js';

/** What became of a message. `unknown`: nobody here has seen it. */
export type FollowedStage = MessageStage | Invalidation['reason'] | 'unknown';

/** The stages before the last one, in their order. */
export const STAGES: readonly FollowedStage[] = ['unknown', 'accepted', 'pending', 'confirmed', 'finalized'];

/** What is known of a message now. */
export interface FollowedMessage {
  readonly stage: FollowedStage;
  /** Nothing more will happen. */
  readonly isSettled: boolean;
  /** Null where only the other one is known. */
  readonly external_hash: Uint8Array | null;
  readonly external_hash_norm: Uint8Array | null;
  readonly account: Address | null;
  readonly trace_id: Uint8Array | null;
  /** The newest masterchain block that commits a transaction of it; null while none does. */
  readonly mc_seqno: number | null;
  /** Transactions by finality. */
  readonly transactions: Readonly<Record<Finality, number>>;
  /** Of the known transactions; null while there is none. */
  readonly failures: readonly TransactionFailure[] | null;
  /** Why it will not be; else null. */
  readonly invalidation: Invalidation | null;
}

export interface MessageFollowModules {
  readonly live: LiveMessages;
  readonly index: Pick<IndexPort, 'traces' | 'transactionsOfTraces'>;
  readonly clock: Clock;
}

/** Transactions of a trace that are looked at for failures. */
const MOST_TRANSACTIONS = 1_000;

const QUERY_MS = 3_000;

/** How often the index is asked about a trace that is not live here. */
const LOOK_MS = 1_000;

const NOTHING = {
  external_hash: null,
  external_hash_norm: null,
  account: null,
  trace_id: null,
  mc_seqno: null,
} as const;
const NO_TRANSACTIONS = { pending: 0, confirmed: 0, finalized: 0 } as const;

/** Follows messages: from live traces, and from the index when they were final before anybody asked. */
export class MessageFollow {
  readonly #modules: MessageFollowModules;

  constructor(modules: MessageFollowModules) {
    this.#modules = modules;
  }

  /** @param hash raw or normalised hash of an external-in message. @throws store/* */
  async now(hash: Uint8Array, signal: AbortSignal): Promise<FollowedMessage> {
    const known = this.#live(hash);
    if (known !== null && known.invalidation === null) return known;
    const indexed = await this.#indexed(hash, signal);
    // It may have been put into a block after all.
    return indexed ?? this.#live(hash) ?? UNKNOWN;
  }

  /**
   * Yields what is known of a message, and again whenever its stage or its transactions change; ends when it is settled, the time has
   * passed, or the signal is aborted.
   */
  async *follow(hash: Uint8Array, untilMs: number, signal: AbortSignal): AsyncGenerator<FollowedMessage, void> {
    const { live, clock } = this.#modules;
    let hasChanged = true;
    let wake = () => {};
    let cancelLook = () => {};
    const changed = () => {
      hasChanged = true;
      wake();
    };
    const unwatch = live.watch(hash, changed);
    // The time of the clock says nothing about it: a timer may fire somewhat early.
    let isOver = false;
    const end = () => {
      isOver = true;
      wake();
    };
    signal.addEventListener('abort', end);
    const cancel = clock.schedule(Math.max(0, untilMs - clock.now()), end);
    try {
      let shown: FollowedMessage | null = null;
      while (!signal.aborted) {
        if (hasChanged) {
          hasChanged = false;
          const found = await this.now(hash, signal);
          if (shown === null || isOther(shown, found)) yield found;
          shown = found;
          if (found.isSettled) return;
          // No event comes of traces that only the index has.
          const isOfIndex = found.stage !== 'unknown' && live.status(hash) === null;
          cancelLook();
          cancelLook = isOfIndex ? clock.schedule(LOOK_MS, changed) : () => {};
          continue;
        }
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (hasChanged || isOver) resolve();
        });
      }
    } finally {
      unwatch();
      cancel();
      cancelLook();
      signal.removeEventListener('abort', end);
    }
  }

  #live(hash: Uint8Array): FollowedMessage | null {
    const status = this.#modules.live.status(hash);
    if (status === null) return null;
    if (status.kind === 'ended') {
      const { invalidation } = status;
      const { external_hash, external_hash_norm, reason: stage } = invalidation;
      const facts = { ...NOTHING, external_hash, external_hash_norm, transactions: NO_TRANSACTIONS, failures: null };
      return { ...facts, stage, isSettled: true, invalidation };
    }
    const { stage, external_hash, external_hash_norm, account, trace } = status;
    return {
      ...{ stage, external_hash, external_hash_norm, account, isSettled: stage === 'finalized', invalidation: null },
      trace_id: trace?.trace_id ?? null,
      ...factsOf(trace?.transactions ?? []),
    };
  }

  async #indexed(hash: Uint8Array, signal: AbortSignal): Promise<FollowedMessage | null> {
    const { index } = this.#modules;
    const options = { signal, timeoutMs: QUERY_MS };
    const page = { limit: 1, offset: 0, sort: 'desc', cursor: null } as const;
    const [trace] = (await index.traces({ msg_hash: [hash] }, page, options)).rows;
    if (trace === undefined) return null;
    const found = (await index.transactionsOfTraces([trace.root], MOST_TRANSACTIONS, options)).get(trace.root) ?? [];
    const transactions = found.map(liveTransactionOf);
    const facts = factsOf(transactions);
    const isSettled = trace.state !== 'pending';
    const message = transactions[0] === undefined ? null : externalHashes(transactions[0]);
    return {
      ...facts,
      ...NOTHING,
      ...message,
      stage: isSettled ? 'finalized' : 'pending',
      isSettled,
      account: transactions[0]?.account ?? null,
      trace_id: trace.trace_id,
      mc_seqno: trace.mc_seqno_end,
      transactions: { ...NO_TRANSACTIONS, pending: trace.pending_edges, finalized: trace.nodes },
      failures: found.length === 0 ? null : facts.failures,
      invalidation: null,
    };
  }
}

const UNKNOWN: FollowedMessage = {
  ...NOTHING,
  ...{ stage: 'unknown', isSettled: false, transactions: NO_TRANSACTIONS, failures: null, invalidation: null },
};

function factsOf(
  transactions: readonly LiveTransaction[],
): Pick<FollowedMessage, 'mc_seqno' | 'transactions' | 'failures'> {
  const counts = { ...NO_TRANSACTIONS } as Record<Finality, number>;
  let mc_seqno: number | null = null;
  for (const { finality, mc_seqno: seqno } of transactions) {
    counts[finality]++;
    if (finality === 'finalized') mc_seqno = Math.max(mc_seqno ?? 0, seqno);
  }
  return { mc_seqno, transactions: counts, failures: transactions.length === 0 ? null : failuresOf(transactions) };
}

/** Of the message that a transaction received; null when that was not external-in. */
function externalHashes({
  cell,
}: LiveTransaction): Pick<FollowedMessage, 'external_hash' | 'external_hash_norm'> | null {
  const { in_msg } = messagesOf(cell);
  const message = in_msg === null ? null : decodeCell(Message, in_msg);
  if (in_msg === null || message?.info.kind !== 'ext_in_msg_info') return null;
  return { external_hash: in_msg.hash(), external_hash_norm: normalizedExternalHash(message) };
}

function isOther(a: FollowedMessage, b: FollowedMessage): boolean {
  if (a.stage !== b.stage || a.failures?.length !== b.failures?.length) return true;
  return (['pending', 'confirmed', 'finalized'] as const).some((each) => a.transactions[each] !== b.transactions[each]);
}
