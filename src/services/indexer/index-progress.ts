import type { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type IndexState, readIndexState, type SeqnoRange } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainFacts } from '#services/indexer/chain-facts.js';
import type { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import type { IndexerSettings } from '#services/indexer/options.js';
import type { Retries } from '#services/indexer/retries.js';
import type { BatchReport } from '#services/indexer/write/batch-writer.js';

/** What the parts of the indexer have in common. */
export interface IndexerContext {
  readonly settings: IndexerSettings;
  readonly rounds: Pick<BundleSource, 'round' | 'rounds' | 'accountAt' | 'problem'>;
  readonly facts: ChainFacts;
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  readonly retries: Retries;
  readonly onWritten: (batch: WrittenBatch) => void;
}

/** How far the index is; it was begun before. @throws store/* */
export async function requireIndexState({ database }: Pick<IndexerContext, 'database'>): Promise<IndexState> {
  const state = await database.withWriter(readIndexState);
  if (state === null) throw storeErrors['no-index']({});
  return state;
}

/** Some of what was to be written is there already: another process has written it, or dropped it. */
export function isOverlap(error: unknown): boolean {
  return isTernError(error, storeErrors.overlap.code);
}

/** The last one of rising ranges. */
export function newestRange(rounds: readonly SeqnoRange[]): SeqnoRange | null {
  return rounds.at(-1) ?? null;
}

/** The newest masterchain block of an index. */
export interface IndexedHead {
  readonly seqno: number;
  /** Unix seconds. */
  readonly gen_utime: number;
}

/** What this process knows of the index: as it was read, and what was written since. */
export class IndexView {
  readonly #work: Pick<IndexerContext, 'database' | 'retries'>;
  #state: IndexState;
  #head: IndexedHead | null = null;
  #delayMs: number | null = null;
  #counts: { readonly incomplete: number; readonly orphans: number } | null = null;

  constructor(state: IndexState, work: Pick<IndexerContext, 'database' | 'retries'>) {
    this.#state = state;
    this.#work = work;
  }

  get state(): IndexState {
    return this.#state;
  }

  get head(): IndexedHead | null {
    return this.#head;
  }

  /** Of the last batch that was followed. */
  get delayMs(): number | null {
    return this.#delayMs;
  }

  /** As they were last counted. */
  get counts() {
    return this.#counts;
  }

  onWritten({ range, mode, delayMs, gen_utime }: WrittenBatch): void {
    if (mode === 'follow') this.#delayMs = delayMs;
    const indexedRanges = withRange(this.#state.indexedRanges, range);
    this.#state = { ...this.#state, indexedRanges };
    if (range.to === newestRange(indexedRanges)?.to) this.#head = { seqno: range.to, gen_utime };
  }

  /** Reads how far the index is. @throws indexer/stopped */
  async read(signal: AbortSignal): Promise<void> {
    const { database, retries } = this.#work;
    const read = await retries.run(() => requireIndexState(this.#work), signal);
    const seqno = newestRange(read.indexedRanges)?.to;
    let head: IndexedHead | null = null;
    if (seqno !== undefined) {
      const query = { text: 'SELECT gen_utime FROM blocks WHERE id = $1', values: [firstIdOf(seqno)] };
      const { rows } = await retries.run(
        () => database.withWriter((client) => client.query<{ gen_utime: bigint }>(query)),
        signal,
      );
      head = { seqno, gen_utime: Number(rows[0]!.gen_utime) };
    }
    // Batches may have been written since.
    let { indexedRanges } = read;
    for (const range of this.#state.indexedRanges) indexedRanges = withRange(indexedRanges, range);
    const dropped = { from: 0, to: read.pruned_below - 1 };
    indexedRanges = indexedRanges.flatMap((range) => missingRanges(range, [dropped]));
    this.#state = { ...read, indexedRanges };
    if (head !== null && head.seqno >= (this.#head?.seqno ?? 0)) this.#head = head;
  }

  /** Reads how far the index is, and counts what is not whole. @throws indexer/stopped */
  async count(signal: AbortSignal): Promise<void> {
    const { database, retries } = this.#work;
    await this.read(signal);
    const query = `SELECT (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete,
                     (SELECT count(*) FROM orphan_messages) AS orphans`;
    const { rows } = await retries.run(
      () => database.withWriter((client) => client.query<{ incomplete: bigint; orphans: bigint }>(query)),
      signal,
    );
    this.#counts = { incomplete: Number(rows[0]!.incomplete), orphans: Number(rows[0]!.orphans) };
  }
}

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
export interface WriteSums {
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
export class WriteProgress {
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

  get sums(): WriteSums {
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
    const rounds = seqnosIn(range);
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

function seqnosIn({ from, to }: SeqnoRange): number {
  return to - from + 1;
}

/** The parts of a range that none of some others has; rising. */
export function missingRanges(wanted: SeqnoRange, present: readonly SeqnoRange[]): SeqnoRange[] {
  const missing: SeqnoRange[] = [];
  let next = wanted.from;
  for (const { from, to } of present.toSorted((a, b) => a.from - b.from)) {
    if (from > wanted.to) break;
    if (from > next) missing.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= wanted.to) missing.push({ from: next, to: wanted.to });
  return missing;
}

/** Rising ranges, no two of which touch, with one more. */
export function withRange(ranges: readonly SeqnoRange[], { from, to }: SeqnoRange): SeqnoRange[] {
  const apart = ranges.filter((each) => each.to + 1 < from || each.from > to + 1);
  const touched = ranges.filter((each) => !apart.includes(each));
  const joined = {
    from: Math.min(from, ...touched.map((each) => each.from)),
    to: Math.max(to, ...touched.map((each) => each.to)),
  };
  return [...apart, joined].sort((a, b) => a.from - b.from);
}

/** How many seqnos there are in ranges that do not overlap. */
export function countSeqnos(ranges: readonly SeqnoRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** `1-5, 7-8`; `none`. */
export function printRanges(ranges: readonly SeqnoRange[]): string {
  if (ranges.length === 0) return 'none';
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
