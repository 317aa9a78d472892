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

/** Seqnos of the masterchain, both included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface BundleBackfillModules {
  readonly clock: Clock;
  readonly pace: FetchRates;
  /** Reads that end with a signal. */
  readonly reads: (signal: AbortSignal) => SegmentReads;
  readonly signal: AbortSignal | undefined;
}

/** So many stretches share the bytes that may be held, so that several are under way. */
const SEGMENTS_IN_BUDGET = 8;

/** Answers that take longer are mostly waited for: shorter stretches, more of them at a time, make up for that. */
const QUICK_ANSWER_MS = 25;

/** Rounds of a range in their order, stretch after stretch, several of which are fetched at a time. */
export class BundleBackfill {
  readonly #to: number;
  readonly #options: FetchOptions;
  readonly #clock: Clock;
  readonly #pace: FetchRates;
  readonly #reads: SegmentReads;
  readonly #stop: LinkedAbort;
  readonly #budget: ByteBudget;
  readonly #turns: PrioritySemaphore;
  /** Those that are not taken whole, the oldest first. */
  readonly #stretches: BundleSegment[] = [];
  readonly #unfinished = new Set<BundleSegment>();
  /** The one that was begun last; the next one begins where it ends. */
  #newest: BundleSegment | null = null;
  #next: number;
  #taken: number;

  constructor({ from, to }: Range, options: FetchOptions, { clock, pace, reads, signal }: BundleBackfillModules) {
    this.#next = from;
    this.#taken = from;
    this.#to = to;
    this.#options = options;
    this.#clock = clock;
    this.#pace = pace;
    this.#budget = new ByteBudget(options.aheadBytes);
    this.#turns = new PrioritySemaphore(options.maxInFlight);
    this.#stop = new LinkedAbort(signal);
    this.#reads = reads(this.#stop.signal);
    this.#stop.signal.addEventListener('abort', () => this.#budget.wake(), { once: true });
  }

  /** @throws chain/aborted, and what asking again does not change */
  async *rounds(): AsyncGenerator<McBlockBundle, void, undefined> {
    try {
      for (this.#plan(); ; this.#plan()) {
        this.#checkStopped();
        const [stretch] = this.#stretches;
        if (stretch === undefined) return;
        for (const round of await stretch.rounds) {
          yield round;
          this.#checkStopped();
          this.#taken = round.mc_seqno + 1;
          this.#budget.give(bundleBytes(round));
          this.#plan();
        }
        this.#stretches.shift();
        this.#budget.wake();
      }
    } finally {
      this.#stop.stop();
    }
  }

  #checkStopped(): void {
    if (this.#stop.signal.aborted) throw chainErrors.aborted({});
  }

