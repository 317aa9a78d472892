import type { ApiStyle } from '#api/http/api-style.js';
import type { Profile } from '#api/http/http-api.js';
import type { JsonObject } from '#api/http/openapi-schemas.js';

/** Statuses that every endpoint may answer with; 422 also where there are no parameters: unknown ones are refused. */
export const COMMON_STATUSES: readonly number[] = [401, 403, 414, 422, 429, 500, 503];

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request was refused.',
  401: 'There is no such API key.',
  403: 'The API key is for another network.',
  404: 'What was asked for does not exist.',
  409: 'It exists, but is of another kind.',
  413: 'The body is too large.',
  414: 'The URL has more than 8192 bytes; POST takes more.',
  422: 'A parameter is wrong; the text names it.',
  429: 'Too many requests; `Retry-After` says how many seconds to wait.',
  500: 'A node refused or failed, or there is a fault in the service.',
  503: 'No server of the network can answer now, or the service has too much to do; the text says which.',
  504: 'There was no answer in time.',
  542: 'The value cannot be expressed in the answer.',
};

const EXAMPLES: Readonly<Record<number, string>> = {
  401: 'API key does not exist',
  403: 'Network not allowed',
  422: 'parameter address: it is required',
  429: 'Ratelimit exceed',
  503: 'no server answered getMasterchainInfo in 10000 ms: 127.0.0.1:4924: not connected',
  504: 'no answer within 10000 ms',
};

const EXTRA = { type: 'string', description: 'The `@extra` of the request; without one, a stamp of the service.' };

const RATE_LIMIT_HEADERS = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

/** The body of all errors. */
export const errorSchema: JsonObject = {
  type: 'object',
  description: 'What every error looks like.',
  required: ['ok', 'error', 'code'],
  properties: {
    ok: { type: 'boolean', const: false, description: 'Always false.' },
    error: { type: 'string', description: 'What is wrong, and where.' },
    code: { type: 'integer', description: 'The HTTP status.' },
    result: { type: 'string', description: 'The text of `error` once more; with status 429 only.' },
    '@extra': EXTRA,
    jsonrpc: { type: 'string', description: '`2.0`, in answers to JSON-RPC.' },
    id: { description: 'The `id` of the request of JSON-RPC.' },
  },
};

/**
 * The component of one status.
 *
 * @param maxUrlBytes of an API that takes longer URLs than the server otherwise does
 */
export function errorResponse(
  status: number,
  { errorName, errorExample }: Pick<ApiStyle, 'errorName' | 'errorExample'>,
  profile: Profile,
  maxUrlBytes?: number,
): JsonObject {
  const example = EXAMPLES[status];
  return {
    description: describe(status, maxUrlBytes),
    ...(status === 429 || status === 503 ? { headers: RATE_LIMIT_HEADERS } : {}),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${errorName}` },
        ...(example === undefined ? {} : { example: errorExample(example, status, profile) }),
      },
    },
  };
}

function describe(status: number, maxUrlBytes: number | undefined): string {
  if (status === 414 && maxUrlBytes !== undefined) return `The URL has more than ${maxUrlBytes} bytes.`;
  return DESCRIPTIONS[status] ?? 'The request failed.';
}

/** The body of a success. */
export function successSchema(result: JsonObject): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['ok', 'result'],
    properties: {
      ok: { type: 'boolean', const: true, description: 'Always true.' },
      result,
      '@extra': EXTRA,
    },
  };
}

/** The request of JSON-RPC. */
export const rpcRequestSchema: JsonObject = {
  type: 'object',
  description: 'A method of this API by its name, with its parameters.',
  required: ['method'],
  properties: {
    jsonrpc: { type: 'string', default: '2.0', description: 'Not looked at.' },
    id: { description: 'Comes back as it is.' },
    method: { type: 'string', description: 'The last part of the path of a method.' },
    params: { type: 'object', additionalProperties: true, description: 'Its parameters; none when left out.' },
    '@extra': EXTRA,
  },
};

/** A success of JSON-RPC. */
export const rpcResponseSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['ok', 'result', 'jsonrpc'],
  properties: {
    ok: { type: 'boolean', const: true, description: 'Always true.' },
    result: { description: 'What the method answers.' },
    '@extra': EXTRA,
    jsonrpc: { type: 'string', const: '2.0' },
    id: { description: 'The `id` of the request, if it had one.' },
  },
};

/** How a key is given. */
export const securitySchemes: JsonObject = {
  APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key as a header.' },
  APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: 'The API key as an argument of the URL.' },
};

/** Either way of giving a key, or none at all. */
export const security: readonly JsonObject[] = [{ APIKeyHeader: [] }, { APIKeyQuery: [] }, {}];
