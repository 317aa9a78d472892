import { once } from 'node:events';
import type { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type IndexState, readIndexState, type SeqnoRange } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController, sharedSignalOf } from '#kernel/shared-abort.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { ChainFacts } from '#services/indexer/chain-facts.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import type { IndexerSettings } from '#services/indexer/options.js';
import type { Retries } from '#services/indexer/retries.js';
import type { BatchReport } from '#services/indexer/write/batch-writer.js';

/** Settings and services shared by the parts of the indexer. */
export interface IndexerContext {
  readonly settings: IndexerSettings;
  readonly bundles: Pick<BundleSource, 'bundle' | 'bundles' | 'accountAt' | 'problem'>;
  readonly facts: ChainFacts;
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  readonly retries: Retries;
  readonly onWritten: (batch: WrittenBatch) => void;
}

/** Reads the state of an existing index. @throws store/* */
export async function requireIndexState({ database }: Pick<IndexerContext, 'database'>): Promise<IndexState> {
  const state = await database.withWriter(readIndexState);
  if (state === null) throw storeErrors['no-index']({});
  return state;
}

/** Whether a part of a batch was already written (or dropped) by another process. */
export function isOverlap(error: unknown): boolean {
  return isTernError(error, storeErrors.overlap.code);
}

/** Whether the chain contradicts the index: the batch is not tried again as it is, because its blocks may be the wrong ones. */
export function isContradiction(error: unknown): error is TernError {
  return (
    isTernError(error, indexerErrors['other-branch'].code) || isTernError(error, indexerErrors['broken-link'].code)
  );
}

/** The last of ascending ranges. */
export function newestRange(ranges: readonly SeqnoRange[]): SeqnoRange | null {
  return ranges.at(-1) ?? null;
}

/** The newest masterchain block of an index. */
export interface IndexedHead {
  readonly seqno: number;
  /** Unix seconds. */
  readonly gen_utime: number;
}

/** In an index of selected accounts orphan messages only become more. The pause after counting them is so many times as long as that took. */
const COUNT_PAUSE = 200;

/** What this process knows about the index: its state as last read, updated with the batches written since. */
export class IndexView {
  readonly #work: Pick<IndexerContext, 'database' | 'retries' | 'clock'>;
  #state: IndexState;
  #head: IndexedHead | null = null;
  /** Ranges that were written since the last read began. */
  #written: SeqnoRange[] = [];
  #delayMs: number | null = null;
  readonly #firstWritten = sharedAbortController();
  #counts: { readonly incomplete: number; readonly orphans: number } | null = null;
  /** Orphan messages are counted again from then on. */
  #countOrphansAt = Number.NEGATIVE_INFINITY;

  constructor(state: IndexState, work: Pick<IndexerContext, 'database' | 'retries' | 'clock'>) {
    this.#state = state;
    this.#work = work;
  }

  get state(): IndexState {
    return this.#state;
  }

  get head(): IndexedHead | null {
    return this.#head;
  }

  /** Delay of the last followed batch. */
  get delayMs(): number | null {
    return this.#delayMs;
  }

  /** Incomplete accounts and orphan messages, as last counted. */
  get counts() {
    return this.#counts;
  }

  /** Resolves when the index has something, or the signal is aborted. */
  async untilWritten(signal: AbortSignal): Promise<void> {
    const { indexedRanges, state_seqno } = this.#state;
    const first = this.#firstWritten.signal;
    if (indexedRanges.length > 0 || state_seqno !== null || first.aborted || signal.aborted) return;
    await once(sharedSignalOf([first, signal]), 'abort');
  }

