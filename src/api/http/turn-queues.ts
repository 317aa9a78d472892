import { FairShare } from '#kernel/fair-share.js';
import type { Link } from '#kernel/linked-list.js';

/**
 * Whose requests wait apart from the others:
 *
 * - `urgent`: what must be answered whatever happens
 * - `keyed`: clients with an API key, each for itself
 * - `others`: clients without one, by address
 */
export type TurnKind = 'urgent' | 'keyed' | 'others';

/** Whose turn a request takes. */
export interface TurnOf {
  readonly kind: TurnKind;
  /** Opaque id of a client of this kind. */
  readonly client: string;
  /** How much it gets, compared with a client of weight 1. */
  readonly weight: number;
}

/** In this order, as far as there are such: however many clients without a key there are, those with one get their share. */
const ORDER: readonly TurnKind[] = ['urgent', 'keyed', 'others', 'keyed'];

/**
 * What waits for its turn. Kinds take turns, and the next item of a kind is of the client that has had the least for its weight;
 * see {@link FairShare}. Items cost what they are charged for.
 */
export class TurnQueues<Item> {
  readonly #queues: Readonly<Record<TurnKind, FairShare<Item>>> = {
    urgent: new FairShare(0),
    keyed: new FairShare(0),
    others: new FairShare(0),
  };
  #place = 0;

  /** Items of all clients. */
  get size(): number {
    const { urgent, keyed, others } = this.#queues;
    return urgent.size + keyed.size + others.size;
  }

  /** Items of all clients of a kind. */
  sizeOfKind(kind: TurnKind): number {
    return this.#queues[kind].size;
  }

  /** Items of one client. */
  sizeOf({ kind, client }: TurnOf): number {
    return this.#queues[kind].sizeOf(client);
  }

  /** @param expected what the item is expected to cost a client of weight 1 @returns its place, by which it is removed */
  add({ kind, client, weight }: TurnOf, item: Item, expected: number): Link<Item> {
    return this.#queues[kind].add(client, item, expected / weight);
  }

  remove({ kind, client }: TurnOf, place: Link<Item>): void {
    this.#queues[kind].remove(client, place);
  }

  /**
   * Takes out the item whose turn it is.
   *
   * @param mayHave whether a client of any kind may get one now; default: all may
   */
  take(mayHave?: (client: string) => boolean): Item | undefined {
    for (let tried = 0; tried < ORDER.length; tried++) {
      const kind = ORDER[this.#place++ % ORDER.length]!;
      const item = this.#queues[kind].take(mayHave);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** Counts what a client got. @param cost for a client of weight 1; negative: less than was counted before */
  charge({ kind, client, weight }: TurnOf, cost: number): void {
    this.#queues[kind].charge(client, cost / weight);
  }
}
