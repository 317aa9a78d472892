import type { PoolSettings } from '#drivers/lite/options.js';
import type { Clock } from '#kernel/clock/clock.js';

/**
 * - `connecting`: no connection yet, or it has not yet said what its newest block is
 * - `healthy`
 * - `lagging`: answers, but its newest block is old
 * - `failing`: cannot be reached, or does not answer
 * - `quarantined`: gave an answer that is not true
 */
export type ServerState = 'connecting' | 'healthy' | 'lagging' | 'failing' | 'quarantined';

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
  state(lag: number, maxLag: number): ServerState {
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
