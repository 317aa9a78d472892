import type { SentMessage } from '#localnet/producer/block-messages.js';
import { comparePlaces, type MessagePlace } from '#localnet/producer/processed-messages.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';

/** A message that was sent in the block that is made. */
export interface NewMessage extends SentMessage {
  readonly place: MessagePlace;
  readonly src: RoutingPrefix;
  readonly dest: RoutingPrefix;
}

/** Messages that were sent in a block and not looked at yet, in the order in which they are received. */
export class NewMessages {
  /** The next one last. */
  readonly #waiting: NewMessage[] = [];

  add(message: NewMessage): void {
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

  next(): NewMessage | null {
    return this.#waiting.pop() ?? null;
  }
}
