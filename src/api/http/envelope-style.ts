import type { ApiStyle } from '#api/http/api-style.js';
import { failureBody, successBody } from '#api/http/envelope.js';
import { JSON_TYPE } from '#api/http/json-type.js';
import { errorSchema, successSchema } from '#api/http/openapi-responses.js';
import { exactGrammar } from '#api/http/query-grammar.js';

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
