interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Whether it was used since it was put last in the order. */
  isUsed: boolean;
}

/** @param isEvicted whether there was no room for it any more */
type OnRemoved<Value> = (key: string, value: Value, isEvicted: boolean) => void;

/** Approximate overhead of an entry beside its key and value. */
const ENTRY_BYTES = 96;

/** How many entries that were used are put last again, in place of being evicted, to make room for one: that takes time. */
const MOST_SPARED = 16;

/**
 * A cache bounded in bytes. Values are evicted in the order in which they were stored, but those that were used since get a second
 * chance (the CLOCK approximation of least recently used): so using one changes no order, which would take longer than finding it.
 */
export class LruByBytes<Value> {
  readonly #maxBytes: number;
  readonly #onRemoved: OnRemoved<Value> | undefined;
  /** A map preserves insertion order. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;
  #evicted = 0;

  /** @param onRemoved called with each value that is evicted, replaced or deleted, but for `clear` */
  constructor(maxBytes: number, onRemoved?: OnRemoved<Value>) {
    this.#maxBytes = maxBytes;
    this.#onRemoved = onRemoved;
  }

  /** Bytes in use, including keys and overhead. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Number of evicted entries. */
  get evicted(): number {
    return this.#evicted;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  /** Stores a value of about `valueBytes` bytes; one that exceeds the bound alone is not stored. */
  set(key: string, value: Value, valueBytes: number): void {
    this.delete(key);
    const bytes = valueBytes + key.length + ENTRY_BYTES;
    if (!(bytes <= this.#maxBytes)) return;
    let spared = 0;
    // Those that are spared are visited again, if it comes to that.
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      if (entry.isUsed && spared < MOST_SPARED) {
        entry.isUsed = false;
        spared++;
        this.#entries.delete(oldest);
        this.#entries.set(oldest, entry);
        continue;
      }
      this.#evicted++;
      this.#remove(oldest, true);
    }
    this.#entries.set(key, { value, bytes, isUsed: false });
    this.#bytes += bytes;
  }

  delete(key: string): void {
    this.#remove(key, false);
  }

  #remove(key: string, isEvicted: boolean): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#onRemoved?.(key, entry.value, isEvicted);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}
