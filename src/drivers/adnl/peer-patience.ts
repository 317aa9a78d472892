import type { ConnectionOptions } from '#drivers/adnl/options.js';

/** What is to be done now: nothing, send a ping, or end the connection for one of three reasons. */
export type Verdict = 'wait' | 'ping' | 'silent' | 'slow-packet' | 'not-reading';

/** How long the peer has let us wait for what. Times are those of the clock, in ms. */
export class PeerPatience {
  readonly #options: ConnectionOptions;
  #lastReceived: number;
  /** When the packet at hand began to come, or null when none has come in part. */
  #packetSince: number | null = null;
  /** Since when the socket takes nothing more, or null when it does. */
  #blockedSince: number | null = null;
  #pinged = false;
  #paused = false;

  constructor(options: ConnectionOptions, now: number) {
    this.#options = options;
    this.#lastReceived = now;
  }

  get isBlocked(): boolean {
    return this.#blockedSince !== null;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /** Bytes came. @param packet what they leave behind: no packet in part, the one that was there, or a new one */
  received(now: number, packet: 'none' | 'same' | 'new'): void {
    this.#lastReceived = now;
    this.#pinged = false;
    if (packet === 'none') this.#packetSince = null;
    else if (packet === 'new') this.#packetSince = now;
  }

  blocked(now: number): void {
    this.#blockedSince = now;
  }

  unblocked(): void {
    this.#blockedSince = null;
  }

  /** Nothing is read: that nothing comes is not the fault of the peer. */
  paused(): void {
    this.#paused = true;
  }

  resumed(now: number): void {
    this.#paused = false;
    this.#lastReceived = now;
    if (this.#packetSince !== null) this.#packetSince = now;
  }

  pinged(): void {
    this.#pinged = true;
  }

  verdict(now: number): Verdict {
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    if (this.#blockedSince !== null && now - this.#blockedSince >= writeTimeoutMs) return 'not-reading';
    if (this.#paused) return 'wait';
    if (this.#packetSince !== null && now - this.#packetSince >= packetTimeoutMs) return 'slow-packet';
    const silence = now - this.#lastReceived;
    if (silence >= deadAfterMs) return 'silent';
    return pingAfterMs > 0 && !this.#pinged && silence >= pingAfterMs ? 'ping' : 'wait';
  }

  /** In how many ms to look again. Whatever happens until then, nothing falls due before. */
  nextLook(now: number): number {
    const { packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs } = this.#options;
    // A deadline that does not run yet can fall due only a whole time-out from now.
    let next = now + Math.min(packetTimeoutMs, writeTimeoutMs, deadAfterMs, pingAfterMs || deadAfterMs);
    if (this.#blockedSince !== null) next = Math.min(next, this.#blockedSince + writeTimeoutMs);
    if (!this.#paused) {
      if (this.#packetSince !== null) next = Math.min(next, this.#packetSince + packetTimeoutMs);
      next = Math.min(next, this.#lastReceived + deadAfterMs);
      if (pingAfterMs > 0 && !this.#pinged) next = Math.min(next, this.#lastReceived + pingAfterMs);
    }
    return Math.max(1, next - now);
  }
}
