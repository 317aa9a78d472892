import { hashKey } from '#drivers/store/keys.js';
import { toHex } from '#kernel/bytes.js';
import type { Invalidation } from '#services/pending/live-trace.js';
import { addTo, removeFrom } from '#services/pending/message-index.js';

/** Who waits for changes of messages by their hash, and why messages are over that were pending. */
export class MessageWatchers {
  readonly #mostEnded: number;
  /** The oldest first. */
  readonly #ended = new Map<string, Invalidation>();
  readonly #watchers = new Map<string, Set<() => void>>();
  /** The keys of the watchers, by `hash_key`. */
  readonly #watched = new Map<bigint, Set<string>>();

  /** @param mostEnded hashes that are kept of messages that are over */
  constructor(mostEnded: number) {
    this.#mostEnded = mostEnded;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Calls the listener whenever {@link wake} is called for a hash. @returns ends that */
  watch(hash: Uint8Array, listener: () => void): () => void {
    const key = toHex(hash);
    const listeners = addTo(this.#watchers, key, listener);
    addTo(this.#watched, hashKey(hash), key);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#watchers.get(key) !== listeners) return;
      this.#watchers.delete(key);
      removeFrom(this.#watched, hashKey(hash), key);
    };
  }

  wake(key: string): void {
    for (const listener of [...(this.#watchers.get(key) ?? [])]) listener();
  }

  /** The watched hashes among the messages of a block. @param messages `msg_key` of its messages; null: any */
  among(messages: readonly bigint[] | null): ReadonlySet<string> {
    if (this.#watched.size === 0) return new Set();
    if (messages === null) return new Set(this.#watchers.keys());
    return new Set(messages.flatMap((key) => [...(this.#watched.get(key) ?? [])]));
  }

  /** Why a message is over; undefined: it is not, or that is long ago. */
  endOf(key: string): Invalidation | undefined {
    return this.#ended.get(key);
  }

  /** A message is over. */
  remember(invalidation: Invalidation): void {
    for (const hash of [invalidation.external_hash, invalidation.external_hash_norm]) {
      const key = toHex(hash);
      this.#ended.delete(key);
      this.#ended.set(key, invalidation);
      this.wake(key);
    }
    while (this.#ended.size > this.#mostEnded) this.#ended.delete(this.#ended.keys().next().value!);
  }

  /** A message begins anew. */
  forget(key: string): void {
    this.#ended.delete(key);
  }
}
