/** Whose turn an item of a {@link FairQueue} takes. */
export interface Turn {
  /** Opaque id of a client. */
  readonly client: string;
  /** The contract: raw address. */
  readonly contract: string;
}

export interface FairQueueLimits {
  /** Items in total. */
  readonly most: number;
  /** Items of one client. */
  readonly mostOfClient: number;
  /** Items of one client for one contract. */
  readonly mostOfContract: number;
}

interface ClientQueue<Item> {
  /** By contract, in the order of their turns. */
  readonly contracts: Map<string, Item[]>;
  size: number;
}

/**
 * A queue that is fair between clients, and between the contracts of each client: both take turns, so that one who asks for
 * much delays himself and nobody else. It is bounded; when it is full, room is made by the client with the most items.
 */
export class FairQueue<Item extends Turn> {
  readonly #limits: FairQueueLimits;
  /** In the order of their turns. */
  readonly #clients = new Map<string, ClientQueue<Item>>();
  #size = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Appends an item. @returns the item that finds no room: null, this one, or the newest one of the client with the most */
  add(item: Item): Item | null {
    const { most, mostOfClient, mostOfContract } = this.#limits;
    const own = this.#clients.get(item.client);
    if ((own?.size ?? 0) >= mostOfClient) return item;
    if ((own?.contracts.get(item.contract)?.length ?? 0) >= mostOfContract) return item;
    let dropped: Item | null = null;
    if (this.#size >= most) {
      dropped = this.#newestOfLargest((own?.size ?? 0) + 1);
      if (dropped === null) return item;
      this.remove(dropped);
    }
    this.#append(item);
    return dropped;
  }

  /** Takes out the item whose turn it is. */
  take(): Item | undefined {
    const [turn] = this.#clients;
    if (turn === undefined) return undefined;
    const [client, queue] = turn;
    const [contract, items] = queue.contracts.entries().next().value!;
    const item = items.shift()!;
    this.#size--;
    queue.size--;
    queue.contracts.delete(contract);
    if (items.length > 0) queue.contracts.set(contract, items);
    this.#clients.delete(client);
    if (queue.size > 0) this.#clients.set(client, queue);
    return item;
  }

  /** @returns whether the item was in the queue */
  remove(item: Item): boolean {
    const queue = this.#clients.get(item.client);
    const items = queue?.contracts.get(item.contract);
    const at = items?.indexOf(item) ?? -1;
    if (queue === undefined || items === undefined || at === -1) return false;
    items.splice(at, 1);
    if (items.length === 0) queue.contracts.delete(item.contract);
    queue.size--;
    if (queue.size === 0) this.#clients.delete(item.client);
    this.#size--;
    return true;
  }

  /** Takes out everything. */
  clear(): Item[] {
    const all: Item[] = [];
    for (let item = this.take(); item !== undefined; item = this.take()) all.push(item);
    return all;
  }

  #append(item: Item): void {
    let queue = this.#clients.get(item.client);
    if (queue === undefined) {
      queue = { contracts: new Map(), size: 0 };
      this.#clients.set(item.client, queue);
    }
    const items = queue.contracts.get(item.contract);
    if (items === undefined) queue.contracts.set(item.contract, [item]);
    else items.push(item);
    queue.size++;
    this.#size++;
  }

  /** @param moreThan the client must have more items than this */
  #newestOfLargest(moreThan: number): Item | null {
    let largest: ClientQueue<Item> | null = null;
    for (const queue of this.#clients.values()) {
      if (queue.size > (largest?.size ?? moreThan)) largest = queue;
    }
    let longest: Item[] = [];
    for (const items of largest?.contracts.values() ?? []) if (items.length >= longest.length) longest = items;
    return longest.at(-1) ?? null;
  }
}
