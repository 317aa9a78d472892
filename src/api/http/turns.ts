import { FairShare } from '#kernel/fair-share.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';

/**
 * Whose requests wait apart from the others:
 *
 * - `urgent`: what must be answered whatever happens
 * - `keyed`: clients with an API key, each for itself
 * - `others`: clients without one, by address
 */
export type TurnKind = 'urgent' | 'keyed' | 'others';

/** Whose turn a request takes. */
export interface TurnOf {
  readonly kind: TurnKind;
  /** Opaque id of a client of this kind. */
  readonly client: string;
  /** How much it gets, compared with a client of weight 1. */
  readonly weight: number;
}

/** How much each kind gets: however many clients without a key there are, those with one get their share. */
const SHARES: Readonly<Record<TurnKind, number>> = { urgent: 1, keyed: 2, others: 1 };

/** Of kinds that have had as much, the first one is served. */
const KINDS = Object.keys(SHARES) as readonly TurnKind[];

/** What any request takes, beside what is measured, and one that is refused: it was read, and is answered. */
const BEGIN_MS = 0.1;

/**
 * What waits for its turn. The next item is of the kind that has had the least for its share, so one that gets less than that does not wait
 * for the others; and of the client of this kind that has had the least for its weight, by the same rule: see {@link FairShare}. Items cost their clients
 * what they are charged for, and their kinds the time that they took.
 */
