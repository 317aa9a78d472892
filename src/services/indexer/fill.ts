import type { SeqnoRange } from '#drivers/store/write/index-state.js';
import { type IndexWork, indexState, isOverlap } from '#services/indexer/index-work.js';
import { type Round, roundBytes } from '#services/indexer/rounds/round.js';
import { countSeqnos, missingRanges } from '#services/indexer/seqno-ranges.js';
import type { RoundBatch } from '#services/indexer/work/batch-writer.js';
import type { WritePool } from '#services/indexer/work/write-pool.js';
import type { Written } from '#services/indexer/written.js';

/** Writes the rounds that are missing in a range, in batches at the same time. */
export class Filler {
  readonly #work: IndexWork;
  readonly #threads: WritePool;
  readonly #written: Written;

  constructor(work: IndexWork, threads: WritePool, written: Written) {
    this.#work = work;
    this.#threads = threads;
    this.#written = written;
  }

  /**
   * Ends when nothing is missing any more.
   *
   * @throws indexer/stopped
   */
  async run(wanted: SeqnoRange, signal: AbortSignal): Promise<void> {
    const { retries } = this.#work;
    for (;;) {
      const { rounds, pruned_below } = await retries.run(() => indexState(this.#work), signal);
      const missing = missingRanges({ from: Math.max(wanted.from, pruned_below), to: wanted.to }, rounds);
      this.#written.fill(countSeqnos(missing));
      if (missing.length === 0) return;
      // What is newer is asked for more often. Within a range the oldest go first: what comes later builds on them.
      for (const range of missing.reverse()) await this.#fill(range, signal);
    }
  }

  async #fill({ from, to }: SeqnoRange, signal: AbortSignal): Promise<void> {
    const { rounds, retries, facts, settings } = this.#work;
    const { batchRounds, batchBytes, workers } = settings;
    let next = from;
    await retries.run(async () => {
      const running = new Set<Promise<void>>();
      let before: Promise<void> = Promise.resolve();
      let batch: Round[] = [];
      let bytes = 0;
      const begin = async (): Promise<void> => {
        // Before its turn is given: a batch that has one must not wait for anything while others have all the threads.
        const zerostates = batch[0]!.mc_seqno === 1 ? await facts.zerostates(signal) : null;
        const { tried, written } = this.#begin({ rounds: batch, zerostates }, before, signal);
        before = tried;
        running.add(written);
        const end = (): void => void running.delete(written);
        written.then(end, end);
        batch = [];
        bytes = 0;
      };
      try {
        for await (const round of rounds.rounds(next, to, signal)) {
          batch.push(round);
          bytes += roundBytes(round);
          if (batch.length < batchRounds && bytes < batchBytes && round.mc_seqno < to) continue;
          // One more than threads: it is ready when one becomes free.
          while (running.size > workers) await Promise.race(running);
          await begin();
          next = round.mc_seqno + 1;
        }
      } finally {
        await Promise.allSettled(running);
      }
    }, signal);
  }

  #begin(
    batch: RoundBatch,
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
        return await this.#threads.write(batch, { alone: false, turn: () => before }, signal);
      } finally {
        triedOnce();
      }
    };
    const written = retries.run(write, signal, isOverlap).then(
      (report) => onWritten({ ...report, mode: 'fill', delayMs: null }),
      (error) => {
        // Somebody else wrote a part of it: what is missing then is found when all else is written.
        if (!isOverlap(error)) throw error;
      },
    );
    written.catch(() => {});
    return { tried, written };
  }
}
