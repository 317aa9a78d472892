import type { RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, Profile, StyleName } from '#api/http/http-api.js';
import type { OpenApiJson } from '#api/http/openapi-schemas.js';
import { exactGrammar, foldingGrammar, type QueryGrammar } from '#api/http/parameters.js';

/** An error response. */
interface ApiFailure {
  readonly text: string;
  /** HTTP status. */
  readonly status: number;
  readonly profile: Profile;
  /** Whether a rate limit was exceeded. */
  readonly isLimit: boolean;
}

/** The conventions of a kind of API: how requests are written, and what responses look like. */
export interface ApiStyle {
  readonly query: QueryGrammar;
  /**
   * Letter case and one slash at the end of a path are ignored, method names may contain slashes, and HEAD is allowed where
   * GET is.
   */
  readonly hasLenientPaths: boolean;
  /** `@extra` is echoed, and all methods can be called by JSON-RPC. */
  readonly hasRpc: boolean;
  /** Responses have a `Server-Timing` header. */
  readonly isTimed: boolean;
  /** In the `toncenter` profile, `not-found` errors and refusals by nodes are 500, unless a method declares another status. */
  readonly concealsAbsence: boolean;
  /** Names of the OpenAPI document under the prefix. */
  readonly documentNames: readonly string[];
  /** Names of the reference page under the prefix, beside the prefix itself. */
  readonly pageNames: readonly string[];
  /** The response of `healthcheck`. */
  readonly healthcheck: { readonly type: string; readonly body: string };
  /**
   * The body of a success.
   *
   * @param result JSON text
   * @param stamp generates the `@extra` of a response whose request had none
   */
  success(result: string, echo: Echo, stamp: () => string): string;
  /** The body of an error. */
  failure(failure: ApiFailure, echo: Echo, stamp: () => string): string;
  /** The name of the error schema in the document. */
  readonly errorName: string;
  errorSchema(profile: Profile): OpenApiJson;
  errorExample(text: string, status: number, profile: Profile): OpenApiJson;
  /** The schema of the body of a success, from that of its result. */
  successSchema(result: OpenApiJson): OpenApiJson;
}

/** `Content-Type` of all JSON responses. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Fields of a request that its response repeats. */
export interface Echo {
  /** The `@extra` of the request; null without one. */
  readonly extra: string | null;
  /** The JSON-RPC `id` as JSON text, `''` without one; null for other requests. */
  readonly rpcId: string | null;
}

export const NO_ECHO: Echo = { extra: null, rpcId: null };

/** The `@extra` of a response whose request had none: time, network, duration, and `c` for a cached response. */
export function generatedExtra(unixTimeMs: number, origin: string, elapsedMs: number, isCached: boolean): string {
  const elapsed = Math.round(elapsedMs * 1000) / 1000;
  return `${Math.floor(unixTimeMs / 1000)}:${origin}:${elapsed}${isCached ? ':c' : ''}`;
}

/** @param result JSON text */
function successBody(result: string, extra: string, rpcId: string | null): string {
  return `{"ok":true,"result":${result},"@extra":${JSON.stringify(extra)}${rpcFields(rpcId)}}`;
}

/** @param result whether to repeat the error under `result`, for clients that read it first */
function failureBody(error: string, code: number, extra: string, rpcId: string | null, result = false): string {
  const text = JSON.stringify(error);
  const repeated = result ? `,"result":${text}` : '';
  return `{"ok":false,"error":${text}${repeated},"code":${code},"@extra":${JSON.stringify(extra)}${rpcFields(rpcId)}}`;
}

function rpcFields(rpcId: string | null): string {
  if (rpcId === null) return '';
  return rpcId === '' ? ',"jsonrpc":"2.0"' : `,"jsonrpc":"2.0","id":${rpcId}`;
}

const MAX_EXTRA = 4_096;

/**
 * Removes `@extra` from the parameters and returns it.
 *
 * @throws http/bad-parameter when it is not a string or too long
 */
export function takeEchoedExtra(raw: RawParameters): string | null {
  const extra = raw['@extra'];
  if (extra === undefined) return null;
  delete raw['@extra'];
  if (extra === null) return null;
  if (typeof extra === 'string' && extra.length <= MAX_EXTRA) return extra;
  throw httpErrors['bad-parameter']({
    parameter: '@extra',
    problem: `it must be one string of up to ${MAX_EXTRA} characters`,
  });
}

/** Responses are `{ok, result}` or `{ok, error, code}`; names are case-sensitive; JSON-RPC is supported. */
export const envelopeStyle: ApiStyle = {
  query: exactGrammar,
  hasLenientPaths: false,
  hasRpc: true,
  isTimed: false,
  concealsAbsence: true,
  documentNames: ['openapi.json'],
  pageNames: [],
  healthcheck: { type: JSON_TYPE, body: '{"ok":true,"result":"ok"}' },
  success: (result, { extra, rpcId }, stamp) => successBody(result, extra ?? stamp(), rpcId),
  failure: ({ text, status, isLimit }, { extra, rpcId }, stamp) =>
    failureBody(text, status, extra ?? stamp(), rpcId, isLimit),
  errorName: 'ErrorResponse',
  errorSchema: () => errorSchema,
  errorExample: (error, code) => ({ ok: false, error, code, '@extra': 'text' }),
  successSchema,
};

