interface Entry<Value> {
  readonly hash: Uint8Array;
  value: Value;
  /** The next hash with the same first 53 bits. */
  next: Entry<Value> | null;
}

/**
 * A map keyed by 32-byte hashes, compared byte for byte. Lookup uses the first 53 bits as a number, which is about five
 * times as fast as a map keyed by hex text. Key bytes are referenced, not copied.
 */
export class HashMap<Value> {
  readonly #chains = new Map<number, Entry<Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(hash: Uint8Array): Value | undefined {
    let entry = this.#chains.get(first53(hash)) ?? null;
    while (entry !== null && !sameHash(entry.hash, hash)) entry = entry.next;
    return entry?.value;
  }

  set(hash: Uint8Array, value: Value): void {
    const key = first53(hash);
    const first = this.#chains.get(key) ?? null;
    for (let entry = first; entry !== null; entry = entry.next) {
      if (!sameHash(entry.hash, hash)) continue;
      entry.value = value;
      return;
    }
    this.#chains.set(key, { hash, value, next: first });
    this.#size++;
  }

  /** Removes and returns the value of a hash. */
  take(hash: Uint8Array): Value | undefined {
    const key = first53(hash);
    const first = this.#chains.get(key);
    if (first === undefined) return undefined;
    let before: Entry<Value> | null = null;
    for (let entry: Entry<Value> | null = first; entry !== null; before = entry, entry = entry.next) {
      if (!sameHash(entry.hash, hash)) continue;
      if (before !== null) before.next = entry.next;
      else if (entry.next !== null) this.#chains.set(key, entry.next);
      else this.#chains.delete(key);
      this.#size--;
      return entry.value;
    }
    return undefined;
  }

  forEach(visit: (value: Value, hash: Uint8Array) => void): void {
    for (const first of this.#chains.values()) {
      for (let entry: Entry<Value> | null = first; entry !== null; entry = entry.next) visit(entry.value, entry.hash);
    }
  }
}

function first53(hash: Uint8Array): number {
  const high = ((hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!) >>> 0;
  return high * 0x20_0000 + ((hash[4]! << 13) | (hash[5]! << 5) | (hash[6]! >>> 3));
}

function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return false;
  return true;
}
