import { LANES, type StreamLane } from '#api/stream/cursor.js';
import type { FinalEvent, WantedEvents } from '#api/stream/final-events.js';
import type { Subscriber } from '#api/stream/subscriber.js';
import type { EventOptions, EventType, SubscribedAccount, Subscription } from '#api/stream/subscription.js';
import { type Address, parseAddress } from '#formats/address/address.js';

/** Subscribers that get one text. */
export interface Audience {
  readonly options: EventOptions;
  /** Their accounts that the event concerns. */
  readonly accounts: ReadonlySet<string>;
  readonly subscribers: Subscriber[];
}

/** What of an account is wanted in a lane, and by how many. */
interface WantedAccount {
  readonly key: bigint;
  readonly address: Address;
  readonly subscribers: Set<Subscriber>;
}

type EventKind = 'states' | 'transactions' | 'actions' | 'jettons';

/** Accounts of whose events of one kind somebody waits: who, and the same by the key that the index has. */
class WatchedAccounts {
  readonly byRaw = new Map<string, WantedAccount>();
  readonly byKey = new Map<bigint, Address>();

  add(raw: string, { key }: SubscribedAccount, subscriber: Subscriber): void {
    const known = this.byRaw.get(raw);
    if (known !== undefined) {
      known.subscribers.add(subscriber);
      return;
    }
    const { address } = parseAddress(raw);
    this.byRaw.set(raw, { key, address, subscribers: new Set([subscriber]) });
    this.byKey.set(key, address);
  }

  remove(raw: string, subscriber: Subscriber): void {
    const known = this.byRaw.get(raw);
    if (known?.subscribers.delete(subscriber) !== true || known.subscribers.size > 0) return;
    this.byRaw.delete(raw);
    if (this.byKey.get(known.key)?.equals(known.address) === true) this.byKey.delete(known.key);
  }
}

type AccountsByKind = Readonly<Record<EventKind, WatchedAccounts>>;

const KIND_OF: Readonly<Record<EventType, EventKind | null>> = {
  transactions: 'transactions',
  pending_transactions: null,
  actions: 'actions',
  pending_actions: null,
  account_state_change: 'states',
  jettons_change: 'jettons',
  trace: null,
};
const LANE_OF = { states: 'blocks', transactions: 'blocks', actions: 'actions', jettons: 'jettons' } as const;

/** Live subscribers by the accounts and traces that they wait for; each in the lanes in which it is live. */
export class LiveAudience {
  readonly #accounts: AccountsByKind = {
    states: new WatchedAccounts(),
    transactions: new WatchedAccounts(),
    actions: new WatchedAccounts(),
    jettons: new WatchedAccounts(),
  };
  readonly #traces = new Map<string, Set<Subscriber>>();
  readonly #live: Readonly<Record<StreamLane, Set<Subscriber>>> = {
    blocks: new Set(),
    jettons: new Set(),
    actions: new Set(),
  };

  add(subscriber: Subscriber, lane: StreamLane): void {
    this.#live[lane].add(subscriber);
    const { accounts, traces } = subscriber.subscription;
    for (const [raw, account] of accounts) {
      for (const type of account.types) {
        const kind = KIND_OF[type];
        if (kind !== null && LANE_OF[kind] === lane) this.#accounts[kind].add(raw, account, subscriber);
      }
    }
    if (lane !== 'actions') return;
    for (const hash of traces) {
      const known = this.#traces.get(hash);
      if (known !== undefined) known.add(subscriber);
      else this.#traces.set(hash, new Set([subscriber]));
    }
  }

  remove(subscriber: Subscriber): void {
    this.silence(subscriber);
    for (const _ of this.removing(subscriber));
  }

  /** Makes a subscriber live in no lane; its accounts and traces are still waited for. */
  silence(subscriber: Subscriber): void {
    for (const lane of LANES) this.#live[lane].delete(subscriber);
  }

  /** Removes the accounts and traces of a subscriber that is live in no lane; may pause after each of them. */
  *removing(subscriber: Subscriber): Generator<void> {
    const { accounts, traces } = subscriber.subscription;
    for (const [raw, { types }] of accounts) {
      for (const type of types) {
        const kind = KIND_OF[type];
        if (kind !== null) this.#accounts[kind].remove(raw, subscriber);
      }
      yield;
    }
    for (const hash of traces) {
      const known = this.#traces.get(hash);
      if (known?.delete(subscriber) === true && known.size === 0) this.#traces.delete(hash);
      yield;
    }
  }

  isLive(subscriber: Subscriber, lane: StreamLane): boolean {
    return this.#live[lane].has(subscriber);
  }

  /** Accounts and traces that somebody waits for. */
  get size(): number {
    const { states, transactions, actions, jettons } = this.#accounts;
    const accounts = [states, transactions, actions, jettons].reduce((sum, { byRaw }) => sum + byRaw.size, 0);
    return accounts + this.#traces.size;
  }

  /** What is wanted of a lane, as it changes; null: nothing. */
  wanted(lane: StreamLane): WantedEvents | null {
    const { states, transactions, actions, jettons } = this.#accounts;
    const wanted: WantedEvents = {
      states: lane === 'blocks' ? states.byKey : EMPTY,
      traces: lane === 'blocks' ? transactions.byKey : lane === 'actions' ? actions.byKey : EMPTY,
      jettons: lane === 'jettons' ? jettons.byKey : EMPTY,
      hashes: lane === 'actions' ? this.#traces : NO_HASHES,
    };
    return isEmpty(wanted) ? null : wanted;
  }

  /** Who gets an event, in groups with one text each. */
  of(event: FinalEvent): readonly Audience[] {
    const groups = new Map<string, Audience>();
    if (event.kind === 'trace') {
      for (const subscriber of this.#traces.get(event.hashes.norm) ?? []) addTo(groups, subscriber, NO_ACCOUNTS);
      return [...groups.values()];
    }
    const concerned = new Map<Subscriber, string[]>();
    const note = (raw: string, subscribers: Iterable<Subscriber>) => {
      for (const subscriber of subscribers) {
        const own = concerned.get(subscriber);
        if (own === undefined) concerned.set(subscriber, [raw]);
        else own.push(raw);
      }
    };
    for (const [raw, { subscribers }] of this.#concerned(event)) note(raw, subscribers);
    for (const [subscriber, raws] of concerned) addTo(groups, subscriber, new Set(raws.sort()));
    return [...groups.values()];
  }

  *#concerned(event: Exclude<FinalEvent, { kind: 'trace' }>): Generator<readonly [string, WantedAccount]> {
    const { states, transactions, actions, jettons } = this.#accounts;
    const named = ({ byRaw }: WatchedAccounts, raws: Iterable<string>) =>
      [...new Set(raws)].flatMap((raw): (readonly [string, WantedAccount])[] => {
        const known = byRaw.get(raw);
        return known === undefined ? [] : [[raw, known]];
      });
    if (event.kind === 'state') yield* named(states, [event.account]);
    else if (event.kind === 'jetton') yield* named(jettons, [event.account, event.owner]);
    else if (event.kind === 'transactions') {
      yield* named(
        transactions,
        event.transactions.map(({ account }) => account),
      );
    } else yield* named(actions, event.participants);
  }
}

