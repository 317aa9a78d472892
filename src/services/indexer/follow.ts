import { indexerErrors } from '#services/indexer/errors.js';
import { bundleBytes, type McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import { type IndexerContext, isOverlap, newestRange, requireIndexState } from '#services/indexer/index-progress.js';
import type { WritePool } from '#services/indexer/write/write-pool.js';

/** With more masterchain blocks to go than this, they are fetched ahead instead of one by one. */
const BEHIND = 4;

/** As many as this go into one transaction at most: all of them wait for its end. */
const MAX_BUNDLES = 32;

const NO_WAIT = async (): Promise<void> => {};

/** Writes the newest rounds, each as soon as it is there; several at once when it is behind. */
export class Follower {
  readonly #work: IndexerContext;
  readonly #threads: WritePool;

  constructor(work: IndexerContext, threads: WritePool) {
    this.#work = work;
    this.#threads = threads;
  }

  /** @throws indexer/stopped */
  async run(from: number, signal: AbortSignal): Promise<void> {
    const { retries, settings } = this.#work;
    let next = from;
    for (;;) {
      try {
        await this.#stream(next, signal);
      } catch (error) {
        if (!isOverlap(error)) throw error;
      }
      const { indexedRanges } = await retries.run(() => requireIndexState(this.#work), signal);
      next = Math.max((newestRange(indexedRanges)?.to ?? 0) + 1, settings.from === 'now' ? 1 : (settings.from ?? 1));
    }
  }

  async #stream(from: number, outer: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const queue = new BundleQueue(this.#work.settings.batchBytes * 2);
    const close = (): void => queue.close();
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    const fetching = this.#fetch(from, queue, signal);
    fetching.catch(() => stop.abort());
    try {
      for (;;) await this.#write(await queue.take(MAX_BUNDLES, this.#work.settings.batchBytes), signal);
    } finally {
      stop.abort();
      await fetching.catch(() => {});
    }
  }

  async #fetch(from: number, queue: BundleQueue, signal: AbortSignal): Promise<void> {
    const { facts, rounds, clock, retries } = this.#work;
    let next = from;
    const put = async (round: McBlockBundle, seen: number): Promise<void> => {
      next = round.mc_seqno + 1;
      await queue.put({ round, seen });
    };
    await retries.run(async () => {
      for (;;) {
        const head = (await facts.waitForHead(next, signal)).block.seqno;
        const seen = clock.now();
        if (head - next < BEHIND) await put(await rounds.round(next, signal), seen);
        else for await (const round of rounds.rounds(next, head, signal)) await put(round, seen);
      }
    }, signal);
  }

  async #write(seen: readonly SeenBundle[], signal: AbortSignal): Promise<void> {
    const { retries, facts, clock, onWritten } = this.#work;
    const rounds = seen.map(({ round }) => round);
    const write = async () => {
      const zerostates = rounds[0]!.mc_seqno === 1 ? await facts.zerostates(signal) : null;
      return this.#threads.write({ rounds, zerostates }, { exclusive: true, awaitPrevious: NO_WAIT }, signal);
    };
    const report = await retries.run(write, signal, isOverlap);
    onWritten({ ...report, mode: 'follow', delayMs: clock.now() - seen.at(-1)!.seen });
  }
}

/** A round, and when its masterchain block was known to exist. */
export interface SeenBundle {
  readonly round: McBlockBundle;
  /** Milliseconds of the clock. */
  readonly seen: number;
}

/** Rounds between who fetches and who writes them; bounded. */
export class BundleQueue {
  readonly #maxBytes: number;
  readonly #rounds: SeenBundle[] = [];
  #bytes = 0;
  #closed = false;
  #wakeWriter: (() => void) | null = null;
  #wakeReader: (() => void) | null = null;

  /** @param maxBytes of files; a single round may have more */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when there is room for another one. @throws indexer/stopped */
  async put(round: SeenBundle): Promise<void> {
    this.#rounds.push(round);
    this.#bytes += bundleBytes(round.round);
    this.#wakeReader?.();
    while (this.#bytes > this.#maxBytes && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    if (this.#closed) throw indexerErrors.stopped({});
  }

  /** Those that are there, as many as one batch takes; waits for the first. @throws indexer/stopped */
  async take(maxRounds: number, maxBytes: number): Promise<SeenBundle[]> {
    while (this.#rounds.length === 0) {
      if (this.#closed) throw indexerErrors.stopped({});
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const taken: SeenBundle[] = [];
    let bytes = 0;
    for (const each of this.#rounds) {
      bytes += bundleBytes(each.round);
      if (taken.length > 0 && (taken.length === maxRounds || bytes > maxBytes)) break;
      taken.push(each);
    }
    this.#rounds.splice(0, taken.length);
    for (const { round } of taken) this.#bytes -= bundleBytes(round);
    this.#wakeWriter?.();
    return taken;
  }

  /** Sends away who waits. */
  close(): void {
    this.#closed = true;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }
}
