import { setMaxListeners } from 'node:events';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { BlockFileRead } from '#services/chain/blocks.js';
import { chainErrors } from '#services/chain/errors.js';
import { ByteBudget, type FetchRates, PrioritySemaphore } from '#services/indexer/fetch/fetch-limits.js';
import {
  bundleBytes,
  bundleOf,
  CommittedShardBlocks,
  type CommittedShardTops,
  type McBlockBundle,
  shardTopsOf,
} from '#services/indexer/fetch/mc-block-bundle.js';
import type { FetchOptions } from '#services/indexer/options.js';

/** Masterchain seqnos, both inclusive. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface BundleBackfillModules {
  readonly clock: Clock;
  readonly rates: FetchRates;
  /** Reads that are aborted by a signal. */
  readonly reads: (signal: AbortSignal) => SegmentReads;
  readonly signal: AbortSignal | undefined;
}

/** The byte budget is divided by this many segments, so that several are in flight. */
const SEGMENTS_IN_BUDGET = 8;

/** Above this answer time segments get shorter, so that more of them are in flight. */
const QUICK_ANSWER_MS = 25;

/** The bundles of a range in ascending order, fetched as several concurrent segments. */
export class BundleBackfill {
  readonly #to: number;
  readonly #options: FetchOptions;
  readonly #clock: Clock;
  readonly #rates: FetchRates;
  readonly #reads: SegmentReads;
  readonly #stop: LinkedAbort;
  readonly #budget: ByteBudget;
  readonly #permits: PrioritySemaphore;
  /** Segments not fully consumed, oldest first. */
  readonly #segments: BundleSegment[] = [];
  readonly #unfinished = new Set<BundleSegment>();
  /** The segment that was started last; the next one starts after it. */
  #newest: BundleSegment | null = null;
  #next: number;
  #taken: number;

  constructor({ from, to }: Range, options: FetchOptions, { clock, rates, reads, signal }: BundleBackfillModules) {
    this.#next = from;
    this.#taken = from;
    this.#to = to;
    this.#options = options;
    this.#clock = clock;
    this.#rates = rates;
    this.#budget = new ByteBudget(options.aheadBytes);
    this.#permits = new PrioritySemaphore(options.maxInFlight);
    this.#stop = new LinkedAbort(signal);
    this.#reads = reads(this.#stop.signal);
    this.#stop.signal.addEventListener('abort', () => this.#budget.wake(), { once: true });
  }

  /** @throws chain/aborted, and errors that a retry does not change */
  async *bundles(): AsyncGenerator<McBlockBundle, void, undefined> {
    try {
      for (this.#plan(); ; this.#plan()) {
        this.#checkStopped();
        const [segment] = this.#segments;
        if (segment === undefined) return;
        for (const bundle of await segment.bundles) {
          yield bundle;
          this.#checkStopped();
          this.#taken = bundle.mc_seqno + 1;
          this.#budget.release(bundleBytes(bundle));
          this.#plan();
        }
        this.#segments.shift();
        this.#budget.wake();
      }
    } finally {
      this.#stop.stop();
    }
  }

  #checkStopped(): void {
    if (this.#stop.signal.aborted) throw chainErrors.aborted({});
  }

