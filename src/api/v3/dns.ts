import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { address, answerType, hash, nullable, required, text, unlisted } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, listAnswer, pageOf } from '#api/v3/page.js';
import { limitParameter, pageFields, v3AccountParameter } from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';

const DNSRecord = answerType(
  'DNSRecord',
  {
    nft_item_address: required(address('The NFT item of the domain.'), 'address'),
    nft_item_owner: nullable(address('Owner of the item; none while the domain is auctioned.'), 'owner'),
    domain: text('With its zone, such as `foundation.ton`.'),
    dns_next_resolver: nullable(unlisted(address('Resolver of the subdomains.'))),
    dns_wallet: nullable(address('Wallet of the domain.')),
    dns_site_adnl: nullable(hash('ADNL address of the site.')),
    dns_storage_bag_id: nullable(hash('Bag id of TON Storage.')),
  },
  'A domain and its DNS records.',
);

const DnsRecords = listAnswer('DNSRecordsResponse', 'records', DNSRecord, { metadata: false });

/** In both profiles. */
const DEFAULT_LIMIT = 100;

/** Domain names have at most 126 bytes, and their zones are short. */
const MAX_DOMAIN = 255;

const records = v3Endpoint({
  name: 'dns/records',
  verbs: ['GET'],
  tag: 'Dns',
  summary: 'Domains',
  description:
    'The domain with this name, or the domains whose wallet record is this account, whoever owns them; ordered by length, then ' +
    'alphabetically. Exactly one of `wallet` and `domain` is required.',
  params: Type.Object(
    {
      wallet: Type.Optional(v3AccountParameter('Only domains whose wallet record has this account')),
      domain: Type.Optional(
        Type.String({
          description: 'Only the domain with exactly this name, including its zone.',
          minLength: 1,
          maxLength: MAX_DOMAIN,
          // PostgreSQL has no text with U+0000.
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
  result: DnsRecords.schema,
  statuses: [422, 504],
  coverage: {
    needs: ({ domain }) => (domain === undefined ? ['state'] : []),
    names: ({ domain }) => ({ domains: domain === undefined ? [] : [domain] }),
  },
  price: pagePrice(ROW_PRICE.contract, { spec: DEFAULT_LIMIT, toncenter: DEFAULT_LIMIT }),
  freshness: 'head',
  handle: async ({ wallet, domain, limit = DEFAULT_LIMIT, ...rest }, context) => {
    const page = pageOf({ limit, ...rest }, context);
    const listed = await context.network.index.dnsRecords({ wallet, domain }, page, context.query);
    return DnsRecords.write(listed, context);
  },
});

/** Methods about domains. */
export const v3DnsEndpoints: readonly AnyEndpoint<V3Context>[] = [records];