export class TurnQueues<Item> {
  readonly #queues: Readonly<Record<TurnKind, FairShare<Item>>>;
  /** What each kind has had, divided by its share. */
  readonly #served: Record<TurnKind, number> = { urgent: 0, keyed: 0, others: 0 };
  /** What the kind had that was served last: one that had nothing waiting begins there. */
  #level = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    const queue = (): FairShare<Item> => new FairShare({ now, itemCost: 0 });
    this.#queues = { urgent: queue(), keyed: queue(), others: queue() };
  }

  /** Items of all clients. */
  get size(): number {
    const { urgent, keyed, others } = this.#queues;
    return urgent.size + keyed.size + others.size;
  }

  /** Items of all clients of a kind. */
  sizeOfKind(kind: TurnKind): number {
    return this.#queues[kind].size;
  }

  /** Items of one client. */
  sizeOf({ kind, client }: TurnOf): number {
    return this.#queues[kind].sizeOf(client);
  }

  /** Clients of a kind that have items. */
  clientsOfKind(kind: TurnKind): number {
    return this.#queues[kind].clients;
  }

  /** Items of the client of a kind that has the most, the oldest first. */
  longestOfKind(kind: TurnKind): (Iterable<Item> & { readonly size: number }) | null {
    return this.#queues[kind].longest();
  }

  /** @param expected what the item is expected to cost a client of weight 1 @returns its place, by which it is removed */
  add({ kind, client, weight }: TurnOf, item: Item, expected: number): Link<Item> {
    // What kinds had while nothing waited was no loss to the others.
    if (this.size === 0) this.#level = Math.max(this.#level, ...KINDS.map((each) => this.#served[each]));
    if (this.#queues[kind].size === 0) this.#served[kind] = Math.max(this.#served[kind], this.#level);
    return this.#queues[kind].add(client, item, expected / weight);
  }

  remove({ kind, client }: TurnOf, place: Link<Item>): void {
    this.#queues[kind].remove(client, place);
  }

  /**
   * Takes out the item whose turn it is.
   *
   * @param mayHave whether a client of any kind may get one now; default: all may
   */
  take(mayHave?: (client: string) => boolean): Item | undefined {
    const order = KINDS.toSorted((a, b) => this.#served[a] - this.#served[b]);
    for (const [passed, kind] of order.entries()) {
      const item = this.#queues[kind].take(mayHave);
      if (item === undefined) continue;
      this.#level = Math.max(this.#level, this.#served[kind]);
      // One whose clients may not have any now does not get more later.
      for (const other of order.slice(0, passed)) this.#served[other] = this.#level;
      this.took(kind, BEGIN_MS);
      return item;
    }
    return undefined;
  }

  /** An item of a kind took so long. */
  took(kind: TurnKind, ms: number): void {
    this.#served[kind] += ms / SHARES[kind];
  }

  /** Counts what a client got. @param cost for a client of weight 1; negative: less than was counted before */
  charge({ kind, client, weight }: TurnOf, cost: number): void {
    this.#queues[kind].charge(client, cost / weight);
  }
}

/** Bounds of what is begun in one turn of the event loop, and of what waits. */
export interface TurnSettings {
  /** Milliseconds of one turn of the event loop in which requests are begun. */
  readonly turnMs: number;
  /** Requests of a kind that wait to be begun; for one more, the oldest of the client with the most is refused. */
  readonly maxUnbegun: number;
  /** The same of one client, or half of the room that is left, if that is more. */
  readonly maxUnbegunPerClient: number;
  /** Deadline of a request. */
  readonly deadlineMs: number;
}

/**
 * Where several clients wait, a request that has waited so much of its deadline is refused: the rest would hardly do, its client hardly
 * waits for it, and it delays those of others.
 */
const WAIT_OF_DEADLINE = 1 / 2;

/** What part of the room that is left one client may fill beyond `maxUnbegunPerClient`: a burst of the only client is no flood. */
const ROOM_OF_CLIENT = 1 / 2;

/** How many requests one turn begins at most. */
const MOST_OF_TURN = 64;

/**
 * What a request of an unknown client is expected to take, for a client of weight 1, in milliseconds; and that of a known one at most:
 * who asks for much is delayed by what it had, not by what it may get.
 */
const EXPECTED_MS = 5;

/** Clients of which it is known what their requests took. */
const MOST_KNOWN = 10_000;

/** The last so many requests of a client count most. */
const COUNTED_REQUESTS = 8;

/**
 * What beginning a request is counted for at most: whatever takes longer is charged or measured apart, and a collection of garbage or
 * another program on the processor may fall into any request, for which its client would wait for seconds.
 */
const MOST_COUNTED_MS = 1;

/**
 * A few requests have more time in each turn: where other threads and programs take the processor away, a single cheap one may
 * seem to take all of it, and the others would wait for seconds.
 */
const LEAST_OF_TURN = 4;
const LEAST_WITHIN_MS = 20;

/** Longest time of a turn in which requests are begun, when reading what arrived took as long. */
const LONGEST_MS = 10;

/** The end of a turn in which requests took less is not waited for: that costs a turn more, as much as a cached answer does. */
const UNCOUNTED_MS = 1;

type Work = () => void;

/**
 * What requests of clients without a key took lately, charges included: the next one is expected to take as much. There may be hundreds of
 * addresses that ask for much; clients with a key are few, and have shares of their plans.
 */
class RequestCosts {
  /** Sums in which earlier requests count less; the client that asked last is the last one. */
  readonly #known = new Map<string, { cost: number; requests: number }>();

  /** @returns for a client of weight 1 */
  expected(turn: TurnOf): number {
    const known = this.#known.get(turn.client);
    return turn.kind !== 'others' || known === undefined
      ? EXPECTED_MS
      : Math.min(EXPECTED_MS, Math.max(0, known.cost / known.requests));
  }

  /** A request begins. */
  begin({ kind, client }: TurnOf): void {
    if (kind !== 'others') return;
    const known = this.#known.get(client) ?? { cost: 0, requests: 0 };
    const kept = 1 - 1 / COUNTED_REQUESTS;
    known.cost *= kept;
    known.requests = known.requests * kept + 1;
    this.#known.delete(client);
    this.#known.set(client, known);
    if (this.#known.size <= MOST_KNOWN) return;
    const [longestAgo] = this.#known.keys();
    this.#known.delete(longestAgo!);
  }

  /** A request took so much, or was charged for it. */
  charge({ kind, client }: TurnOf, cost: number): void {
    const known = kind === 'others' ? this.#known.get(client) : undefined;
    if (known !== undefined) known.cost += cost;
  }
}

/** A request that waits to be begun, or what waits in the middle of one. */
interface Waiting {
  readonly turn: TurnOf;
  readonly begin: Work;
  /** Of a request that waits to be begun: the answer that it will not be; null: it was begun. */
  readonly refuse: Work | null;
  readonly since: number;
  place: Link<Waiting> | null;
  /** Its place among those that may wait too long. */
  age: Link<Waiting> | null;
}

/**
 * Begins requests in slices: in one turn of the event loop for `turnMs`, or for as long as the rest of the last turn took, at
 * most 10 ms, and a few of them for up to 20 ms; then what has arrived meanwhile is read. Those that do not fit wait by kind, and the next one
 * of a kind is of the client that has had the least for its weight: the time of beginning its requests, and the work that they
 * were charged for. Of clients without a key that have had as much, it is the one whose requests took least lately: those who ask for
 * little do not wait for hundreds who ask for much. As long as nothing waits, a request begins at once.
 *
 * Where several clients wait, what waited for half of its deadline is refused, and where too many requests wait, the oldest one of
 * the client with the most: however many there are of others, a client that asks for little is answered.
 */
export class Turns {
  readonly #settings: TurnSettings;
  readonly #now: () => number;
  readonly #queues: TurnQueues<Waiting>;
  readonly #costs = new RequestCosts();
  /** Requests that wait to be begun, except urgent ones, in the order in which they came. */
  readonly #unbegun = new LinkedList<Waiting>();
  /** When the first request of this turn was begun; null: none was. */
  #began: number | null = null;
  /** Requests that were begun in this turn. */
  #begun = 0;
  /** For how long requests are begun in this turn. */
  #lasts: number;
  /** When the last request of the last turn was begun; null: nothing waits. */
  #stepped: number | null = null;
  #isBoundaryDue = false;
  /** Of the request that is being begun; null: none is. */
  #current: TurnOf | null = null;
  /** What it was charged for so far, for a client of weight 1. */
  #charged = 0;
  /** Steps that are scheduled for the end of this turn. */
  #due = 0;
  #refused = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(settings: TurnSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#queues = new TurnQueues(now);
    this.#lasts = settings.turnMs;
  }

  /** Requests that wait to be begun. */
  get waiting(): number {
    return this.#queues.size;
  }

  /** Requests that were refused, because too many waited or they had waited too long. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Begins a request, or refuses it, now or later.
   *
   * @param begin must not throw
   * @param refuse instead: must not throw
   */
  enter(turn: TurnOf, begin: Work, refuse: Work): void {
    if (this.waiting === 0 && this.#hasTime()) {
      this.#run(turn, begin, MOST_COUNTED_MS);
      return;
    }
    const { maxUnbegun, maxUnbegunPerClient } = this.#settings;
    const room = maxUnbegun - this.#queues.sizeOfKind(turn.kind);
    const own = this.#queues.sizeOf(turn);
    if (own >= Math.max(maxUnbegunPerClient, room * ROOM_OF_CLIENT) || (room <= 0 && !this.#makeRoom(turn.kind, own))) {
      this.#refuse(turn, refuse);
      return;
    }
    const waiting = this.#add(turn, begin, refuse);
    if (turn.kind !== 'urgent') waiting.age = this.#unbegun.add(waiting);
  }

  /**
   * Does work in the turn of a client, now or later, and counts its time.
   *
   * @param signal ends the waiting: what nobody waits for any more takes no room
   * @returns what `work` does; rejects with what it throws, and with the reason of the signal
   */
  do<T>(turn: TurnOf, work: () => T, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const attempt = (): void => {
        signal.removeEventListener('abort', onAbort);
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const onAbort = (): void => {
        // Node keeps a signal that depends on others, and all that its listeners refer to, for as long as it has listeners.
        signal.removeEventListener('abort', onAbort);
        if (waiting !== null) this.#remove(waiting);
        reject(signal.reason);
      };
      let waiting: Waiting | null = null;
      if (this.waiting === 0 && this.#hasTime()) {
        this.#run(turn, attempt, Number.POSITIVE_INFINITY);
        return;
      }
      signal.addEventListener('abort', onAbort);
      waiting = this.#add(turn, attempt, null);
    });
  }

  /**
   * Counts what a request took after it was begun, so that who asks for much waits longer than who asks for little.
   *
   * @param units work units, of about 1 ms; negative: less than was counted before
   */
  charge(turn: TurnOf, units: number): void {
    if (turn === this.#current) this.#charged += units;
    else this.#charge(turn, units);
  }

  #charge(turn: TurnOf, cost: number): void {
    this.#queues.charge(turn, cost);
    this.#costs.charge(turn, cost);
  }

  #add(turn: TurnOf, begin: Work, refuse: Work | null): Waiting {
    const waiting: Waiting = { turn, begin, refuse, since: this.#now(), place: null, age: null };
    waiting.place = this.#queues.add(turn, waiting, this.#costs.expected(turn));
    this.#schedule();
    return waiting;
  }

  #remove({ turn, place, age }: Waiting): void {
    if (place !== null) this.#queues.remove(turn, place);
    this.#unbegun.remove(age);
  }

  /** Refuses a request of the client with the most, unless a client with `own` would then have more. @returns whether it did */
  #makeRoom(kind: TurnKind, own: number): boolean {
    const longest = this.#queues.longestOfKind(kind);
    if (longest === null || longest.size <= own + 1) return false;
    for (const waiting of longest) if (this.#giveUp(waiting)) return true;
    return false;
  }

  /** @returns false: it was begun already */
  #giveUp(waiting: Waiting): boolean {
    const { refuse } = waiting;
    if (refuse === null) return false;
    this.#remove(waiting);
    this.#refuse(waiting.turn, refuse);
    return true;
  }

  /** That takes time, too: otherwise those whose requests are refused would be before all others with the next ones. */
  #refuse(turn: TurnOf, refuse: Work): void {
    this.#refused++;
    refuse();
    this.#queues.charge(turn, BEGIN_MS);
    this.#queues.took(turn.kind, BEGIN_MS);
  }

  /** Refuses requests that have waited too long while others wait: some in each turn, as many may have come at once. */
  #giveUpOld(): void {
    const latest = this.#now() - this.#settings.deadlineMs * WAIT_OF_DEADLINE;
    for (let count = 0; count < MOST_OF_TURN; count++) {
      const oldest = this.#unbegun.first;
      if (oldest === undefined || oldest.since > latest) return;
      if (this.#queues.clientsOfKind(oldest.turn.kind) > 1) this.#giveUp(oldest);
      else this.#unbegun.remove(oldest.age);
    }
  }

  #hasTime(): boolean {
    const now = this.#now();
    // Without a boundary, what began so long ago was another turn, or most of the time went to something else.
    if (this.#began === null || (!this.#isBoundaryDue && now - this.#began >= UNCOUNTED_MS)) {
      this.#began = now;
      this.#begun = 0;
      return true;
    }
    return now - this.#began < (this.#begun < LEAST_OF_TURN ? LEAST_WITHIN_MS : this.#lasts);
  }

  /** @param most milliseconds of it that are counted */
  #run(turn: TurnOf, work: Work, most: number): void {
    const began = this.#now();
    this.#begun++;
    this.#current = turn;
    this.#charged = 0;
    this.#costs.begin(turn);
    work();
    this.#current = null;
    const ended = this.#now();
    if (ended - (this.#began ?? began) >= UNCOUNTED_MS) this.#scheduleBoundary();
    this.#queues.took(turn.kind, Math.min(ended - began, most));
    this.#charge(turn, this.#charged + BEGIN_MS + Math.min(ended - began, most));
  }

  /** A step is scheduled for each request, so that what follows from one is done before the next begins. */
  #schedule(): void {
    if (this.#due >= Math.min(this.waiting, MOST_OF_TURN)) return;
    this.#scheduleBoundary();
    this.#due++;
    setImmediate(this.#step);
  }

  /** Before the steps of the next turn. */
  #scheduleBoundary(): void {
    if (this.#isBoundaryDue) return;
    this.#isBoundaryDue = true;
    setImmediate(this.#boundary);
  }

  readonly #boundary = (): void => {
    const { turnMs } = this.#settings;
    const rest = this.#stepped === null ? 0 : this.#now() - this.#stepped;
    this.#lasts = Math.max(turnMs, Math.min(rest, LONGEST_MS));
    this.#stepped = null;
    this.#isBoundaryDue = false;
    this.#began = null;
    this.#begun = 0;
    this.#giveUpOld();
  };

  readonly #step = (): void => {
    this.#due--;
    if (this.#hasTime()) {
      const next = this.#queues.take();
      if (next !== undefined) {
        this.#unbegun.remove(next.age);
        this.#run(next.turn, next.begin, next.refuse === null ? Number.POSITIVE_INFINITY : MOST_COUNTED_MS);
      }
      this.#stepped = this.#now();
    }
    this.#schedule();
  };
}
