import type { SeqnoRange } from '#drivers/store/index-state.js';
import { bundleBytes, type McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import {
  countSeqnos,
  type IndexerContext,
  isContradiction,
  isOverlap,
  missingRanges,
  requireIndexState,
  type WriteProgress,
} from '#services/indexer/index-progress.js';
import type { BundleBatch } from '#services/indexer/write/batch-writer.js';
import type { WritePool } from '#services/indexer/write/write-pool.js';

/** Fills the missing bundles of a range, with several batches in parallel. */
export class Filler {
  readonly #work: IndexerContext;
  readonly #threads: WritePool;
  readonly #written: WriteProgress;

  constructor(work: IndexerContext, threads: WritePool, written: WriteProgress) {
    this.#work = work;
    this.#threads = threads;
    this.#written = written;
  }

  /**
   * Resolves when nothing is missing.
   *
   * @throws indexer/stopped; indexer/other-branch, indexer/broken-link when the chain contradicts the index
   */
  async run(wanted: SeqnoRange, signal: AbortSignal): Promise<void> {
    const { retries } = this.#work;
    for (;;) {
      const { indexedRanges, pruned_below } = await retries.run(() => requireIndexState(this.#work), signal);
      const missing = missingRanges({ from: Math.max(wanted.from, pruned_below), to: wanted.to }, indexedRanges);
      this.#written.fill(countSeqnos(missing));
      if (missing.length === 0) return;
      // Newer blocks are requested more often. Within a range the oldest go first: later blocks build on them.
      for (const range of missing.reverse()) await this.#fill(range, signal);
    }
  }

  async #fill({ from, to }: SeqnoRange, signal: AbortSignal): Promise<void> {
    const { bundles, retries, facts, settings } = this.#work;
    const { batchMcBlocks, batchBytes, workers } = settings;
    let next = from;
    await retries.run(
      async () => {
        const running = new Set<Promise<void>>();
        let contradiction: unknown = null;
        let before: Promise<void> = Promise.resolve();
        let batch: McBlockBundle[] = [];
        let bytes = 0;
        const begin = async (): Promise<void> => {
          // Before the batch is queued: a batch whose turn it is must not wait while others occupy all threads.
          const zerostates = batch[0]!.mc_seqno === 1 ? await facts.zerostates(signal) : null;
          const { tried, written } = this.#begin({ bundles: batch, zerostates }, before, signal);
          before = tried;
          running.add(written);
          const end = (): void => void running.delete(written);
          written.then(end, (error) => {
            if (isContradiction(error)) contradiction ??= error;
            end();
          });
          batch = [];
          bytes = 0;
        };
        try {
          for await (const bundle of bundles.bundles(next, to, signal)) {
            batch.push(bundle);
            bytes += bundleBytes(bundle);
            if (batch.length < batchMcBlocks && bytes < batchBytes && bundle.mc_seqno < to) continue;
            // One batch more than threads, ready when a thread becomes free.
            while (running.size > workers) await Promise.race(running);
            if (contradiction !== null) throw contradiction;
            await begin();
            next = bundle.mc_seqno + 1;
          }
        } finally {
          await Promise.allSettled(running);
        }
        if (contradiction !== null) throw contradiction;
      },
      signal,
      isContradiction,
    );
  }

  #begin(
    batch: BundleBatch,
    before: Promise<void>,
    signal: AbortSignal,
  ): { readonly tried: Promise<void>; readonly written: Promise<void> } {
    const { retries, onWritten } = this.#work;
    let triedOnce: () => void = () => {};
    const tried = new Promise<void>((resolve) => {
      triedOnce = resolve;
    });
    const write = async () => {
      try {
        return await this.#threads.write(batch, { exclusive: false, awaitPrevious: () => before }, signal);
      } finally {
        triedOnce();
      }
    };
    const isFinal = (error: unknown): boolean => isOverlap(error) || isContradiction(error);
    const written = retries.run(write, signal, isFinal).then(
      (report) => onWritten({ ...report, mode: 'fill', delayMs: null }),
      (error) => {
        // Another process wrote a part of it: what is still missing is found after all other batches are written.
        if (!isOverlap(error)) throw error;
      },
    );
    written.catch(() => {});
    return { tried, written };
  }
}
