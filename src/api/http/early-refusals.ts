import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from '#api/http/api-style.js';
import type { Clock } from '#kernel/clock.js';
import type { RateState } from '#services/access/access.js';

/** Names of {@link rateLimitHeaders}. */
const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'] as const;

/** The star stands for all others; older browsers support names only. */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'X-API-Version',
  'Retry-After',
  'X-Tern-Next',
  'X-Tern-Mc-Seqno',
  'X-Tern-Lag-Ms',
  'X-Tern-Ignored',
  'X-Tern-Follow',
  'X-Tern-Coverage',
  ...RATE_LIMIT_HEADERS,
  '*',
].join(', ');

/** Pages of any origin may read all answers, and these headers. */
export const OPEN_TO_ALL = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
} as const;

/** The state of a limit as headers, as of draft-ietf-httpapi-ratelimit-headers-06. Times are whole seconds, rounded up. */
export function rateLimitHeaders({ limit, remaining, resetMs, windowMs }: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
    'RateLimit-Policy': `${limit};w=${Math.max(1, Math.ceil(windowMs / 1000))}`,
  };
}

/** How long a refusal is remembered at most: limits of a client may be changed meanwhile. */
const LONGEST_MS = 1_000;

/** Refusals in memory; when there are more, the oldest ones are forgotten. */
const MOST = 10_000;

/** Longer URLs are read in the usual way. */
const LONGEST_URL = 2_048;

/** Headers that change what a refusal looks like. */
const FORM_HEADERS = ['x-tern-profile', 'x-ton-client-version'] as const;

/** Parameters that a refusal depends on; a name with escapes may be one of them. */
const TELLING_QUERY = /(?:^|&)(?:[^=&]*%|api_key|@?extra)/i;

/** An answer that a request got because the rate of its client was used up. */
export interface GivenRefusal {
  /** After which the same request would pass. */
  readonly retryAfterMs: number;
  readonly rate: RateState | null;
  /** JSON. */
  readonly body: string;
  readonly apiVersion: string;
  /** Called for each request that is refused from memory. */
  readonly again: () => void;
}

interface Refusal {
  /** Times of the clock: until when it is remembered, and when the request would pass. */
  readonly until: number;
  readonly passesAt: number;
  readonly rateHeaders: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly apiVersion: string;
  readonly again: () => void;
}

/**
 * Requests whose client has been told that its rate is used up, and which it sends again before it is time: they get the same
 * answer before anything of them is read, for a tenth of the work. Only such of which nothing but the time can change the answer.
 */
export class EarlyRefusals {
  readonly #clock: Clock;
  readonly #clientOf: (message: IncomingMessage) => string;
  /** In the order in which they were made. */
  readonly #known = new Map<string, Refusal>();
  #count = 0;

  /** @param clientOf the client address of a request */
  constructor(clock: Clock, clientOf: (message: IncomingMessage) => string) {
    this.#clock = clock;
    this.#clientOf = clientOf;
  }

  /** Requests that were refused from memory. */
  get count(): number {
    return this.#count;
  }

  remember(message: IncomingMessage, { retryAfterMs, rate, body, apiVersion, again }: GivenRefusal): void {
    const key = this.#keyOf(message);
    if (key === null) return;
    this.#known.delete(key);
    const now = this.#clock.now();
    const until = now + Math.min(retryAfterMs, LONGEST_MS);
    const rateHeaders = rate === null ? {} : rateLimitHeaders(rate);
    this.#known.set(key, {
      until,
      passesAt: now + retryAfterMs,
      rateHeaders,
      body: Buffer.from(body),
      apiVersion,
      again,
    });
    if (this.#known.size <= MOST) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest!);
  }

  /** Answers a request that is refused. @returns whether it did */
  answer(message: IncomingMessage, response: ServerResponse, requestId: () => string): boolean {
    if (this.#known.size === 0) return false;
    const key = this.#keyOf(message);
    const refusal = key === null ? undefined : this.#known.get(key);
    if (refusal === undefined) return false;
    const { body, apiVersion, again, until, passesAt, rateHeaders } = refusal;
    const now = this.#clock.now();
    if (now >= until) {
      this.#known.delete(key!);
      return false;
    }
    this.#count++;
    again();
    response.writeHead(429, {
      'X-API-Version': apiVersion,
      'X-Request-Id': requestId(),
      ...OPEN_TO_ALL,
      ...rateHeaders,
      'Retry-After': Math.max(1, Math.ceil((passesAt - now) / 1000)),
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
      'Content-Length': body.length,
    });
    response.end(body);
    return true;
  }

  /** What the refusal is of; null: the answer depends on more. */
  #keyOf(message: IncomingMessage): string | null {
    const { method, url = '', headers } = message;
    if (method !== 'GET' || url.length > LONGEST_URL) return null;
    for (const name of FORM_HEADERS) if (headers[name] !== undefined) return null;
    const mark = url.indexOf('?');
    if (mark >= 0 && TELLING_QUERY.test(url.slice(mark + 1))) return null;
    const path = mark < 0 ? url : url.slice(0, mark);
    return `${headers['x-api-key'] ?? ''}\n${this.#clientOf(message)}\n${headers.host ?? ''}\n${path}`;
  }
}
