import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { AddressBookJson } from '#api/v3/address-book.js';
import {
  addressField,
  addressText,
  answerObject,
  hash256Field,
  hashText,
  nullableField,
  type ProfileFormat,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { type AddressCollector, answerList, checkPage, pageOf } from '#api/v3/page.js';
import { accountParameter, limitParameter, pageFields } from '#api/v3/parameters.js';
import type { IndexedDnsRecord } from '#drivers/store/read/dns.js';

export const DNSRecord = answerObject(
  'DNSRecord',
  {
    nft_item_address: addressField('The item that the domain is.'),
    nft_item_owner: nullableField(addressField('Whose it is; none while it is up for auction.')),
    domain: textField('With its zone, such as `foundation.ton`.'),
    dns_next_resolver: nullableField(addressField('The contract to be asked about domains below this one.')),
    dns_wallet: nullableField(addressField('Where coins for the domain go.')),
    dns_site_adnl: nullableField(hash256Field('ADNL address of a site.')),
    dns_storage_bag_id: nullableField(hash256Field('Bag of TON Storage.')),
  },
  'A domain, and what it leads to.',
);

export const DNSRecordsResponse = answerObject('DNSRecordsResponse', {
  records: Type.Array(DNSRecord),
  address_book: AddressBookJson,
});

/** A domain as `/dns/records` shows it. The answer names its item, its owner and its wallet. */
export function dnsRecordText(
  record: IndexedDnsRecord,
  { nullable }: ProfileFormat,
  addresses: AddressCollector,
): string {
  const { address, owner, domain, dns_next_resolver: resolver, dns_wallet: wallet } = record;
  const hash = (bytes: Uint8Array | null) => (bytes === null ? null : hashText(bytes));
  return (
    `{"nft_item_address":${addresses.add(address)}` +
    nullable('nft_item_owner', owner === null ? null : addresses.add(owner)) +
    `,"domain":${JSON.stringify(domain)}` +
    nullable('dns_next_resolver', resolver === null ? null : addressText(resolver)) +
    nullable('dns_wallet', wallet === null ? null : addresses.add(wallet)) +
    nullable('dns_site_adnl', hash(record.dns_site_adnl)) +
    `${nullable('dns_storage_bag_id', hash(record.dns_storage_bag_id))}}`
  );
}

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
      wallet: Type.Optional(accountParameter('Only domains whose wallet record has this account')),
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
