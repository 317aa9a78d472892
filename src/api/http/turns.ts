import { type TurnOf, TurnQueues } from '#api/http/turn-queues.js';
import type { Link } from '#kernel/linked-list.js';

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
