import type { PoolSettings } from '#drivers/lite/options.js';
import type { Clock } from '#kernel/clock.js';

/**
 * - `connecting`: no connection yet, or its head is not known yet
 * - `healthy`
 * - `lagging`: answers, but its head is old
 * - `failing`: unreachable, or does not answer
 * - `quarantined`: returned an invalid answer
 */
export type ServerHealthState = 'connecting' | 'healthy' | 'lagging' | 'failing' | 'quarantined';

const MAX_DOUBLINGS = 5;
/** A server without further lies for this multiple of its last quarantine starts over with the shortest quarantine. */
const FORGIVEN_AFTER = 10;

type HealthSettings = Pick<PoolSettings, 'breakerFailures' | 'breakerMs' | 'quarantineMs' | 'quarantineMaxMs'>;

/** Health of a server: circuit breaker and quarantine. */
export class ServerHealth {
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  #isConnected = false;
  #hasHead = false;
  #failuresInRow = 0;
  /** How often in a row the circuit breaker opened. */
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

  /** Total number of quarantines. */
  get quarantines(): number {
    return this.#quarantines;
  }

  get quarantineReason(): string {
    return this.#quarantineReason;
  }

  /** Clock time at which the last quarantine ends. */
  get quarantinedUntil(): number {
    return this.#quarantinedUntil;
  }

  /** Whether the circuit breaker is open. */
  get isBroken(): boolean {
    return this.#clock.now() < this.#brokenUntil;
  }

  /** The last problem; empty when there was none since the last answer. */
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

  /** The server has reported its head. */
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
    // The next failure opens the circuit breaker again.
    this.#failuresInRow = this.#settings.breakerFailures - 1;
  }

  /** @returns the duration in milliseconds; 0 when already in quarantine */
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

/** Minimum weight of the newest measurement in a mean. */
const LATENCY_WEIGHT = 0.2;
const SUCCESS_WEIGHT = 0.1;
/** Time constant of the means: a measurement this old has lost 63 % of its weight, regardless of later ones. */
const MEMORY_MS = 5_000;
/** Measurements of a function from which its own quantiles are used. */
const ENOUGH = 16;
/** Upper bound of tracked functions. */
const MAX_FUNCTIONS = 64;
/** Servers choose their error codes: further codes are counted together. */
const MAX_CODES = 32;
const OTHER_CODES = 'other';

/** Latency and success statistics of a server. */
export class ServerStatistics {
  requests = 0;
  answers = 0;
  hedges = 0;
  /** By code of `liteServer.error`, or by name of the event. */
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

  /** Exponentially weighted mean latency, including aborted slow queries; null before the first. */
  get meanMs(): number | null {
    return this.#meanMs;
  }

  /** Exponentially weighted share of answered queries. */
  get success(): number {
    return this.#success;
  }

  get p50(): number | null {
    return this.#all.quantile(0.5);
  }

  get p95(): number | null {
    return this.#all.quantile(0.95);
  }

  /** 95th percentile of the latency of this function; null with too few measurements. */
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

