import type { Subscriber } from '#api/stream/subscriber.js';

/** Who waits for one thing: mostly one subscriber, for which a set would be most of the memory. */
export type Watchers = Subscriber | Set<Subscriber>;

/** @param known null: nobody waited */
export function withWatcher(known: Watchers | null, subscriber: Subscriber): Watchers {
  if (known === null || known === subscriber) return subscriber;
  if (known instanceof Set) return known.add(subscriber);
  return new Set([known, subscriber]);
}

/** @returns null: nobody waits any more */
export function withoutWatcher(known: Watchers | null, subscriber: Subscriber): Watchers | null {
  if (known === subscriber) return null;
  if (known instanceof Set && known.delete(subscriber) && known.size === 0) return null;
  return known;
}

const NOBODY: readonly Subscriber[] = [];

/** Those who wait. */
export function watchersOf(known: Watchers | null): Iterable<Subscriber> {
  if (known === null) return NOBODY;
  return known instanceof Set ? known : [known];
}

/** Who waits for things with names: accounts in raw form, hashes of traces. */
export class WatchersByName {
  readonly #watchers = new Map<string, Watchers>();

  /** Names that somebody waits for. */
  get size(): number {
    return this.#watchers.size;
  }

  has(name: string): boolean {
    return this.#watchers.has(name);
  }

  keys(): IterableIterator<string> {
    return this.#watchers.keys();
  }

  add(name: string, subscriber: Subscriber): void {
    this.#watchers.set(name, withWatcher(this.#watchers.get(name) ?? null, subscriber));
  }

  remove(name: string, subscriber: Subscriber): void {
    const known = this.#watchers.get(name);
    if (known !== undefined && withoutWatcher(known, subscriber) === null) this.#watchers.delete(name);
  }

  of(name: string): Iterable<Subscriber> {
    return watchersOf(this.#watchers.get(name) ?? null);
  }
}
