import { httpErrors } from '#api/http/errors.js';
import type { JsonBody } from '#api/http/json-body.js';
import type { RawParameters } from '#api/http/query-string.js';

/** Last segment of the path that takes JSON-RPC. */
export const JSON_RPC = 'jsonRPC';

/** A call in the form of JSON-RPC. */
export interface RpcRequest {
  readonly method: string;
  readonly params: RawParameters;
  /** As in the request, as JSON text; `''` when there is none. */
  readonly id: string;
  /** Beside `params`; it may stand within them as well. */
  readonly extra: unknown;
}

/**
 * The `id` of a body, as JSON text, of whatever else the body is made; `''` without one. Integers of any size come back
 * as they were.
 */
export function rpcIdOf({ value, unaltered }: JsonBody): string {
  if (!isObject(value) || !Object.hasOwn(value, 'id')) return '';
  const { id } = value;
  // A long integer has become a text of its digits: it goes back as an integer.
  if (typeof id === 'string' && unaltered !== null && typeof (JSON.parse(unaltered) as RawParameters).id === 'number') {
    return id;
  }
  return JSON.stringify(id);
}

/** @throws http/bad-rpc */
export function parseRpc(body: JsonBody): RpcRequest {
  const { value } = body;
  if (Array.isArray(value)) {
    throw httpErrors['bad-rpc']({ problem: 'batches are not supported: send one request object at a time' });
  }
  if (!isObject(value))
    throw httpErrors['bad-rpc']({ problem: 'the body must be a JSON object with method and params' });
  const method = Object.hasOwn(value, 'method') ? value.method : undefined;
  if (typeof method !== 'string') throw httpErrors['bad-rpc']({ problem: 'method must be a text' });
  const given = Object.hasOwn(value, 'params') ? value.params : undefined;
  return {
    method,
    params: paramsOf(given),
    id: rpcIdOf(body),
    extra: Object.hasOwn(value, '@extra') ? value['@extra'] : undefined,
  };
}

/** None, null and an empty array are no parameters. */
function paramsOf(given: unknown): RawParameters {
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) return {};
  if (isObject(given)) return given;
  throw httpErrors['bad-rpc']({ problem: 'params must contain an object' });
}

function isObject(value: unknown): value is RawParameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
