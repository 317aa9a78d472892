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

  /**
   * Takes one if there is one. Half of what can be saved is for requests that are long overdue, so that those which are only
   * a little slow leave something for the moment at which a server falls silent.
   */
  take(isOverdue: boolean): boolean {
    if (this.#saved < (isOverdue ? 1 : Math.floor(this.#burst / 2) + 1)) return false;
    this.#saved--;
    this.#spent++;
    return true;
  }
}
