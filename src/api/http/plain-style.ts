import type { ApiStyle } from '#api/http/api-style.js';
import type { Profile } from '#api/http/http-api.js';
import { foldingGrammar } from '#api/http/query-grammar.js';

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