/** Live services send no `code` in the body. */
const errorOf = (error: string, code: number, profile: Profile) => (profile === 'spec' ? { error, code } : { error });

const ERROR_FIELDS = {
  error: { type: 'string', description: 'The error message.' },
  code: { type: 'integer', description: 'The HTTP status.' },
};

/** The body is the result itself, or `{error}`; paths and query names are case-insensitive. */
export const plainStyle: ApiStyle = {
  query: foldingGrammar,
  hasLenientPaths: true,
  hasRpc: false,
  isTimed: true,
  concealsAbsence: false,
  documentNames: ['openapi.json', 'doc.json'],
  pageNames: ['index.html'],
  healthcheck: { type: 'text/plain; charset=utf-8', body: 'OK' },
  success: (result) => result,
  failure: ({ text, status, profile }) => JSON.stringify(errorOf(text, status, profile)),
  errorName: 'RequestError',
  errorSchema: (profile) => {
    const { error, code } = ERROR_FIELDS;
    const properties = profile === 'spec' ? { error, code } : { error };
    return {
      type: 'object',
      description: 'An error.',
      required: Object.keys(properties),
      properties,
    };
  },
  errorExample: errorOf,
  successSchema: (result) => result,
};

const STYLES: Readonly<Record<StyleName, ApiStyle>> = { envelope: envelopeStyle, plain: plainStyle };

/** The style of an API. */
export function styleOf({ style = 'envelope' }: Pick<AnyHttpApi, 'style'>): ApiStyle {
  return STYLES[style];
}

/** Statuses of every endpoint; 422 also without parameters, since unknown ones are refused. */
export const COMMON_STATUSES: readonly number[] = [401, 403, 414, 422, 429, 500, 503];

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request was refused.',
  401: 'Unknown API key.',
  403: 'The API key is for another network.',
  404: 'The requested object does not exist.',
  409: 'The object exists, but has another type.',
  413: 'The body is too large.',
  414: 'The URL has more than 8192 bytes; POST accepts more.',
  422: 'A parameter is invalid; the error names it.',
  429: 'Too many requests; `Retry-After` says how many seconds to wait.',
  500: 'A node refused or failed, or an internal error.',
  503: 'No liteserver can answer now, or the service is overloaded; the error says which.',
  504: 'Deadline exceeded.',
  542: 'The value cannot be represented in the response.',
};

const EXAMPLES: Readonly<Record<number, string>> = {
  401: 'API key does not exist',
  403: 'Network not allowed',
  422: 'parameter address: it is required',
  429: 'Ratelimit exceed',
  503: 'no server answered getMasterchainInfo in 10000 ms: 127.0.0.1:4924: not connected',
  504: 'no answer within 10000 ms',
};

const EXTRA = { type: 'string', description: 'The `@extra` of the request; without one, a generated stamp.' };

const RATE_LIMIT_HEADERS = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

/** The body of all errors. */
const errorSchema: OpenApiJson = {
  type: 'object',
  description: 'An error.',
  required: ['ok', 'error', 'code'],
  properties: {
    ok: { type: 'boolean', const: false, description: 'Always false.' },
    error: { type: 'string', description: 'The error message.' },
    code: { type: 'integer', description: 'The HTTP status.' },
    result: { type: 'string', description: 'The same as `error`; with status 429 only.' },
    '@extra': EXTRA,
    jsonrpc: { type: 'string', description: '`2.0`, in JSON-RPC responses.' },
    id: { description: 'The `id` of the JSON-RPC request.' },
  },
};

/**
 * The response component of one status.
 *
 * @param maxUrlBytes of an API that allows longer URLs than the server does otherwise
 */
export function errorResponse(
  status: number,
  { errorName, errorExample }: Pick<ApiStyle, 'errorName' | 'errorExample'>,
  profile: Profile,
  maxUrlBytes?: number,
): OpenApiJson {
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
function successSchema(result: OpenApiJson): OpenApiJson {
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

/** A JSON-RPC request. */
export const rpcRequestSchema: OpenApiJson = {
  type: 'object',
  description: 'A method of this API by name, with its parameters.',
  required: ['method'],
  properties: {
    jsonrpc: { type: 'string', default: '2.0', description: 'Ignored.' },
    id: { description: 'Returned unchanged.' },
    method: { type: 'string', description: 'The last part of the path of a method.' },
    params: { type: 'object', additionalProperties: true, description: 'Parameters of the method; default: none.' },
    '@extra': EXTRA,
  },
};

/** A JSON-RPC response. */
export const rpcResponseSchema: OpenApiJson = {
  type: 'object',
  additionalProperties: false,
  required: ['ok', 'result', 'jsonrpc'],
  properties: {
    ok: { type: 'boolean', const: true, description: 'Always true.' },
    result: { description: 'The result of the method.' },
    '@extra': EXTRA,
    jsonrpc: { type: 'string', const: '2.0' },
    id: { description: 'The `id` of the request, if it had one.' },
  },
};

/** How an API key is given. */
export const securitySchemes: OpenApiJson = {
  APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key as a header.' },
  APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: 'The API key as a query parameter.' },
};

/** Either way of giving a key, or no key. */
export const security: readonly OpenApiJson[] = [{ APIKeyHeader: [] }, { APIKeyQuery: [] }, {}];