  onWritten({ range, mode, delayMs, gen_utime }: WrittenBatch): void {
    this.#firstWritten.abort();
    if (mode === 'follow') this.#delayMs = delayMs;
    this.#written.push(range);
    const indexedRanges = withRange(this.#state.indexedRanges, range);
    this.#state = { ...this.#state, indexedRanges };
    if (range.to === newestRange(indexedRanges)?.to) this.#head = { seqno: range.to, gen_utime };
  }

  /** Reads the state of the index. @throws indexer/stopped */
  async read(signal: AbortSignal): Promise<void> {
    const { database, retries } = this.#work;
    this.#written = [];
    const read = await retries.run(() => requireIndexState(this.#work), signal);
    const seqno = newestRange(read.indexedRanges)?.to;
    let head: IndexedHead | null = null;
    if (seqno !== undefined) {
      const query = { text: 'SELECT gen_utime FROM blocks WHERE id = $1', values: [firstIdOf(seqno)] };
      const { rows } = await retries.run(
        () => database.withWriter((client) => client.query<{ gen_utime: bigint }>(query)),
        signal,
      );
      head = rows[0] === undefined ? null : { seqno, gen_utime: Number(rows[0].gen_utime) };
    }
    // Batches may have been written meanwhile. What was known before does not count: another database may have been restored.
    let { indexedRanges } = read;
    for (const range of this.#written) indexedRanges = withRange(indexedRanges, range);
    const dropped = { from: 0, to: read.pruned_below - 1 };
    indexedRanges = indexedRanges.flatMap((range) => missingRanges(range, [dropped]));
    this.#state = { ...read, indexedRanges };
    const newest = newestRange(indexedRanges)?.to ?? null;
    if (newest === null) this.#head = null;
    else if (head !== null && (newest === head.seqno || this.#head?.seqno !== newest)) this.#head = head;
  }

  /**
   * Reads the state of the index, and counts incomplete accounts and orphan messages: these seldom when counting them takes long.
   *
   * @throws indexer/stopped
   */
  async count(signal: AbortSignal): Promise<void> {
    await this.read(signal);
    const incomplete = await this.#countRows('accounts WHERE incomplete', signal);
    const { clock } = this.#work;
    let orphans = this.#counts?.orphans ?? 0;
    if (clock.now() >= this.#countOrphansAt) {
      const begun = clock.now();
      orphans = await this.#countRows('orphan_messages', signal);
      const now = clock.now();
      this.#countOrphansAt = now + (now - begun) * COUNT_PAUSE;
    }
    this.#counts = { incomplete, orphans };
  }

  async #countRows(from: string, signal: AbortSignal): Promise<number> {
    const { database, retries } = this.#work;
    const { rows } = await retries.run(
      () => database.withWriter((client) => client.query<{ n: bigint }>(`SELECT count(*) AS n FROM ${from}`)),
      signal,
    );
    return Number(rows[0]!.n);
  }
}

/** A batch that was written. */
export interface WrittenBatch extends BatchReport {
  readonly mode: 'follow' | 'fill';
  /**
   * When following: from the moment the newest masterchain block of the batch was known to exist until it could be read from
   * the index, in milliseconds.
   */
  readonly delayMs: number | null;
}

/** Progress of filling. */
export interface FillProgress {
  /** Masterchain blocks missing at the start, and those written since. */
  readonly total: number;
  readonly done: number;
  /** Over the last 30 seconds. */
  readonly mcBlocksPerSecond: number;
  readonly transactionsPerSecond: number;
  /** Null while unknown. */
  readonly secondsLeft: number | null;
}

/** Sums for metrics; only grow. */
export interface WriteSums {
  readonly batches: number;
  readonly mcBlocks: number;
  readonly blocks: number;
  readonly transactions: number;
  /** Bytes of block files. */
  readonly bytes: number;
  /** Time spent building rows, and writing them. */
  readonly buildSeconds: number;
  readonly writeSeconds: number;
}

const WINDOW_MS = 30_000;

/** Counts written batches. */
export class WriteProgress {
  readonly #now: () => number;
  readonly #recent: { readonly at: number; readonly mcBlocks: number; readonly transactions: number }[] = [];
  #fillTotal = 0;
  #fillDone = 0;
  #fillBegun = 0;
  #sums = { batches: 0, mcBlocks: 0, blocks: 0, transactions: 0, bytes: 0, buildSeconds: 0, writeSeconds: 0 };

  /** @param now milliseconds of the clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  get sums(): WriteSums {
    return this.#sums;
  }

  /** Filling starts, or has recomputed what is missing. */
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
    const mcBlocks = seqnosIn(range);
    const sums = this.#sums;
    this.#sums = {
      batches: sums.batches + 1,
      mcBlocks: sums.mcBlocks + mcBlocks,
      blocks: sums.blocks + blocks,
      transactions: sums.transactions + transactions,
      bytes: sums.bytes + bytes,
      buildSeconds: sums.buildSeconds + buildMs / 1000,
      writeSeconds: sums.writeSeconds + writeMs / 1000,
    };
    if (mode === 'follow') return;
    this.#fillDone += mcBlocks;
    this.#recent.push({ at: this.#now(), mcBlocks, transactions });
  }

  /** Null while nothing is being filled. */
  get filling(): FillProgress | null {
    const [total, done] = [this.#fillTotal, this.#fillDone];
    if (done >= total) return null;
    const now = this.#now();
    const since = Math.max(now - WINDOW_MS, this.#fillBegun);
    while (this.#recent.length > 0 && this.#recent[0]!.at < since) this.#recent.shift();
    const seconds = Math.max(now - since, 1) / 1000;
    let [mcBlocks, transactions] = [0, 0];
    for (const each of this.#recent) {
      mcBlocks += each.mcBlocks;
      transactions += each.transactions;
    }
    const mcBlocksPerSecond = mcBlocks / seconds;
    const secondsLeft = mcBlocksPerSecond === 0 ? null : (total - done) / mcBlocksPerSecond;
    return { total, done, mcBlocksPerSecond, transactionsPerSecond: transactions / seconds, secondsLeft };
  }
}

function seqnosIn({ from, to }: SeqnoRange): number {
  return to - from + 1;
}

/** The parts of a range that are in none of the given ranges; ascending. */
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

/** Adds a range to ascending disjoint ranges; adjacent ranges are merged. */
export function withRange(ranges: readonly SeqnoRange[], { from, to }: SeqnoRange): SeqnoRange[] {
  const apart = ranges.filter((each) => each.to + 1 < from || each.from > to + 1);
  const touched = ranges.filter((each) => !apart.includes(each));
  const joined = {
    from: Math.min(from, ...touched.map((each) => each.from)),
    to: Math.max(to, ...touched.map((each) => each.to)),
  };
  return [...apart, joined].sort((a, b) => a.from - b.from);
}

/** Number of seqnos in disjoint ranges. */
export function countSeqnos(ranges: readonly SeqnoRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** `1-5, 7-8`; `none`. */
export function printRanges(ranges: readonly SeqnoRange[]): string {
  if (ranges.length === 0) return 'none';
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
