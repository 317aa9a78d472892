import { WebSocketServer } from 'ws';
import { TONCENTER_MOUNT } from '#api/http/api-paths.js';
import type { RawReply, RawRequest, RawRoute } from '#api/http/http-api.js';
import { ConnectionLimits } from '#api/stream/connection-limits.js';
import { streamAsyncApi, streamOpenApi } from '#api/stream/description.js';
import { streamErrors } from '#api/stream/errors.js';
import type { StreamHub } from '#api/stream/hub.js';
import { defaultStreamSettings, type StreamSettings } from '#api/stream/options.js';
import { acknowledgement, failureJson, htmlSafeJson, problemText, refusalStatus } from '#api/stream/refusals.js';
import { bodyValue, formValue, RequestFields, readingPrice } from '#api/stream/request-json.js';
import { SseConnection } from '#api/stream/sse.js';
import { sizeOf, watchingPrice } from '#api/stream/subscription.js';
import {
  emptySubscription,
  type RequestContext,
  readFirstSubscription,
  readSubscription,
} from '#api/stream/subscription-request.js';
import { WebSocketSession } from '#api/stream/web-socket-session.js';
import type { Clock } from '#kernel/clock.js';

export interface StreamRoutesModules {
  /** The hub of a network; null: it has no index. */
  readonly hubOf: (network: string) => StreamHub | null;
  /** For `healthz`. Seconds since 1970. */
  readonly unixTime: () => number;
  /** Age of the newest indexed block in seconds; null: unknown. */
  readonly ageOf: (network: string) => number | null;
  readonly clock: Clock;
}

const PREFIX = '/api/streaming';
const VERSIONS = [1, 2] as const;
/** Pieces of a WebSocket message, as the client makes them and as the network brings them. */
const MOST_FRAGMENTS = 1_024;
const MOST_CHUNKS = 8_192;

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const SSE_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' };

/** A component that is older than this is not well. */
const FRESH_SECONDS = 15;

/** The routes of the streaming API. */
export class StreamRoutes {
  readonly #settings: StreamSettings;
  readonly #modules: StreamRoutesModules;
  readonly #limits: ConnectionLimits;
  readonly #sockets: WebSocketServer;

