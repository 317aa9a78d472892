import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { ApiPaths } from '#api/http/api-paths.js';
import { ApiRoutes } from '#api/http/api-routes.js';
import { BodyReader } from '#api/http/body-reader.js';
import { refuseUnreadable } from '#api/http/client-errors.js';
import { addDocsRoutes } from '#api/http/docs-routes.js';
import { EndpointCalls } from '#api/http/endpoint-calls.js';
import { httpErrors } from '#api/http/errors.js';
import { addHealthRoutes } from '#api/http/health-routes.js';
import type { AnyHttpApi } from '#api/http/http-api.js';
import { parseJsonBody } from '#api/http/json-body.js';
import { HttpMetrics } from '#api/http/metrics.js';
import type { HttpModules } from '#api/http/modules.js';
import { NetworkChoice } from '#api/http/network-choice.js';
import type { HttpOptions, HttpSettings } from '#api/http/options.js';
import { Replies } from '#api/http/replies.js';
import { RequestIds } from '#api/http/request-id.js';
import { RequestLog } from '#api/http/request-log.js';
import type { RequestSwitches } from '#api/http/request-switches.js';
import type { TernError } from '#kernel/errors/tern-error.js';

const ALLOWED_HEADERS = ['Content-Type', 'X-API-Key', 'X-Ton-Client-Version', 'X-Tern-Profile', 'X-Request-Id'];

/** The star stands for all others; older browsers know the names only. */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'X-API-Version',
  'Retry-After',
  'X-Tern-Next',
  'X-Tern-Mc-Seqno',
  'X-Tern-Lag-Ms',
  '*',
];

/** How long a browser may go without asking again whether it may ask. */
const PREFLIGHT_SECONDS = 86_400;

/** The application: everything but listening and closing. */
export interface HttpApp {
  readonly app: FastifyInstance;
  readonly connections: ReadonlySet<Socket>;
}

/** Whether the server is about to end. */
export interface Closing {
  isClosing: boolean;
}

/** Longer answers are compressed in another thread, in parts. */
const SYNC_COMPRESSION = 64 * 1024;

const NO_QUERY = {};

/** @throws http/bad-option, http/bad-endpoint */
export async function buildApp(
  options: HttpOptions & HttpSettings,
  modules: HttpModules,
  closing: Closing,
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
  const app = Fastify({
    logger: false,
    trustProxy: typeof options.trustProxy === 'boolean' ? options.trustProxy : [...options.trustProxy],
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveMs,
    http: {
      headersTimeout: options.headersTimeoutMs,
      maxHeaderSize: options.maxHeaderBytes + longestUrl - options.maxUrlBytes,
      connectionsCheckingInterval: Math.max(100, Math.min(5_000, options.headersTimeoutMs / 2)),
    },
    return503OnClosing: false,
    forceCloseConnections: false,
    bodyLimit: options.maxBodyBytes,
    genReqId: ({ headers }) => ids.of(headers['x-request-id']),
    routerOptions: { querystringParser: () => NO_QUERY, maxParamLength: 200 },
    exposeHeadRoutes: false,
    ...(paths.hasLenient ? { rewriteUrl: ({ url = '' }: IncomingMessage) => paths.canonical(url) } : {}),
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, apiVersion),
    frameworkErrors: (error, request, reply) => {
      reply.header('X-API-Version', versionOf(request)).header('X-Request-Id', request.id);
      replies.failure(request, reply, error);
    },
  });
  app.server.maxConnections = options.maxConnections;

  const calls = new EndpointCalls(options, modules.clock);
  const connections = new Set<Socket>();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const metrics = new HttpMetrics(modules.metrics, calls, () => connections.size);
  const log = new RequestLog(options.requestLog, modules.logger);
  const { clock, unixTimeMs } = modules;
  const replies = new Replies(options, { clock, unixTimeMs, metrics, log, paths, closing });

  const bodies = new BodyReader(options);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (_request: unknown, payload: IncomingMessage) => {
    const bytes = await bodies.read(payload);
    return bytes.length === 0 ? undefined : parseJsonBody(bytes, options.maxNesting);
  });

  app.decorateRequest('state', null);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-API-Version', versionOf(request)).header('X-Request-Id', request.id);
    done();
  });
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST'],
    allowedHeaders: [...new Set([...ALLOWED_HEADERS, ...switchHeaders(apis)])],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
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
    (prefix) => new ApiRoutes(prefix, options.profile, { ...modules, calls, replies, choice }),
  );
  // After the plugins, so that refusals have the headers of CORS, too.
  app.addHook('onRequest', (request, _reply, done) => {
    const { url = '' } = request.raw;
    // The type that the client names does not count: bodies are JSON.
    request.raw.headers['content-type'] = 'application/json';
    const maxBytes = url.length > options.maxUrlBytes ? maxUrlOf(request) : options.maxUrlBytes;
    if (url.length > maxBytes) done(httpErrors['url-too-long']({ maxBytes }));
    else if (request.is404) done(refusalOf(request.method, request.headers.host, url, routes, app));
    else done();
  });
  app.setErrorHandler((error, request, reply) => replies.failure(request, reply, error));
  for (const api of routes) api.add(app);
  addDocsRoutes(app, { networks, choice });
  addHealthRoutes(app, { networks, metrics: modules.metrics, apiVersion, isClosing: () => closing.isClosing });
  return { app, connections };
}

/** The headers by which requests switch something. */
function switchHeaders(apis: readonly AnyHttpApi[]): readonly string[] {
  const switches = apis.flatMap((api) => Object.values((api.switches ?? {}) as RequestSwitches));
  return switches.map(({ header }) => header);
}

/** What is wrong with a request that fits no route: its path, or only its verb. */
function refusalOf(
  method: string,
  host: string | undefined,
  url: string,
  routes: readonly ApiRoutes[],
  app: FastifyInstance,
): TernError {
  const [path = ''] = url.split('?', 1);
  const verbs = routes.map((api) => api.verbsOfPath(host, path)).find((found) => found !== null);
  if (verbs !== undefined) return httpErrors['method-not-allowed']({ method, allowed: verbs.join(', ') });
  const isRoute = !path.includes(':') && app.hasRoute({ method: 'GET', url: path });
  return isRoute ? httpErrors['method-not-allowed']({ method, allowed: 'GET, HEAD' }) : httpErrors['not-found']({});
}
