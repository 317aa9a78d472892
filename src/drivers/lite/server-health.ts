import type { PoolSettings } from '#drivers/lite/options.js';
import type { Clock } from '#kernel/clock.js';

/**
 * - `connecting`: no connection yet, or it has not yet said what its newest block is
 * - `healthy`
 * - `lagging`: answers, but its newest block is old
 * - `failing`: cannot be reached, or does not answer
 * - `quarantined`: gave an answer that is not true
 */
export type ServerHealthState = 'connecting' | 'healthy' | 'lagging' | 'failing' | 'quarantined';

const MAX_DOUBLINGS = 5;
/** A server that was true for so many times the last quarantine has that one forgiven. */
const FORGIVEN_AFTER = 10;

type HealthSettings = Pick<PoolSettings, 'breakerFailures' | 'breakerMs' | 'quarantineMs' | 'quarantineMaxMs'>;

/** In which state a server is. */
export class ServerHealth {
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  #isConnected = false;
  #hasHead = false;
  #failuresInRow = 0;
  /** How often in a row it was left alone. */
  #breaks = 0;
  #brokenUntil = 0;
  #quarantines = 0;
  #quarantinesInRow = 0;
  #quarantinedUntil = Number.NEGATIVE_INFINITY;
  #lastQuarantineMs = 0;
  #quarantineReason = '';
  #problem = '';

