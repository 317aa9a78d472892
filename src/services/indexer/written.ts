import type { SeqnoRange } from '#drivers/store/write/index-state.js';
import type { BatchReport } from '#services/indexer/work/batch-writer.js';

/** A batch that was written. */
export interface WrittenBatch extends BatchReport {
  readonly mode: 'follow' | 'fill';
  /**
   * Of following: from the moment when the newest masterchain block of the batch was known to exist until it could be read
   * from the index, in milliseconds.
   */
  readonly delayMs: number | null;
}

/** How far filling is. */
export interface FillProgress {
  /** Masterchain blocks that were missing when it began, and those of them that were written since. */
  readonly total: number;
  readonly done: number;
  /** Of the last half minute. */
  readonly roundsPerSecond: number;
  readonly transactionsPerSecond: number;
  /** Null while it cannot be said. */
  readonly secondsLeft: number | null;
}

/** Sums for metrics; they only grow. */
export interface WrittenSums {
  readonly batches: number;
  readonly rounds: number;
  readonly blocks: number;
  readonly transactions: number;
  /** Of files. */
  readonly bytes: number;
  /** Seconds of making rows, and of writing them. */
  readonly buildSeconds: number;
  readonly writeSeconds: number;
}

const WINDOW_MS = 30_000;

/** Counts what is written. */
export class Written {
  readonly #now: () => number;
  readonly #recent: { readonly at: number; readonly rounds: number; readonly transactions: number }[] = [];
  #fillTotal = 0;
  #fillDone = 0;
  #fillBegun = 0;
  #sums = { batches: 0, rounds: 0, blocks: 0, transactions: 0, bytes: 0, buildSeconds: 0, writeSeconds: 0 };

  /** @param now milliseconds of the clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  get sums(): WrittenSums {
    return this.#sums;
  }

  /** Filling begins, or looks anew what is missing. */
  fill(missing: number): void {
    if (this.#fillDone >= this.#fillTotal) {
      this.#fillDone = 0;
      this.#fillTotal = missing;
      this.#fillBegun = this.#now();
      this.#recent.length = 0;
    } else {
      this.#fillTotal = this.#fillDone + missing;
    }
  }

  add({ range, blocks, transactions, bytes, buildMs, writeMs }: BatchReport, mode: 'follow' | 'fill'): void {
    const rounds = roundsOf(range);
    const sums = this.#sums;
    this.#sums = {
      batches: sums.batches + 1,
      rounds: sums.rounds + rounds,
      blocks: sums.blocks + blocks,
      transactions: sums.transactions + transactions,
      bytes: sums.bytes + bytes,
      buildSeconds: sums.buildSeconds + buildMs / 1000,
      writeSeconds: sums.writeSeconds + writeMs / 1000,
    };
    if (mode === 'follow') return;
    this.#fillDone += rounds;
    this.#recent.push({ at: this.#now(), rounds, transactions });
  }

  /** Null while nothing is missing. */
  get filling(): FillProgress | null {
    const [total, done] = [this.#fillTotal, this.#fillDone];
    if (done >= total) return null;
    const now = this.#now();
    const since = Math.max(now - WINDOW_MS, this.#fillBegun);
    while (this.#recent.length > 0 && this.#recent[0]!.at < since) this.#recent.shift();
    const seconds = Math.max(now - since, 1) / 1000;
    let [rounds, transactions] = [0, 0];
    for (const each of this.#recent) {
      rounds += each.rounds;
      transactions += each.transactions;
    }
    const roundsPerSecond = rounds / seconds;
    const secondsLeft = roundsPerSecond === 0 ? null : (total - done) / roundsPerSecond;
    return { total, done, roundsPerSecond, transactionsPerSecond: transactions / seconds, secondsLeft };
  }
}

function roundsOf({ from, to }: SeqnoRange): number {
  return to - from + 1;
}
