import { FairShare } from '#kernel/fair-share.js';

/** Bounds of what is begun in one turn of the event loop. */
export interface TurnSettings {
  /** Milliseconds of one turn of the event loop in which requests are begun. */
  readonly turnMs: number;
  /** Requests that wait to be begun; further ones are refused. */
  readonly maxUnbegun: number;
  /** The same of one client address. */
  readonly maxUnbegunPerAddress: number;
}

/** How many requests one turn begins at most. */
const MOST_OF_TURN = 64;

type Work = () => void;

/**
 * Begins requests in slices: in one turn of the event loop for at most `turnMs`, then what has arrived meanwhile is read. Those
 * that do not fit wait, and the next one is of the client address that has had the least time; every other one is an urgent
 * one, if any waits. As long as nothing waits, a request begins at once.
 */
export class Turns {
  readonly #settings: TurnSettings;
  readonly #now: () => number;
  readonly #urgent = new FairShare<Work>();
  readonly #others = new FairShare<Work>();
  /** When the first request of this turn was begun; null: none was. */
  #began: number | null = null;
  #isBoundaryDue = false;
  /** Steps that are scheduled for the end of this turn. */
  #due = 0;
  #isUrgentNext = true;
  #refused = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(settings: TurnSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Requests that wait to be begun. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Requests that were not let in, because too many waited. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Begins a request, now or later.
   *
   * @param client the address whose turn it takes
   * @param begin must not throw
   * @returns false: too many wait, and it will not be begun
   */
  enter(client: string, begin: Work, isUrgent = false): boolean {
    if (this.waiting === 0 && this.#hasTime()) {
      this.#run(this.#others, client, begin);
      return true;
    }
    const queue = isUrgent ? this.#urgent : this.#others;
    const { maxUnbegun, maxUnbegunPerAddress } = this.#settings;
    if (queue.size >= maxUnbegun || queue.sizeOf(client) >= maxUnbegunPerAddress) {
      this.#refused++;
      return false;
    }
    this.#add(queue, client, begin);
    return true;
  }

  /** Waits for a turn in the middle of a request, such as for parsing a large body. Resolves at once when nothing waits. */
  next(client: string): Promise<void> | undefined {
    if (this.waiting === 0 && this.#hasTime()) return undefined;
    return new Promise((resolve) => this.#add(this.#others, client, resolve));
  }

  #add(queue: FairShare<Work>, client: string, work: Work): void {
    const item = (): void => this.#run(queue, client, work);
    queue.add(client, item);
    this.#schedule();
  }

  #hasTime(): boolean {
    const now = this.#now();
    if (this.#began === null) {
      this.#began = now;
      this.#scheduleBoundary();
      return true;
    }
    return now - this.#began < this.#settings.turnMs;
  }

  #run(queue: FairShare<Work>, client: string, work: Work): void {
    const began = this.#now();
    work();
    queue.charge(client, this.#now() - began);
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

  /** Urgent ones and others by turns, so that neither can keep the other out. */
  #take(): Work | undefined {
    this.#isUrgentNext = !this.#isUrgentNext;
    const [first, second] = this.#isUrgentNext ? [this.#others, this.#urgent] : [this.#urgent, this.#others];
    return first.take() ?? second.take();
  }

  readonly #boundary = (): void => {
    this.#isBoundaryDue = false;
    this.#began = null;
  };

  readonly #step = (): void => {
    this.#due--;
    if (this.#hasTime()) this.#take()?.();
    this.#schedule();
  };
}
