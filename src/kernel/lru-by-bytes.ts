interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** What an entry takes beside its key and value: the nodes of the map, roughly. */
const ENTRY_BYTES = 96;

/** Keeps values as long as they fit into a number of bytes; the ones not used for longest go first. */
export class LruByBytes<Value> {
  readonly #maxBytes: number;
  /** A map keeps the order of insertion; what is used is inserted anew. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;
  #evicted = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What all that is kept takes. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many had to go for others. */
  get evicted(): number {
    return this.#evicted;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value of about so many bytes; one that is larger than everything may be together is not kept. */
  set(key: string, value: Value, valueBytes: number): void {
    this.delete(key);
    const bytes = valueBytes + key.length + ENTRY_BYTES;
    if (!(bytes <= this.#maxBytes)) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.delete(oldest);
      this.#evicted++;
    }
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}
