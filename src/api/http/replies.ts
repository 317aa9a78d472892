import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiPaths, TONCENTER_MOUNT } from '#api/http/api-paths.js';
import { type ApiStyle, type Echo, envelopeStyle, generatedExtra, JSON_TYPE, NO_ECHO } from '#api/http/api-style.js';
import { rateLimitHeaders } from '#api/http/early-refusals.js';
import type { AnyEndpoint, RawParameters, SerializedJson } from '#api/http/endpoint.js';
import type { CallOutcome, CompiledEndpoint } from '#api/http/endpoint-calls.js';
import { httpErrors } from '#api/http/errors.js';
import type { HeldAnswers } from '#api/http/held-answers.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import type { HttpMetrics } from '#api/http/metrics.js';
import type { HttpSettings } from '#api/http/options.js';
import { NO_SWITCHES, type ReadSwitches } from '#api/http/parameters.js';
import type { EndpointResult } from '#api/http/response-cache.js';
import type { Clock } from '#kernel/clock.js';
import type { LogFields, Logger } from '#kernel/logger.js';
import { type ErrorClass, TernError } from '#kernel/tern-error.js';
import {
  type AccessDecision,
  type RateState,
  type StreamLimits,
  unlimitedWork,
  type WorkBudget,
} from '#services/access/access.js';
import '@fastify/compress';

/** The API of a request. */
type ApiPlace = Pick<RequestState, 'prefix' | 'style' | 'api'>;

/** The state of a request to an API; filled in as the request is read. */
export class RequestState implements Echo {
  /** Time of the clock. */
  readonly begun: number;
  readonly network: HttpNetwork;
  readonly prefix: string;
  readonly style: ApiStyle;
  /** Null: the network has none at the prefix. */
  readonly api: AnyHttpApi | null;
  profile: Profile;
  /** Null: none, or not known yet. */
  endpoint: CompiledEndpoint | null = null;
  /** The name of a raw route. */
  rawName: string | null = null;
  query: RawParameters = {};
  switches: ReadSwitches = NO_SWITCHES;
  /** Names of query parameters that were left out of account. */
  ignored: readonly string[] = [];
  /** The masterchain seqno that the answer has to include; null: any. */
  minSeqno: number | null = null;
  extra: string | null = null;
  rpcId: string | null = null;
  group: string | null = null;
  /** Id of the API key, not the key itself. */
  keyId: string | null = null;
  /** Whether the key opens the admin API. */
  isAdmin = false;
  /** Who shares the process with others; see AccessDecision. */
  client = '';
  work: WorkBudget = unlimitedWork;
  /** Of the plan; null: it does not limit streams. */
  streams: Partial<StreamLimits> | null = null;
  /** How much of its limits on requests is left; null without a limit. */
  rate: RateState | null = null;
  /** Why it is not let in; null: it is. */
  limited: (AccessDecision & { readonly kind: 'limited' }) | null = null;

  constructor(startedAt: number, network: HttpNetwork, place: ApiPlace, profile: Profile) {
    this.begun = startedAt;
    this.network = network;
    this.prefix = place.prefix;
    this.style = place.style;
    this.api = place.api;
    this.profile = profile;
  }

  /** For metrics and logs; null: none, or not known yet. */
  get endpointName(): string | null {
    return this.endpoint?.endpoint.name ?? this.rawName;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests to no API. */
    state: RequestState | null;
  }
}

const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** A text that is sent to many: encoded once for each form that clients accept. */
export class PrecompressedText {
  readonly #type: string;
  readonly #make: () => string;
  #bytes: Buffer | null = null;
  readonly #encoded = new Map<Encoding, Buffer>();

  /** @param make called when it is first sent @param type `Content-Type` */
  constructor(make: () => string, type: string) {
    this.#make = make;
    this.#type = type;
  }

