/**
 * A map of at most `most` entries that evicts those set longest ago. Entries are in two generations: when the younger one has
 * `most / 2` entries, it becomes the older one, which is dropped. There is no search or sweep.
 */
export class TwoGenerationMap<Value> {
  readonly #half: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#young.has(key)) {
      this.#old.delete(key);
      if (this.#young.size >= this.#half) {
        this.#old = this.#young;
        this.#young = new Map();
      }
    }
    this.#young.set(key, value);
  }
}
