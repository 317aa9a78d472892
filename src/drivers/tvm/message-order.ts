import { compareBytes } from '#kernel/bytes.js';

/** A place in the processing order of messages: by lt, then by message hash. */
export interface MessagePlace {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

export function comparePlaces(a: MessagePlace, b: MessagePlace): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return compareBytes(a.hash, b.hash);
}

/** Messages created in a block and not yet received or enqueued, in processing order. */
export class NewMessages<Message extends { readonly place: MessagePlace }> {
  /** The next message is the last element. */
  readonly #waiting: Message[] = [];

  add(message: Message): void {
    const waiting = this.#waiting;
    let low = 0;
    let high = waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comparePlaces(waiting[middle]!.place, message.place) > 0) low = middle + 1;
      else high = middle;
    }
    waiting.splice(low, 0, message);
  }

  next(): Message | null {
    return this.#waiting.pop() ?? null;
  }
}
