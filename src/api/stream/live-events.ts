import { addressTail, type EventSerializer, hashMember } from '#api/stream/event-writer.js';
import { EventText, type Subscriber, type TraceEventKind } from '#api/stream/subscriber.js';
import { type EventOptions, type EventType, rawOf } from '#api/stream/subscription.js';
import { WatchersByName } from '#api/stream/watchers.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { messageBody } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import {
  FINALITIES,
  type Finality,
  type Invalidation,
  type LiveEvent,
  type LiveTrace,
  type LiveTransaction,
} from '#services/pending/live-trace.js';

interface LiveFeedModules {
  readonly texts: EventSerializer;
  readonly deliver: (subscriber: Subscriber, text: EventText) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Events that wait to be written; with more, the oldest pending news is not worth its delay. */
const MOST_WAITING = 10_000;

/**
 * Leaf transactions whose messages have these opcodes do not make actions less certain: excesses, a notice of a transfer, and the
 * return of what was not used.
 */
const UNIMPORTANT_OPCODES: ReadonlySet<number> = new Set([0x7362d09c, 0x05138d91, 0xd53276db]);

/** What an event says of a trace, as {@link Subscriber.uncertain} has it. */
interface UncertainNews {
  readonly norm: string;
  readonly kind: TraceEventKind;
  readonly state: string;
}

/** A transaction as events list it. */
interface ListedTransaction {
  readonly account: string;
  readonly hash: string;
  readonly lt: bigint;
  readonly live: LiveTransaction;
}

/**
 * What is pending or confirmed, for subscribers whose `min_finality` asks for it. Of a trace that became final nothing more is sent
 * here: finalized events come from the index.
 */
export class LiveFeed {
  readonly #modules: LiveFeedModules;
  readonly #subscribers = new Set<Subscriber>();
  readonly #byAccount = new WatchersByName();
  readonly #byTrace = new WatchersByName();
  #waiting = 0;
  #tail: Promise<void> = Promise.resolve();

  constructor(modules: LiveFeedModules) {
    this.#modules = modules;
  }

  /** Events are sent to a subscriber from now on, whose accounts and traces were added. */
  begin(subscriber: Subscriber): void {
    if (isConcerned(subscriber)) this.#subscribers.add(subscriber);
  }

  /** Nothing more is sent to a subscriber. */
  silence(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Adds the accounts and traces of a subscriber. */
  add(subscriber: Subscriber): void {
    if (!isConcerned(subscriber)) return;
    const { accounts, traces } = subscriber.subscription;
    for (const raw of accounts.keys()) {
      this.#byAccount.add(raw, subscriber);
    }
    for (const hash of traces) {
      this.#byTrace.add(hash, subscriber);
    }
  }

  /** Removes them; may pause after each. */
  *removing(subscriber: Subscriber): Generator<void> {
    if (!isConcerned(subscriber)) return;
    const { accounts, traces } = subscriber.subscription;
    for (const raw of accounts.keys()) {
      this.#byAccount.remove(raw, subscriber);
      yield;
    }
    for (const hash of traces) {
      this.#byTrace.remove(hash, subscriber);
      yield;
    }
  }

  /** Sends an event after those before it. */
  note(event: LiveEvent): void {
    if (this.#subscribers.size === 0 || this.#waiting >= MOST_WAITING) return;
    this.#waiting++;
    this.#tail = this.#tail
      .then(() => this.#give(event))
      .catch((error) => this.#modules.onTrouble(error))
      .finally(() => {
        this.#waiting--;
      });
  }

  async #give(event: LiveEvent): Promise<void> {
    if (event.kind === 'invalidated') {
      this.#invalidate(event.invalidation);
      return;
    }
    const { trace } = event;
    const norm = toBase64(trace.external_hash_norm);
    if (event.kind === 'transactions') {
      await this.#transactions(trace, norm);
    } else {
      await this.#actions(trace, norm);
      await this.#whole(trace, norm);
    }
  }

  #invalidate({ external_hash_norm, reason, problem }: Invalidation): void {
    const norm = toBase64(external_hash_norm);
    const why = `"reason":"${reason}","problem":${JSON.stringify(problem)}`;
    const text = new EventText(`{"type":"trace_invalidated",${hashMember(norm)},${why}}`, false);
    for (const subscriber of [...this.#subscribers]) {
      if (subscriber.uncertain.forget(norm)) this.#modules.deliver(subscriber, text);
    }
  }

  async #transactions(trace: LiveTrace, norm: string): Promise<void> {
    if (trace.finality === 'finalized') return;
    const listed = trace.transactions.map(listedTransaction).sort((a, b) => (a.lt < b.lt ? 1 : a.lt > b.lt ? -1 : 0));
    const texts = new Map<string, Promise<EventText | null>>();
    for (const [subscriber, raws] of this.#concerned(listed.map(({ account }) => account))) {
      const { accounts, options, minFinality } = subscriber.subscription;
      const type: EventType = options.version === 1 ? 'pending_transactions' : 'transactions';
      if (!isReached(trace.finality, minFinality) || (options.version === 1 && trace.finality !== 'pending')) continue;
      const wanted = new Set(raws.filter((raw) => accounts.get(raw)?.types.has(type) === true));
      const own = listed.filter(({ account, live }) => {
        return wanted.has(account) && (options.version === 2 || live.finality === 'pending');
      });
      if (own.length === 0) continue;
      const state = `${trace.finality} ${own.map(({ hash, live }) => hash + live.finality).join()}`;
      const key = `${options.key}|${[...wanted].sort().join()}`;
      await this.#sendNews(subscriber, { norm, kind: 'transactions', state }, () => {
        const transactions = own.map(({ live }) => live);
        return this.#once(texts, key, () => this.#transactionsText(type, trace, norm, transactions, options));
      });
    }
  }

