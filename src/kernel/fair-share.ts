import { type Link, LinkedList } from '#kernel/linked-list.js';

interface Client<Item> {
  readonly name: string;
  /** What it has had, counted from the least of those who waited when it came; see {@link FairShare.#weight}. */
  served: number;
  /** What its next item is expected to cost. */
  readonly expected: number;
  readonly items: LinkedList<Item>;
}

const anyMay = (): boolean => true;

/** Clients without items of which it is remembered what they had. */
const MOST_REMEMBERED = 10_000;

/** After so much time in which nobody waited, what a client had before counts half as much, in milliseconds. */
const HALF_LIFE_MS = 250;

/** From this weight on, what was counted is made smaller, so that the numbers stay exact. */
const MOST_WEIGHT = 2 ** 20;

/** What the queue of a client is made from. */
export interface FairShareOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** What each item counts, beside what is charged. Default 1. */
  readonly itemCost?: number;
}

/**
 * A queue whose next item is the oldest one of the client that has had the least (start-time fair queueing): one who asks for
 * much delays himself and hardly anybody else. An item counts as much as `itemCost`, and what {@link FairShare.charge} adds. Of clients
 * that have had as much, which all newcomers have, the one whose next item is expected to cost least is the first.
 *
 * What a client had is forgotten while nobody waits: who used much when it was no loss to others would otherwise wait, once
 * others come, until each of them had as much.
 */
export class FairShare<Item> {
  /** Those with items. */
  readonly #waiting = new Map<string, Client<Item>>();
  /** Of those without, what they have had. */
  readonly #served = new Map<string, number>();
  /** What the client had that was served last: newcomers begin there, not with nothing. */
  #level = 0;
  #size = 0;
  readonly #itemCost: number;
  readonly #now: () => number;
  /** Since when nobody waits. */
  #emptySince: number;
  /** Before that, how long nobody waited, since a cost counted as it is. */
  #emptyMs = 0;

  constructor({ now, itemCost = 1 }: FairShareOptions) {
    this.#now = now;
    this.#itemCost = itemCost;
    this.#emptySince = now();
  }

  /** Items of all clients. */
  get size(): number {
    return this.#size;
  }

  /** Clients with items. */
  get clients(): number {
    return this.#waiting.size;
  }

  sizeOf(client: string): number {
    return this.#waiting.get(client)?.items.size ?? 0;
  }

  /** The items of the client with the most, the oldest first; null: nobody waits. */
  longest(): (Iterable<Item> & { readonly size: number }) | null {
    let longest: Client<Item> | null = null;
    for (const client of this.#waiting.values()) {
      if (longest === null || client.items.size > longest.items.size) longest = client;
    }
    return longest?.items ?? null;
  }

  /**
   * @param expected what an item of the client is expected to cost; of the first item since it had none
   * @returns the place of the item, by which it is removed
   */
  add(name: string, item: Item, expected = 0): Link<Item> {
    let client = this.#waiting.get(name);
    if (client === undefined) {
      client = { name, served: Math.max(this.#served.get(name) ?? 0, this.#level), expected, items: new LinkedList() };
      this.#served.delete(name);
      this.#waiting.set(name, client);
    }
    if (this.#size++ === 0) this.#emptyMs += this.#now() - this.#emptySince;
    return client.items.add(item);
  }

  /**
   * Takes out the item whose turn it is.
   *
   * @param mayHave whether a client may get one now; default: all may
   */
  take(mayHave: (client: string) => boolean = anyMay): Item | undefined {
    const weight = this.#weight();
    let best: Client<Item> | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const client of this.#waiting.values()) {
      const rank = client.served + client.expected * weight;
      if (rank >= least || !mayHave(client.name)) continue;
      best = client;
      least = rank;
    }
    if (best === null) return undefined;
    this.#level = Math.max(this.#level, best.served);
    best.served += this.#itemCost * weight;
    const item = best.items.take();
    this.#removed(best);
    return item;
  }

  /** @param place of {@link FairShare.add} @returns false: the client has not got the item any more */
  remove(name: string, place: Link<Item>): boolean {
    const client = this.#waiting.get(name);
    if (client === undefined || !client.items.remove(place)) return false;
    this.#removed(client);
    return true;
  }

  /** One of its items is not here any more. */
  #removed({ name, served, items }: Client<Item>): void {
    if (--this.#size === 0) this.#emptySince = this.#now();
    if (items.size > 0) return;
    this.#waiting.delete(name);
    this.#remember(name, served);
  }

  /** Takes out everything. */
  clear(): Item[] {
    const all = [...this.#waiting.values()].flatMap(({ items }) => items.clear());
    this.#waiting.clear();
    if (this.#size > 0) this.#emptySince = this.#now();
    this.#size = 0;
    return all;
  }

  /** Counts more for what a client got; negative: less than was counted a moment ago. */
  charge(name: string, cost: number): void {
    const weighed = cost * this.#weight();
    const client = this.#waiting.get(name);
    const before = client?.served ?? Math.max(this.#served.get(name) ?? 0, this.#level);
    // What is given back counts a little more than it did: it must not bring a client before newcomers.
    const served = Math.max(before + weighed, Math.min(before, this.#level));
    if (client === undefined) this.#remember(name, served);
    else client.served = served;
  }

  /**
   * How much a cost counts now. That old costs count less is the same as that new ones count more, and leaves the order of clients
   * as it is.
   */
  #weight(): number {
    const emptyMs = this.#emptyMs + (this.#size === 0 ? this.#now() - this.#emptySince : 0);
    const weight = 2 ** (emptyMs / HALF_LIFE_MS);
    if (weight < MOST_WEIGHT) return weight;
    const scaled = (served: number): number => Math.max(0, served - this.#level) / weight;
    for (const client of this.#waiting.values()) client.served = scaled(client.served);
    for (const [name, served] of this.#served) this.#served.set(name, scaled(served));
    this.#level = 0;
    this.#emptyMs -= emptyMs;
    return 1;
  }

  #remember(name: string, served: number): void {
    if (served <= this.#level) {
      this.#served.delete(name);
      return;
    }
    // The order of use matters only once some are to be forgotten soon.
    if (this.#served.size > MOST_REMEMBERED / 2) this.#served.delete(name);
    this.#served.set(name, served);
    if (this.#served.size <= MOST_REMEMBERED) return;
    const [longestAgo] = this.#served.keys();
    this.#served.delete(longestAgo!);
  }
}
