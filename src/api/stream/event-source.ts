import type { StreamHub } from '#api/stream/hub.js';
import { RequestFields } from '#api/stream/request-json.js';
import type { EventSink } from '#api/stream/subscriber.js';
import type { Subscription } from '#api/stream/subscription.js';
import { emptySubscription, type RequestContext, readSubscription } from '#api/stream/subscription-request.js';
import { isTernError } from '#kernel/tern-error.js';

/** Where events go; as of services/webhooks. */
interface EventTaker {
  event(json: string, cursor: string | null): void;
  readonly buffered: number;
  drained(): Promise<void>;
  ended(problem: string | null): void;
}

const CONTEXT: RequestContext = {
  ...{ version: 2, transport: 'sse', profile: 'spec', actionsVersion: null },
  maxAddresses: 4_096,
};

/** The events of a network for parts of the program that are no clients: webhooks. Subscriptions are those of version 2. */
export class HubEventSource {
  readonly #hub: StreamHub;
  readonly #context: RequestContext;

  /** @param profile in which events are written */
  constructor(hub: StreamHub, profile: RequestContext['profile']) {
    this.#hub = hub;
    this.#context = { ...CONTEXT, profile };
  }

  get cursor(): string | null {
    return this.#hub.cursor;
  }

  /** Behind the cursor, or where the index begins if that is later or the cursor is of another chain. @throws stream/unavailable */
  resumable(cursor: string): { readonly cursor: string; readonly gap: string | null } {
    try {
      this.#hub.positionOf(cursor);
      return { cursor, gap: null };
    } catch (error) {
      if (!isTernError(error, 'stream/cursor') && !isTernError(error, 'stream/cursor-too-old')) throw error;
      return { cursor: this.#hub.firstCursor, gap: error.message };
    }
  }

  /** @throws stream/request, stream/subscription, stream/too-many-addresses */
  check(filter: unknown): void {
    this.#read(filter);
  }

  /** @throws stream/* */
  subscribe(
    filter: unknown,
    cursor: string,
    taker: EventTaker,
  ): { readonly cursor: () => string; readonly end: () => void } {
    const sink: EventSink = {
      send: (text, at) => taker.event(text.withCursor(at), at),
      get buffered() {
        return taker.buffered;
      },
      drained: () => taker.drained(),
      end: (reason, _, problem) => taker.ended(reason === 'resume-failed' ? (problem ?? reason) : null),
    };
    const from = this.#hub.positionOf(cursor);
    const subscriber = this.#hub.subscriber(this.#read(filter), sink);
    this.#hub.join(subscriber, from);
    return { cursor: () => this.#hub.cursorBehind(subscriber), end: () => this.#hub.leave(subscriber) };
  }

  #read(filter: unknown): Subscription {
    const fields = new RequestFields('SSERequest', 'v2.SSERequest', filter);
    return readSubscription(fields, emptySubscription(this.#context), this.#context);
  }
}
