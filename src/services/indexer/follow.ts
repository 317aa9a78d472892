import { sharedSignalOf } from '#kernel/shared-abort.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { bundleBytes, type McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import {
  type IndexerContext,
  isContradiction,
  isOverlap,
  newestRange,
  requireIndexState,
} from '#services/indexer/index-progress.js';
import type { WritePool } from '#services/indexer/write/write-pool.js';

/** When further behind than this many masterchain blocks, bundles are fetched ahead instead of one by one. */
const BEHIND = 4;

/** Maximum bundles per database transaction: all of them become visible only at its end. */
const MAX_BUNDLES = 32;

const NO_WAIT = async (): Promise<void> => {};

/** Follows the head: writes each new bundle at once, or several in one batch when behind. */
export class Follower {
  readonly #work: IndexerContext;
  readonly #threads: WritePool;

  constructor(work: IndexerContext, threads: WritePool) {
    this.#work = work;
    this.#threads = threads;
  }

  /** @throws indexer/stopped; indexer/other-branch, indexer/broken-link when the chain contradicts the index */
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
    const signal = sharedSignalOf([outer, stop.signal]);
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
    const { facts, bundles, clock, retries } = this.#work;
    let next = from;
    const put = async (bundle: McBlockBundle, seen: number): Promise<void> => {
      next = bundle.mc_seqno + 1;
      await queue.put({ bundle, seen });
    };
    await retries.run(async () => {
      for (;;) {
        const head = (await facts.waitForHead(next, signal)).block.seqno;
        const seen = clock.now();
        if (head - next < BEHIND) await put(await bundles.bundle(next, signal), seen);
        else for await (const bundle of bundles.bundles(next, head, signal)) await put(bundle, seen);
      }
    }, signal);
  }

  async #write(seen: readonly SeenBundle[], signal: AbortSignal): Promise<void> {
    const { retries, facts, clock, onWritten } = this.#work;
    const bundles = seen.map(({ bundle }) => bundle);
    const write = async () => {
      const zerostates = bundles[0]!.mc_seqno === 1 ? await facts.zerostates(signal) : null;
      return this.#threads.write({ bundles, zerostates }, { exclusive: true, awaitPrevious: NO_WAIT }, signal);
    };
    const isFinal = (error: unknown): boolean => isOverlap(error) || isContradiction(error);
    const report = await retries.run(write, signal, isFinal);
    onWritten({ ...report, mode: 'follow', delayMs: clock.now() - seen.at(-1)!.seen });
  }
}

/** A bundle, and when its masterchain block was known to exist. */
export interface SeenBundle {
  readonly bundle: McBlockBundle;
  /** Milliseconds of the monotonic clock. */
  readonly seen: number;
}

/** Bounded queue of bundles between fetching and writing. */
export class BundleQueue {
  readonly #maxBytes: number;
  readonly #bundles: SeenBundle[] = [];
  #bytes = 0;
  #closed = false;
  #wakeWriter: (() => void) | null = null;
  #wakeReader: (() => void) | null = null;

  /** @param maxBytes limit of block file bytes; a single bundle may exceed it */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when there is room for the next bundle. @throws indexer/stopped */
  async put(bundle: SeenBundle): Promise<void> {
    this.#bundles.push(bundle);
    this.#bytes += bundleBytes(bundle.bundle);
    this.#wakeReader?.();
    while (this.#bytes > this.#maxBytes && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    if (this.#closed) throw indexerErrors.stopped({});
  }

  /** Takes the queued bundles that fit into one batch; waits for the first. @throws indexer/stopped */
  async take(maxBundles: number, maxBytes: number): Promise<SeenBundle[]> {
    while (this.#bundles.length === 0) {
      if (this.#closed) throw indexerErrors.stopped({});
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const taken: SeenBundle[] = [];
    let bytes = 0;
    for (const each of this.#bundles) {
      bytes += bundleBytes(each.bundle);
      if (taken.length > 0 && (taken.length === maxBundles || bytes > maxBytes)) break;
      taken.push(each);
    }
    this.#bundles.splice(0, taken.length);
    for (const { bundle } of taken) this.#bytes -= bundleBytes(bundle);
    this.#wakeWriter?.();
    return taken;
  }

  /** Rejects all waiting calls. */
  close(): void {
    this.#closed = true;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }
}
