import { httpErrors } from '#api/http/errors.js';
import type { JsonBody } from '#api/http/json-body.js';
import type { RawParameters } from '#api/http/query-string.js';

/** Last segment of the JSON-RPC path. */
export const JSON_RPC = 'jsonRPC';

/** A JSON-RPC call. */
export interface RpcRequest {
  readonly method: string;
  readonly params: RawParameters;
  /** As in the request, as JSON text; `''` when there is none. */
  readonly id: string;
  /** Beside `params`; it may stand within them as well. */
  readonly extra: unknown;
}

/**
 * The `id` of a body as JSON text, whether or not the rest is valid; `''` without one. Integers of any size are echoed
 * unchanged.
 */
export function rpcIdOf({ value, hasLongId }: JsonBody): string {
  if (!isObject(value) || !Object.hasOwn(value, 'id')) return '';
  const { id } = value;
  return hasLongId && typeof id === 'string' ? id : JSON.stringify(id);
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
  if (typeof method !== 'string') throw httpErrors['bad-rpc']({ problem: 'method must be a string' });
  const given = Object.hasOwn(value, 'params') ? value.params : undefined;
  return {
    method,
    params: paramsOf(given),
    id: rpcIdOf(body),
    extra: Object.hasOwn(value, '@extra') ? value['@extra'] : undefined,
  };
}

/** Absent, null and an empty array mean no parameters. */
function paramsOf(given: unknown): RawParameters {
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) return {};
  if (isObject(given)) return given;
  throw httpErrors['bad-rpc']({ problem: 'params must contain an object' });
}

function isObject(value: unknown): value is RawParameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
