interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** When it was put last in the order of use: the count of uses of all entries. */
  placed: number;
}

/** @param isEvicted whether there was no room for it any more */
type OnRemoved<Value> = (key: string, value: Value, isEvicted: boolean) => void;

/** Approximate overhead of an entry beside its key and value. */
const ENTRY_BYTES = 96;

/**
 * What part of all entries may have been used after one without it being put last again when it is used: such an entry is far from
 * being evicted, and moving one takes longer than finding it.
 */
const RECENT = 1 / 4;

/** A cache bounded in bytes; the least recently used values are evicted first. */
export class LruByBytes<Value> {
  readonly #maxBytes: number;
  readonly #onRemoved: OnRemoved<Value> | undefined;
  /** A map preserves insertion order; an entry is reinserted when it is used, unless it was lately. */
  readonly #entries = new Map<string, Entry<Value>>();
  #uses = 0;
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
    const now = ++this.#uses;
    if (now - entry.placed <= this.#entries.size * RECENT) return entry.value;
    entry.placed = now;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Stores a value of about `valueBytes` bytes; one that exceeds the bound alone is not stored. */
  set(key: string, value: Value, valueBytes: number): void {
    this.delete(key);
    const bytes = valueBytes + key.length + ENTRY_BYTES;
    if (!(bytes <= this.#maxBytes)) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.#evicted++;
      this.#remove(oldest, true);
    }
    this.#entries.set(key, { value, bytes, placed: ++this.#uses });
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
