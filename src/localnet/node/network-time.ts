/** The time of a local network: that of the machine, moved forward at will. It never goes back. */
export class NetworkTime {
  readonly #unixTimeMs: () => number;
  #offset = 0;

  /** @param unixTimeMs the machine's time, milliseconds since 1970 */
  constructor(unixTimeMs: () => number) {
    this.#unixTimeMs = unixTimeMs;
  }

  /** Seconds since 1970. */
  now(): number {
    return Math.floor(this.#unixTimeMs() / 1000) + this.#offset;
  }

  /** Seconds by which it is ahead of the machine's. */
  get offset(): number {
    return this.#offset;
  }

  /** @param seconds whole, not negative */
  advance(seconds: number): void {
    this.#offset += seconds;
  }

  /** Goes on from a time that was reached before, if that is later: after a restart, on another machine. */
  continueFrom(unixTime: number): void {
    this.#offset = Math.max(this.#offset, this.#offset + unixTime - this.now());
  }
}
