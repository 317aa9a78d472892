import { isBehind, type LanePosition, nextBlock, type StreamLane } from '#api/stream/cursor.js';
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

/** Accounts by the key that the index has. */
export interface WantedAccounts {
  readonly size: number;
  has(key: bigint): boolean;
  get(key: bigint): Address | undefined;
  keys(): Iterable<bigint>;
  values(): Iterable<Address>;
}

/** What is wanted of a lane. */
export interface WantedEvents {
  /** Accounts whose states are wanted. */
  readonly states: WantedAccounts;
  /** Accounts whose transactions are wanted; in the lane `actions`, whose actions are. */
  readonly traces: WantedAccounts;
  /** Jetton wallets and their owners. */
  readonly jettons: WantedAccounts;
  /** Traces by the normalised hash of their messages, in base64. */
  readonly hashes: WantedHashes;
}

/** A set of hashes, or a map by them. */
type WantedHashes = Pick<ReadonlySet<string>, 'size' | 'has' | 'keys'>;

/** With more accounts than this, all of a block is read and compared, instead of a look-up for each account. */
const MANY_ACCOUNTS = 64;
/** Rows that are read at a time. A range with more of them is read in parts. */
const MOST_ROWS = 250;
/** A single masterchain block is read whole. */
const MOST_OF_BLOCK = 200_000;
/** Traces with more transactions are not read whole. */
const MOST_TRACE_TRANSACTIONS = 4_000;
/** Transactions that an event lists at most. */
const MOST_EVENT_TRANSACTIONS = 10_000;
/** Traces that are read at a time, and the transactions that they have together if they are several. */
const TRACES_AT_ONCE = 64;
const TRANSACTIONS_AT_ONCE = 250;

const STATES = 0n;
const TRACES = 1n << 64n;

/** Reads what became final in ranges of masterchain blocks, in the order of the events. */
export class FinalEventReader {
  readonly #index: IndexPort;
  readonly #limits: IndexReadOptions;
  #transactions = 0;

  constructor(index: IndexPort, limits: IndexReadOptions) {
    this.#index = index;
    this.#limits = limits;
  }

  /** Transactions that were read until now: most of the work. */
  get transactions(): number {
    return this.#transactions;
  }

  /**
   * The events of a lane behind a place, in pages.
   *
   * @param to the last masterchain block
   */
  async *read(
    lane: StreamLane,
    place: LanePosition,
    to: number,
    wanted: WantedEvents,
  ): AsyncGenerator<readonly FinalEvent[], void> {
    const range = { from: nextBlock(place), to };
    const pages =
      lane === 'blocks'
        ? this.#blocks(range, place, wanted)
        : lane === 'actions'
          ? this.#actions(range, place, wanted)
          : this.#jettons(range, wanted);
    for await (const page of pages) {
      const behind = page.filter((event) => isBehind(event, place));
      if (behind.length > 0) yield behind;
    }
  }