  /** Begins stretches as long as there is room for them, and one in any case. */
  #plan(): void {
    const { aheadBytes, aheadRounds, stretch } = this.#options;
    while (this.#next <= this.#to && !this.#stop.signal.aborted) {
      const quick = Math.ceil(stretch * Math.min(QUICK_ANSWER_MS / this.#pace.answerMs, 1));
      const fitting = Math.max(Math.floor(aheadBytes / SEGMENTS_IN_BUDGET / this.#pace.roundBytes), 1);
      const length = Math.min(fitting, quick, aheadRounds, this.#to - this.#next + 1);
      const last = this.#next + length - 1;
      if (this.#stretches.length > 0 && (last - this.#taken >= aheadRounds || this.#expected(length) > aheadBytes)) {
        return;
      }
      this.#begin(this.#next, last);
      this.#next = last + 1;
    }
  }

  /** Bytes that are held and will be, with so many rounds more. */
  #expected(more: number): number {
    let coming = more;
    for (const { length } of this.#unfinished) coming += length;
    return this.#budget.held + coming * this.#pace.roundBytes;
  }

  #begin(first: number, last: number): void {
    const previous = this.#newest;
    const { signal } = this.#stop;
    const reads: SegmentReads = {
      proven: (seqno) => this.#reads.proven(seqno),
      before: (file) => previous?.lastTops ?? this.#reads.before(file),
      file: async (id, mc_seqno) => {
        await this.#budget.room(() => this.#stretches[0] === stretch, signal);
        const file = await this.#turns.take(first, () => this.#timed(id, mc_seqno), signal);
        this.#budget.take(file.data.length);
        return file;
      },
    };
    const stretch = new BundleSegment(first, last, reads);
    this.#newest = stretch;
    this.#stretches.push(stretch);
    this.#unfinished.add(stretch);
    const finished = (rounds: readonly McBlockBundle[]): void => {
      this.#unfinished.delete(stretch);
      const bytes = rounds.reduce((sum, round) => sum + bundleBytes(round), 0);
      this.#pace.came(rounds.length, bytes);
      this.#plan();
    };
    stretch.rounds.then(finished, () => this.#unfinished.delete(stretch));
  }

  async #timed(id: BlockId, mc_seqno: number): Promise<BlockFileRead> {
    const begun = this.#clock.now();
    const file = await this.#reads.file(id, mc_seqno);
    this.#pace.answered(this.#clock.now() - begun);
    return file;
  }
}

/** How the parts of a stretch are read. */
export interface SegmentReads {
  /** The id of a masterchain block, proven. */
  proven(seqno: number): Promise<BlockId>;
  /** The file of a block, named by one that was read. */
  file(id: BlockId, mc_seqno: number): Promise<BlockFileRead>;
  /** What the masterchain block before the stretch commits. */
  before(first: BlockFileRead): Promise<CommittedShardTops>;
}

/** A masterchain block and what it commits. */
interface SegmentBlock {
  readonly file: BlockFileRead;
  readonly tops: CommittedShardTops;
}

/** Rounds in a row: one proof for the last masterchain block, and from there back from link to link. */
export class BundleSegment {
  readonly first: number;
  readonly last: number;
  /** In their order. */
  readonly rounds: Promise<readonly McBlockBundle[]>;
  /** What the last masterchain block commits; there long before the rounds. */
  readonly lastTops: Promise<CommittedShardTops>;
  readonly #reads: SegmentReads;

  constructor(first: number, last: number, reads: SegmentReads) {
    this.first = first;
    this.last = last;
    this.#reads = reads;
    const end = this.#end();
    this.lastTops = end.then(({ tops }) => tops);
    this.rounds = end.then((file) => this.#back(file));
    // Both are looked at later, if at all.
    for (const promise of [this.lastTops, this.rounds]) promise.catch(() => {});
  }

  get length(): number {
    return this.last - this.first + 1;
  }

  async #end(): Promise<SegmentBlock> {
    const file = await this.#reads.file(await this.#reads.proven(this.last), this.last);
    return { file, tops: shardTopsOf(file) };
  }

  async #back(end: SegmentBlock): Promise<readonly McBlockBundle[]> {
    const rounds: Promise<McBlockBundle>[] = [];
    let { file } = end;
    let shards = this.#shards(file, end.tops);
    try {
      for (let seqno = this.last; seqno > this.first; seqno--) {
        const before = await this.#reads.file(file.header.prev[0]!, seqno - 1);
        const tops = shardTopsOf(before);
        rounds.push(complete(file, shards, tops));
        file = before;
        shards = this.#shards(file, tops);
      }
      rounds.push(complete(file, shards, await this.#reads.before(file)));
    } finally {
      for (const round of rounds) round.catch(() => {});
    }
    return Promise.all(rounds.reverse());
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

/** A signal that many may listen to: given when another one is, or by its owner. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.stop();

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    // What is read at the same time is limited elsewhere: many listeners are no leak.
    setMaxListeners(0, this.signal);
    if (outer?.aborted === true) this.#controller.abort();
    else outer?.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Gives it, and listens to the other one no more. */
  stop(): void {
    this.#outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }
}
