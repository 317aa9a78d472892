import { FairShare } from '#kernel/fair-share.js';
import type { Link } from '#kernel/linked-list.js';

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

/** In this order, as far as there are such: however many clients without a key there are, those with one get their share. */
const ORDER: readonly TurnKind[] = ['urgent', 'keyed', 'others', 'keyed'];

/**
 * What waits for its turn. Kinds take turns, and the next item of a kind is of the client that has had the least for its weight;
 * see {@link FairShare}. Items cost what they are charged for.
 */
export class TurnQueues<Item> {
  readonly #queues: Readonly<Record<TurnKind, FairShare<Item>>> = {
    urgent: new FairShare(0),
    keyed: new FairShare(0),
    others: new FairShare(0),
  };
  #place = 0;

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

  /** @param expected what the item is expected to cost a client of weight 1 @returns its place, by which it is removed */
  add({ kind, client, weight }: TurnOf, item: Item, expected: number): Link<Item> {
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
    for (let tried = 0; tried < ORDER.length; tried++) {
      const kind = ORDER[this.#place++ % ORDER.length]!;
      const item = this.#queues[kind].take(mayHave);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** Counts what a client got. @param cost for a client of weight 1; negative: less than was counted before */
  charge({ kind, client, weight }: TurnOf, cost: number): void {
    this.#queues[kind].charge(client, cost / weight);
  }
}

/** Bounds of what is begun in one turn of the event loop. */
export interface TurnSettings {
  /** Milliseconds of one turn of the event loop in which requests are begun. */
  readonly turnMs: number;
  /** Requests of a kind that wait to be begun; further ones are refused. */
  readonly maxUnbegun: number;
  /** The same of one client, or half of the room that is left, if that is more. */
  readonly maxUnbegunPerClient: number;
}

/** What part of the room that is left one client may fill beyond `maxUnbegunPerClient`: a burst of the only client is no flood. */
const ROOM_OF_CLIENT = 1 / 2;

/** How many requests one turn begins at most. */
const MOST_OF_TURN = 64;

/** What a request is expected to take, for a client of weight 1, in milliseconds. */
const EXPECTED_MS = 5;

/** What any request takes, beside what is measured: it was read, and is answered. */
const BEGIN_MS = 0.1;

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
 * Begins requests in slices: in one turn of the event loop for `turnMs`, or for as long as the rest of the last turn took, at
 * most 10 ms, and a few of them for up to 20 ms; then what has arrived meanwhile is read. Those that do not fit wait by kind, and the next one
 * of a kind is of the client that has had the least for its weight: the time of beginning its requests, and the work that they
 * were charged for. As long as nothing waits, a request begins at once.
 */
export class Turns {
  readonly #settings: TurnSettings;
  readonly #now: () => number;
  readonly #queues = new TurnQueues<Work>();
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
    this.#lasts = settings.turnMs;
  }

  /** Requests that wait to be begun. */
  get waiting(): number {
    return this.#queues.size;
  }

  /** Requests that were not let in, because too many waited. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Begins a request, now or later.
   *
   * @param begin must not throw
   * @returns false: too many of the kind wait, or of the client, and it will not be begun
   */
  enter(turn: TurnOf, begin: Work): boolean {
    if (this.waiting === 0 && this.#hasTime()) {
      this.#run(turn, begin);
      return true;
    }
    const { maxUnbegun, maxUnbegunPerClient } = this.#settings;
    const room = maxUnbegun - this.#queues.sizeOfKind(turn.kind);
    if (room <= 0 || this.#queues.sizeOf(turn) >= Math.max(maxUnbegunPerClient, room * ROOM_OF_CLIENT)) {
      this.#refused++;
      return false;
    }
    this.#add(turn, () => this.#run(turn, begin));
    return true;
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
        if (place !== null) this.#queues.remove(turn, place);
        reject(signal.reason);
      };
      let place: Link<Work> | null = null;
      const waiting = (): void => this.#run(turn, attempt);
      if (this.waiting === 0 && this.#hasTime()) {
        waiting();
        return;
      }
      signal.addEventListener('abort', onAbort);
      place = this.#add(turn, waiting);
    });
  }

  /**
   * Counts what a request took after it was begun, so that who asks for much waits longer than who asks for little.
   *
   * @param units work units, of about 1 ms; negative: less than was counted before
   */
  charge(turn: TurnOf, units: number): void {
    if (turn === this.#current) this.#charged += units;
    else this.#queues.charge(turn, units);
  }

  #add(turn: TurnOf, work: Work): Link<Work> {
    const place = this.#queues.add(turn, work, EXPECTED_MS);
    this.#schedule();
    return place;
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

  #run(turn: TurnOf, work: Work): void {
    const began = this.#now();
    this.#begun++;
    this.#current = turn;
    this.#charged = 0;
    work();
    this.#current = null;
    const ended = this.#now();
    if (ended - (this.#began ?? began) >= UNCOUNTED_MS) this.#scheduleBoundary();
    this.#queues.charge(turn, this.#charged + BEGIN_MS + ended - began);
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
  };

  readonly #step = (): void => {
    this.#due--;
    if (this.#hasTime()) {
      this.#queues.take()?.();
      this.#stepped = this.#now();
    }
    this.#schedule();
  };
}
