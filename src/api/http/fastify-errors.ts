import { httpErrors } from '#api/http/errors.js';
import { TernError } from '#kernel/errors/tern-error.js';

/** Errors of Fastify about requests, by their codes. */
const OF_FASTIFY: Readonly<Record<string, () => TernError>> = {
  FST_ERR_NOT_FOUND: () => httpErrors['not-found']({}),
  FST_ERR_BAD_URL: () => httpErrors['not-found']({}),
  FST_ERR_MAX_PARAM_LENGTH: () => httpErrors['not-found']({}),
};

/** What was thrown, as an error with a code; what nobody foresaw is `http/internal`. */
export function asHttpError(thrown: unknown, requestId: string): TernError {
  if (thrown instanceof TernError) return thrown;
  if (thrown instanceof Error && 'code' in thrown) {
    const known = OF_FASTIFY[String(thrown.code)];
    if (known !== undefined) return known();
  }
  return httpErrors.internal({ requestId }, thrown);
}
