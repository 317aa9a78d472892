const DAY_MS = 86_400_000;

/** The day of a moment, UTC: `2025-01-31`. */
export function dayOf(unixTimeMs: number): string {
  return new Date(unixTimeMs).toISOString().slice(0, 10);
}

/**
 * Requests of today (UTC) by subject. When the day ends the counts begin again; a clock that is set back does not begin
 * them again. They are in memory: whoever keeps them on a disk gives them back with {@link DailyQuota.restore}.
 */
export class DailyQuota {
  readonly #unixTimeMs: () => number;
  #day: number;
  #counts = new Map<string, number>();

  constructor(modules: { readonly unixTimeMs: () => number }) {
    this.#unixTimeMs = modules.unixTimeMs;
    this.#day = Math.floor(modules.unixTimeMs() / DAY_MS);
  }

  /** The day that is counted: `2025-01-31`. */
  get day(): string {
    this.#turn();
    return dayOf(this.#day * DAY_MS);
  }

  /** Milliseconds until the next day. */
  get untilNextDayMs(): number {
    const now = this.#turn();
    return (this.#day + 1) * DAY_MS - now;
  }

  used(subject: string): number {
    this.#turn();
    return this.#counts.get(subject) ?? 0;
  }

  add(subject: string): void {
    this.#turn();
    this.#counts.set(subject, (this.#counts.get(subject) ?? 0) + 1);
  }

  /** Others count the same subject, and came to `used`. */
  raise(subject: string, used: number): void {
    if (used > this.used(subject)) this.#counts.set(subject, used);
  }

  /** Takes these for the counts of `day`, wherever they are higher than its own; does nothing when it is not that day. */
  restore(day: string, counts: ReadonlyMap<string, number>): void {
    if (day !== this.day) return;
    for (const [subject, used] of counts) this.raise(subject, used);
  }

  #turn(): number {
    const now = this.#unixTimeMs();
    const day = Math.floor(now / DAY_MS);
    if (day > this.#day) {
      this.#day = day;
      this.#counts = new Map();
    }
    return now;
  }
}
