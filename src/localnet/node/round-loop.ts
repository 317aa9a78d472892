import { type Shard, sameShard } from '#formats/proofs/block-id.js';
import { pause } from '#kernel/async/pause.js';
import type { CancelSchedule, Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ChainTip, Round, Zerostate } from '#localnet/ledger/round.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { MessagePool } from '#localnet/node/message-pool.js';
import type { NetworkTime } from '#localnet/node/network-time.js';
import type { ShardCommand } from '#localnet/node/shard-command.js';
import type { Intervention, ProducedRound, RoundRequest } from '#localnet/producer/round-request.js';

/** What the loop needs from outside. */
export interface RoundLoopModules {
  readonly clock: Clock;
  readonly time: NetworkTime;
  readonly pool: MessagePool;
  readonly zerostates: readonly Zerostate[];
  readonly tip: () => ChainTip;
  readonly produce: (request: RoundRequest) => Promise<ProducedRound>;
  /** Takes the round into the chain. */
  readonly append: (round: Round) => void;
  readonly onProduced: (produced: ProducedRound) => void;
  /** So many waiting messages were given up: no round could be made with them, and rounds without them could. */
  readonly onDropped: (messages: number) => void;
  /** Why a round could not be made. */
  readonly onTrouble: (error: unknown) => void;
}

interface Wish {
  readonly interventions: readonly Intervention[];
  readonly resolve: (round: Round) => void;
  readonly reject: (error: unknown) => void;
}

/** After so many rounds without it, something does not happen any more. */
export const MOST_ROUNDS = 300;

/** Of the time between blocks, how much may be spent on taking in messages. */
const SHARE = 0.75;
/** The rules of splits and merges go by the time of blocks, in seconds. */
const MOST_PAUSE_MS = 100;
/** Without a pace, when blocks are made on demand, they may take this long. */
const LEAST_BUDGET_MS = 300;

/** Makes one round after the other: at its pace, and at once when somebody asks for it. */
export class RoundLoop {
  readonly #modules: RoundLoopModules;
  #blockTimeMs: number;
  #paused: boolean;
  #closed = false;
  #cancel: CancelSchedule = () => {};
  #wishes: Wish[] = [];
  #wants: { split: readonly Shard[]; merge: readonly Shard[] } = { split: [], merge: [] };
  /** The round that is being made, and after it those that were asked for. */
  #last: Promise<unknown> = Promise.resolve();
  #running = false;
  readonly #suspects = new SuspectMessages();

  /** @param blockTimeMs 1 at least */
  constructor(options: { readonly blockTimeMs: number; readonly paused: boolean }, modules: RoundLoopModules) {
    this.#modules = modules;
    this.#blockTimeMs = options.blockTimeMs;
    this.#paused = options.paused;
  }

