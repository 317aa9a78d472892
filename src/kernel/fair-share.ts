import { type Link, LinkedList } from '#kernel/linked-list.js';

interface Client<Item> {
  readonly name: string;
  /** What it has had, counted from the least of those who waited when it came. */
  served: number;
  /** What its next item is expected to cost. */
  readonly expected: number;
  readonly items: LinkedList<Item>;
}

const anyMay = (): boolean => true;

/** Clients without items of which it is remembered what they had. */
const MOST_REMEMBERED = 10_000;

/**
 * A queue whose next item is the oldest one of the client that has had the least (start-time fair queueing): one who asks for
 * much delays himself and hardly anybody else. An item counts as much as `itemCost`, and what {@link FairShare.charge} adds. Of clients
 * that have had as much, which all newcomers have, the one whose next item is expected to cost least is the first.
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

  constructor(itemCost = 1) {
    this.#itemCost = itemCost;
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
    this.#size++;
    return client.items.add(item);
  }

  /**
   * Takes out the item whose turn it is.
   *
   * @param mayHave whether a client may get one now; default: all may
   */
  take(mayHave: (client: string) => boolean = anyMay): Item | undefined {
    let best: Client<Item> | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const client of this.#waiting.values()) {
      const rank = client.served + client.expected;
      if (rank >= least || !mayHave(client.name)) continue;
      best = client;
      least = rank;
    }
    if (best === null) return undefined;
    this.#level = Math.max(this.#level, best.served);
    best.served += this.#itemCost;
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
    this.#size--;
    if (items.size > 0) return;
    this.#waiting.delete(name);
    this.#remember(name, served);
  }

  /** Takes out everything. */
  clear(): Item[] {
    const all = [...this.#waiting.values()].flatMap(({ items }) => items.clear());
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }

  /** Counts more for what a client got. */
  charge(name: string, cost: number): void {
    const client = this.#waiting.get(name);
    if (client === undefined) this.#remember(name, Math.max(this.#served.get(name) ?? 0, this.#level) + cost);
    else client.served += cost;
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
