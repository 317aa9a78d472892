import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf } from '#api/v3/page.js';
import { addressParameter, limitParameter, pageFields } from '#api/v3/parameters.js';
import { answerList } from '#api/v3/routes/answer-list.js';
import { DNSRecordsResponse } from '#api/v3/schemas/dns.js';
import { dnsRecordText } from '#api/v3/serialize/dns.js';

/** In both profiles. */
const DEFAULT_LIMIT = 100;

/** Domains have 126 characters at most, and their zones are short. */
const MAX_DOMAIN = 255;

const records = v3Endpoint({
  name: 'dns/records',
  verbs: ['GET'],
  tag: 'Dns',
  summary: 'Domains',
  description:
    'The domain of that name, or those that lead to a wallet, whosever they are; short ones first, then by their characters. ' +
    'One of `wallet` and `domain` must be given, and not both.',
  params: Type.Object(
    {
      wallet: Type.Optional(addressParameter('Only domains whose wallet record has this account')),
      domain: Type.Optional(
        Type.String({
          description: 'Only the domain of just this name, with its zone.',
          minLength: 1,
          maxLength: MAX_DOMAIN,
          // What the database has no text for.
          pattern: '^[^\\u0000]*$',
          examples: ['foundation.ton'],
        }),
      ),
      ...pageFields,
      limit: limitParameter({ byDefault: { spec: DEFAULT_LIMIT, toncenter: DEFAULT_LIMIT } }),
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { wallet, domain } = given;
    if (wallet === undefined && domain === undefined) {
      throw v3Errors.parameters({ problem: 'either wallet address or domain is required' });
    }
    if (wallet !== undefined && domain !== undefined) {
      throw v3Errors.parameters({ problem: 'provide either wallet address or domain, not both' });
    }
  },
  result: DNSRecordsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async ({ wallet, domain, limit = DEFAULT_LIMIT, ...rest }, context) => {
    const page = pageOf({ limit, ...rest }, context);
    const listed = await context.network.index.dnsRecords({ wallet, domain }, page, context.query);
    return answerList('records', listed, dnsRecordText, context, { metadata: false });
  },
});

/** Methods about domains. */
export const dnsEndpoints: readonly AnyEndpoint<V3Context>[] = [records];
