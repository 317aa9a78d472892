import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { accountParameter, freshnessAt, optionalMasterchainSeqno } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import {
  AccountAddress,
  accountAddress,
  bocBase64,
  bytesField,
  hashField,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import type { DnsRecord, DnsRecords } from '#domain/contracts/dns-records.js';
import { crc16 } from '#formats/address/address.js';
import { toBase64, toHex } from '#kernel/bytes.js';

const AdnlAddress = v2Object('AdnlAddress', {
  '@type': typeName('adnlAddress'),
  adnl_address: Type.String({ description: '64 lower-case hexadecimal digits.' }),
});

const DnsEntryData = Type.Union(
  [
    v2Object('DnsEntryDataUnknown', {
      '@type': typeName('dns.entryDataUnknown'),
      bytes: bytesField('Bag of cells with the record.'),
    }),
    v2Object('DnsEntryDataText', {
      '@type': typeName('dns.entryDataText'),
      text: Type.String({ description: 'The text.' }),
    }),
    v2Object('DnsEntryDataNextResolver', {
      '@type': typeName('dns.entryDataNextResolver'),
      resolver: AccountAddress,
    }),
    v2Object('DnsEntryDataSmcAddress', {
      '@type': typeName('dns.entryDataSmcAddress'),
      smc_address: AccountAddress,
    }),
    v2Object('DnsEntryDataAdnlAddress', {
      '@type': typeName('dns.entryDataAdnlAddress'),
      adnl_address: AdnlAddress,
    }),
    v2Object('DnsEntryDataStorageAddress', {
      '@type': typeName('dns.entryDataStorageAddress'),
      bag_id: Type.String({ description: 'Bag of TON Storage: 64 lower-case hexadecimal digits.' }),
    }),
  ],
  { $id: 'DnsEntryData', discriminator: { propertyName: '@type' } },
);
type DnsEntryData = Static<typeof DnsEntryData>;

const DnsEntry = v2Object('DnsEntry', {
  '@type': typeName('dns.entry'),
  name: Type.String({ description: 'The resolved part of the name.' }),
  category: hashField('SHA-256 of the name of the category, such as `wallet`.'),
  entry: DnsEntryData,
});

const DnsResolved = v2Object(
  'DnsResolved',
  {
    '@type': typeName('dns.resolved'),
    entries: Type.Array(DnsEntry, { description: 'In the order of their categories.' }),
  },
  { description: 'DNS records of a name.' },
);
type DnsResolved = Static<typeof DnsResolved>;

/** DNS records as `dnsResolve` shows them. */
function dnsResolved({ name, entries }: DnsRecords): DnsResolved {
  return {
    '@type': 'dns.resolved',
    entries: entries.map(({ category, record }) => ({
      '@type': 'dns.entry',
      name,
      category: toBase64(category),
      entry: entryData(record),
    })),
  };
}

function entryData(record: DnsRecord): DnsEntryData {
  switch (record.kind) {
    case 'dns_text':
      return { '@type': 'dns.entryDataText', text: record.text };
    case 'dns_next_resolver':
      return { '@type': 'dns.entryDataNextResolver', resolver: accountAddress(record.resolver) };
    case 'dns_smc_address':
      return { '@type': 'dns.entryDataSmcAddress', smc_address: accountAddress(record.smc_addr) };
    case 'dns_adnl_address':
      return {
        '@type': 'dns.entryDataAdnlAddress',
        adnl_address: { '@type': 'adnlAddress', adnl_address: adnlText(record.adnl_addr) },
      };
    case 'dns_storage_address':
      return { '@type': 'dns.entryDataStorageAddress', bag_id: toHex(record.bag_id) };
    case 'unknown':
      return { '@type': 'dns.entryDataUnknown', bytes: bocBase64(record.cell) };
  }
}

const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567';
const ADNL_TAG = 0x2d;

/**
 * An ADNL address as it is written in URLs (`….adnl`): a tag, the 32 bytes and their CRC-16 in base32, without the first
 * digit, which is always `f`.
 */
export function adnlText(address: Uint8Array): string {
  const bytes = new Uint8Array(35);
  bytes[0] = ADNL_TAG;
  bytes.set(address, 1);
  const crc = crc16(bytes, 33);
  bytes[33] = crc >> 8;
  bytes[34] = crc;
  let text = '';
  for (let bit = 5; bit < 280; bit += 5) {
    const word = (bytes[bit >> 3]! << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += DIGITS[(word >> (11 - (bit & 7))) & 31];
  }
  return text;
}

const dnsResolve = v2Endpoint({
  name: 'dnsResolve',
  verbs: GET_OR_POST,
  tag: 'Accounts',
  unpublished: true,
  summary: 'DNS records of a name',
  description:
    'The records of a name at a resolver contract (TEP-81), of all categories. With a `ttl` above 0 up to that many further ' +
    'resolvers are followed.',
  params: Type.Object(
    {
      address: accountParameter,
      name: Type.Optional(
        Type.String({ description: 'Name to resolve, such as `alice.ton`; empty: the resolver itself.', default: '' }),
      ),
      category: Type.Optional(
        Type.String({ description: 'Accepted for existing clients; records of all categories are returned.' }),
      ),
      ttl: Type.Optional(
        Type.Integer({
          description: 'How many further resolvers may be followed.',
          format: 'int32',
          default: 0,
          minimum: 0,
          maximum: 0x7fff_ffff,
        }),
      ),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  result: DnsResolved,
  statuses: [404, 422, 504],
  price: () => PRICE.getMethod,
  isQueuedElsewhere: true,
  freshness: freshnessAt,
  handle: async ({ address: resolver, name = '', ttl = 0, seqno }, { network, read }) => {
    const options = { ...read, at: seqno ?? 'head' } as const;
    return dnsResolved(await network.contracts.resolveDns(resolver.address, name, ttl, options));
  },
});

/** Methods about DNS. */
export const dnsEndpoints: readonly AnyEndpoint<V2Context>[] = [dnsResolve];
