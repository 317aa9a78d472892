import type { StreamLane } from '#api/stream/cursor.js';
import { rawOf } from '#api/stream/subscription.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { EndedTrace, TraceMembers } from '#drivers/store/read/final-events.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexedJettonWallet, IndexedTransaction, IndexReadOptions } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { normalizedExternalHash } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';

/** A transaction of an event. */
export interface FinalTransaction {
  /** Its account in raw form with upper-case digits. */
  readonly account: string;
  readonly lt: bigint;
  readonly indexed: IndexedTransaction;
}

/** The message that a trace began with; of one that began without, the hash of its first transaction. */
interface TraceHashes {
  readonly external: Uint8Array;
  /** Normalised, in base64: the name of the trace in events. */
  readonly norm: string;
}

interface Place {
  readonly lane: StreamLane;
  readonly seqno: number;
  /** Its order within the masterchain block: unique, and a consequence of the chain alone. */
  readonly order: bigint;
}

/** An account has a new state. */
export interface StateEvent extends Place {
  readonly kind: 'state';
  readonly account: string;
  /** Its last transaction in the masterchain block. */
  readonly transaction: IndexedTransaction;
}

/** A trace has ended: all its transactions are final. */
export interface TransactionsEvent extends Place {
  readonly kind: 'transactions';
  readonly root: bigint;
  readonly hashes: TraceHashes;
  /** Newest first; of accounts that were asked for, and perhaps others. */
  readonly transactions: readonly FinalTransaction[];
}

/** The actions of a trace that has ended are known. */
export interface ActionsEvent extends Place {
  readonly kind: 'actions';
  readonly root: bigint;
  readonly hashes: TraceHashes;
  /** Of the wanted accounts those that take part in an action, in raw form with upper-case digits. */
  readonly participants: readonly string[];
}

/** The same for those who wait for the trace as a whole. */
export interface TraceEvent extends Place {
  readonly kind: 'trace';
  readonly root: bigint;
  readonly hashes: TraceHashes;
  /** By lt; of a trace with too many only the first. */
  readonly transactions: readonly IndexedTransaction[];
  readonly isWhole: boolean;
}

/** A jetton wallet has another content. */
interface JettonEvent extends Place {
  readonly kind: 'jetton';
  readonly account: string;
  readonly owner: string;
  readonly wallet: IndexedJettonWallet;
}

export type FinalEvent = StateEvent | TransactionsEvent | ActionsEvent | TraceEvent | JettonEvent;

/** What is wanted of a lane. */
export interface WantedEvents {
  /** Accounts whose states are wanted. */
  readonly states: ReadonlyMap<bigint, Address>;
  /** Accounts whose transactions are wanted; in the lane `actions`, whose actions are. */
  readonly traces: ReadonlyMap<bigint, Address>;
  /** Jetton wallets and their owners. */
  readonly jettons: ReadonlyMap<bigint, Address>;
  /** Traces by the normalised hash of their messages, in base64. */
  readonly hashes: WantedHashes;
}

/** A set of hashes, or a map by them. */
type WantedHashes = Pick<ReadonlySet<string>, 'size' | 'has' | 'keys'>;

/** With more accounts than this, all of a block is read and compared, instead of a look-up for each account. */
const MANY_ACCOUNTS = 64;
/** Rows that are read at a time. A range with more of them is read in halves. */
const MOST_ROWS = 1_000;
/** A single masterchain block is read whole. */
const MOST_OF_BLOCK = 200_000;
/** Traces with more transactions are not read whole. */
const MOST_TRACE_TRANSACTIONS = 4_000;
/** Transactions that an event lists at most. */
const MOST_EVENT_TRANSACTIONS = 10_000;
/** Traces whose transactions are read at a time. */
const TRACES_AT_ONCE = 64;

const STATES = 0n;
const TRACES = 1n << 64n;

/** Reads what became final in ranges of masterchain blocks, in the order of the events. */
export class FinalEventReader {
  readonly #index: IndexPort;
  readonly #limits: IndexReadOptions;

  constructor(index: IndexPort, limits: IndexReadOptions) {
    this.#index = index;
    this.#limits = limits;
  }

  /** The events of a lane in a range, in pages. @param range of masterchain blocks, both included */
  read(lane: StreamLane, range: SeqnoRange, wanted: WantedEvents): AsyncGenerator<readonly FinalEvent[], void> {
    if (lane === 'blocks') return this.#blocks(range, wanted);
    return lane === 'actions' ? this.#actions(range, wanted) : this.#jettons(range, wanted);
  }

