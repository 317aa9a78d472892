import { httpErrors } from '#api/http/errors.js';
import type { RawParameters } from '#api/http/query-string.js';

const MAX_EXTRA = 4_096;

/**
 * Takes the `@extra` out of the parameters, if there is one.
 *
 * @throws http/bad-parameter when it is no text or too long
 */
export function takeExtra(raw: RawParameters): string | null {
  const extra = raw['@extra'];
  if (extra === undefined) return null;
  delete raw['@extra'];
  if (extra === null) return null;
  if (typeof extra === 'string' && extra.length <= MAX_EXTRA) return extra;
  throw httpErrors['bad-parameter']({
    parameter: '@extra',
    problem: `it must be one text of up to ${MAX_EXTRA} characters`,
  });
}
