import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseProfile, type NetworkChoice, TONCENTER_MOUNT } from '#api/http/api-paths.js';
import { admit } from '#api/http/api-routes.js';
import { styleOf } from '#api/http/api-style.js';
import type { ReceivedBody } from '#api/http/body-reader.js';
import type { Connections } from '#api/http/connections.js';
import { rateLimitHeaders } from '#api/http/early-refusals.js';
import { refuseLimited } from '#api/http/endpoint-calls.js';
import { httpErrors } from '#api/http/errors.js';
import { type HeldAnswers, isLargeAnswer, noRoom } from '#api/http/held-answers.js';
import type { RawReply, RawRequest, RawRoute } from '#api/http/http-api.js';
import type { JsonBody } from '#api/http/json-body.js';
import type { HttpSettings } from '#api/http/options.js';
import { parseQuery } from '#api/http/parameters.js';
import type { ReceivedBytes } from '#api/http/received-bytes.js';
import { type Replies, RequestState } from '#api/http/replies.js';
import type { Turns } from '#api/http/turns.js';
import { type Clock, pause } from '#kernel/clock.js';
import { LinkedList } from '#kernel/linked-list.js';
import type { Access } from '#services/access/access.js';

interface RawModules {
  readonly access: Access;
  readonly clock: Clock;
  readonly replies: Replies;
  readonly held: Pick<HeldAnswers, 'add' | 'makeRoom' | 'bytes'>;
  readonly choice: NetworkChoice;
  readonly connections: Pick<Connections, 'upgraded' | 'turnOfClient'>;
  readonly turns: Pick<Turns, 'charge' | 'do'>;
  readonly received: Pick<ReceivedBytes, 'begin'>;
}

/** The body of a request to a route that takes bytes. */
export interface ReceivedRawBody {
  /** `Content-Type`; null without one. */
  readonly type: string | null;
  readonly received: ReceivedBody;
}

interface Upgrade {
  readonly socket: Duplex;
  /** Bytes after the head of the request. */
  readonly head: Buffer;
}

/** Characters of a path that tell most paths apart. */
const LONGEST_BEGIN = 8;

/**
 * The routes that write their response themselves (SSE, WebSocket, files). Before they are called, a request has passed
 * everything that one to a JSON API passes: limits, request id, CORS, choice of the network, access. When the server shuts
 * down, the signals of their requests are aborted.
 */
export class RawRoutes {
  readonly #routes: readonly RawRoute[];
  /** Those that read the bodies of their requests themselves, and how their paths begin: most requests have another one. */
  readonly #bytesRoutes: readonly RawRoute[];
  readonly #bytesBegins: ReadonlySet<string>;
  readonly #beginLength: number;
  readonly #settings: Pick<HttpSettings, 'profile' | 'maxConcurrent'>;
  readonly #modules: RawModules;
  readonly #upgrades = new WeakMap<IncomingMessage, Upgrade>();
  readonly #open = new LinkedList<AbortController>();
  #isClosing = false;

  constructor(
    routes: readonly RawRoute[],
    settings: Pick<HttpSettings, 'profile' | 'maxConcurrent'>,
    modules: RawModules,
  ) {
    this.#routes = routes;
    this.#bytesRoutes = routes.filter(({ bodies }) => bodies === 'bytes');
    this.#beginLength = Math.min(LONGEST_BEGIN, ...this.#bytesRoutes.map(({ path }) => path.length));
    this.#bytesBegins = new Set(this.#bytesRoutes.map(({ path }) => path.slice(0, this.#beginLength).toLowerCase()));
    this.#settings = settings;
    this.#modules = modules;
  }

