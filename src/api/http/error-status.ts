import type { ApiStyle } from '#api/http/api-style.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { envelopeStyle } from '#api/http/envelope-style.js';
import type { Profile } from '#api/http/http-api.js';
import type { ErrorClass, TernError } from '#kernel/errors/tern-error.js';

const STATUS_OF_CLASS: Readonly<Record<ErrorClass, number>> = {
  caller: 422,
  'not-found': 404,
  upstream: 500,
  overloaded: 503,
  internal: 500,
  'shutting-down': 503,
};

/** Errors whose class alone does not tell the status. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  'http/unknown-key': 401,
  'http/network-not-allowed': 403,
  'http/foreign-page': 403,
  'http/method-not-allowed': 405,
  'http/body-too-large': 413,
  'http/url-too-long': 414,
  'http/rate-limit': 429,
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

/** Where the node is at fault in the eyes of live services, which answer 500 to all of it. */
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

/** Seconds after which it makes sense to ask again; null for errors where waiting does not help. */
export function retryAfterSeconds(error: TernError): number | null {
  if (error.code === 'http/rate-limit') return Number(error.data.retryAfterSeconds);
  return error.class === 'overloaded' || error.class === 'shutting-down' ? 1 : null;
}
