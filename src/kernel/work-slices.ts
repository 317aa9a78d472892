import type { Clock } from '#kernel/clock.js';

/** Longest time of one turn of the event loop that sliced work takes on a thread which also serves others, in milliseconds. */
const SLICE_MS = 10;

/** What each work may take of a turn in any case: a small page does not wait behind large ones. */
const LEAST_MS = 2;

/** Sliced work of one thread: all of it together has one slice in each turn of the event loop. */
class SlicedTurns {
  /** When the slice of this turn began; null: none did. */
  #began: number | null = null;
  /** Work that waits for a slice, in the order in which it asked. */
  readonly #waiting: (() => void)[] = [];
  #endsSoon = false;
  #resumesSoon = false;

  /** @returns when the slice of this turn began */
  begin(now: number): number {
    if (this.#began === null) {
      this.#began = now;
      if (!this.#endsSoon) {
        this.#endsSoon = true;
        setImmediate(() => {
          this.#endsSoon = false;
          this.#began = null;
        });
      }
    }
    return this.#began;
  }

  /** Resolves in a later turn, in which nothing sliced was done yet. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#resumeSoon();
    });
  }

  #resumeSoon(): void {
    if (this.#resumesSoon) return;
    this.#resumesSoon = true;
    setImmediate(() => {
      this.#resumesSoon = false;
      this.#began = null;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#resumeSoon();
    });
  }
}

const turnsByClock = new WeakMap<Clock, SlicedTurns>();

function turnsOf(clock: Clock): SlicedTurns {
  const known = turnsByClock.get(clock);
  if (known !== undefined) return known;
  const turns = new SlicedTurns();
  turnsByClock.set(clock, turns);
  return turns;
}

/**
 * Divides work without I/O into slices, between which the event loop gets its turn. Everything that is divided so on one thread shares
 * the slice of a turn: ten long lists at once delay others by hardly more than one does.
 *
 * @example
 * slices.begin();
 * for (const row of rows) {
 *   if (slices.isOver) await slices.next();
 *   write(row);
 * }
 */
export class WorkSlices {
  readonly #clock: Clock;
  readonly #turns: SlicedTurns;
  readonly #signal: AbortSignal | null;
  readonly #sliceMs: number;
  #began = 0;
  #ownBegan = 0;

  /**
   * @param signal calls the work off; null: nothing does
   * @param sliceMs longest slice, of what others wait for and is little
   */
  constructor(clock: Clock, signal: AbortSignal | null, sliceMs = SLICE_MS) {
    this.#clock = clock;
    this.#turns = turnsOf(clock);
    this.#signal = signal;
    this.#sliceMs = sliceMs;
  }

  /** Begins a slice, after I/O. */
  begin(): void {
    this.#ownBegan = this.#clock.now();
    this.#began = this.#turns.begin(this.#ownBegan);
  }

  /** Whether the slice has taken its time; costs about 50 ns. */
  get isOver(): boolean {
    const now = this.#clock.now();
    return now - this.#began >= this.#sliceMs && now - this.#ownBegan >= LEAST_MS;
  }

  /** Resolves in a later turn of the event loop. @throws the reason of the signal when it is aborted */
  async next(): Promise<void> {
    await this.#turns.next();
    this.#signal?.throwIfAborted();
    this.begin();
  }

  /** Does work for each item. @throws the reason of the signal when it is aborted, and what `work` throws */
  async map<Item, Result>(
    items: readonly Item[],
    work: (item: Item, position: number) => Result,
  ): Promise<readonly Result[]> {
    this.begin();
    const results: Result[] = [];
    for (const item of items) {
      if (this.isOver) await this.next();
      results.push(work(item, results.length));
    }
    return results;
  }

  /** Does work that yields where it may be interrupted. @throws the reason of the signal when it is aborted, and what the work throws */
  async run<Result>(work: Generator<void, Result>): Promise<Result> {
    this.begin();
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) return step.value;
      if (this.isOver) await this.next();
    }
  }

  /** As {@link map} for work that may wait for I/O: up to `lanes` items at a time. After an error nothing further is begun. */
  async mapWaiting<Item, Result>(
    items: readonly Item[],
    lanes: number,
    work: (item: Item) => Promise<Result>,
  ): Promise<readonly Result[]> {
    this.begin();
    const results: Result[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < items.length) {
        if (this.isOver) await this.next();
        const position = next++;
        if (position < items.length) results[position] = await work(items[position]!);
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
    } finally {
      next = items.length;
    }
    return results;
  }
}
