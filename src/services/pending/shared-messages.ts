import { Redis } from 'ioredis';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { type ExternalInMessage, MAX_EXTERNAL_MESSAGE_BYTES, readExternalInMessage } from '#formats/tlb/message.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { MessageOrigin } from '#services/pending/live-messages.js';

/** Messages that processes share. */
export interface SharedMessagesOptions {
  readonly url: string;
  /** Separates networks that share a Redis server. */
  readonly network: string;
  /** A channel to which others publish external-in messages: BoCs in base64. Null: none. */
  readonly channel: string | null;
}

export interface SharedMessagesModules {
  readonly onMessage: (message: ExternalInMessage, origin: MessageOrigin) => void;
  readonly logger: Logger;
}

/** The pause before connecting again: doubled with each attempt, up to this. */
const LONGEST_RECONNECT_MS = 1_000;

/** Messages that Redis has not taken yet; while there are so many, further ones are not shared. */
const MOST_UNCONFIRMED = 1_000;

/** Base64 of a message of the greatest size. */
const MAX_CHARACTERS = 4 * Math.ceil(MAX_EXTERNAL_MESSAGE_BYTES / 3);

/**
 * Publishes the messages that are sent through this process to the others with the same Redis server, and takes theirs. While Redis
 * is down, each process knows its own messages only.
 */
export class SharedMessages {
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #topic: string;
  readonly #logger: Logger;
  #isReported = false;
  #unconfirmed = 0;

  /** Connects in the background. */
  constructor({ url, network, channel }: SharedMessagesOptions, { onMessage, logger }: SharedMessagesModules) {
    this.#logger = logger;
    this.#topic = `tern:messages:${network}`;
    const retryStrategy = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_RECONNECT_MS);
    const common = { retryStrategy, connectTimeout: 5_000 };
    this.#publisher = new Redis(url, { ...common, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    this.#subscriber = new Redis(url, { ...common, maxRetriesPerRequest: null });
    for (const redis of [this.#publisher, this.#subscriber]) {
      redis.on('error', (error: Error) => this.#report(error.message));
      redis.on('ready', () => {
        this.#isReported = false;
      });
    }
    this.#subscriber.on('message', (topic: string, text: string) => {
      const message = messageIn(text);
      if (message !== null) onMessage(message, topic === this.#topic ? 'shared' : 'channel');
    });
    const topics = channel === null ? [this.#topic] : [this.#topic, channel];
    // Subscribed again by the client after each reconnection.
    this.#subscriber.subscribe(...topics).catch((error: Error) => this.#report(error.message));
  }

  /** Passes a message to the other processes; does not wait. */
  publish({ boc }: ExternalInMessage): void {
    if (this.#unconfirmed >= MOST_UNCONFIRMED) {
      this.#report(`it has not taken ${MOST_UNCONFIRMED} messages`);
      return;
    }
    this.#unconfirmed++;
    this.#publisher
      .publish(this.#topic, toBase64(boc))
      .catch((error: Error) => this.#report(error.message))
      .finally(() => {
        this.#unconfirmed--;
      });
  }

  close(): void {
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }

  #report(problem: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#logger.warn('pending messages are not shared with other processes: Redis does not answer', { problem });
  }
}

/** Null when the text is no external-in message of a size that nodes take. */
function messageIn(text: string): ExternalInMessage | null {
  const bytes = text.length > MAX_CHARACTERS ? null : fromBase64(text);
  if (bytes === null) return null;
  try {
    return readExternalInMessage(wholeCell(bytes), bytes);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}