  async *#blocks(range: SeqnoRange, wanted: WantedEvents): AsyncGenerator<readonly FinalEvent[], void> {
    const { states, traces } = wanted;
    if (states.size === 0 && traces.size === 0) return;
    const most = mostOf(range);
    const found = {
      states: states.size === 0 ? [] : await this.#lastTransactions(range, states, most),
      traces: traces.size === 0 ? [] : await this.#ended(range, 'transactions', traces, most),
    };
    if (isCut(range, most, found.states, found.traces)) {
      yield* this.#inHalves(range, (half) => this.#blocks(half, wanted));
      return;
    }
    // Of each block first the states, then the traces.
    let state = 0;
    let trace = 0;
    while (state < found.states.length || trace < found.traces.length) {
      const seqno = Math.min(found.states[state]?.mc_seqno ?? Infinity, found.traces[trace]?.mc_seqno_end ?? Infinity);
      const ofBlock: StateEvent[] = [];
      for (; found.states[state]?.mc_seqno === seqno; state++) {
        const transaction = found.states[state]!;
        const address = accountOf(transaction);
        if (!sameAddress(states, address)) continue;
        const order = STATES | BigInt.asUintN(64, keyOf(address));
        ofBlock.push({ kind: 'state', lane: 'blocks', seqno, order, account: rawOf(address), transaction });
      }
      if (ofBlock.length > 0) yield ofBlock.sort(byOrder);
      const ended: EndedTrace[] = [];
      for (; found.traces[trace]?.mc_seqno_end === seqno; trace++) ended.push(found.traces[trace]!);
      for (let i = 0; i < ended.length; i += TRACES_AT_ONCE) {
        yield await this.#transactionsOf(ended.slice(i, i + TRACES_AT_ONCE), traces);
      }
    }
  }

  async #lastTransactions(range: SeqnoRange, wanted: ReadonlyMap<bigint, Address>, most: number) {
    const isMany = wanted.size > MANY_ACCOUNTS && range.from === range.to;
    const touched = isMany ? (await this.#index.touchedAccounts(range, this.#limits)).map(keyOf) : wanted.keys();
    const accounts = [...touched].filter((key) => wanted.has(key));
    return this.#index.finalTransactions(range, { accounts, isLast: true }, most, this.#limits);
  }

  /** Traces that ended in a range and have a wanted member. */
  async #ended(
    range: SeqnoRange,
    members: TraceMembers,
    wanted: ReadonlyMap<bigint, Address>,
    most: number,
  ): Promise<readonly EndedTrace[]> {
    const isMany = wanted.size > MANY_ACCOUNTS && range.from === range.to;
    const keys = isMany ? null : [...wanted.keys()];
    const found = await this.#index.endedTraces(range, members, keys, most, this.#limits);
    return isMany ? found.filter(({ accounts }) => accounts.some((key) => wanted.has(key))) : found;
  }

  async #transactionsOf(
    traces: readonly EndedTrace[],
    wanted: ReadonlyMap<bigint, Address>,
  ): Promise<readonly TransactionsEvent[]> {
    const roots = traces.map(({ root }) => root);
    const all = await this.#index.transactionsOfTraces(roots, MOST_TRACE_TRANSACTIONS, this.#limits);
    const events: TransactionsEvent[] = [];
    for (const trace of traces) {
      let own = all.get(trace.root) ?? [];
      let first = own.find(({ id }) => id === trace.root);
      if (trace.nodes > MOST_TRACE_TRANSACTIONS) {
        own = await this.#ofLargeTrace(trace, wanted);
        first = await this.#rootOf(trace);
      }
      if (first === undefined) continue;
      const transactions = own.map(finalTransaction).filter(({ indexed }) => sameAddress(wanted, accountOf(indexed)));
      if (transactions.length === 0) continue;
      events.push({
        ...{ kind: 'transactions', lane: 'blocks', seqno: trace.mc_seqno_end, root: trace.root },
        order: TRACES | BigInt.asUintN(64, trace.root),
        hashes: traceHashes(first),
        transactions: transactions.reverse(),
      });
    }
    return events;
  }

  /** The transactions of wanted accounts in a trace with too many others, by lt. */
  async #ofLargeTrace(
    { accounts, root, start_lt, end_lt }: EndedTrace,
    wanted: ReadonlyMap<bigint, Address>,
  ): Promise<readonly IndexedTransaction[]> {
    const account = accounts.flatMap((key) => wanted.get(key) ?? []);
    const found: IndexedTransaction[] = [];
    for (let cursor: string | null = null; found.length < MOST_EVENT_TRANSACTIONS; ) {
      const page = { limit: MOST_ROWS, offset: 0, sort: 'asc', cursor } as const;
      const { rows, next } = await this.#index.transactions({ account, start_lt, end_lt }, page, this.#limits);
      found.push(...rows.filter(({ trace_root }) => trace_root === root));
      if (next === null) break;
      cursor = next;
    }
    return found;
  }

  async #rootOf({ trace_id }: EndedTrace): Promise<IndexedTransaction | undefined> {
    const page = { limit: 1, offset: 0, sort: 'asc', cursor: null } as const;
    const { rows } = await this.#index.transactions({ hash: [trace_id] }, page, this.#limits);
    return rows[0];
  }

  async *#actions(range: SeqnoRange, wanted: WantedEvents): AsyncGenerator<readonly FinalEvent[], void> {
    const { traces, hashes } = wanted;
    const most = mostOf(range);
    const ended = traces.size === 0 ? [] : await this.#ended(range, 'actions', traces, most);
    if (isCut(range, most, ended)) {
      yield* this.#inHalves(range, (half) => this.#actions(half, wanted));
      return;
    }
    const events: (ActionsEvent | TraceEvent)[] = ended.map((trace) => ({
      ...{ kind: 'actions', lane: 'actions', seqno: trace.mc_seqno_end, root: trace.root },
      order: BigInt.asUintN(64, trace.root) << 1n,
      hashes: storedHashes(trace),
      participants: trace.accounts.flatMap((key) => {
        const address = traces.get(key);
        return address === undefined ? [] : [rawOf(address)];
      }),
    }));
    events.push(...(await this.#whole(range, hashes)));
    for (const page of pagesOf(events.sort(bySeqno), TRACES_AT_ONCE)) yield page;
  }

  /** Traces that ended in a range, by the messages that they began with. */
  async #whole(range: SeqnoRange, hashes: WantedHashes): Promise<TraceEvent[]> {
    const bytes = [...hashes.keys()].flatMap((text) => hashOf(text) ?? []);
    if (bytes.length === 0) return [];
    const isMany = hashes.size > MANY_ACCOUNTS && range.from === range.to;
    const found = isMany
      ? await this.#index.endedTracesBy(range, { hashes: bytes }, this.#limits)
      : await this.#byHash(range, bytes);
    const wanted = found.filter((trace) => hashes.has(storedHashes(trace).norm));
    const events: TraceEvent[] = [];
    for (const page of pagesOf(wanted, TRACES_AT_ONCE)) {
      const roots = page.map(({ root }) => root);
      const all = await this.#index.transactionsOfTraces(roots, MOST_TRACE_TRANSACTIONS, this.#limits);
      for (const trace of page) {
        const isWhole = trace.nodes <= MOST_TRACE_TRANSACTIONS;
        const first = isWhole ? undefined : await this.#rootOf(trace);
        events.push({
          ...{ kind: 'trace', lane: 'actions', seqno: trace.mc_seqno_end, root: trace.root },
          order: (BigInt.asUintN(64, trace.root) << 1n) | 1n,
          hashes: storedHashes(trace),
          transactions: isWhole ? (all.get(trace.root) ?? []) : first === undefined ? [] : [first],
          isWhole,
        });
      }
    }
    return events;
  }

  async #byHash(range: SeqnoRange, msg_hash: readonly Uint8Array[]): Promise<readonly EndedTrace[]> {
    const { from, to } = range;
    const found: EndedTrace[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = { limit: MOST_ROWS, offset: 0, sort: 'asc', cursor } as const;
      const { rows, next } = await this.#index.traces({ msg_hash }, page, this.#limits);
      const ended = rows.filter(({ state, mc_seqno_end: end }) => state === 'complete' && end >= from && end <= to);
      const roots = ended.map(({ root }) => root);
      if (roots.length > 0) found.push(...(await this.#index.endedTracesBy(range, { roots }, this.#limits)));
      if (next === null) return found;
      cursor = next;
    }
  }

  async *#jettons(range: SeqnoRange, wanted: WantedEvents): AsyncGenerator<readonly FinalEvent[], void> {
    const { jettons } = wanted;
    if (jettons.size === 0) return;
    const most = mostOf(range);
    const isMany = jettons.size > MANY_ACCOUNTS && range.from === range.to;
    const all = [...jettons.values()];
    const filter = isMany
      ? { addresses: await this.#index.touchedAccounts(range, this.#limits), owners: [] }
      : { addresses: all, owners: all };
    const found = await this.#index.changedJettonWallets(range, filter, most, this.#limits);
    if (isCut(range, most, found)) {
      yield* this.#inHalves(range, (half) => this.#jettons(half, wanted));
      return;
    }
    const events = found
      .filter(({ wallet }) => sameAddress(jettons, wallet.address) || sameAddress(jettons, wallet.owner))
      .map(({ wallet, mc_seqno: seqno }): JettonEvent => {
        const order = BigInt.asUintN(64, keyOf(wallet.address));
        const account = rawOf(wallet.address);
        return { kind: 'jetton', lane: 'jettons', seqno, order, account, owner: rawOf(wallet.owner), wallet };
      });
    if (events.length > 0) yield events.sort(bySeqno);
  }

  async *#inHalves(
    { from, to }: SeqnoRange,
    read: (half: SeqnoRange) => AsyncGenerator<readonly FinalEvent[], void>,
  ): AsyncGenerator<readonly FinalEvent[], void> {
    const middle = Math.floor((from + to) / 2);
    yield* read({ from, to: middle });
    yield* read({ from: middle + 1, to });
  }
}

