/**
 * Random seed of the hash table below. A sender can choose the first bytes of hashes at some cost; the seed prevents
 * it from choosing hashes that all fall into one slot. No result depends on it.
 */
const secret = crypto.getRandomValues(new Int32Array(2));

/**
 * Assigns indexes 0, 1, 2, … to 32-byte hashes in insertion order: a set of cells, or a map with arrays beside it.
 * It consists of a few typed arrays (open addressing), without strings or objects per entry.
 */
export class HashIndex {
  #size = 0;
  #mask: number;
  /** Two words a slot: the mixed key, and the entry's number plus one (0: free). */
  #slots: Int32Array;
  #hashes: Uint8Array;

  /** @param expected number of entries to allocate for; it grows as needed */
  constructor(expected = 32) {
    let slots = 64;
    while (slots < expected * 2) slots *= 2;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots * 2);
    this.#hashes = new Uint8Array((slots >> 1) * 32);
  }

  /** Number of distinct hashes added. */
  get size(): number {
    return this.#size;
  }

  /** Removes all hashes; keeps the capacity. */
  clear(): void {
    this.#size = 0;
    this.#slots.fill(0);
  }

  /** The index of the hash at `bytes[at, at + 32)`, or -1 when it was never added. */
  find(bytes: Uint8Array, at = 0): number {
    return this.#slots[this.#seek(mix(bytes, at), bytes, at) * 2 + 1]! - 1;
  }

  has(bytes: Uint8Array, at = 0): boolean {
    return this.find(bytes, at) >= 0;
  }

  /** The index of the hash at `bytes[at, at + 32)`; a new one gets the previous `size`. */
  add(bytes: Uint8Array, at = 0): number {
    const key = mix(bytes, at);
    const slot = this.#seek(key, bytes, at) * 2;
    const known = this.#slots[slot + 1]!;
    if (known !== 0) return known - 1;
    const entry = this.#size++;
    this.#slots[slot] = key;
    this.#slots[slot + 1] = entry + 1;
    const hashes = this.#hashes;
    for (let to = entry * 32, from = at, end = at + 32; from < end; ) hashes[to++] = bytes[from++]!;
    if (this.#size * 2 > this.#mask) this.#grow();
    return entry;
  }

  /** The hash of an entry; a read-only view that is valid until the next `add`. */
  hash(entry: number): Uint8Array {
    return this.#hashes.subarray(entry * 32, entry * 32 + 32);
  }

  /** The slot that holds the hash, or the free one where it belongs. */
  #seek(key: number, bytes: Uint8Array, at: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = key & mask;
    for (;;) {
      const entry = slots[slot * 2 + 1]!;
      if (entry === 0 || (slots[slot * 2] === key && this.#same((entry - 1) * 32, bytes, at))) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #same(own: number, bytes: Uint8Array, at: number): boolean {
    const hashes = this.#hashes;
    for (let i = 0; i < 32; i++) if (hashes[own + i] !== bytes[at + i]) return false;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    const mask = this.#mask * 2 + 1;
    const slots = new Int32Array((mask + 1) * 2);
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue;
      let slot = old[i]! & mask;
      while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * 2] = old[i]!;
      slots[slot * 2 + 1] = old[i + 1]!;
    }
    this.#slots = slots;
    this.#mask = mask;
    const hashes = new Uint8Array(((mask + 1) >> 1) * 32);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
  }
}

function mix(bytes: Uint8Array, at: number): number {
  const a = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  const b = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
  const h = Math.imul(a ^ secret[0]!, 0x9e3779b1) ^ Math.imul(b ^ secret[1]!, 0x85ebca6b);
  return h ^ (h >>> 15);
}
