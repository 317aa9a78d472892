import { timingSafeEqual } from 'node:crypto';
import { fromHex } from '#kernel/bytes/bytes.js';
import type { KeyRecord } from '#services/access/key-record.js';
import { hashApiKey, looksLikeApiKey } from '#services/access/key-secret.js';

interface Entry {
  readonly hash: Uint8Array;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly record: KeyRecord;
}

/**
 * Keys by secret. The first 64 bits of the hash find the entry, the whole hash is then compared in constant time: how long a
 * wrong key takes tells at most about the hash of what was sent, which is no help in finding a key.
 */
export class KeyIndex {
  readonly #entries = new Map<string, Entry[]>();
  readonly #records = new Map<string, KeyRecord>();

  constructor(keys: readonly KeyRecord[]) {
    for (const record of keys) {
      this.#records.set(record.id, record);
      if (record.revoked_at === null) this.#addSecrets(record);
    }
  }

  /** Keys that are not revoked; a moment in `revoked_at` is taken for revoked, also one to come. */
  get active(): number {
    let active = 0;
    for (const { revoked_at } of this.#records.values()) if (revoked_at === null) active++;
    return active;
  }

  byId(id: string): KeyRecord | null {
    return this.#records.get(id) ?? null;
  }

  /** The key that a request gave; `null` when it is none, revoked or expired. */
  bySecret(text: string, unixTimeMs: number): KeyRecord | null {
    if (!looksLikeApiKey(text)) return null;
    const hash = hashApiKey(text);
    for (const entry of this.#entries.get(prefixOf(hash)) ?? []) {
      if (timingSafeEqual(entry.hash, hash)) return unixTimeMs < entry.expiresAt ? entry.record : null;
    }
    return null;
  }

  #addSecrets(record: KeyRecord): void {
    for (const { hash: text, expires_at } of record.secrets) {
      const hash = fromHex(text)!;
      const entries = this.#entries.get(prefixOf(hash)) ?? [];
      const expiresAt = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
      this.#entries.set(prefixOf(hash), [...entries, { hash, expiresAt, record }]);
    }
  }
}

function prefixOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, 8).toString('latin1');
}