function mostOf({ from, to }: SeqnoRange): number {
  return from === to ? MOST_OF_BLOCK : MOST_ROWS;
}

function isCut({ from, to }: SeqnoRange, most: number, ...found: readonly (readonly unknown[])[]): boolean {
  return from < to && found.some(({ length }) => length >= most);
}

function* pagesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

function byOrder(a: FinalEvent, b: FinalEvent): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0;
}

function bySeqno(a: FinalEvent, b: FinalEvent): number {
  return a.seqno - b.seqno || byOrder(a, b);
}

function keyOf(address: Address): bigint {
  return accountKey(addressBytes(address));
}

/** Accounts are found by keys of 64 bits; what counts is the whole address. */
function sameAddress(wanted: ReadonlyMap<bigint, Address>, address: Address): boolean {
  return wanted.get(keyOf(address))?.equals(address) === true;
}

const decoded = new WeakMap<IndexedTransaction, Transaction>();

function transactionOf(indexed: IndexedTransaction): Transaction {
  const known = decoded.get(indexed);
  if (known !== undefined) return known;
  const transaction = decodeCell(Transaction, indexed.cell);
  decoded.set(indexed, transaction);
  return transaction;
}

/** The account of a transaction. */
function accountOf(indexed: IndexedTransaction): Address {
  return Address.ofParts(indexed.block.workchain, transactionOf(indexed).account_addr);
}