  /** Starts segments while there is room for them, and at least one. */
  #plan(): void {
    const { aheadBytes, aheadBundles, segmentLength } = this.#options;
    while (this.#next <= this.#to && !this.#stop.signal.aborted) {
      const quick = Math.ceil(segmentLength * Math.min(QUICK_ANSWER_MS / this.#rates.answerMs, 1));
      const fitting = Math.max(Math.floor(aheadBytes / SEGMENTS_IN_BUDGET / this.#rates.bundleBytes), 1);
      const length = Math.min(fitting, quick, aheadBundles, this.#to - this.#next + 1);
      const last = this.#next + length - 1;
      if (this.#segments.length > 0 && (last - this.#taken >= aheadBundles || this.#expected(length) > aheadBytes)) {
        return;
      }
      this.#begin(this.#next, last);
      this.#next = last + 1;
    }
  }

  /** Bytes held and expected, with `more` additional bundles. */
  #expected(more: number): number {
    let coming = more;
    for (const { length } of this.#unfinished) coming += length;
    return this.#budget.held + coming * this.#rates.bundleBytes;
  }

  #begin(first: number, last: number): void {
    const previous = this.#newest;
    const { signal } = this.#stop;
    const reads: SegmentReads = {
      proven: (seqno) => this.#reads.proven(seqno),
      before: (file) => previous?.lastTops ?? this.#reads.before(file),
      file: async (id, mc_seqno) => {
        await this.#budget.waitForRoom(() => this.#segments[0] === segment, signal);
        const file = await this.#permits.run(first, () => this.#timed(id, mc_seqno), signal);
        this.#budget.take(file.data.length);
        return file;
      },
    };
    const segment = new BundleSegment(first, last, reads);
    this.#newest = segment;
    this.#segments.push(segment);
    this.#unfinished.add(segment);
    const finished = (bundles: readonly McBlockBundle[]): void => {
      this.#unfinished.delete(segment);
      const bytes = bundles.reduce((sum, bundle) => sum + bundleBytes(bundle), 0);
      this.#rates.fetched(bundles.length, bytes);
      this.#plan();
    };
    segment.bundles.then(finished, () => this.#unfinished.delete(segment));
  }

  async #timed(id: BlockId, mc_seqno: number): Promise<BlockFileRead> {
    const startedAt = this.#clock.now();
    const file = await this.#reads.file(id, mc_seqno);
    this.#rates.answered(this.#clock.now() - startedAt);
    return file;
  }
}

/** How the blocks of a segment are read. */
export interface SegmentReads {
  /** The proven id of a masterchain block. */
  proven(seqno: number): Promise<BlockId>;
  /** The file of a block whose id (with file hash) is known from a block read before. */
  file(id: BlockId, mc_seqno: number): Promise<BlockFileRead>;
  /** Shard tops of the masterchain block before the segment. */
  before(first: BlockFileRead): Promise<CommittedShardTops>;
}

/** A masterchain block file and its shard tops. */
interface SegmentBlock {
  readonly file: BlockFileRead;
  readonly tops: CommittedShardTops;
}

/** Consecutive bundles: one proof for the last masterchain block, then back along `prev_ref` links, each file checked by its hash. */
export class BundleSegment {
  readonly first: number;
  readonly last: number;
  /** Ascending. */
  readonly bundles: Promise<readonly McBlockBundle[]>;
  /** Shard tops of the last masterchain block; resolves long before the bundles. */
  readonly lastTops: Promise<CommittedShardTops>;
  readonly #reads: SegmentReads;

  constructor(first: number, last: number, reads: SegmentReads) {
    this.first = first;
    this.last = last;
    this.#reads = reads;
    const end = this.#end();
    this.lastTops = end.then(({ tops }) => tops);
    this.bundles = end.then((file) => this.#back(file));
    // Both are awaited later, if at all.
    for (const promise of [this.lastTops, this.bundles]) promise.catch(() => {});
  }

  get length(): number {
    return this.last - this.first + 1;
  }

  async #end(): Promise<SegmentBlock> {
    const file = await this.#reads.file(await this.#reads.proven(this.last), this.last);
    return { file, tops: shardTopsOf(file) };
  }

  async #back(end: SegmentBlock): Promise<readonly McBlockBundle[]> {
    const bundles: Promise<McBlockBundle>[] = [];
    let { file } = end;
    let shards = this.#shards(file, end.tops);
    try {
      for (let seqno = this.last; seqno > this.first; seqno--) {
        const before = await this.#reads.file(file.header.prev[0]!, seqno - 1);
        const tops = shardTopsOf(before);
        bundles.push(complete(file, shards, tops));
        file = before;
        shards = this.#shards(file, tops);
      }
      bundles.push(complete(file, shards, await this.#reads.before(file)));
    } finally {
      for (const bundle of bundles) bundle.catch(() => {});
    }
    return Promise.all(bundles.reverse());
  }

  #shards({ id }: BlockFileRead, tops: CommittedShardTops): CommittedShardBlocks {
    return new CommittedShardBlocks(tops, (shard) => this.#reads.file(shard, id.seqno));
  }
}

async function complete(
  file: BlockFileRead,
  shards: CommittedShardBlocks,
  before: CommittedShardTops,
): Promise<McBlockBundle> {
  return bundleOf(file, await shards.since(before));
}

/** An abort signal for many listeners, aborted with an outer signal or by its owner. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.stop();

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    // Concurrency is limited elsewhere: many listeners are no leak.
    setMaxListeners(0, this.signal);
    if (outer?.aborted === true) this.#controller.abort();
    else outer?.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts, and stops listening to the outer signal. */
  stop(): void {
    this.#outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }
}
