/** So many keys are known before those that count nothing are forgotten. */
const MOST_KNOWN = 1_024;

/**
 * Counts what is under way of each client, or of any other key. Keys that count nothing are forgotten together once there are many:
 * forgetting each at once would make V8 copy the map again and again, see `LinkedList`.
 */
export class KeyedCounts {
  readonly #counts = new Map<string, number>();
  #forgetsFrom = MOST_KNOWN;

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Counts one more. */
  begin(key: string): void {
    if (this.#counts.size >= this.#forgetsFrom) this.#forget();
    this.#counts.set(key, this.of(key) + 1);
  }

  /** Counts one less, which has begun. */
  end(key: string): void {
    this.#counts.set(key, this.of(key) - 1);
  }

  /** How many keys are known. */
  get known(): number {
    return this.#counts.size;
  }

  #forget(): void {
    for (const [key, count] of this.#counts) if (count === 0) this.#counts.delete(key);
    this.#forgetsFrom = Math.max(MOST_KNOWN, 2 * this.#counts.size);
  }
}
