import type { WebSocket } from 'ws';
import type { RawRequest } from '#api/http/http-api.js';
import type { ConnectionGrant, ConnectionLimits } from '#api/stream/connection-limits.js';
import { streamErrors } from '#api/stream/errors.js';
import type { StreamHub } from '#api/stream/hub.js';
import type { StreamSettings } from '#api/stream/options.js';
import { acknowledgement, failureJson, problemText, type RequestName } from '#api/stream/refusals.js';
import { jsonValue, RequestFields, readingPrice } from '#api/stream/request-json.js';
import type { Subscriber } from '#api/stream/subscriber.js';
import { type Subscription, sizeOf, watchingPrice } from '#api/stream/subscription.js';
import {
  emptySubscription,
  type RequestContext,
  readFirstSubscription,
  readOptions,
  readSubscription,
  readUnsubscribe,
  readWholeSubscription,
} from '#api/stream/subscription-request.js';
import { type ClientSocket, WebSocketConnection } from '#api/stream/web-socket.js';
import type { Clock } from '#kernel/clock.js';

/** What a session belongs to. */
interface SessionModules {
  readonly version: 1 | 2;
  readonly request: RawRequest;
  /** The hub of the network now, which may be replaced; null: it has no index. */
  readonly hubOf: () => StreamHub | null;
  readonly limits: ConnectionLimits;
  readonly context: RequestContext;
}

/** An operation: what live services call its request, and what is replied. */
interface Operation {
  readonly request: RequestName;
  readonly type: string;
  readonly status: string;
  /** The subscription after it; null: it stays. */
  readonly read: (fields: RequestFields, before: Subscription, context: RequestContext) => Subscription | null;
}

const PING: Operation = { request: 'ping request', type: 'Envelope', status: 'pong', read: () => null };

const OPERATIONS: Readonly<Record<1 | 2, Readonly<Record<string, Operation>>>> = {
  1: {
    ping: PING,
    subscribe: {
      ...{ request: 'subscribe request', type: 'SubscribeRequest', status: 'subscribed' },
      read: readFirstSubscription,
    },
    set_subscription: {
      ...{ request: 'set_subscription request', type: 'SetSubscriptionRequest', status: 'subscription_set' },
      read: readWholeSubscription,
    },
    unsubscribe: {
      ...{ request: 'unsubscribe request', type: 'UnsubscribeRequest', status: 'unsubscribed' },
      read: (fields, before) => readUnsubscribe(fields, before, 1),
    },
    configure: {
      ...{ request: 'configure request', type: 'ConfigureRequest', status: 'configured' },
      read: (fields, before, context) => ({ ...before, options: readOptions(fields, before.options, context) }),
    },
  },
  2: {
    ping: PING,
    subscribe: {
      ...{ request: 'subscribe request', type: 'SubscribeRequest', status: 'subscribed' },
      read: readSubscription,
    },
    unsubscribe: {
      ...{ request: 'unsubscribe request', type: 'UnsubscribeRequest', status: 'unsubscribed' },
      read: (fields, before) => readUnsubscribe(fields, before, 2),
    },
  },
};

/** A WebSocket client: its requests change its subscription. */
export class WebSocketSession {
  readonly #connection: WebSocketConnection;
  readonly #socket: WebSocket;
  readonly #modules: SessionModules;
  #context: RequestContext;
  #subscription: Subscription;
  /** From the first subscription on: closing it ends the session. */
  #hub: StreamHub | null = null;
  #subscriber: Subscriber | null = null;
  #grant: ConnectionGrant | null = null;

  constructor(client: ClientSocket, modules: SessionModules, settings: StreamSettings, clock: Clock) {
    this.#socket = client.socket;
    this.#modules = modules;
    this.#context = modules.context;
    this.#subscription = emptySubscription(modules.context);
    this.#connection = new WebSocketConnection(client, settings, clock, {
      receives: modules.request.receives,
      onMessage: (bytes, signal) => this.#receive(bytes, signal),
    });
  }

  start(): void {
    const { request, limits, context } = this.#modules;
    try {
      const grant = limits.admit(request, 'ws');
      this.#grant = grant;
      this.#context = { ...context, maxAddresses: grant.maxAddresses };
    } catch (error) {
      this.#connection.refuse(failureJson(null, problemText(error, context.profile, 'subscribe request', null)));
      return;
    }
    this.#socket.once('close', () => {
      if (this.#subscriber !== null) this.#hub?.leave(this.#subscriber);
      this.#grant?.release();
    });
    request.signal.addEventListener('abort', () => this.#connection.end('shutting-down', ''));
  }

  async #receive(bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (this.#grant === null) return;
    const { version, request, context } = this.#modules;
    const { profile } = context;
    let id: string | null = null;
    let name: RequestName = 'request envelope';
    try {
      const read = await request.inTurn(
        readingPrice(bytes.length),
        () => {
          const value = jsonValue(bytes);
          const envelope = new RequestFields('Envelope', `v${version}.Envelope`, value);
          id = envelope.text('id');
          const given = envelope.text('operation', `v${version}.Operation`) ?? '';
          const operations = OPERATIONS[version];
          const operation = Object.hasOwn(operations, given) ? operations[given] : undefined;
          if (operation === undefined) return given;
          name = operation.request;
          const fields = new RequestFields(operation.type, `v${version}.${operation.type}`, value);
          const next = operation.read(fields, this.#subscription, this.#context);
          return { next, resumeFrom: fields.text('resume_from'), status: operation.status };
        },
        signal,
      );
      if (typeof read === 'string') {
        this.#connection.reply(failureJson(id, `unknown operation: ${read.slice(0, 200)}`));
        return;
      }
      const { next, resumeFrom, status } = read;
      const reply = (cursor: string) => acknowledgement(id, status, resumeFrom === null ? null : cursor);
      if (next !== null) await this.#change(next, resumeFrom, reply);
      else this.#connection.reply(acknowledgement(id, status, null));
    } catch (error) {
      this.#connection.reply(failureJson(id, problemText(error, profile, name, this.#subscription.accounts.size)));
    }
  }

  /** @param reply sent before the first event, with the cursor that the events begin behind */
  async #change(next: Subscription, resumeFrom: string | null, reply: (cursor: string) => string): Promise<void> {
    const { hubOf, request } = this.#modules;
    const hub = this.#hub ?? hubOf();
    if (hub === null) throw streamErrors.unavailable({ problem: 'this network has no index' });
    await hub.ready();
    await request.inTurn(watchingPrice(this.#subscription) + watchingPrice(next), () => {
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      const known = this.#subscriber;
      const from = known === null || resumeFrom !== null ? hub.positionOf(resumeFrom) : null;
      // What is refused later could not be answered any more.
      if (from !== null) hub.requireRoom(from);
      this.#grant?.hold(sizeOf(next));
      this.#subscription = next;
      const onBegun = (cursor: string): void => this.#connection.reply(reply(cursor));
      if (known === null) {
        this.#hub = hub;
        this.#subscriber = hub.subscriber(next, this.#connection, request.pace);
        hub.join(this.#subscriber, from!, onBegun);
      } else {
        this.#subscriber = hub.change(known, next, from, onBegun);
      }
    });
  }
}
