import { HashMap } from '#domain/traces/hash-map.js';

/**
 * One side of a link between two transactions whose other side is not indexed: an internal message that was sent and has
 * not arrived (`root`: the trace of its sender), or one that arrived and whose sender is not there (an orphan; `root`: the
 * transaction that it began).
 */
export interface LooseMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Id of the root of the trace. */
  readonly root: bigint;
}

/** The messages that an index holds as sent and not arrived, by hash. */
export class OpenMessages {
  readonly #messages = new HashMap<LooseMessage>();

  constructor(messages: Iterable<LooseMessage> = []) {
    this.add(messages);
  }

  get size(): number {
    return this.#messages.size;
  }

  find(hash: Uint8Array): LooseMessage | undefined {
    return this.#messages.get(hash);
  }

  add(messages: Iterable<LooseMessage>): void {
    for (const message of messages) this.#messages.set(message.hash, message);
  }

  remove(messages: Iterable<LooseMessage>): void {
    for (const { hash } of messages) this.#messages.take(hash);
  }

  [Symbol.iterator](): Iterator<LooseMessage> {
    const messages: LooseMessage[] = [];
    this.#messages.forEach((message) => void messages.push(message));
    return messages.values();
  }
}
