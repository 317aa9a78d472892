import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import { copyListeningSocket } from '#api/http/accept-copies.js';
import { AddressLimit } from '#api/http/address-limit.js';
import { ApiPaths, missingPath, NetworkChoice, requireHost, toOriginForm } from '#api/http/api-paths.js';
import { ApiRoutes } from '#api/http/api-routes.js';
import { type AdmittedBody, BodyAdmission, BodyReader, largeBodyBytes } from '#api/http/body-reader.js';
import { Connections } from '#api/http/connections.js';
import { addDocsRoutes } from '#api/http/docs-routes.js';
import { EarlyRefusals, OPEN_TO_ALL } from '#api/http/early-refusals.js';
import type { LiveBody } from '#api/http/endpoint.js';
import { EndpointCalls } from '#api/http/endpoint-calls.js';
import { cannotListen, httpErrors } from '#api/http/errors.js';
import { addExplorerRoutes } from '#api/http/explorer-routes.js';
import { addHealthRoutes, MetricsPage } from '#api/http/health-routes.js';
import { HeldAnswers } from '#api/http/held-answers.js';
import type { AnyHttpApi } from '#api/http/http-api.js';
import { type JsonLimits, parseJsonBody } from '#api/http/json-body.js';
import { HttpMetrics } from '#api/http/metrics.js';
import { checkHttpOptions, type HttpModules, type HttpOptions, type HttpSettings } from '#api/http/options.js';
import type { RequestSwitches } from '#api/http/parameters.js';
import { RawRoutes, type ReceivedRawBody, rawUrlRewriter, upgradeAwareMessage } from '#api/http/raw-routes.js';
import { ReceivedBytes } from '#api/http/received-bytes.js';
import { Replies, RequestLog } from '#api/http/replies.js';
import { type TurnOf, Turns } from '#api/http/turns.js';
import { bodyPrice, LARGE_BODY } from '#api/http/work-queue.js';
import { pause } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';

/** How often idle connections are closed during shutdown. */
const SWEEP_MS = 20;

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /**
   * Reports not ready (for `notReadyMs`), stops accepting connections, lets running requests end (for `drainMs` at most), and
   * closes all connections. Calling it again returns the same promise.
   */
  close(): Promise<void>;
}

/**
 * Serves the APIs of networks, their OpenAPI documents and reference pages, health and metrics.
 *
 * @throws http/bad-option, http/bad-endpoint, http/cannot-listen
 */
export async function startHttpServer(options: HttpOptions, modules: HttpModules): Promise<HttpServer> {
  const settings = checkHttpOptions(options);
  const closing: ShutdownState = { isClosing: false };
  const { app, connections, raw } = await buildApp(settings, modules, closing);
  const { host, port } = settings;
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotListen(host, port, error);
  }
  const address = app.server.address() as AddressInfo;
  const copying = copyListeningSocket(app.server, settings.acceptsPerTurn - 1);

  const close = async () => {
    closing.isClosing = true;
    await pause(settings.notReadyMs, modules.clock);
    raw.close();
    const cancel = modules.clock.schedule(settings.drainMs, () => {
      modules.logger.warn('closing connections whose requests did not end in time', { ms: settings.drainMs });
      connections.destroy('all');
    });
    const closed = Promise.all([app.close(), copying.then((copies) => copies.close())]);
    // A connection becomes idle when its request ends, which may be later.
    const sweep = async () => {
      for (;;) {
        app.server.closeIdleConnections();
        connections.destroy('silent');
        if (await Promise.race([closed.then(() => true), pause(SWEEP_MS, modules.clock).then(() => false)])) return;
      }
    };
    await sweep();
    cancel();
  };
  let closed: Promise<void> | null = null;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    host: address.address,
    port: address.port,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

const ALLOWED_HEADERS = [
  'Content-Type',
  'X-API-Key',
  'X-Ton-Client-Version',
  'X-Tern-Profile',
  'X-Tern-Min-Seqno',
  'X-Request-Id',
];

/** How long browsers may cache a CORS preflight response. */
const PREFLIGHT_SECONDS = 86_400;

/** No route has a schema. */
function noSchemas(): never {
  throw httpErrors['bad-endpoint']({ endpoint: 'of Fastify', problem: 'it has a schema' });
}

/** The Fastify application, without listening and closing. */
interface HttpApp {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  readonly raw: RawRoutes;
}

