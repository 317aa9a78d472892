import type { ChangeLog } from '#api/http/http-api.js';
import { changedKeys, type KnownChange } from '#api/v3/answer-keys.js';

/** Keys that are remembered, at most: on mainnet those of some minutes. */
const MOST_KEYS = 250_000;

/** Which keys changed with which version of the data, for the newest versions. */
export class ChangedKeys implements ChangeLog {
  readonly #most: number;
  /** The newest version with which a key changed, the least recently changed first. */
  readonly #versions = new Map<string, number>();
  /** What was known before this version may have changed unnoticed. */
  #floor = 0;
  confirmedAt = Number.NEGATIVE_INFINITY;
  /** What changed with the newest version; null: anything. */
  newest: readonly string[] | null = null;

  constructor(most = MOST_KEYS) {
    this.#most = most;
  }

  get size(): number {
    return this.#versions.size;
  }

  isUnchanged(keys: readonly string[], since: number): boolean {
    if (since < this.#floor) return false;
    for (const key of keys) {
      const version = this.#versions.get(key);
      if (version !== undefined && version > since) return false;
    }
    return true;
  }

  /** @param changes null: anything may have changed */
  noteChanges(version: number, changes: readonly KnownChange[] | null): void {
    this.newest = changes?.flatMap((change) => [...changedKeys(change)]) ?? null;
    this.noteKeys(version, this.newest);
  }

  /** @param keys null: anything may have changed */
  noteKeys(version: number, keys: readonly string[] | null): void {
    if (keys === null) this.noteAll(version);
    else for (const key of keys) this.note(key, version);
  }

  noteConfirmed(now: number): void {
    this.confirmedAt = now;
  }

  /** @param version the first one with the change */
  note(key: string, version: number): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size <= this.#most) return;
    for (const [oldest, at] of this.#versions) {
      this.#versions.delete(oldest);
      this.#floor = Math.max(this.#floor, at);
      break;
    }
  }

  /** Anything may have changed. @param version the first one with the change */
  noteAll(version: number): void {
    this.#versions.clear();
    this.#floor = version;
  }
}
