import { LANES, type StreamLane } from '#api/stream/cursor.js';
import type { FinalEvent, WantedAccounts, WantedEvents } from '#api/stream/final-events.js';
import type { Subscriber } from '#api/stream/subscriber.js';
import type { EventOptions, EventType, SubscribedAccount, Subscription } from '#api/stream/subscription.js';
import { type Watchers, WatchersByName, watchersOf, withoutWatcher, withWatcher } from '#api/stream/watchers.js';
import type { Address } from '#formats/address/address.js';

/** Subscribers that get one text. */
export interface Audience {
  readonly options: EventOptions;
  /** Their accounts that the event concerns. */
  readonly accounts: ReadonlySet<string>;
  readonly subscribers: Subscriber[];
}

type EventKind = 'states' | 'transactions' | 'actions' | 'jettons';

/** An account of whose events somebody waits, and who waits for each kind. */
interface WatchedAccount extends Record<EventKind, Watchers | null> {
  readonly address: Address;
}

/** The accounts of whose events of one kind somebody waits, by the key that the index has. */
class WatchedByKind implements WantedAccounts {
  readonly #kind: EventKind;
  readonly #byKey: ReadonlyMap<bigint, WatchedAccount>;
  readonly #accounts = new Map<WatchedAccount, bigint>();

  /** @param byKey the accounts of all kinds */
  constructor(kind: EventKind, byKey: ReadonlyMap<bigint, WatchedAccount>) {
    this.#kind = kind;
    this.#byKey = byKey;
  }

  get size(): number {
    return this.#accounts.size;
  }

  has(key: bigint): boolean {
    return this.get(key) !== undefined;
  }