  constructor(settings: HealthSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get hasHead(): boolean {
    return this.#hasHead;
  }

  get isQuarantined(): boolean {
    return this.#clock.now() < this.#quarantinedUntil;
  }

  /** How often, ever. */
  get quarantines(): number {
    return this.#quarantines;
  }

  get quarantineReason(): string {
    return this.#quarantineReason;
  }

  /** Moment of the clock at which the last quarantine ends. */
  get quarantinedUntil(): number {
    return this.#quarantinedUntil;
  }

  /** Whether it failed so often that it is to be left alone for now. */
  get isBroken(): boolean {
    return this.#clock.now() < this.#brokenUntil;
  }

  /** What went wrong last; empty when nothing has since it last answered. */
  get problem(): string {
    return this.#problem;
  }

  /** @param lag blocks behind the head */
  state(lag: number, maxLag: number): ServerHealthState {
    if (this.isQuarantined) return 'quarantined';
    if (!this.#isConnected) return this.#problem === '' ? 'connecting' : 'failing';
    if (this.isBroken) return 'failing';
    if (!this.#hasHead) return this.#problem === '' ? 'connecting' : 'failing';
    return lag > maxLag ? 'lagging' : 'healthy';
  }

  connected(): void {
    this.#isConnected = true;
    this.#hasHead = false;
    this.#problem = '';
    this.#failuresInRow = 0;
    this.#brokenUntil = 0;
  }

  disconnected(problem: string): void {
    this.#isConnected = false;
    this.#hasHead = false;
    this.#problem = problem;
  }

  /** It said what its newest block is. */
  gaveHead(): void {
    this.#hasHead = true;
    if (!this.isBroken) this.#problem = '';
  }

  answered(): void {
    this.#failuresInRow = 0;
    this.#brokenUntil = 0;
    this.#breaks = 0;
    this.#problem = '';
    const quarantineEnd = this.#quarantinedUntil + FORGIVEN_AFTER * this.#lastQuarantineMs;
    if (this.#quarantinesInRow > 0 && this.#clock.now() > quarantineEnd) this.#quarantinesInRow = 0;
  }

  failed(problem: string): void {
    this.#problem = problem;
    this.#failuresInRow++;
    if (this.#failuresInRow < this.#settings.breakerFailures || this.isBroken) return;
    this.#brokenUntil = this.#clock.now() + this.#settings.breakerMs * 2 ** Math.min(this.#breaks, MAX_DOUBLINGS);
    this.#breaks++;
    // The next failure after that is enough to leave it alone again.
    this.#failuresInRow = this.#settings.breakerFailures - 1;
  }

  /** @returns for how long, in milliseconds; 0 when it is in quarantine already */
  quarantine(reason: string): number {
    if (this.isQuarantined) return 0;
    const { quarantineMs, quarantineMaxMs } = this.#settings;
    const forMs = Math.min(quarantineMs * 2 ** Math.min(this.#quarantinesInRow, 30), quarantineMaxMs);
    this.#quarantines++;
    this.#quarantinesInRow++;
    this.#lastQuarantineMs = forMs;
    this.#quarantinedUntil = this.#clock.now() + forMs;
    this.#quarantineReason = reason;
    return forMs;
  }
}

/** Least weight of the newest measurement in a mean. */
const LATENCY_WEIGHT = 0.2;
const SUCCESS_WEIGHT = 0.1;
/** What was measured so long ago has lost 63 % of its weight, however few measurements came since. */
const MEMORY_MS = 5_000;
/** From so many measurements of a function on, its own quantiles are used. */
const ENOUGH = 16;
/** More functions than there are would be a fault elsewhere. */
const MAX_FUNCTIONS = 64;
/** Servers choose the codes of their errors: those beyond so many are counted together. */
const MAX_CODES = 32;
const OTHER_CODES = 'other';

/** What is known of how a server answers. */
export class ServerStatistics {
  requests = 0;
  answers = 0;
  hedges = 0;
  /** By code of `liteServer.error`, or by name of what happened. */
  readonly errors = new Map<string, number>();
  readonly #all = new LatencyHistogram();
  readonly #byFunction = new Map<string, LatencyHistogram>();
  readonly #clock: Clock;
  #lastLatency = 0;
  #lastOutcome = 0;
  #meanMs: number | null = null;
  #success = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Exponentially weighted mean of round trips, slow ones that were not waited for included; null before the first. */
  get meanMs(): number | null {
    return this.#meanMs;
  }

  /** Exponentially weighted share of queries that were answered. */
  get success(): number {
    return this.#success;
  }

  get p50(): number | null {
    return this.#all.quantile(0.5);
  }

  get p95(): number | null {
    return this.#all.quantile(0.95);
  }

  /** After how long 95 % of the answers of this function are there; null when too few are known. */
  p95Of(name: string): number | null {
    const own = this.#byFunction.get(name);
    if (own !== undefined && own.weight >= ENOUGH) return own.quantile(0.95);
    return this.#all.weight >= ENOUGH ? this.p95 : null;
  }

  answered(name: string, ms: number): void {
    this.answers++;
    this.#outcome(1);
    this.#mean(ms);
    this.#all.add(ms);
    let own = this.#byFunction.get(name);
    if (own === undefined && this.#byFunction.size < MAX_FUNCTIONS) {
      own = new LatencyHistogram();
      this.#byFunction.set(name, own);
    }
    own?.add(ms);
  }

  /** An answer was not waited for any longer: it would have taken at least so long. */
  tookLonger(ms: number): void {
    if (this.#meanMs === null || ms > this.#meanMs) this.#mean(ms);
  }

  failed(error: string): void {
    this.#outcome(0);
    this.counted(error);
  }

  /** Something that says nothing against the server. */
  counted(error: string): void {
    const key = this.errors.has(error) || this.errors.size < MAX_CODES ? error : OTHER_CODES;
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  }

  #mean(ms: number): void {
    const now = this.#clock.now();
    const weight = weightAfter(now - this.#lastLatency, LATENCY_WEIGHT);
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + weight * (ms - this.#meanMs);
    this.#lastLatency = now;
  }

  #outcome(success: 0 | 1): void {
    const now = this.#clock.now();
    this.#success += weightAfter(now - this.#lastOutcome, SUCCESS_WEIGHT) * (success - this.#success);
    this.#lastOutcome = now;
  }
}

function weightAfter(elapsedMs: number, least: number): number {
  return Math.max(least, 1 - Math.exp(-elapsedMs / MEMORY_MS));
}

/** Buckets per doubling of time, the first one from so many milliseconds on. */
const PER_DOUBLING = 4;
const FIRST_MS = 0.1;
/** Up to about 100 s. */
const BUCKETS = 80;
/** With so many measurements, all old ones are given half the weight. */
const FULL = 512;

/** How long answers took lately: a histogram whose buckets grow by 19 %, in which old measurements fade. */
export class LatencyHistogram {
  readonly #counts = new Float32Array(BUCKETS);
  #total = 0;

  /** How many measurements it stands on, faded ones counted in part. */
  get weight(): number {
    return this.#total;
  }

  add(ms: number): void {
    if (this.#total >= FULL) {
      for (let i = 0; i < BUCKETS; i++) this.#counts[i]! /= 2;
      this.#total /= 2;
    }
    const bucket = Math.floor(Math.log2(Math.max(ms, FIRST_MS) / FIRST_MS) * PER_DOUBLING);
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#total += 1;
  }

  /** Upper end of the bucket in which this share of measurements has ended, in milliseconds; null without measurements. */
  quantile(share: number): number | null {
    if (this.#total === 0) return null;
    let left = share * this.#total;
    let bucket = 0;
    while (bucket < BUCKETS - 1) {
      left -= this.#counts[bucket]!;
      if (left <= 0) break;
      bucket++;
    }
    return FIRST_MS * 2 ** ((bucket + 1) / PER_DOUBLING);
  }
}

/** What a server may have of some age: blocks, or the states after them. */
export type HistoryKind = 'blocks' | 'states';

interface HistoryBound {
  /** The oldest masterchain seqno that is known to be there; infinite when none is. */
  have: number;
  /** The newest one that is known not to be there; -1 when none is. */
  lack: number;
}

/** A look at one seqno: is it there? Null when that cannot be told now. */
export type ProbeSeqno = (kept: HistoryKind, seqno: number) => Promise<boolean | null>;

/** Where the search may stop: an uncertainty of this share of the age does not matter. */
const PRECISION = 1 / 64;

/**
 * How far back a server's blocks and states go. What lies between what is known to be there and what is known to be missing
 * may be either. Knowledge ages: servers delete old states and fetch old blocks, so a newer observation overrides.
 */
export class ArchiveDepth {
  readonly #bounds: Record<HistoryKind, HistoryBound> = { blocks: newBound(), states: newBound() };

  /** Whether the server has this. */
  has(kept: HistoryKind, seqno: number): 'yes' | 'no' | 'perhaps' {
    const { have, lack } = this.#bounds[kept];
    if (seqno >= have) return 'yes';
    return seqno <= lack ? 'no' : 'perhaps';
  }

  /** The oldest seqno that is known to be there; null when nothing is known. */
  oldest(kept: HistoryKind): number | null {
    const { have } = this.#bounds[kept];
    return have === Number.POSITIVE_INFINITY ? null : have;
  }

  /** Whether it is known to have everything from the first block on. */
  get isArchive(): boolean {
    return this.#bounds.blocks.have <= 1 && this.#bounds.states.have <= 1;
  }

  /** It has given this. */
  noteAvailable(kept: HistoryKind, seqno: number): void {
    const bound = this.#bounds[kept];
    bound.have = Math.min(bound.have, seqno);
    bound.lack = Math.min(bound.lack, bound.have - 1);
  }

  /** It did not have this, which exists. */
  noteMissing(kept: HistoryKind, seqno: number): void {
    const bound = this.#bounds[kept];
    bound.lack = Math.max(bound.lack, seqno);
    if (bound.have <= bound.lack) bound.have = Number.POSITIVE_INFINITY;
  }

  /**
   * Finds how far back both go, by looking at few seqnos: the first one, what was the oldest last time, and halves between.
   *
   * @param head the server's newest seqno
   * @returns false when a look failed; what was found until then is kept
   */
  async probe(head: number, look: ProbeSeqno): Promise<boolean> {
    return (await this.#probeOne('blocks', head, look)) && (await this.#probeOne('states', head, look));
  }

  async #probeOne(kept: HistoryKind, head: number, look: ProbeSeqno): Promise<boolean> {
    const oldest = this.oldest(kept);
    for (const seqno of oldest === null || oldest <= 1 ? [1] : [1, oldest]) {
      if (seqno > head) continue;
      const found = await look(kept, seqno);
      if (found === null) return false;
      if (found) this.noteAvailable(kept, seqno);
      else this.noteMissing(kept, seqno);
      if (found) return true;
    }
    // The first one is missing. The newest is taken to be there.
    let lack = Math.max(this.#bounds[kept].lack, 1);
    let have = head;
    while (have - lack > Math.max(1, (head - have) * PRECISION)) {
      const middle = lack + Math.floor((have - lack) / 2);
      const found = await look(kept, middle);
      if (found === null) return false;
      if (found) {
        have = middle;
        this.noteAvailable(kept, middle);
      } else {
        lack = middle;
        this.noteMissing(kept, middle);
      }
    }
    this.noteAvailable(kept, have);
    return true;
  }
}

function newBound(): HistoryBound {
  return { have: Number.POSITIVE_INFINITY, lack: -1 };
}
