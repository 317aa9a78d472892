import type { FastifyRequest } from 'fastify';
import { httpErrors } from '#api/http/errors.js';
import type { RawParameters } from '#api/http/query-string.js';
import type { RequestState } from '#api/http/request-state.js';
import type { Access, AccessAnswer } from '#services/access/access.js';

/**
 * Asks whether the request is let in. Takes `api_key` out of its query.
 *
 * @returns undefined when it is, at once or later
 * @throws http/unknown-key, http/network-not-allowed, http/rate-limit, http/bad-parameter; as a rejection when it takes time
 */
export function admit(access: Access, request: FastifyRequest, state: RequestState): Promise<void> | undefined {
  const key = takeKey(request, state.query);
  const answer = access.ask({ key, clientAddress: request.ip, network: state.network.name });
  if (answer instanceof Promise) return answer.then((later) => settle(later, state));
  settle(answer, state);
  return undefined;
}

/** The header counts before the query; an empty one is none. */
function takeKey(request: FastifyRequest, query: RawParameters): string | null {
  const inQuery = query.api_key;
  if (inQuery !== undefined) delete query.api_key;
  const inHeader = request.headers['x-api-key'];
  if (typeof inHeader === 'string' && inHeader !== '') return inHeader;
  if (inQuery === undefined || inQuery === '') return null;
  if (typeof inQuery === 'string') return inQuery;
  throw httpErrors['bad-parameter']({ parameter: 'api_key', problem: 'it is given more than once' });
}

function settle(answer: AccessAnswer, state: RequestState): void {
  switch (answer.kind) {
    case 'allowed':
      state.group = answer.group;
      state.keyId = answer.key;
      return;
    case 'unknown-key':
      throw httpErrors['unknown-key']({});
    case 'network-not-allowed':
      throw httpErrors['network-not-allowed']({});
    case 'limited': {
      const retryAfterSeconds = Math.max(1, Math.ceil(answer.retryAfterMs / 1000));
      throw httpErrors['rate-limit']({ limit: answer.limit, retryAfterSeconds });
    }
  }
}
