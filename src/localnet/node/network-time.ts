/** The last time that a block can have: `gen_utime:uint32`. */
export const LAST_SECOND = 2 ** 32 - 1;

/**
 * The time of a local network: machine time, which can be moved forward. It never goes back. Where it is ahead, it can run
 * slower than the machine, or stand still, until the machine has caught up.
 */
export class NetworkTime {
  readonly #unixTimeMs: () => number;
  /** Milliseconds ahead of machine time, at {@link #since}. */
  #ahead = 0;
  /** Machine time from which on the speed applies. */
  #since = 0;
  #speed = 1;

  /** @param unixTimeMs machine time, milliseconds since 1970 */
  constructor(unixTimeMs: () => number) {
    this.#unixTimeMs = unixTimeMs;
  }

  /** Seconds since 1970. */
  now(): number {
    const machine = this.#unixTimeMs();
    return Math.floor((machine + this.#aheadAt(machine)) / 1000);
  }

  /** Seconds ahead of machine time. */
  get offset(): number {
    const machine = this.#unixTimeMs();
    return Math.floor((machine + this.#aheadAt(machine)) / 1000) - Math.floor(machine / 1000);
  }

  /** Seconds per second of the machine, 0 to 1. It is 1 again when the machine has caught up. */
  get speed(): number {
    this.#settle();
    return this.#speed;
  }

  /** @param seconds whole, not negative */
  advance(seconds: number): void {
    this.#settle();
    this.#ahead += seconds * 1000;
  }

  /**
   * Sets how fast the time runs while it is ahead of the machine.
   * @param speed seconds per second of the machine: 0 stands still, 1 stays ahead
   */
  setSpeed(speed: number): void {
    this.#settle();
    this.#speed = this.#ahead === 0 ? 1 : speed;
  }

  /** Continues from a time that was reached before, if it is later: after a restart, possibly on another machine. */
  continueFrom(unixTime: number): void {
    this.#settle();
    this.advance(Math.max(0, unixTime - this.now()));
  }

  #aheadAt(machine: number): number {
    // A machine that sets its clock back does not make the time run faster.
    const passed = Math.max(0, machine - this.#since);
    return this.#speed === 1 ? this.#ahead : Math.max(0, this.#ahead - passed * (1 - this.#speed));
  }

  #settle(): void {
    const machine = this.#unixTimeMs();
    this.#ahead = this.#aheadAt(machine);
    this.#since = machine;
    if (this.#ahead === 0) this.#speed = 1;
  }
}