  async *#blocks(
    range: SeqnoRange,
    place: LanePosition,
    { states, traces }: WantedEvents,
  ): AsyncGenerator<readonly FinalEvent[], void> {
    if (states.size === 0 && traces.size === 0) return;
    const parts = inParts(range, async (part, most) => {
      const hasStates = states.size > 0 && !(part.to === place.seqno && (place.order ?? STATES) >= TRACES);
      return {
        first: hasStates ? await this.#lastTransactions(part, states, most) : [],
        second: traces.size === 0 ? [] : await this.#ended(part, 'transactions', traces, most),
      };
    });
    for await (const { first, second } of parts) {
      const ended = second.filter((trace) => isBehind(blocksPlace(trace), place));
      // Of each block first the states, then the traces.
      let state = 0;
      let trace = 0;
      while (state < first.length || trace < ended.length) {
        const seqno = Math.min(first[state]?.mc_seqno ?? Infinity, ended[trace]?.mc_seqno_end ?? Infinity);
        const ofBlock: StateEvent[] = [];
        for (; first[state]?.mc_seqno === seqno; state++) {
          const transaction = first[state]!;
          const address = accountOf(transaction);
          if (!sameAddress(states, address)) continue;
          const order = STATES | BigInt.asUintN(64, keyOf(address));
          ofBlock.push({ kind: 'state', lane: 'blocks', seqno, order, account: rawOf(address), transaction });
        }
        if (ofBlock.length > 0) yield ofBlock.sort(byOrder);
        const from = trace;
        while (ended[trace]?.mc_seqno_end === seqno) trace++;
        for (const page of pagesOf(ended.slice(from, trace), ({ nodes }) => nodes))
          yield await this.#transactionsOf(page, traces);
      }
    }
  }

  async #lastTransactions(range: SeqnoRange, wanted: WantedAccounts, most: number) {
    const isMany = wanted.size > MANY_ACCOUNTS && range.from === range.to;
    const touched = isMany ? (await this.#index.touchedAccounts(range, this.#limits)).map(keyOf) : wanted.keys();
    const accounts = [...touched].filter((key) => wanted.has(key));
    const found = await this.#index.finalTransactions(range, { accounts, isLast: true }, most, this.#limits);
    this.#transactions += found.length;
    return found;
  }

  /** Traces that ended in a range and have a wanted member. */
  async #ended(
    range: SeqnoRange,
    members: TraceMembers,
    wanted: WantedAccounts,
    most: number,
  ): Promise<readonly EndedTrace[]> {
    const isMany = wanted.size > MANY_ACCOUNTS && range.from === range.to;
    const keys = isMany ? null : [...wanted.keys()];
    const found = await this.#index.endedTraces(range, members, keys, most, this.#limits);
    return isMany ? found.filter(({ accounts }) => accounts.some((key) => wanted.has(key))) : found;
  }

  async #transactionsOf(traces: readonly EndedTrace[], wanted: WantedAccounts): Promise<readonly TransactionsEvent[]> {
    const roots = traces.map(({ root }) => root);
    const all = await this.#ofTraces(roots);
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
        ...{ kind: 'transactions', ...blocksPlace(trace), root: trace.root },
        hashes: traceHashes(first),
        transactions: transactions.reverse(),
      });
    }
    return events;
  }

  async #ofTraces(roots: readonly bigint[]): Promise<ReadonlyMap<bigint, readonly IndexedTransaction[]>> {
    if (roots.length === 0) return new Map();
    const found = await this.#index.transactionsOfTraces(roots, MOST_TRACE_TRANSACTIONS, this.#limits);
    for (const { length } of found.values()) this.#transactions += length;
    return found;
  }

  /** The transactions of wanted accounts in a trace with too many others, by lt. */
  async #ofLargeTrace(
    { accounts, root, start_lt, end_lt }: EndedTrace,
    wanted: WantedAccounts,
  ): Promise<readonly IndexedTransaction[]> {
    const account = accounts.flatMap((key) => wanted.get(key) ?? []);
    const found: IndexedTransaction[] = [];
    for (let cursor: string | null = null; found.length < MOST_EVENT_TRANSACTIONS; ) {
      const page = { limit: MOST_ROWS, offset: 0, sort: 'asc', cursor } as const;
      const { rows, next } = await this.#index.transactions({ account, start_lt, end_lt }, page, this.#limits);
      this.#transactions += rows.length;
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

  async *#actions(
    range: SeqnoRange,
    place: LanePosition,
    { traces, hashes }: WantedEvents,
  ): AsyncGenerator<readonly FinalEvent[], void> {
    const parts = inParts(range, async (part, most) => ({
      first: traces.size === 0 ? [] : await this.#ended(part, 'actions', traces, most),
    }));
    for await (const { part, first } of parts) {
      const items = [
        ...first.map((trace) => ({ ...actionsPlace(trace, false), trace, isWhole: false })),
        ...(await this.#named(part, hashes)).map((trace) => ({ ...actionsPlace(trace, true), trace, isWhole: true })),
      ];
      const behind = items.filter((each) => isBehind(each, place)).sort(bySeqno);
      for (const page of pagesOf(behind, ({ trace, isWhole }) => (isWhole ? trace.nodes : 0))) {
        const all = await this.#ofTraces(page.flatMap(({ trace, isWhole }) => (isWhole ? trace.root : [])));
        const events: (ActionsEvent | TraceEvent)[] = [];
        for (const { trace, isWhole } of page) {
          events.push(isWhole ? await this.#traceEvent(trace, all) : this.#actionsEvent(trace, traces));
        }
        yield events;
      }
    }
  }

  #actionsEvent(trace: EndedTrace, wanted: WantedAccounts): ActionsEvent {
    const participants = trace.accounts.flatMap((key) => {
      const address = wanted.get(key);
      return address === undefined ? [] : [rawOf(address)];
    });
    const { root } = trace;
    return { kind: 'actions', ...actionsPlace(trace, false), root, hashes: storedHashes(trace), participants };
  }

  /** Traces that ended in a range, by the messages that they began with. */
  async #named(range: SeqnoRange, hashes: WantedHashes): Promise<readonly EndedTrace[]> {
    const bytes = [...hashes.keys()].flatMap((text) => hashOf(text) ?? []);
    if (bytes.length === 0) return [];
    const isMany = hashes.size > MANY_ACCOUNTS && range.from === range.to;
    const found = isMany
      ? await this.#index.endedTracesBy(range, { hashes: bytes }, this.#limits)
      : await this.#byHash(range, bytes);
    return found.filter((trace) => hashes.has(storedHashes(trace).norm));
  }

  async #traceEvent(trace: EndedTrace, all: ReadonlyMap<bigint, readonly IndexedTransaction[]>): Promise<TraceEvent> {
    const { root, nodes } = trace;
    const isWhole = nodes <= MOST_TRACE_TRANSACTIONS;
    const first = isWhole ? undefined : await this.#rootOf(trace);
    const transactions = isWhole ? (all.get(root) ?? []) : first === undefined ? [] : [first];
    return { kind: 'trace', ...actionsPlace(trace, true), root, hashes: storedHashes(trace), transactions, isWhole };
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

  async *#jettons(range: SeqnoRange, { jettons }: WantedEvents): AsyncGenerator<readonly FinalEvent[], void> {
    if (jettons.size === 0) return;
    const parts = inParts(range, async (part, most) => {
      const isMany = jettons.size > MANY_ACCOUNTS && part.from === part.to;
      const all = isMany ? [] : [...jettons.values()];
      const filter = isMany
        ? { addresses: await this.#index.touchedAccounts(part, this.#limits), owners: [] }
        : { addresses: all, owners: all };
      return { first: await this.#index.changedJettonWallets(part, filter, most, this.#limits) };
    });
    for await (const { first } of parts) {
      const events = first
        .filter(({ wallet }) => sameAddress(jettons, wallet.address) || sameAddress(jettons, wallet.owner))
        .map(({ wallet, mc_seqno: seqno }): JettonEvent => {
          const order = BigInt.asUintN(64, keyOf(wallet.address));
          const account = rawOf(wallet.address);
          return { kind: 'jetton', lane: 'jettons', seqno, order, account, owner: rawOf(wallet.owner), wallet };
        });
      yield events.sort(bySeqno);
    }
  }
}

/** A row of a list in the order of masterchain blocks. */
type OfBlock = { readonly mc_seqno: number } | { readonly mc_seqno_end: number };

function seqnoOf(row: OfBlock): number {
  return 'mc_seqno' in row ? row.mc_seqno : row.mc_seqno_end;
}

/** One or two lists, each in the order of masterchain blocks. */
interface PartLists<First extends OfBlock, Second extends OfBlock> {
  readonly first: readonly First[];
  readonly second?: readonly Second[];
}

/**
 * Reads one or two lists of a range in parts of some hundred rows. A part ends before the block in which a list was cut; a block with more rows
 * is a part of its own.
 */
async function* inParts<First extends OfBlock, Second extends OfBlock>(
  { from, to }: SeqnoRange,
  read: (part: SeqnoRange, most: number) => Promise<PartLists<First, Second>>,
): AsyncGenerator<Required<PartLists<First, Second>> & { readonly part: SeqnoRange }, void> {
  while (from <= to) {
    let end = to;
    let { first, second = [] } = await read({ from, to: end }, from === end ? MOST_OF_BLOCK : MOST_ROWS);
    if (from < end) {
      for (const list of [first, second]) {
        if (list.length >= MOST_ROWS) end = Math.min(end, seqnoOf(list.at(-1)!) - 1);
      }
      if (end < from) {
        end = from;
        ({ first, second = [] } = await read({ from, to: end }, MOST_OF_BLOCK));
      }
    }
    const isWithin = (row: OfBlock) => seqnoOf(row) <= end;
    yield { part: { from, to: end }, first: first.filter(isWithin), second: second.filter(isWithin) };
    from = end + 1;
  }
}

/** Pages of some traces, and of some transactions if they have several. @param nodesOf transactions that are read for an item */
function* pagesOf<Item>(items: readonly Item[], nodesOf: (item: Item) => number): Generator<readonly Item[]> {
  let page: Item[] = [];
  let nodes = 0;
  for (const item of items) {
    const own = Math.min(nodesOf(item), MOST_TRACE_TRANSACTIONS);
    if (page.length > 0 && (page.length >= TRACES_AT_ONCE || nodes + own > TRANSACTIONS_AT_ONCE)) {
      yield page;
      page = [];
      nodes = 0;
    }
    page.push(item);
    nodes += own;
  }
  if (page.length > 0) yield page;
}

/** The place of the transactions of a trace in the lane `blocks`. */
function blocksPlace({ mc_seqno_end, root }: EndedTrace): Place {
  return { lane: 'blocks', seqno: mc_seqno_end, order: TRACES | BigInt.asUintN(64, root) };
}

/** The place of the actions of a trace in the lane `actions`, or behind them that of the whole trace. */
function actionsPlace({ mc_seqno_end, root }: EndedTrace, isWhole: boolean): Place {
  const order = (BigInt.asUintN(64, root) << 1n) | (isWhole ? 1n : 0n);
  return { lane: 'actions', seqno: mc_seqno_end, order };
}

function byOrder(a: Place, b: Place): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0;
}

function bySeqno(a: Place, b: Place): number {
  return a.seqno - b.seqno || byOrder(a, b);
}

function keyOf(address: Address): bigint {
  return accountKey(addressBytes(address));
}

/** Accounts are found by keys of 64 bits; what counts is the whole address. */
function sameAddress(wanted: WantedAccounts, address: Address): boolean {
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