  /** Adds the routes, and takes the upgrades of the server. */
  add(app: FastifyInstance): void {
    for (const route of this.#routes) {
      const method = verbsOf(route);
      const onRequest = this.#onRequest(route);
      app.route({
        method,
        url: route.path,
        onRequest,
        handler: (request, reply) => this.#handle(route, request, reply),
      });
    }
    if (!hasUpgrades(this.#routes)) return;
    app.server.on('upgrade', (message, socket, head) => {
      // As an ordinary request it passes the hooks, and can be refused with a status.
      const response = new ServerResponse(message);
      response.shouldKeepAlive = false;
      try {
        response.assignSocket(socket as Socket);
      } catch {
        // The connection still writes the answer to a request before this one.
        socket.destroy();
        return;
      }
      this.#modules.connections.upgraded(socket as Socket);
      response.once('finish', () => socket.end());
      socket.on('error', () => socket.destroy());
      this.#upgrades.set(message, { socket, head });
      app.routing(message, response);
    });
  }

  /** The verbs of the route at a path; null: there is none. */
  verbsOfPath(path: string): readonly string[] | null {
    const route = this.#routes.find((each) => matches(each, path));
    return route === undefined ? null : verbsOf(route);
  }

  /** Whether the body of a request to this URL is left to its route. */
  takesBytes(url: string): boolean {
    if (!this.#bytesBegins.has(url.slice(0, this.#beginLength).toLowerCase())) return false;
    const path = url.split('?', 1)[0] ?? '';
    return this.#bytesRoutes.some((each) => matches(each, path));
  }

  /** Aborts the signals of all open requests, and refuses further ones. */
  close(): void {
    this.#isClosing = true;
    for (const controller of [...this.#open]) controller.abort(httpErrors['shutting-down']({}));
  }

  #onRequest(route: RawRoute) {
    const { access, clock, choice } = this.#modules;
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      // Also of one that is refused before it is handled.
      if (route.bodies === 'bytes') reply.raw.once('close', () => receivedOf(request)?.release());
      try {
        const style = styleOf(route);
        const network = choice.of(request.headers.host);
        const place = { prefix: route.path, style, api: null };
        const ofPath = route.path.startsWith(`${TONCENTER_MOUNT}/`) ? 'toncenter' : null;
        const profile = chooseProfile(ofPath, request.headers, this.#settings.profile);
        const state = new RequestState(clock.now(), network, place, profile);
        state.rawName = route.name;
        request.state = state;
        if (this.#isClosing) throw httpErrors['shutting-down']({});
        if (this.#open.size >= this.#settings.maxConcurrent) {
          throw httpErrors.overloaded({ limit: `${this.#open.size} streams are open` });
        }
        const { url = '' } = request.raw;
        const mark = url.indexOf('?');
        if (mark >= 0) state.query = parseQuery(url.slice(mark + 1), style.query);
        const later = admit(access, request, state);
        if (later === undefined) done();
        else later.then(() => done(), done);
      } catch (error) {
        done(error as Error);
      }
    };
  }

  #handle(route: RawRoute, request: FastifyRequest, reply: FastifyReply): void {
    const { replies, held } = this.#modules;
    const state = request.state as RequestState;
    const upgrade = this.#upgrades.get(request.raw);
    const controller = new AbortController();
    const { signal } = controller;
    const received = receivedOf(request);
    const waiting = received === null ? signal : AbortSignal.any([signal, received.waiting()]);
    const work = { signal, ...this.#workOf(request, state, waiting) };
    const rawRequest = rawRequestOf(request, state, work);
    let isAnswered = false;
    const begin = (status: number) => {
      isAnswered = true;
      replies.begun(request, state, status);
    };
    const run = async (): Promise<void> => {
      if (upgrade !== undefined && route.upgrade !== undefined) {
        reply.hijack();
        reply.raw.removeAllListeners('finish');
        reply.raw.detachSocket(upgrade.socket as Socket);
        begin(101);
        await route.upgrade(rawRequest, { ...upgrade, message: request.raw });
      } else if (route.handle === undefined) {
        reply.header('Upgrade', 'websocket');
        throw httpErrors['upgrade-required']({});
      } else {
        if (state.rate !== null) reply.headers(rateLimitHeaders(state.rate));
        await route.handle(rawRequest, rawReplyOf(reply, held, begin));
        if (!isAnswered) throw httpErrors.internal({ requestId: request.id });
      }
    };
    this.#track(controller, upgrade?.socket ?? reply.raw);
    const failed = (error: unknown) => {
      if (!isAnswered) {
        replies.failure(request, reply, error);
        return;
      }
      if (!controller.signal.aborted) replies.broken(request, state, error);
      (upgrade?.socket ?? reply.raw).destroy();
    };
    void run().catch(failed).finally(received?.release);
  }

  /** What a request does beside its answer. @param signal ends the waiting for a turn */
  #workOf(
    request: FastifyRequest,
    { work: budget }: RequestState,
    signal: AbortSignal,
  ): Pick<RawRequest, 'inTurn' | 'pace' | 'receives'> {
    const { connections, turns, clock, received } = this.#modules;
    // The address of a socket is unknown once it is closed.
    const turn = connections.turnOfClient(request.raw);
    return {
      inTurn: async (units, work, until = signal) => {
        refuseLimited(await budget.take(units));
        turns.charge(turn, units);
        return turns.do(turn, work, until);
      },
      receives: (giveUp) => received.begin(giveUp),
      pace: async (units) => {
        budget.settle(0, units);
        turns.charge(turn, units);
        for (let held = await budget.take(0); held.kind === 'limited'; held = await budget.take(0)) {
          await pause(held.retryAfterMs, clock, signal);
          if (signal.aborted) return;
        }
        // While others wait, those go on first who had less.
        await turns.do(turn, () => {}, signal).catch(() => {});
      },
    };
  }

  /** Holds a request as open until its response or connection is closed, which it may be already. */
  #track(controller: AbortController, stream: Duplex | ServerResponse): void {
    if (stream.closed) {
      controller.abort(httpErrors['client-left']({}));
      return;
    }
    const place = this.#open.add(controller);
    stream.once('close', () => {
      this.#open.remove(place);
      const isWhole = stream instanceof ServerResponse && stream.writableFinished;
      if (!isWhole) controller.abort(httpErrors['client-left']({}));
    });
    if (this.#isClosing) controller.abort(httpErrors['shutting-down']({}));
  }
}

/** The body of a request to a route that takes bytes; null: it has none. */
function receivedOf({ body }: FastifyRequest): ReceivedBody | null {
  const given = body as JsonBody | ReceivedRawBody | undefined;
  return given !== undefined && 'received' in given ? given.received : null;
}

function rawRequestOf(
  request: FastifyRequest,
  state: RequestState,
  work: Pick<RawRequest, 'signal' | 'inTurn' | 'pace' | 'receives'>,
): RawRequest {
  const { id, method, headers, ip: clientAddress } = request;
  const { network, group, keyId, isAdmin, client, streams, profile, query } = state;
  const { '*': rest = '' } = (request.params ?? {}) as { readonly '*'?: string };
  const given = request.body as JsonBody | ReceivedRawBody | undefined;
  const bytes = given !== undefined && 'received' in given ? { type: given.type, bytes: given.received.bytes } : null;
  const body = given !== undefined && 'value' in given ? given.value : undefined;
  const ofClient = { clientAddress, group, keyId, isAdmin, client, streams, profile };
  return { id, method, rest, query, headers, body, bytes, network, ...ofClient, ...work };
}

function rawReplyOf(reply: FastifyReply, held: RawModules['held'], begin: (status: number) => void): RawReply {
  return {
    send(status, headers, body) {
      if (isLargeAnswer(body) && !held.makeRoom()) throw noRoom(held);
      begin(status);
      held.add(body, reply.raw);
      reply.code(status).headers(headers);
      reply.send(typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    },
    stream(status, headers) {
      const { raw } = reply;
      reply.hijack();
      for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers }))
        raw.setHeader(name, value ?? '');
      raw.writeHead(status);
      raw.flushHeaders();
      begin(status);
      return raw;
    },
  };
}

function verbsOf({ verbs }: RawRoute): string[] {
  return verbs.flatMap((verb) => (verb === 'GET' ? ['GET', 'HEAD'] : verb));
}

function matches({ path, style }: RawRoute, asked: string): boolean {
  if (path.endsWith('/*')) return asked.startsWith(path.slice(0, -1));
  return asked === path || (style === 'plain' && folds(asked) === path);
}

/**
 * @param others what gives a URL of other routes as these have it
 * @returns what gives a URL as the routes have it: of those with the style `plain` in lower case and without a slash at the end, but
 * for what a `*` stands for, such as a hash in base64
 */
export function rawUrlRewriter(routes: readonly RawRoute[], others: (url: string) => string): (url: string) => string {
  const plain = routes.filter(({ style }) => style === 'plain').map(({ path }) => path);
  const lenient = new Set(plain.filter((path) => !path.endsWith('/*')));
  const longest = Math.max(0, ...[...lenient].map(({ length }) => length));
  const withRest = plain
    .filter((path) => path.endsWith('/*'))
    .map((path) => path.slice(0, -1))
    // Elsewhere nothing is changed.
    .filter((begin) => others(`${begin}A`) !== `${begin}A`);
  return (url) => {
    const mark = url.indexOf('?');
    const end = mark < 0 ? url.length : mark;
    if (end <= longest + 1) {
      const path = folds(url.slice(0, end));
      if (lenient.has(path)) return path + url.slice(end);
    }
    for (const begin of withRest) {
      const { length } = begin;
      if (url[length - 1] !== '/' || url.slice(0, length).toLowerCase() !== begin) continue;
      return begin + url.slice(length, url[end - 1] === '/' ? end - 1 : end) + url.slice(end);
    }
    return others(url);
  };
}

/** Without regard to letter case and a slash at the end. */
function folds(path: string): string {
  const lower = path.toLowerCase();
  return lower.endsWith('/') ? lower.slice(0, -1) : lower;
}

const IS_UPGRADE = Symbol('is upgrade');

function hasUpgrades(routes: readonly RawRoute[]): boolean {
  return routes.some(({ upgrade }) => upgrade !== undefined);
}

/**
 * The class of incoming messages for `http.createServer`. As soon as a server listens for upgrades, Node hands every request with
 * an `Upgrade` header to the listener, which has to handle it then (clients send `Upgrade: h2c` with ordinary requests). With
 * this class only WebSocket requests to routes that take them are upgrades; all others stay ordinary requests.
 *
 * @returns null where no route takes upgrades
 */
export function upgradeAwareMessage(routes: readonly RawRoute[]): typeof IncomingMessage | null {
  if (!hasUpgrades(routes)) return null;
  const takers = routes.filter(({ upgrade }) => upgrade !== undefined);
  class UpgradeAwareMessage extends IncomingMessage {
    /** What Node's parser says. Not a field, which would be set after Node's constructor has set `upgrade`. */
    declare [IS_UPGRADE]?: boolean;
  }
  Object.defineProperty(UpgradeAwareMessage.prototype, 'upgrade', {
    get(this: UpgradeAwareMessage) {
      if (this[IS_UPGRADE] !== true) return false;
      if (this.method === 'CONNECT') return true;
      const [path = ''] = (this.url ?? '').split('?', 1);
      const isWebSocket = this.method === 'GET' && this.headers.upgrade?.toLowerCase() === 'websocket';
      return isWebSocket && takers.some((route) => matches(route, path));
    },
    set(this: UpgradeAwareMessage, value: boolean | null) {
      if (value === true || this[IS_UPGRADE] === true) this[IS_UPGRADE] = value === true;
    },
  });
  return UpgradeAwareMessage;
}
