/** Keeps second requests below a share of all requests: each request earns a part of one. */
export class HedgeBudget {
  readonly #share: number;
  readonly #burst: number;
  #saved: number;
  #spent = 0;

  constructor(share: number, burst: number) {
    this.#share = share;
    this.#burst = share === 0 ? 0 : burst;
    this.#saved = this.#burst;
  }

  /** How many have been sent. */
  get spent(): number {
    return this.#spent;
  }

  earn(): void {
    this.#saved = Math.min(this.#burst, this.#saved + this.#share);
  }

  /** Takes one if there is one. */
  take(): boolean {
    if (this.#saved < 1) return false;
    this.#saved--;
    this.#spent++;
    return true;
  }
}