  /** A query was aborted: its latency would have been at least this long. */
  tookLonger(ms: number): void {
    if (this.#meanMs === null || ms > this.#meanMs) this.#mean(ms);
  }

  failed(error: string): void {
    this.#outcome(0);
    this.counted(error);
  }

  /** Counts an event that does not affect the success rate of the server. */
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

/** Buckets per doubling of time, and the start of the first bucket in milliseconds. */
const PER_DOUBLING = 4;
const FIRST_MS = 0.1;
/** Up to about 100 s. */
const BUCKETS = 80;
/** At this number of measurements, all earlier ones lose half of their weight. */
const FULL = 512;

/** Histogram of recent latencies with buckets growing by 19 %; old measurements fade. */
export class LatencyHistogram {
  readonly #counts = new Float32Array(BUCKETS);
  #total = 0;

  /** Total weight of the measurements. */
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

  /** Upper bound of the bucket that contains this quantile, in milliseconds; null without measurements. */
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

/** Historical data of a server: blocks, or the states after them. */
export type HistoryKind = 'blocks' | 'states';

interface HistoryBound {
  /** Oldest masterchain seqno known to be available; infinite when unknown. */
  available: number;
  /** Newest masterchain seqno known to be missing; -1 when unknown. */
  missing: number;
}

/** Checks whether a seqno is available; null when this cannot be determined now. */
export type ProbeSeqno = (history: HistoryKind, seqno: number) => Promise<boolean | null>;

/** Precision of the search, as a share of the age. */
const PRECISION = 1 / 64;

/**
 * The oldest blocks and states of a server. Data between the oldest available and the newest missing seqno may or may not
 * exist. Newer observations override older ones, because servers delete old states and fetch old blocks.
 */
export class ArchiveDepth {
  readonly #bounds: Record<HistoryKind, HistoryBound> = { blocks: newBound(), states: newBound() };

  /** Whether the server has the data of this seqno. */
  has(history: HistoryKind, seqno: number): 'yes' | 'no' | 'perhaps' {
    const { available, missing } = this.#bounds[history];
    if (seqno >= available) return 'yes';
    return seqno <= missing ? 'no' : 'perhaps';
  }

  /** The oldest seqno known to be available; null when unknown. */
  oldest(history: HistoryKind): number | null {
    const { available } = this.#bounds[history];
    return available === Number.POSITIVE_INFINITY ? null : available;
  }

  /** Whether the server is known to have everything from the first block. */
  get isArchive(): boolean {
    return this.#bounds.blocks.available <= 1 && this.#bounds.states.available <= 1;
  }

  /** The server has returned this data. */
  noteAvailable(history: HistoryKind, seqno: number): void {
    const bound = this.#bounds[history];
    bound.available = Math.min(bound.available, seqno);
    bound.missing = Math.min(bound.missing, bound.available - 1);
  }

  /** The server does not have this data, although it exists. */
  noteMissing(history: HistoryKind, seqno: number): void {
    const bound = this.#bounds[history];
    bound.missing = Math.max(bound.missing, seqno);
    if (bound.available <= bound.missing) bound.available = Number.POSITIVE_INFINITY;
  }

  /**
   * Finds the oldest blocks and states with few probes: seqno 1, the previously oldest seqno, then binary search.
   *
   * @param head the server's newest seqno
   * @returns false when a probe failed; the results until then are recorded
   */
  async probe(head: number, probeSeqno: ProbeSeqno): Promise<boolean> {
    return (
      (await this.#probeHistory('blocks', head, probeSeqno)) && (await this.#probeHistory('states', head, probeSeqno))
    );
  }

  async #probeHistory(history: HistoryKind, head: number, probeSeqno: ProbeSeqno): Promise<boolean> {
    const oldest = this.oldest(history);
    for (const seqno of oldest === null || oldest <= 1 ? [1] : [1, oldest]) {
      if (seqno > head) continue;
      const found = await probeSeqno(history, seqno);
      if (found === null) return false;
      if (found) this.noteAvailable(history, seqno);
      else this.noteMissing(history, seqno);
      if (found) return true;
    }
    // The first one is missing. The head is assumed to be available.
    let missing = Math.max(this.#bounds[history].missing, 1);
    let available = head;
    while (available - missing > Math.max(1, (head - available) * PRECISION)) {
      const middle = missing + Math.floor((available - missing) / 2);
      const found = await probeSeqno(history, middle);
      if (found === null) return false;
      if (found) {
        available = middle;
        this.noteAvailable(history, middle);
      } else {
        missing = middle;
        this.noteMissing(history, middle);
      }
    }
    this.noteAvailable(history, available);
    return true;
  }
}

function newBound(): HistoryBound {
  return { available: Number.POSITIVE_INFINITY, missing: -1 };
}