  get blockTimeMs(): number {
    return this.#blockTimeMs;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Begins to make blocks at the pace. */
  start(): void {
    this.#schedule(this.#blockTimeMs);
  }

  /** Resolves, for a pause, when the round under way is made: no other follows by itself. */
  async setPaused(paused: boolean): Promise<void> {
    this.#paused = paused;
    this.#schedule(0);
    if (paused) await this.#last.catch(() => {});
  }

  setBlockTime(milliseconds: number): void {
    this.#blockTimeMs = milliseconds;
    this.#schedule(milliseconds);
  }

  /** Makes a round now, after those that are asked for already. @throws localnet/round-failed, localnet/closing */
  round(): Promise<Round> {
    return this.#enqueue(() => this.#make());
  }

  /**
   * Puts interventions into one round, which is made now.
   * @throws localnet/not-made when one of them cannot be made; as {@link round}
   */
  async intervene(interventions: readonly Intervention[]): Promise<Round> {
    if (this.#closed) throw localnetErrors.closing({});
    const made = new Promise<Round>((resolve, reject) => {
      this.#wishes.push({ interventions, resolve, reject });
    });
    // A round under way does not take it any more; what fails here the wish is told, too.
    this.round().catch(() => {});
    return made;
  }

  /** Makes rounds in which shards are told to want a split or merge, until it has happened; null when it has not. */
  async reshape({ wants, happened }: ShardCommand, mostRounds: number): Promise<Round | null> {
    this.#wants = {
      split: [...this.#wants.split, ...wants.split],
      merge: [...this.#wants.merge, ...wants.merge],
    };
    const without = (all: readonly Shard[], some: readonly Shard[]) =>
      all.filter((each) => !some.some((other) => sameShard(each, other)));
    try {
      for (let made = 0; made < mostRounds; made++) {
        const round = await this.round();
        if (happened(this.#modules.tip())) return round;
        await pause(Math.min(this.#blockTimeMs, MOST_PAUSE_MS), this.#modules.clock);
      }
      return null;
    } finally {
      const { split, merge } = this.#wants;
      this.#wants = { split: without(split, wants.split), merge: without(merge, wants.merge) };
    }
  }

  /** Makes no further rounds; resolves when the one under way is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#last.catch(() => {});
    for (const { reject } of this.#wishes.splice(0)) reject(localnetErrors.closing({}));
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => {}).then(work);
    this.#last = done;
    return done;
  }

  #schedule(delayMs: number): void {
    this.#cancel();
    if (this.#closed || this.#paused) return;
    this.#cancel = this.#modules.clock.schedule(delayMs, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const { clock, onTrouble } = this.#modules;
    const begun = clock.now();
    try {
      await this.round();
    } catch (error) {
      if (!this.#closed) onTrouble(error);
    } finally {
      this.#running = false;
    }
    this.#schedule(Math.max(0, begun + this.#blockTimeMs - clock.now()));
  }

  async #make(): Promise<Round> {
    if (this.#closed) throw localnetErrors.closing({});
    const wishes = this.#wishes.splice(0);
    try {
      const made = await this.#produce(wishes);
      for (const { resolve, reject, interventions } of wishes) {
        const failed = made.failed.find(({ intervention }) => interventions.includes(intervention));
        if (failed === undefined) resolve(made.round);
        else reject(localnetErrors['not-made']({ wanted: failed.intervention.kind, problem: failed.problem }));
      }
      return made.round;
    } catch (error) {
      const known = isTernError(error) ? error : localnetErrors['round-failed']({ problem: textOf(error) }, error);
      for (const { reject } of wishes) reject(known);
      this.#suspects.failed();
      throw known;
    }
  }

  async #produce(wishes: readonly Wish[]): Promise<ProducedRound> {
    const { clock, time, pool, tip, zerostates, produce, append, onProduced, onDropped } = this.#modules;
    const end = clock.now() + Math.max(this.#blockTimeMs * SHARE, LEAST_BUDGET_MS);
    const externals = this.#suspects.leaveOut ? [] : pool.messages();
    const produced = await produce({
      tip: tip(),
      zerostates,
      now: time.now(),
      externals,
      interventions: wishes.flatMap(({ interventions }) => interventions),
      wants: this.#wants,
      full: () => clock.now() >= end,
    });
    append(produced.round);
    pool.settle(produced.externals);
    if (this.#suspects.succeeded()) onDropped(pool.clear());
    onProduced(produced);
    return produced;
  }
}

/** How often rounds may fail that succeed without the messages that wait. */
const MOST_STRIKES = 3;

/** Whether the messages that wait are why rounds fail: after a failure a round is made without them. */
class SuspectMessages {
  #strikes = 0;
  /** Whether the next round is to be made without them. */
  leaveOut = false;

  failed(): void {
    // Without them it failed as well: they are not the reason.
    this.leaveOut = !this.leaveOut;
  }

  /** @returns whether it is time to give them up */
  succeeded(): boolean {
    if (!this.leaveOut) {
      this.#strikes = 0;
      return false;
    }
    this.leaveOut = false;
    this.#strikes++;
    if (this.#strikes < MOST_STRIKES) return false;
    this.#strikes = 0;
    return true;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