function addTo(groups: Map<string, Audience>, subscriber: Subscriber, accounts: ReadonlySet<string>): void {
  const { options } = subscriber.subscription;
  const key = `${options.key}|${[...accounts].join()}`;
  const group = groups.get(key);
  if (group === undefined) groups.set(key, { options, accounts, subscribers: [subscriber] });
  else group.subscribers.push(subscriber);
}

const EMPTY: ReadonlyMap<bigint, Address> = new Map();
const NO_HASHES: ReadonlySet<string> = new Set();
const NO_ACCOUNTS: ReadonlySet<string> = new Set();

function isEmpty({ states, traces, jettons, hashes }: WantedEvents): boolean {
  return states.size + traces.size + jettons.size + hashes.size === 0;
}

/** What one subscription wants of a lane; null: nothing. */
export function wantedBy({ accounts, traces }: Subscription, lane: StreamLane): WantedEvents | null {
  const of = (kind: EventKind) => {
    const found = new Map<bigint, Address>();
    if (LANE_OF[kind] !== lane) return found;
    for (const [raw, { key, types }] of accounts) {
      if ([...types].some((type) => KIND_OF[type] === kind)) found.set(key, parseAddress(raw).address);
    }
    return found;
  };
  const wanted: WantedEvents = {
    states: of('states'),
    traces: lane === 'actions' ? of('actions') : of('transactions'),
    jettons: of('jettons'),
    hashes: lane === 'actions' ? traces : NO_HASHES,
  };
  return isEmpty(wanted) ? null : wanted;
}

/** The accounts of a subscription that an event concerns; null: none. */
export function concernedAccounts(event: FinalEvent, { accounts, traces }: Subscription): ReadonlySet<string> | null {
  if (event.kind === 'trace') return traces.has(event.hashes.norm) ? NO_ACCOUNTS : null;
  const kind = ({ state: 'states', transactions: 'transactions', actions: 'actions', jetton: 'jettons' } as const)[
    event.kind
  ];
  const raws =
    event.kind === 'transactions'
      ? event.transactions.map(({ account }) => account)
      : event.kind === 'actions'
        ? event.participants
        : event.kind === 'jetton'
          ? [event.account, event.owner]
          : [event.account];
  const own = raws.filter((raw) => [...(accounts.get(raw)?.types ?? [])].some((type) => KIND_OF[type] === kind));
  return own.length === 0 ? null : new Set(own.sort());
}

/** The lanes that a subscription takes events from. */
export function lanesOf({ accounts, traces }: Subscription): readonly StreamLane[] {
  const found = new Set<StreamLane>(traces.size > 0 ? ['actions'] : []);
  for (const { types } of accounts.values()) {
    for (const type of types) {
      const kind = KIND_OF[type];
      if (kind !== null) found.add(LANE_OF[kind]);
    }
    if (found.size === LANES.length) break;
  }
  return LANES.filter((lane) => found.has(lane));
}