  get(key: bigint): Address | undefined {
    const account = this.#byKey.get(key);
    return account === undefined || account[this.#kind] === null ? undefined : account.address;
  }

  keys(): Iterable<bigint> {
    return this.#accounts.values();
  }

  *values(): Iterable<Address> {
    for (const { address } of this.#accounts.keys()) yield address;
  }

  add(key: bigint, account: WatchedAccount, subscriber: Subscriber): void {
    if (account[this.#kind] === null) this.#accounts.set(account, key);
    account[this.#kind] = withWatcher(account[this.#kind], subscriber);
  }

  remove(account: WatchedAccount, subscriber: Subscriber): void {
    if (account[this.#kind] === null) return;
    account[this.#kind] = withoutWatcher(account[this.#kind], subscriber);
    if (account[this.#kind] === null) this.#accounts.delete(account);
  }
}

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
const KINDS: readonly EventKind[] = ['states', 'transactions', 'actions', 'jettons'];

/** Live subscribers by the accounts and traces that they wait for; each in the lanes in which it is live. */
export class LiveAudience {
  /** By raw form. */
  readonly #accounts = new Map<string, WatchedAccount>();
  readonly #byKey = new Map<bigint, WatchedAccount>();
  readonly #kinds: Readonly<Record<EventKind, WatchedByKind>> = {
    states: new WatchedByKind('states', this.#byKey),
    transactions: new WatchedByKind('transactions', this.#byKey),
    actions: new WatchedByKind('actions', this.#byKey),
    jettons: new WatchedByKind('jettons', this.#byKey),
  };
  readonly #traces = new WatchersByName();
  readonly #live: Readonly<Record<StreamLane, Set<Subscriber>>> = {
    blocks: new Set(),
    jettons: new Set(),
    actions: new Set(),
  };

  /** Makes a subscriber live in a lane, whose accounts and traces were added. */
  begin(subscriber: Subscriber, lane: StreamLane): void {
    this.#live[lane].add(subscriber);
  }

  /** Adds the accounts and traces of a subscriber that is live in no lane. */
  add(subscriber: Subscriber): void {
    const { accounts, traces } = subscriber.subscription;
    const kindsOf = kindReader(LANES);
    for (const [raw, account] of accounts) {
      const kinds = kindsOf(account);
      if (kinds.length === 0) continue;
      const watched = this.#watch(raw, account);
      for (const kind of kinds) this.#kinds[kind].add(account.key, watched, subscriber);
    }
    for (const hash of traces) this.#traces.add(hash, subscriber);
  }

  #watch(raw: string, { key, address }: SubscribedAccount): WatchedAccount {
    const known = this.#accounts.get(raw);
    if (known !== undefined) return known;
    const account = { address, states: null, transactions: null, actions: null, jettons: null };
    this.#accounts.set(raw, account);
    this.#byKey.set(key, account);
    return account;
  }

  /** Makes a subscriber live in no lane; its accounts and traces are still waited for. */
  silence(subscriber: Subscriber): void {
    for (const lane of LANES) this.#live[lane].delete(subscriber);
  }

  /** Removes the accounts and traces of a subscriber that is live in no lane; may pause after each of them. */
  *removing(subscriber: Subscriber): Generator<void> {
    const { accounts, traces } = subscriber.subscription;
    for (const [raw, { key }] of accounts) {
      const account = this.#accounts.get(raw);
      if (account !== undefined) {
        for (const kind of KINDS) this.#kinds[kind].remove(account, subscriber);
        if (KINDS.every((kind) => account[kind] === null)) {
          this.#accounts.delete(raw);
          if (this.#byKey.get(key) === account) this.#byKey.delete(key);
        }
      }
      yield;
    }
    for (const hash of traces) {
      this.#traces.remove(hash, subscriber);
      yield;
    }
  }

  isLive(subscriber: Subscriber, lane: StreamLane): boolean {
    return this.#live[lane].has(subscriber);
  }

  /** Accounts, of each kind of events, and traces that somebody waits for. */
  get size(): number {
    return KINDS.reduce((sum, kind) => sum + this.#kinds[kind].size, this.#traces.size);
  }

  /** What is wanted of a lane, as it changes, also by those who are not live yet; null: nobody is live. */
  wanted(lane: StreamLane): WantedEvents | null {
    if (this.#live[lane].size === 0) return null;
    const { states, transactions, actions, jettons } = this.#kinds;
    const wanted: WantedEvents = {
      states: lane === 'blocks' ? states : NO_ACCOUNTS,
      traces: lane === 'blocks' ? transactions : lane === 'actions' ? actions : NO_ACCOUNTS,
      jettons: lane === 'jettons' ? jettons : NO_ACCOUNTS,
      hashes: lane === 'actions' ? this.#traces : NO_HASHES,
    };
    return isEmpty(wanted) ? null : wanted;
  }

  /** Who is live and gets an event, in groups with one text each. */
  of(event: FinalEvent): readonly Audience[] {
    const groups = new Map<string, Audience>();
    if (event.kind === 'trace') {
      for (const subscriber of this.#traces.of(event.hashes.norm)) {
        if (this.isLive(subscriber, event.lane)) addTo(groups, subscriber, NOTHING);
      }
      return [...groups.values()];
    }
    const concerned = new Map<Subscriber, string[]>();
    const kind = KIND_OF_EVENT[event.kind];
    for (const raw of new Set(accountsOf(event))) {
      for (const subscriber of watchersOf(this.#accounts.get(raw)?.[kind] ?? null)) {
        if (!this.isLive(subscriber, event.lane)) continue;
        const own = concerned.get(subscriber);
        if (own === undefined) concerned.set(subscriber, [raw]);
        else own.push(raw);
      }
    }
    for (const [subscriber, raws] of concerned) addTo(groups, subscriber, new Set(raws.sort()));
    return [...groups.values()];
  }
}

function addTo(groups: Map<string, Audience>, subscriber: Subscriber, accounts: ReadonlySet<string>): void {
  const { options } = subscriber.subscription;
  const key = `${options.key}|${[...accounts].join()}`;
  const group = groups.get(key);
  if (group === undefined) groups.set(key, { options, accounts, subscribers: [subscriber] });
  else group.subscribers.push(subscriber);
}

const NO_ACCOUNTS: ReadonlyMap<bigint, Address> = new Map();
const NO_HASHES: ReadonlySet<string> = new Set();
const NOTHING: ReadonlySet<string> = new Set();

function isEmpty({ states, traces, jettons, hashes }: WantedEvents): boolean {
  return states.size + traces.size + jettons.size + hashes.size === 0;
}

/** Tells which kinds of events of some lanes are wanted of an account. Accounts of one request share the set of their types. */
function kindReader(lanes: readonly StreamLane[]): (account: SubscribedAccount) => readonly EventKind[] {
  let last: SubscribedAccount['types'] | null = null;
  let kinds: readonly EventKind[] = [];
  return ({ types }) => {
    if (types !== last) {
      kinds = KINDS.filter(
        (kind) => lanes.includes(LANE_OF[kind]) && [...types].some((type) => KIND_OF[type] === kind),
      );
      last = types;
    }
    return kinds;
  };
}

/** What one subscription wants of a lane; null: nothing. */
export function wantedBy({ accounts, traces }: Subscription, lane: StreamLane): WantedEvents | null {
  const kindsOf = kindReader([lane]);
  const of = (kind: EventKind): WantedAccounts => {
    if (LANE_OF[kind] !== lane) return NO_ACCOUNTS;
    const found = new Map<bigint, Address>();
    for (const account of accounts.values()) {
      if (kindsOf(account).includes(kind)) found.set(account.key, account.address);
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

type AccountEvent = Exclude<FinalEvent, { kind: 'trace' }>;

const KIND_OF_EVENT: Readonly<Record<AccountEvent['kind'], EventKind>> = {
  state: 'states',
  transactions: 'transactions',
  actions: 'actions',
  jetton: 'jettons',
};

/** The accounts that an event may concern, in raw form. */
function accountsOf(event: AccountEvent): readonly string[] {
  switch (event.kind) {
    case 'transactions':
      return event.transactions.map(({ account }) => account);
    case 'actions':
      return event.participants;
    case 'jetton':
      return [event.account, event.owner];
    case 'state':
      return [event.account];
  }
}

/** The accounts of a subscription that an event concerns; null: none. */
export function concernedAccounts(event: FinalEvent, { accounts, traces }: Subscription): ReadonlySet<string> | null {
  if (event.kind === 'trace') return traces.has(event.hashes.norm) ? NOTHING : null;
  const kind = KIND_OF_EVENT[event.kind];
  const own = accountsOf(event).filter((raw) =>
    [...(accounts.get(raw)?.types ?? [])].some((type) => KIND_OF[type] === kind),
  );
  return own.length === 0 ? null : new Set(own.sort());
}

/** The lanes that a subscription takes events from. */
export function lanesOf({ accounts, traces }: Subscription): readonly StreamLane[] {
  return LANES.filter((lane) => {
    if (lane === 'actions' && traces.size > 0) return true;
    const kindsOf = kindReader([lane]);
    for (const account of accounts.values()) if (kindsOf(account).length > 0) return true;
    return false;
  });
}