/** Whether the server is shutting down. */
interface ShutdownState {
  isClosing: boolean;
}

/** Longer responses are compressed asynchronously, in chunks. */
const SYNC_COMPRESSION = 64 * 1024;

const NO_QUERY = {};

/** Methods whose bodies are not read. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The content type of bodies that routes read themselves, while they are routed. */
const AS_BYTES = 'application/octet-stream';

/** That of all other bodies, whatever their client says. */
const AS_JSON = 'application/json';

/** @throws http/bad-option, http/bad-endpoint */
async function buildApp(
  options: HttpOptions & HttpSettings,
  modules: HttpModules,
  closing: ShutdownState,
): Promise<HttpApp> {
  const apiVersion = `v${options.version}`;
  const ids = new RequestIds(modules.randomBytes);
  const choice = new NetworkChoice(modules.networks);
  const { networks } = modules;
  const apis = networks.flatMap((network) => network.apis);
  const paths = new ApiPaths(networks, choice);
  const maxUrlOf = ({ headers, raw }: FastifyRequest) =>
    paths.of(headers.host, raw.url ?? '')?.api.maxUrlBytes ?? options.maxUrlBytes;
  const longestUrl = Math.max(options.maxUrlBytes, ...apis.map(({ maxUrlBytes = 0 }) => maxUrlBytes));
  const versionOf = ({ headers, raw }: FastifyRequest) =>
    paths.of(headers.host, raw.url ?? '')?.api.apiVersion ?? apiVersion;
  /** Those of all responses. */
  const addHeaders = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('x-api-version', versionOf(request)).header('x-request-id', request.id);
    reply.headers(OPEN_TO_ALL);
  };
  const rawRoutes = modules.rawRoutes ?? [];
  const message = upgradeAwareMessage(rawRoutes);
  const rewrite = rawUrlRewriter(rawRoutes, (url) => paths.canonical(url));
  const contentTypes = new WeakMap<IncomingMessage, string>();
  const received = new ReceivedBytes(options.maxBodiesBytes);
  const bodies = new BodyReader(options, received, modules.clock);
  const admission = new BodyAdmission(options, modules.clock);
  const turns = new Turns(options);
  const refusals = new EarlyRefusals(modules.clock, (message) => connections.clientOf(message));
  const connections: Connections = new Connections(options, {
    ...{ clock: modules.clock, bodies, turns, apiVersion },
    clientOfKey: (key, host) => modules.access.clientOfKey?.(key, choice.of(host).name) ?? null,
    refuse: (message, response) => refusals.answer(message, response, () => ids.of(message.headers['x-request-id'])),
  });
  const app = Fastify({
    logger: false,
    trustProxy: typeof options.trustProxy === 'boolean' ? options.trustProxy : [...options.trustProxy],
    // Called for each address of the host: `localhost` may have two.
    serverFactory: (handler) => {
      const server = createServer(
        {
          ...(message === null ? {} : { IncomingMessage: message }),
          requestTimeout: options.requestTimeoutMs,
          keepAliveTimeout: options.keepAliveMs,
          headersTimeout: options.headersTimeoutMs,
          // Checked with the other faults of hosts.
          requireHostHeader: false,
          maxHeaderSize: options.maxHeaderBytes + longestUrl - options.maxUrlBytes,
          connectionsCheckingInterval: Math.max(100, Math.min(5_000, options.headersTimeoutMs / 2)),
        },
        handler,
      );
      connections.watch(server);
      return server.prependListener('request', toOriginForm);
    },
    // Endpoints check their parameters themselves. Without these, Fastify loads its own compilers, which takes a while.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    return503OnClosing: false,
    forceCloseConnections: false,
    bodyLimit: options.maxBodyBytes,
    genReqId: ({ headers }) => ids.of(headers['x-request-id']),
    routerOptions: { querystringParser: () => NO_QUERY, maxParamLength: 200 },
    exposeHeadRoutes: false,
    ...(paths.hasLenient || rawRoutes.some(({ style }) => style === 'plain')
      ? { rewriteUrl: ({ url = '' }: IncomingMessage) => rewrite(url) }
      : {}),
    // Those of all servers go to the connections.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply);
      replies.failure(request, reply, error);
    },
  });

  const held = new HeldAnswers(options, modules.clock, (socket) => connections.giveUp(socket));
  const calls = new EndpointCalls(options, modules.clock, held, ({ network, api, endpoint }, units) =>
    metrics.worked(network.name, api.prefix, endpoint.name, units),
  );
  const metrics: HttpMetrics = new HttpMetrics(modules.metrics, {
    calls,
    connections,
    admission,
    bodies,
    received,
    turns,
    refusals,
  });
  const log = new RequestLog(options.requestLog, modules.logger);
  const { clock, unixTimeMs } = modules;
  const replies = new Replies(options, { clock, unixTimeMs, metrics, log, paths, held, closing });

  const chargeBody = ({ state }: FastifyRequest, turn: TurnOf, bytes: number): void => {
    const price = bodyPrice(bytes);
    state?.work.settle(0, price);
    turns.charge(turn, price);
  };
  /** @param onWhole called when the body was received */
  const readJson = async (request: FastifyRequest, message: IncomingMessage, turn: TurnOf, onWhole?: () => void) => {
    const { state } = request;
    const body = await bodies.read(message, connections.clientOf(message));
    onWhole?.();
    const { bytes } = body;
    try {
      const parse = () => {
        const ofEndpoint = state?.profile === 'toncenter' ? state.endpoint?.endpoint.liveBody : undefined;
        if (ofEndpoint !== undefined)
          return { value: ofEndpoint(liveBodyOf(bytes, message, options)), hasLongId: false };
        return bytes.length === 0 ? undefined : parseJsonBody(bytes, options);
      };
      if (bytes.length < LARGE_BODY) return parse();
      if (message.headers['content-length'] === undefined) chargeBody(request, turn, bytes.length);
      // `return await`: the bytes are held until they are parsed.
      return await turns.do(turn, parse, body.waiting());
    } finally {
      body.release();
    }
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(AS_JSON, (request: FastifyRequest, payload: IncomingMessage) => {
    const turn = connections.turnOfClient(payload);
    const announced = largeBodyBytes(payload, options.maxBodyBytes);
    if (announced === null) return readJson(request, payload, turn);
    const read = ({ whole, done }: AdmittedBody) => {
      // Also for one that will not be whole. Of one in chunks the length is known later.
      if (payload.headers['content-length'] !== undefined) chargeBody(request, turn, announced);
      return readJson(request, payload, turn, whole).finally(done);
    };
    return admission.admit(turn, announced, payload).then(read);
  });

  app.addContentTypeParser(AS_BYTES, async (_request: FastifyRequest, payload: IncomingMessage) => {
    const received = await bodies.read(payload, connections.clientOf(payload));
    const signal = received.waiting();
    signal.addEventListener('abort', received.release, { once: true });
    if (signal.aborted) received.release();
    signal.throwIfAborted();
    return { type: contentTypes.get(payload) ?? null, received } satisfies ReceivedRawBody;
  });

  app.decorateRequest('state', null);
  // In a scope of its own it answers preflights, and takes no time of other requests.
  await app.register(async (preflights) => {
    preflights.addHook('onRequest', (request, reply, done) => {
      addHeaders(request, reply);
      done();
    });
    await preflights.register(cors, {
      methods: ['GET', 'POST'],
      allowedHeaders: [...new Set([...ALLOWED_HEADERS, ...switchHeaders(apis)])],
      maxAge: PREFLIGHT_SECONDS,
      strictPreflight: false,
    });
  });
  await app.register(compress, {
    global: false,
    encodings: ['br', 'gzip', 'deflate'],
    // Measured on 26 kB of transactions: brotli 1 takes 100 µs, gzip 2 takes 140 µs, both leave 8.4 kB; more effort saves 3 %.
    zlibOptions: { level: 2 },
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    syncThreshold: SYNC_COMPRESSION,
  });

  const prefixes = new Set(apis.map(({ prefix }) => prefix));
  const routes = [...prefixes].map(
    (prefix) =>
      new ApiRoutes(prefix, options.profile, {
        ...{ ...modules, calls, connections, turns, refusals, apiVersion, replies, choice },
      }),
  );
  const raw = new RawRoutes(rawRoutes, options, { ...modules, replies, held, choice, connections, received, turns });
  /** The content type of the client is ignored: bodies are JSON, unless the route reads them itself. */
  const chooseParser = (message: IncomingMessage): void => {
    const { url = '', headers } = message;
    const type = headers['content-type'];
    const isBytes = raw.takesBytes(url);
    if (isBytes && type !== undefined) contentTypes.set(message, type);
    const parser = isBytes ? AS_BYTES : AS_JSON;
    if (type !== parser) headers['content-type'] = parser;
  };
  app.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply);
    const { url = '' } = request.raw;
    if (!BODILESS.has(request.method)) chooseParser(request.raw);
    const maxBytes = url.length > options.maxUrlBytes ? maxUrlOf(request) : options.maxUrlBytes;
    const goOn = () => {
      if (url.length > maxBytes) done(httpErrors['url-too-long']({ maxBytes }));
      else if (request.is404) {
        const missing = modules.missingPaths ?? {};
        done(refusalOf(request.method, request.headers.host, url, { routes, raw, app, missing }));
      } else done();
    };
    try {
      requireHost(request.raw);
      const turn = connections.turnOf(request.raw, reply.raw);
      if (turn === undefined) goOn();
      else turn.then(goOn, done);
    } catch (error) {
      done(error as TernError);
    }
  });
  app.setErrorHandler((error, request, reply) => replies.failure(request, reply, error));
  for (const api of routes) api.add(app);
  raw.add(app);
  const pages = new AddressLimit(options.maxPagesPerSecond, modules.clock);
  const hasKeys = modules.access.clientOfKey !== undefined;
  addDocsRoutes(app, { networks, choice, limit: pages, profile: options.profile, version: apiVersion, hasKeys });
  if (options.explorer != null) addExplorerRoutes(app, options.explorer, clock);
  const metricsPage = new MetricsPage(modules.metrics, modules.clock);
  addHealthRoutes(app, { networks, metricsPage, limit: pages, apiVersion, isClosing: () => closing.isClosing });
  return { app, connections, raw };
}