  async #transactionsText(
    type: EventType,
    trace: LiveTrace,
    norm: string,
    own: readonly LiveTransaction[],
    options: EventOptions,
  ): Promise<EventText> {
    const { json, addresses } = await this.#modules.texts.liveTransactions(own, trace, options.profile);
    const tail = await addressTail(this.#modules.texts, addresses, options);
    return eventText(type, trace.finality, options, `${hashMember(norm)},"transactions":${json}${tail}`);
  }

  async #actions(trace: LiveTrace, norm: string): Promise<void> {
    const { actions } = trace;
    if (actions === null || trace.finality === 'finalized') return;
    const finality = finalityOfActions(trace);
    const participants = new Set(actions.flatMap(({ action }) => action.accounts.map(rawOf)));
    const texts = new Map<string, Promise<EventText | null>>();
    for (const [subscriber, raws] of this.#concerned(participants)) {
      const { accounts, options, minFinality } = subscriber.subscription;
      const type: EventType = options.version === 1 ? 'pending_actions' : 'actions';
      if (!isReached(finality, minFinality)) continue;
      const wanted = new Set(raws.filter((raw) => accounts.get(raw)?.types.has(type) === true));
      if (wanted.size === 0) continue;
      const key = `${options.key}|${[...wanted].sort().join()}`;
      const own = actions.filter(({ action }) => action.accounts.some((each) => wanted.has(rawOf(each))));
      const state = `${finality} ${own.map(({ action, finality: each }) => toHex(action.action_id) + each).join()}`;
      await this.#sendNews(subscriber, { norm, kind: 'actions', state }, () =>
        this.#once(texts, key, () => this.#actionsText(type, finality, { ...trace, actions: own }, norm, options)),
      );
    }
  }

  async #actionsText(
    type: EventType,
    finality: Finality,
    trace: LiveTrace,
    norm: string,
    options: EventOptions,
  ): Promise<EventText | null> {
    const written = await this.#modules.texts.liveActions(asked(trace, options), options.supported, options.profile);
    if (written === null) return null;
    const tail = await addressTail(this.#modules.texts, written.addresses, options);
    return eventText(type, finality, options, `${hashMember(norm)},"actions":${written.json}${tail}`);
  }

  async #whole(trace: LiveTrace, norm: string): Promise<void> {
    if (trace.finality === 'finalized') return;
    const texts = new Map<string, Promise<EventText | null>>();
    for (const subscriber of this.#liveOf(this.#byTrace, norm)) {
      const { options, minFinality } = subscriber.subscription;
      if (!isReached(trace.finality, minFinality)) continue;
      const state = `${trace.finality} ${trace.transactions.map(({ cell, finality }) => toHex(cell.hash()) + finality).join()}`;
      await this.#sendNews(subscriber, { norm, kind: 'trace', state }, () =>
        this.#once(texts, options.key, () => this.#traceText(trace, norm, options)),
      );
    }
  }

  async #traceText(trace: LiveTrace, norm: string, options: EventOptions): Promise<EventText> {
    const { texts } = this.#modules;
    const written = await texts.liveTrace(trace, options.profile);
    const actions = await texts.liveActions(asked(trace, options), options.supported, options.profile);
    const rest = actions === null ? '' : `,"actions":${actions.json}`;
    const addresses = actions === null ? written.addresses : new Map([...written.addresses, ...actions.addresses]);
    const tail = await addressTail(texts, addresses, options);
    const members = `${hashMember(norm)},"trace":${written.trace},"transactions":${written.transactions}${rest}${tail}`;
    return eventText('trace', trace.finality, options, members);
  }

  /** Sends an event that says more than those before it, also than what was sent while it was written. */
  async #sendNews(
    subscriber: Subscriber,
    { norm, kind, state }: UncertainNews,
    textOf: () => Promise<EventText | null>,
  ): Promise<void> {
    const { uncertain } = subscriber;
    if (!uncertain.isNews(norm, kind, state)) return;
    const text = await textOf();
    // It may have left meanwhile, or have another subscription.
    if (text === null || !this.#subscribers.has(subscriber) || !uncertain.isNews(norm, kind, state)) return;
    uncertain.note(norm, kind, state);
    this.#modules.deliver(subscriber, text);
  }

  /** A text that is made once for all who get it; null for all when it cannot be. */
  #once(
    texts: Map<string, Promise<EventText | null>>,
    key: string,
    make: () => Promise<EventText | null>,
  ): Promise<EventText | null> {
    let text = texts.get(key);
    if (text === undefined) {
      text = make().catch((error) => {
        this.#modules.onTrouble(error);
        return null;
      });
      texts.set(key, text);
    }
    return text;
  }

  #concerned(raws: Iterable<string>): ReadonlyMap<Subscriber, string[]> {
    const found = new Map<Subscriber, string[]>();
    for (const raw of new Set(raws)) {
      for (const subscriber of this.#liveOf(this.#byAccount, raw)) {
        const own = found.get(subscriber);
        if (own === undefined) found.set(subscriber, [raw]);
        else own.push(raw);
      }
    }
    return found;
  }

  #liveOf(watchers: WatchersByName, name: string): readonly Subscriber[] {
    return [...watchers.of(name)].filter((each) => this.#subscribers.has(each));
  }
}

