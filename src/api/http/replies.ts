import '@fastify/compress';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiPaths } from '#api/http/api-paths.js';
import type { ApiStyle } from '#api/http/api-style.js';
import type { Outcome } from '#api/http/endpoint-calls.js';
import { generatedExtra, NO_ECHO } from '#api/http/envelope.js';
import { envelopeStyle } from '#api/http/envelope-style.js';
import { retryAfterSeconds, statusOf } from '#api/http/error-status.js';
import { asHttpError } from '#api/http/fastify-errors.js';
import { addFreshness } from '#api/http/freshness-headers.js';
import { JSON_TYPE } from '#api/http/json-type.js';
import type { HttpMetrics } from '#api/http/metrics.js';
import type { HttpSettings } from '#api/http/options.js';
import type { RequestLog } from '#api/http/request-log.js';
import type { RequestState } from '#api/http/request-state.js';
import type { Clock } from '#kernel/clock/clock.js';

interface RepliesModules {
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly metrics: HttpMetrics;
  readonly log: RequestLog;
  readonly paths: ApiPaths;
  /** Whether the server is about to end: then connections are not kept. */
  readonly closing: { readonly isClosing: boolean };
}

/** Headers of requests that decide about the profile. */
const VARY = 'X-Tern-Profile, X-Ton-Client-Version';

/** Errors that are counted as turned away. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'http/unknown-key',
  'http/network-not-allowed',
  'http/rate-limit',
  'http/overloaded',
]);

/** Writes the answers of APIs, and counts and logs them. */
export class Replies {
  readonly #settings: Pick<HttpSettings, 'profile' | 'compressFrom'>;
  readonly #modules: RepliesModules;

  constructor(settings: Pick<HttpSettings, 'profile' | 'compressFrom'>, modules: RepliesModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  success(request: FastifyRequest, reply: FastifyReply, state: RequestState, { result, isCached }: Outcome): void {
    const { metrics, log } = this.#modules;
    const elapsedMs = this.#elapsed(state);
    const text = state.profile === 'spec' ? result.text : result.renamed;
    addFreshness(reply, state.api, result.mcSeqno);
    for (const [name, value] of result.headers) reply.header(name, value);
    const endpoint = state.endpoint?.endpoint.name ?? '';
    metrics.observe(state.network.name, state.prefix, endpoint, 200, elapsedMs / 1000);
    log.success(request, state, elapsedMs, isCached);
    const stamp = () => this.#stamp(state, elapsedMs, isCached);
    this.#send(request, reply, 200, state.style, elapsedMs, state.style.success(text, state, stamp));
  }

  /** Answers with the status and text of an error, whatever it is. */
  failure(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const { metrics, log } = this.#modules;
    const state = request.state ?? null;
    const error = asHttpError(thrown, request.id);
    const endpoint = state?.endpoint?.endpoint ?? null;
    const { api, style, profile } = state ?? this.#unrouted(request);
    const status = statusOf(error, endpoint, profile, style);
    const elapsedMs = state === null ? 0 : this.#elapsed(state);
    if (state !== null) {
      metrics.observe(state.network.name, state.prefix, endpoint?.name ?? '', status, elapsedMs / 1000);
      if (REJECTIONS.has(error.code)) metrics.reject(state.network.name, error.code);
    }
    log.failure(request, state, elapsedMs, status, error, thrown);
    const retryAfter = retryAfterSeconds(error);
    if (retryAfter !== null) reply.header('Retry-After', String(retryAfter));
    if (error.code === 'http/method-not-allowed') reply.header('Allow', String(error.data.allowed));
    addFreshness(reply, api, null);
    // No inner text of a fault of ours: it may tell what is not the client's business.
    const text = error.class === 'internal' ? `internal error; request ${request.id}` : error.message;
    const isLimit = error.code === 'http/rate-limit';
    const stamp = () => (state === null ? '_' : this.#stamp(state, elapsedMs, false));
    const body = style.failure({ text, status, profile, isLimit }, state ?? NO_ECHO, stamp);
    this.#send(request, reply, status, style, elapsedMs, body);
  }

  /** The manners of an answer to a request that reached no route of an API. */
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
    body: string,
  ): void {
    // Answers age within seconds, and what they look like depends on headers of the request.
    reply.code(status).header('Content-Type', JSON_TYPE).header('Cache-Control', 'no-store').header('Vary', VARY);
    if (isTimed) reply.header('Server-Timing', `app;dur=${Math.round(elapsedMs * 1000) / 1000}`);
    if (this.#modules.closing.isClosing) reply.header('Connection', 'close');
    const isLong = body.length >= this.#settings.compressFrom;
    if (isLong && request.headers['accept-encoding'] !== undefined) reply.compress(body);
    else reply.send(body);
  }
}
