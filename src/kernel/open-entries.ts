/**
 * A map of what is under way, which comes and goes. What an entry was is not referred to any more once it is deleted: a `Map` of
 * values would keep them alive until the next full collection, in the tables that V8 has left behind; see `LinkedList`.
 */
export class OpenEntries<Key, Value extends {}> {
  readonly #entries = new Map<Key, { value: Value | null }>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value ?? undefined;
  }

  /** Adds an entry, or replaces that of the key. */
  set(key: Key, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { value });
    else entry.value = value;
  }

  /** @returns what the entry was; undefined: there was none */
  delete(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { value } = entry;
    entry.value = null;
    this.#entries.delete(key);
    return value as Value;
  }

  /** Deletes all entries and returns what they were, in the order in which their keys were added. */
  clear(): Value[] {
    return [...this.#entries.keys()].map((key) => this.delete(key) as Value);
  }
}
