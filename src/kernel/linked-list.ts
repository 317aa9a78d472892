/** The place of an item in a {@link LinkedList}. */
export class Link<Item> {
  readonly item: Item;
  /** Whether it is in the list. Set by the list, as the links to its neighbours are. */
  isIn = true;
  previous: Link<Item> | null = null;
  next: Link<Item> | null = null;

  constructor(item: Item) {
    this.item = item;
  }
}

/**
 * Items in the order in which they were added, of which any can be removed in constant time.
 *
 * For what comes and goes with each request it takes the place of a `Set` that lives as long as the process. V8 copies the table of
 * such a set after every few changes, into the old generation, and until the next full collection the tables that were left
 * there keep everything alive that was in them. With 16 objects that come and go, collections of the young generation take ten times
 * as long, as all of them are promoted, and a full collection follows every 50,000 objects.
 */
export class LinkedList<Item> implements Iterable<Item> {
  #first: Link<Item> | null = null;
  #last: Link<Item> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The item that was added first; undefined: there is none. */
  get first(): Item | undefined {
    return this.#first?.item;
  }

  /** Adds an item as the last one. @returns its place, by which it is removed */
  add(item: Item): Link<Item> {
    const link = new Link(item);
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    link.previous = this.#last;
    this.#last = link;
    this.#size++;
    return link;
  }

  /**
   * Removes an item.
   *
   * @param link of this list; null: nothing is removed
   * @returns false: it was removed before
   */
  remove(link: Link<Item> | null): boolean {
    if (link === null || !link.isIn) return false;
    const { previous, next } = link;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    link.isIn = false;
    // An old link must not keep younger ones alive.
    link.previous = null;
    link.next = null;
    this.#size--;
    return true;
  }

  /** Removes the first item and returns it; undefined: there is none. */
  take(): Item | undefined {
    const link = this.#first;
    this.remove(link);
    return link?.item;
  }

  /** Removes all items and returns them. */
  clear(): Item[] {
    const items = [...this];
    while (this.#first !== null) this.remove(this.#first);
    return items;
  }

  /** From the first to the last. An item may be removed while it is visited, but not the one after it. */
  *[Symbol.iterator](): Generator<Item> {
    for (let link = this.#first; link !== null; ) {
      const { next } = link;
      yield link.item;
      link = next;
    }
  }
}