/** A body whose content type counts. */
function liveBodyOf(bytes: Buffer, { rawHeaders }: IncomingMessage, limits: JsonLimits): LiveBody {
  // The header was replaced by that of JSON.
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
  return {
    type: at < 0 ? null : rawHeaders[at + 1]!.split(';', 1)[0]!.trim().toLowerCase(),
    json: () => {
      if (bytes.length === 0) throw httpErrors['bad-json']({ problem: 'it is empty' });
      return parseJsonBody(bytes, limits).value;
    },
    text: () => bytes.toString('utf8'),
  };
}

/** The headers of the switches of APIs. */
function switchHeaders(apis: readonly AnyHttpApi[]): readonly string[] {
  const switches = apis.flatMap((api) => Object.values((api.switches ?? {}) as RequestSwitches));
  return switches.map(({ header }) => header);
}

/** The error of a request without a route: its path is wrong, or only its verb. */
function refusalOf(
  method: string,
  host: string | undefined,
  url: string,
  { routes, raw, app, missing }: RefusalSubjects,
): TernError {
  const [path = ''] = url.split('?', 1);
  const verbs =
    routes.map((api) => api.verbsOfPath(host, path)).find((found) => found !== null) ?? raw.verbsOfPath(path);
  if (verbs !== null) return httpErrors['method-not-allowed']({ method, allowed: verbs.join(', ') });
  const rpc = routes.find((api) => api.isRpcBase(path, method));
  if (rpc !== undefined) return rpc.rpcPath();
  const isRoute = !path.includes(':') && app.hasRoute({ method: 'GET', url: path });
  if (isRoute) return httpErrors['method-not-allowed']({ method, allowed: 'GET, HEAD' });
  return missingPath(path, missing) ?? httpErrors['not-found']({});
}

interface RefusalSubjects {
  readonly routes: readonly ApiRoutes[];
  readonly raw: RawRoutes;
  readonly app: FastifyInstance;
  readonly missing: Readonly<Record<string, string>>;
}

const SANE = /^[A-Za-z0-9._:-]{1,64}$/;

/** Request ids: the one of the `X-Request-Id` header if it is safe for headers and logs, else a generated one. */
class RequestIds {
  readonly #begin: string;
  #count = 0;

  /** @param randomBytes distinguish this process from others */
  constructor(randomBytes: (size: number) => Uint8Array) {
    this.#begin = Buffer.from(randomBytes(6)).toString('base64url');
  }

  of(given: string | readonly string[] | undefined): string {
    if (typeof given === 'string' && SANE.test(given)) return given;
    this.#count++;
    return `${this.#begin}-${this.#count.toString(36)}`;
  }
}
