import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { BlockFileRead } from '#services/chain/block-data.js';
import { chainErrors } from '#services/chain/errors.js';
import { ByteBudget } from '#services/indexer/rounds/byte-budget.js';
import type { RoundOptions } from '#services/indexer/rounds/options.js';
import type { Pace } from '#services/indexer/rounds/pace.js';
import { type Round, roundBytes } from '#services/indexer/rounds/round.js';
import { StopSignal } from '#services/indexer/rounds/stop-signal.js';
import { Stretch, type StretchReads } from '#services/indexer/rounds/stretch.js';
import { Turns } from '#services/indexer/rounds/turns.js';

/** Seqnos of the masterchain, both included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface BackfillModules {
  readonly clock: Clock;
  readonly pace: Pace;
  /** Reads that end with a signal. */
  readonly reads: (signal: AbortSignal) => StretchReads;
  readonly signal: AbortSignal | undefined;
}

/** So many stretches share the bytes that may be held, so that several are under way. */
const SHARES = 8;

/** Answers that take longer are mostly waited for: shorter stretches, more of them at a time, make up for that. */
const QUICK_MS = 25;

/** Rounds of a range in their order, stretch after stretch, several of which are fetched at a time. */
export class Backfill {
  readonly #to: number;
  readonly #options: RoundOptions;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #reads: StretchReads;
  readonly #stop: StopSignal;
  readonly #budget: ByteBudget;
  readonly #turns: Turns;
  /** Those that are not taken whole, the oldest first. */
  readonly #stretches: Stretch[] = [];
  readonly #unfinished = new Set<Stretch>();
  /** The one that was begun last; the next one begins where it ends. */
  #newest: Stretch | null = null;
  #next: number;
  #taken: number;

  constructor({ from, to }: Range, options: RoundOptions, { clock, pace, reads, signal }: BackfillModules) {
    this.#next = from;
    this.#taken = from;
    this.#to = to;
    this.#options = options;
    this.#clock = clock;
    this.#pace = pace;
    this.#budget = new ByteBudget(options.aheadBytes);
    this.#turns = new Turns(options.maxInFlight);
    this.#stop = new StopSignal(signal);
    this.#reads = reads(this.#stop.signal);
    this.#stop.signal.addEventListener('abort', () => this.#budget.wake(), { once: true });
  }

  /** @throws chain/aborted, and what asking again does not change */
  async *rounds(): AsyncGenerator<Round, void, undefined> {
    try {
      for (this.#plan(); ; this.#plan()) {
        this.#checkStopped();
        const [stretch] = this.#stretches;
        if (stretch === undefined) return;
        for (const round of await stretch.rounds) {
          yield round;
          this.#checkStopped();
          this.#taken = round.mc_seqno + 1;
          this.#budget.give(roundBytes(round));
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
      const quick = Math.ceil(stretch * Math.min(QUICK_MS / this.#pace.answerMs, 1));
      const fitting = Math.max(Math.floor(aheadBytes / SHARES / this.#pace.roundBytes), 1);
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
    const reads: StretchReads = {
      proven: (seqno) => this.#reads.proven(seqno),
      before: (file) => previous?.lastTops ?? this.#reads.before(file),
      file: async (id, mc_seqno) => {
        await this.#budget.room(() => this.#stretches[0] === stretch, signal);
        const file = await this.#turns.take(first, () => this.#timed(id, mc_seqno), signal);
        this.#budget.take(file.data.length);
        return file;
      },
    };
    const stretch = new Stretch(first, last, reads);
    this.#newest = stretch;
    this.#stretches.push(stretch);
    this.#unfinished.add(stretch);
    const finished = (rounds: readonly Round[]): void => {
      this.#unfinished.delete(stretch);
      const bytes = rounds.reduce((sum, round) => sum + roundBytes(round), 0);
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