  send({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.header('Content-Type', this.#type).header('Vary', 'Accept-Encoding');
    const encoding = acceptedEncoding(headers['accept-encoding']);
    if (encoding === null) return reply.send(this.#text());
    return reply.header('Content-Encoding', encoding).send(this.#in(encoding));
  }

  #text(): Buffer {
    this.#bytes ??= Buffer.from(this.#make());
    return this.#bytes;
  }

  #in(encoding: Encoding): Buffer {
    const known = this.#encoded.get(encoding);
    if (known !== undefined) return known;
    const made = encoding === 'br' ? brotliCompressSync(this.#text(), BROTLI) : gzipSync(this.#text());
    this.#encoded.set(encoding, made);
    return made;
  }
}

/** Takes about as long as gzip, and leaves a fifth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** The encoding that suits best; null: the text as it is. */
function acceptedEncoding(header: string | readonly string[] | undefined): Encoding | null {
  return ENCODINGS.find((encoding) => isAccepted(encoding, header)) ?? null;
}

/** @param header `Accept-Encoding` */
function isAccepted(encoding: Encoding, header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  let isNamed = false;
  for (const part of String(header).split(',', MOST_ENCODINGS)) {
    const [name = '', ...parameters] = part.toLowerCase().split(';');
    if (name.trim() !== encoding) continue;
    isNamed = !parameters.some((each) => /^\s*q=0(\.0*)?\s*$/.test(each));
  }
  return isNamed;
}

const MOST_ENCODINGS = 20;

interface RepliesModules {
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly metrics: HttpMetrics;
  readonly log: RequestLog;
  readonly paths: ApiPaths;
  readonly held: HeldAnswers;
  /** Whether the server is shutting down: then connections are not kept alive. */
  readonly closing: { readonly isClosing: boolean };
}

// Fastify takes names of headers in lower case as they are.

/** Headers of requests that determine the profile. */
const VARY = 'X-Tern-Profile, X-Ton-Client-Version';

/** Errors that are counted as rejections. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'http/unknown-key',
  'http/keys-unavailable',
  'http/not-admin',
  'http/network-not-allowed',
  'http/rate-limit',
  'http/work-limit',
  'http/overloaded',
]);

/** Errors of exhausted limits of a client. */
const LIMITS: ReadonlySet<string> = new Set(['http/rate-limit', 'http/work-limit']);

/** Writes the responses of APIs, and counts and logs them. */
export class Replies {
  readonly #settings: Pick<HttpSettings, 'profile' | 'compressFrom'>;
  readonly #modules: RepliesModules;

  constructor(settings: Pick<HttpSettings, 'profile' | 'compressFrom'>, modules: RepliesModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  success(request: FastifyRequest, reply: FastifyReply, state: RequestState, { result, isCached }: CallOutcome): void {
    const { metrics, log } = this.#modules;
    const elapsedMs = this.#elapsed(state);
    addFreshness(reply, state, result.mcSeqno);
    addIgnored(reply, state);
    addRate(reply, state);
    for (const [name, value] of result.headers) reply.header(name, value);
    metrics.observe(state.network.name, state.prefix, state.endpointName ?? '', 200, elapsedMs / 1000);
    log.success(request, state, elapsedMs, { status: 200, isCached });
    const compressed = this.#compressed(request, result);
    if (compressed === null) {
      const json = state.profile === 'spec' ? result.json : result.renamed;
      const stamp = () => this.#stamp(state, elapsedMs, isCached);
      const body = typeof json === 'string' ? state.style.success(json, state, stamp) : json;
      this.#send(request, reply, 200, state.style, elapsedMs, body);
    } else if (compressed instanceof Promise) {
      compressed.then(
        (body) => this.#send(request, reply, 200, state.style, elapsedMs, body, 'gzip'),
        (error) => this.failure(request, reply, error),
      );
    } else {
      this.#send(request, reply, 200, state.style, elapsedMs, compressed, 'gzip');
    }
  }

  /** A result as it is cached for clients that accept gzip; null: it is sent otherwise. */
  #compressed({ headers }: FastifyRequest, result: EndpointResult): Uint8Array | Promise<Uint8Array> | null {
    if (result.length < this.#settings.compressFrom) return null;
    return isAccepted('gzip', headers['accept-encoding']) ? result.compressed() : null;
  }

  /** Counts and logs a response that a raw route writes itself, at its head. */
  begun(request: FastifyRequest, state: RequestState, status: number): void {
    const { metrics, log } = this.#modules;
    const elapsedMs = this.#elapsed(state);
    metrics.observe(state.network.name, state.prefix, state.endpointName ?? '', status, elapsedMs / 1000);
    log.success(request, state, elapsedMs, { status, isCached: false });
  }

  /** Logs a failure in the middle of such a response. */
  broken(request: FastifyRequest, state: RequestState, thrown: unknown): void {
    const error = asHttpError(thrown, request.id);
    this.#modules.log.failure(
      request,
      state,
      this.#elapsed(state),
      statusOf(error, null, state.profile),
      error,
      thrown,
    );
  }

  /** Counts a request that got the same refusal as one before it. */
  refusedAgain(state: RequestState, code: string, status: number): void {
    const { metrics } = this.#modules;
    metrics.observe(state.network.name, state.prefix, state.endpointName ?? '', status, 0);
    metrics.reject(state.network.name, code);
  }

  /** Responds with the status and message of any error. */
  failure(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const { metrics, log } = this.#modules;
    const state = request.state ?? null;
    const error = asHttpError(thrown, request.id);
    const endpoint = state?.endpoint?.endpoint ?? null;
    const { api, style, profile } = state ?? this.#unrouted(request);
    const path = request.originalUrl.split('?', 1)[0]!.replace(TONCENTER_MOUNT, '');
    const told = api?.failureText?.(error, { profile, method: request.method, path }) ?? null;
    const status = told?.status ?? statusOf(error, endpoint, profile, style);
    const elapsedMs = state === null ? 0 : this.#elapsed(state);
    if (state !== null) {
      metrics.observe(state.network.name, state.prefix, state.endpointName ?? '', status, elapsedMs / 1000);
      if (REJECTIONS.has(error.code)) metrics.reject(state.network.name, error.code);
    }
    log.failure(request, state, elapsedMs, status, error, thrown);
    const retryAfter = retryAfterSeconds(error);
    if (retryAfter !== null) reply.header('Retry-After', String(retryAfter));
    if (error.code === 'http/method-not-allowed') reply.header('Allow', String(error.data.allowed));
    addFreshness(reply, { api, group: state?.group ?? null }, null);
    if (state !== null) {
      addIgnored(reply, state);
      addRate(reply, state);
    }
    for (const [name, value] of api?.failureHeaders?.(error) ?? []) reply.header(name, value);
    // Messages of internal errors are not shown to clients.
    const known = told?.text ?? error.publicMessage;
    const text = error.class === 'internal' ? `internal error; request ${request.id}` : known;
    const isLimit = LIMITS.has(error.code);
    const stamp = () => (state === null ? '_' : this.#stamp(state, elapsedMs, false));
    const body = style.failure({ text, status, profile, isLimit }, state ?? NO_ECHO, stamp);
    this.#send(request, reply, status, style, elapsedMs, body);
  }

  /** Style and profile of a response to a request without a route. */
  #unrouted({ headers, raw }: FastifyRequest): Pick<RequestState, 'api' | 'style' | 'profile'> {
    const found = this.#modules.paths.of(headers.host, raw.url ?? '');
    const profile = found?.profile ?? this.#settings.profile;
    return { api: found?.api ?? null, style: found?.style ?? envelopeStyle, profile };
  }

  #elapsed(state: RequestState): number {
    return this.#modules.clock.now() - state.begun;
  }

  #stamp(state: RequestState, elapsedMs: number, isCached: boolean): string {
    return generatedExtra(this.#modules.unixTimeMs(), state.network.name, elapsedMs, isCached);
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { isTimed }: ApiStyle,
    elapsedMs: number,
    body: SerializedJson,
    encoding: 'gzip' | null = null,
  ): void {
    // Responses become stale within seconds, and depend on headers of the request.
    reply.code(status).header('content-type', JSON_TYPE).header('cache-control', 'no-store').header('vary', VARY);
    if (isTimed) reply.header('server-timing', `app;dur=${Math.round(elapsedMs * 1000) / 1000}`);
    if (this.#modules.closing.isClosing) reply.header('Connection', 'close');
    this.#modules.held.add(body, reply.raw);
    const payload = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length);
    const isLong = body.length >= this.#settings.compressFrom;
    if (encoding !== null) {
      reply.header('vary', `${VARY}, accept-encoding`).header('content-encoding', encoding);
      writeWhole(request, reply, payload);
    } else if (isLong && request.headers['accept-encoding'] !== undefined) reply.compress(payload);
    else writeWhole(request, reply, payload);
  }
}

/** Writes a response that is known as a whole, which no hook of the server has to see. */
function writeWhole({ method }: FastifyRequest, reply: FastifyReply, body: string | Buffer): void {
  const { raw, statusCode } = reply;
  reply.hijack();
  // The client has left: Node would make an error of each write.
  if (raw.destroyed) return;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  headers['content-length'] = Buffer.byteLength(body);
  raw.writeHead(statusCode, headers);
  const { socket } = raw;
  if (socket === null || method === 'HEAD') {
    raw.end(body);
    return;
  }
  // Node writes what `end` is called with in two parts, of which the second is empty: a tenth of the time of a small answer.
  socket.cork();
  raw.write(body);
  socket.uncork();
  raw.end();
}

const STATUS_OF_CLASS: Readonly<Record<ErrorClass, number>> = {
  caller: 422,
  'not-found': 404,
  upstream: 500,
  overloaded: 503,
  internal: 500,
  'shutting-down': 503,
};

/** Errors whose status does not follow from the class. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  'http/unknown-key': 401,
  'http/network-not-allowed': 403,
  'http/not-admin': 403,
  'http/foreign-page': 403,
  'http/method-not-allowed': 405,
  'http/upgrade-required': 426,
  'http/not-implemented': 501,
  'http/not-http': 400,
  'http/bad-host': 400,
  'http/request-timeout': 408,
  'http/body-too-large': 413,
  'http/body-in-pieces': 413,
  'http/url-too-long': 414,
  'http/not-fresh': 409,
  'http/rate-limit': 429,
  'http/work-limit': 429,
  'http/headers-too-large': 431,
  'http/body-too-complex': 413,
  'http/client-left': 499,
  'http/deadline': 504,
  'chain/deadline': 504,
  'chain/aborted': 504,
  'lite/aborted': 504,
  'tvm/aborted': 504,
  'store/timeout': 504,
  'lite/unanswered': 503,
  'lite/not-connected': 503,
};

/** Refusals by nodes; live services respond with 500 to all of them. */
const NODE_REFUSALS: ReadonlySet<string> = new Set(['lite/answer-error', 'chain/zerostate', 'chain/masterchain-only']);

/**
 * The status of an error.
 *
 * @param endpoint null for errors of requests that reached none
 */
export function statusOf(
  error: TernError,
  endpoint: AnyEndpoint<never> | null,
  profile: Profile,
  { concealsAbsence }: Pick<ApiStyle, 'concealsAbsence'> = envelopeStyle,
): number {
  const declared = endpoint?.errorStatuses?.[error.code] ?? STATUS_OF_CODE[error.code];
  if (declared !== undefined) return typeof declared === 'number' ? declared : declared[profile];
  if (concealsAbsence && profile === 'toncenter' && endpoint !== null) {
    if (error.class === 'not-found') return 500;
    if (NODE_REFUSALS.has(error.code)) return 500;
  }
  return STATUS_OF_CLASS[error.class];
}

/** Seconds for `Retry-After`; null for errors where waiting does not help. */
export function retryAfterSeconds(error: TernError): number | null {
  const given = error.data.retryAfterSeconds;
  if (typeof given === 'number') return given;
  return error.class === 'overloaded' || error.class === 'shutting-down' ? 1 : null;
}

/** Errors of Fastify about requests, by code. */
const OF_FASTIFY: Readonly<Record<string, () => TernError>> = {
  FST_ERR_NOT_FOUND: () => httpErrors['not-found']({}),
  FST_ERR_BAD_URL: () => httpErrors['not-found']({}),
  FST_ERR_MAX_PARAM_LENGTH: () => httpErrors['not-found']({}),
};

/** What was thrown as a TernError; unexpected errors are `http/internal`. */
function asHttpError(thrown: unknown, requestId: string): TernError {
  if (thrown instanceof TernError) return thrown;
  if (thrown instanceof Error && 'code' in thrown) {
    const known = OF_FASTIFY[String(thrown.code)];
    if (known !== undefined) return known();
  }
  return httpErrors.internal({ requestId }, thrown);
}

/**
 * Adds the headers for how recent the data of a response are, where the API knows.
 *
 * @param mcSeqno of the data of the response; null: that of the API
 */
function addFreshness(
  reply: FastifyReply,
  { api, group }: Pick<RequestState, 'api' | 'group'>,
  mcSeqno: number | null,
): void {
  const freshness = api?.freshness?.(group);
  if (freshness === undefined) return;
  reply.header('x-tern-mc-seqno', String(mcSeqno ?? freshness.mcSeqno));
  if (freshness.lagMs !== null) reply.header('x-tern-lag-ms', String(Math.round(freshness.lagMs)));
}

function addRate(reply: FastifyReply, { rate }: RequestState): void {
  if (rate !== null) reply.headers(rateLimitHeaders(rate));
}

/** Names in `X-Tern-Ignored`, and the length of each. */
const MOST_IGNORED = 16;
const LONGEST_IGNORED = 64;

/** Adds the names of the query parameters that were left out of account, percent-encoded; `...` stands for further ones. */
function addIgnored(reply: FastifyReply, { ignored }: RequestState): void {
  if (ignored.length === 0) return;
  const names = ignored.slice(0, MOST_IGNORED).map(headerText);
  if (ignored.length > MOST_IGNORED) names.push('...');
  reply.header('X-Tern-Ignored', names.join(', '));
}

function headerText(name: string): string {
  const short = [...name].slice(0, LONGEST_IGNORED).join('');
  return encodeURIComponent(short) + (short.length < name.length ? '...' : '');
}

/** Longest text of a log field. */
const MAX_TEXT = 1_000;

/** Logs requests: never the query, the body or the key, which may hold secrets. */
export class RequestLog {
  readonly #mode: HttpSettings['requestLog'];
  readonly #logger: Logger;

  constructor(mode: HttpSettings['requestLog'], logger: Logger) {
    this.#mode = mode;
    this.#logger = logger;
  }

  success(
    request: FastifyRequest,
    state: RequestState,
    elapsedMs: number,
    { status, isCached }: { readonly status: number; readonly isCached: boolean },
  ): void {
    if (this.#mode !== 'all') return;
    this.#logger.info('request', { ...fieldsOf(request, state, elapsedMs), status, cached: isCached });
  }

  /** Internal errors are logged in every mode, with what was thrown. */
  failure(
    request: FastifyRequest,
    state: RequestState | null,
    elapsedMs: number,
    status: number,
    error: TernError,
    thrown: unknown,
  ): void {
    const isInternal = error.class === 'internal';
    if (this.#mode === 'none' && !isInternal) return;
    if (this.#mode === 'failures' && status < 500) return;
    const fields = { ...fieldsOf(request, state, elapsedMs), status, code: error.code };
    if (status < 500) {
      this.#logger.info('request', fields);
      return;
    }
    const problem = isInternal ? thrownText(thrown) : error.message;
    this.#logger.warn('request failed', { ...fields, problem: problem.slice(0, MAX_TEXT) });
  }
}

function fieldsOf(request: FastifyRequest, state: RequestState | null, elapsedMs: number): LogFields {
  return {
    request: request.id,
    client: request.ip,
    method: request.method,
    network: state?.network.name ?? null,
    api: state?.prefix ?? null,
    endpoint: state?.endpointName ?? null,
    key: state?.keyId ?? null,
    profile: state?.profile ?? null,
    ms: Math.round(elapsedMs * 1000) / 1000,
  };
}

function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