  constructor(settings: Partial<StreamSettings>, modules: StreamRoutesModules) {
    this.#settings = { ...defaultStreamSettings, ...settings };
    this.#modules = modules;
    this.#limits = new ConnectionLimits(this.#settings);
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: this.#settings.maxMessageBytes,
      // Each piece takes a hundred times the memory of a byte.
      maxFragments: MOST_FRAGMENTS,
      maxBufferedChunks: MOST_CHUNKS,
      // A compressor for each client costs more than most events are long.
      perMessageDeflate: false,
      // Pings count as messages: whoever is answered decides.
      autoPong: false,
      clientTracking: false,
    });
  }

  /** All routes, also those under `/toncenter`; the last ones take what no other does. */
  routes(): readonly RawRoute[] {
    return ['', TONCENTER_MOUNT].flatMap((mount): RawRoute[] => [
      ...VERSIONS.flatMap((version): RawRoute[] => [
        {
          path: `${mount}${PREFIX}/v${version}/sse`,
          name: `v${version}/sse`,
          verbs: ['GET', 'POST'],
          style: 'plain',
          bodies: 'bytes',
          handle: (request, reply) => this.#sse(version, request, reply),
        },
        {
          path: `${mount}${PREFIX}/v${version}/ws`,
          name: `v${version}/ws`,
          verbs: ['GET', 'POST'],
          style: 'plain',
          bodies: 'bytes',
          handle: (_, reply) => reply.send(426, { ...TEXT, Upgrade: 'websocket' }, 'Upgrade Required'),
          upgrade: (request, { message, socket, head }) => {
            this.#sockets.handleUpgrade(message, socket, head, (client) => {
              const { clock } = this.#modules;
              const session = {
                version,
                request,
                hubOf: () => this.#modules.hubOf(request.network.name),
                limits: this.#limits,
                context: contextOf(version, 'ws', request),
              };
              new WebSocketSession({ socket: client, stream: socket }, session, this.#settings, clock).start();
            });
          },
        },
      ]),
      {
        path: `${mount}${PREFIX}/healthz`,
        name: 'healthz',
        verbs: ['GET'],
        style: 'plain',
        handle: ({ network }, reply) => this.#health(network.name, reply),
      },
      ...Object.entries({ openapi: streamOpenApi, asyncapi: streamAsyncApi }).map(
        ([name, document]): RawRoute => ({
          ...{ path: `${mount}${PREFIX}/${name}.json`, name, verbs: ['GET'], style: 'plain' },
          handle: (_, reply) => reply.send(200, JSON_TYPE, JSON.stringify(document)),
        }),
      ),
      {
        path: `${mount}${PREFIX}/*`,
        name: 'other',
        verbs: ['GET', 'POST'],
        style: 'plain',
        bodies: 'bytes',
        handle: ({ method, rest }, reply) => reply.send(404, TEXT, `Cannot ${method} ${mount}${PREFIX}/${rest}`),
      },
    ]);
  }

  /** Streams that are open. */
  get open(): number {
    return this.#limits.open;
  }

  async #sse(version: 1 | 2, request: RawRequest, reply: RawReply): Promise<void> {
    const { profile, method, query } = request;
    const isGet = method === 'GET' || method === 'HEAD';
    if (method === 'HEAD' || (isGet && Object.keys(query).length === 0)) {
      reply.send(405, { ...TEXT, Allow: 'POST' }, 'Method Not Allowed');
      return;
    }
    let id: string | null = null;
    let release = (): void => {};
    try {
      const context = contextOf(version, 'sse', request);
      const length = isGet ? 0 : (request.bytes?.bytes.length ?? 0);
      const { subscription, resumeFrom } = await request.inTurn(readingPrice(length), () => {
        const value = isGet ? formValue(queryPairs(query)) : bodyValue(request.bytes);
        const fields = new RequestFields('SSERequest', `v${version}.SSERequest`, value);
        id = fields.text('id');
        const grant = this.#limits.admit(request, 'sse');
        release = grant.release;
        const known = { ...context, maxAddresses: grant.maxAddresses };
        const read = version === 2 ? readSubscription : readFirstSubscription;
        const subscription = read(fields, emptySubscription(known), known);
        grant.hold(sizeOf(subscription));
        return { subscription, resumeFrom: fields.text('resume_from') };
      });
      const hub = this.#modules.hubOf(request.network.name);
      if (hub === null) throw streamErrors.unavailable({ problem: 'this network has no index' });
      await hub.ready();
      await request.inTurn(watchingPrice(subscription), () => {
        request.signal.throwIfAborted();
        const given = request.headers['last-event-id'];
        const cursor = (typeof given === 'string' && given !== '' ? given : null) ?? resumeFrom;
        const from = hub.positionOf(cursor);
        // What is refused later could not be answered any more.
        hub.requireRoom(from);
        const response = reply.stream(200, SSE_HEADERS);
        const connection = new SseConnection(response, this.#settings, this.#modules.clock);
        const subscriber = hub.subscriber(subscription, connection, request.pace);
        response.once('close', () => {
          hub.leave(subscriber);
          release();
        });
        request.signal.addEventListener('abort', () => {
          if (!subscriber.isEnded) connection.end('shutting-down', hub.cursorOf(subscriber));
        });
        hub.join(subscriber, from, (at) => connection.connected(acknowledgement(id, 'subscribed', null), at));
      });
    } catch (error) {
      release();
      if (request.signal.aborted) throw error;
      const text = problemText(error, profile, 'subscription request', null);
      reply.send(refusalStatus(error, profile), JSON_TYPE, failureJson(id, text));
    }
  }

  #health(network: string, reply: RawReply): void {
    const now = Math.floor(this.#modules.unixTime());
    const age = this.#modules.ageOf(network);
    const hub = this.#modules.hubOf(network);
    const problem = hub === null ? 'this network has no index' : hub.problem;
    const isFresh = age !== null && age <= FRESH_SECONDS;
    const seconds = Math.floor(age ?? 0);
    const heartbeat = { ok: problem === null, age_seconds: 0, last_heartbeat: now };
    const components = {
      'event-classifier': problem === null ? heartbeat : { ok: false, error: problem },
      'ton-trace-emulator':
        age === null
          ? { ok: false, error: 'missing health data' }
          : { ok: isFresh, last_finalized_mc_block_time: now - seconds, finalized_age_seconds: seconds },
      'ton-trace-ttl-tracker': heartbeat,
    };
    const ok = problem === null && isFresh;
    reply.send(ok ? 200 : 503, JSON_TYPE, htmlSafeJson({ ok, now, components }));
  }
}

function contextOf(version: 1 | 2, transport: 'sse' | 'ws', { profile, headers }: RawRequest): RequestContext {
  const given = headers['x-actions-version'];
  const actionsVersion = typeof given === 'string' ? given : null;
  return { version, transport, profile, actionsVersion, maxAddresses: null };
}

function* queryPairs(query: RawRequest['query']): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) yield [name, String(each)];
  }
}
