import type { FastifyRequest } from 'fastify';
import type { HttpSettings } from '#api/http/options.js';
import type { RequestState } from '#api/http/request-state.js';
import type { TernError } from '#kernel/errors/tern-error.js';
import type { LogFields, Logger } from '#kernel/observe/logger.js';

/** Longest text of a field. */
const MAX_TEXT = 1_000;

/** Writes requests to the log: never the query, the body or the key, in which secrets may be. */
export class RequestLog {
  readonly #mode: HttpSettings['requestLog'];
  readonly #logger: Logger;

  constructor(mode: HttpSettings['requestLog'], logger: Logger) {
    this.#mode = mode;
    this.#logger = logger;
  }

  success(request: FastifyRequest, state: RequestState, elapsedMs: number, isCached: boolean): void {
    if (this.#mode !== 'all') return;
    this.#logger.info('request', { ...fieldsOf(request, state, elapsedMs), status: 200, cached: isCached });
  }

  /** Faults of Tern itself are written in every mode, with what was thrown. */
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
    endpoint: state?.endpoint?.endpoint.name ?? null,
    key: state?.keyId ?? null,
    profile: state?.profile ?? null,
    ms: Math.round(elapsedMs * 1000) / 1000,
  };
}

function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