/** Whether a subscriber takes events that are not final. */
function isConcerned({ subscription }: Subscriber): boolean {
  return subscription.minFinality !== 'finalized';
}

function eventText(type: EventType, finality: Finality, options: EventOptions, members: string): EventText {
  const level = options.version === 1 ? '' : `,"finality":"${finality}"`;
  return new EventText(`{"type":"${type}"${level},${members}}`, false);
}

/** The trace with those of its actions that a client asks for. */
function asked(trace: LiveTrace, { actionTypes }: EventOptions): LiveTrace {
  if (actionTypes === null || trace.actions === null) return trace;
  return { ...trace, actions: trace.actions.filter(({ action }) => actionTypes.has(action.type)) };
}

/** The lowest of the transactions of a trace, without unimportant leaves; what is final is for the index to say. */
function finalityOfActions({ transactions }: LiveTrace): Finality {
  let lowest = FINALITIES.indexOf('confirmed');
  for (const { cell, finality } of transactions) {
    const level = FINALITIES.indexOf(finality);
    if (level < lowest && !isUnimportant(decodeCell(Transaction, cell))) lowest = level;
  }
  return FINALITIES[lowest]!;
}

function isUnimportant({ in_msg, out_msgs }: Transaction): boolean {
  if (in_msg === null) return false;
  for (const _ of out_msgs) return false;
  const body = messageBody(in_msg.value);
  return body.remainingBits >= 32 && UNIMPORTANT_OPCODES.has(body.preloadUint(32));
}

function listedTransaction(live: LiveTransaction): ListedTransaction {
  const { lt } = decodeCell(Transaction, live.cell);
  return { account: rawOf(live.account), hash: toHex(live.cell.hash()), lt, live };
}

function isReached(finality: Finality, least: Finality): boolean {
  return FINALITIES.indexOf(finality) >= FINALITIES.indexOf(least);
}
