import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, Profile, StyleName } from '#api/http/http-api.js';
import type { OpenApiJson } from '#api/http/openapi-schemas.js';
import { exactGrammar, foldingGrammar, type QueryGrammar, type RawParameters } from '#api/http/query-string.js';

/** An error as it is told to a client. */
export interface ApiFailure {
  readonly text: string;
  /** Of HTTP. */
  readonly status: number;
  readonly profile: Profile;
  /** Whether the client asked too often. */
  readonly isLimit: boolean;
}

/** The manners that APIs of one kind share: how they are spoken to, and what their answers look like. */
export interface ApiStyle {
  readonly query: QueryGrammar;
  /**
   * Letter case and one slash at the end of a path do not count, names of methods may contain slashes, and HEAD is answered
   * where GET is.
   */
  readonly hasLenientPaths: boolean;
  /** `@extra` comes back, and all methods can be called by JSON-RPC. */
  readonly hasRpc: boolean;
  /** Answers say in `Server-Timing` how long the work took. */
  readonly isTimed: boolean;
  /** In the `toncenter` profile, what does not exist and what nodes refuse is 500, unless a method declares another status. */
  readonly concealsAbsence: boolean;
  /** Under the prefix: where the OpenAPI document is. */
  readonly documentNames: readonly string[];
  /** Under the prefix: where the reference page is, beside the prefix itself. */
  readonly pageNames: readonly string[];
  /** What `healthcheck` answers. */
  readonly healthcheck: { readonly type: string; readonly body: string };
  /**
   * The body of a success.
   *
   * @param result JSON text
   * @param stamp makes the `@extra` of an answer whose request gave none
   */
  success(result: string, echo: Echo, stamp: () => string): string;
  /** The body of an error. */
  failure(failure: ApiFailure, echo: Echo, stamp: () => string): string;
  /** What the document calls the body of an error. */
  readonly errorName: string;
  errorSchema(profile: Profile): OpenApiJson;
  errorExample(text: string, status: number, profile: Profile): OpenApiJson;
  /** The schema of the body of a success by that of its result. */
  successSchema(result: OpenApiJson): OpenApiJson;
}

/** `Content-Type` of all JSON answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** What a request wants back as it gave it. */
export interface Echo {
  /** The `@extra` of the request; null when it gave none. */
  readonly extra: string | null;
  /** Of JSON-RPC: the `id` as JSON text, `''` without one; null for other requests. */
  readonly rpcId: string | null;
}

export const NO_ECHO: Echo = { extra: null, rpcId: null };

/** The `@extra` of an answer whose request gave none: when, where, how long it took, `c` for an answer from the cache. */
export function generatedExtra(unixTimeMs: number, origin: string, elapsedMs: number, isCached: boolean): string {
  const elapsed = Math.round(elapsedMs * 1000) / 1000;
  return `${Math.floor(unixTimeMs / 1000)}:${origin}:${elapsed}${isCached ? ':c' : ''}`;
}

/** @param result JSON text */
export function successBody(result: string, extra: string, rpcId: string | null): string {
  return `{"ok":true,"result":${result},"@extra":${JSON.stringify(extra)}${rpcFields(rpcId)}}`;
}

/** @param result repeats the error under `result`, for clients that look there first */
export function failureBody(error: string, code: number, extra: string, rpcId: string | null, result = false): string {
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
 * Takes the `@extra` out of the parameters, if there is one.
 *
 * @throws http/bad-parameter when it is no text or too long
 */
export function takeEchoedExtra(raw: RawParameters): string | null {
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

/** Answers are `{ok, result}` or `{ok, error, code}`; names are exact; there is JSON-RPC. */
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

/** Live services send no code in the body. */
const errorOf = (error: string, code: number, profile: Profile) => (profile === 'spec' ? { error, code } : { error });

const ERROR_FIELDS = {
  error: { type: 'string', description: 'What is wrong, and where.' },
  code: { type: 'integer', description: 'The HTTP status.' },
};

/** The body is the result itself, or `{error}`; letter case does not count in paths and in the names of a query. */
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
      description: 'What every error looks like.',
      required: Object.keys(properties),
      properties,
    };
  },
  errorExample: errorOf,
  successSchema: (result) => result,
};

const STYLES: Readonly<Record<StyleName, ApiStyle>> = { envelope: envelopeStyle, plain: plainStyle };

/** The manners of an API. */
export function styleOf({ style = 'envelope' }: Pick<AnyHttpApi, 'style'>): ApiStyle {
  return STYLES[style];
}

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
export const errorSchema: OpenApiJson = {
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
export function successSchema(result: OpenApiJson): OpenApiJson {
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
export const rpcRequestSchema: OpenApiJson = {
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
export const rpcResponseSchema: OpenApiJson = {
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
export const securitySchemes: OpenApiJson = {
  APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key as a header.' },
  APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: 'The API key as an argument of the URL.' },
};

/** Either way of giving a key, or none at all. */
export const security: readonly OpenApiJson[] = [{ APIKeyHeader: [] }, { APIKeyQuery: [] }, {}];