/** The hash of the account cell after a transaction. */
export function stateHashAfter(indexed: IndexedTransaction): Uint8Array {
  return transactionOf(indexed).state_update.value.new_hash;
}

function finalTransaction(indexed: IndexedTransaction): FinalTransaction {
  return { account: rawOf(accountOf(indexed)), lt: transactionOf(indexed).lt, indexed };
}

/** What a trace is called by, from its first transaction. */
function traceHashes(first: IndexedTransaction): TraceHashes {
  const root = first.cell;
  const { in_msg } = decodeCell(Transaction, root);
  if (in_msg === null) return { external: root.hash().slice(), norm: toBase64(root.hash()) };
  const external = in_msg.cell.hash().slice();
  const message = in_msg.value;
  const norm = message.info.kind === 'ext_in_msg_info' ? normalizedExternalHash(message) : external;
  return { external, norm: toBase64(norm) };
}

/** The same, as the classifier has stored it. */
function storedHashes({ external_hash, external_hash_norm, trace_id }: EndedTrace): TraceHashes {
  const external = external_hash ?? trace_id;
  return { external, norm: toBase64(external_hash_norm ?? external) };
}

/** The hash in base64; null: it is none. */
function hashOf(text: string): Uint8Array | null {
  const bytes = text.length === 44 ? fromBase64(text) : null;
  return bytes?.length === 32 ? bytes : null;
}
