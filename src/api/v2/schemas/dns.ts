import { type Static, Type } from '@sinclair/typebox';
import { AccountAddress, bytesField, hashField, namedObject, typeName } from '#api/v2/schemas/ton-objects.js';

const AdnlAddress = namedObject('AdnlAddress', {
  '@type': typeName('adnlAddress'),
  adnl_address: Type.String({ description: '64 lower-case hexadecimal digits.' }),
});

const DnsEntryData = Type.Union(
  [
    namedObject('DnsEntryDataUnknown', {
      '@type': typeName('dns.entryDataUnknown'),
      bytes: bytesField('Bag of cells with the record.'),
    }),
    namedObject('DnsEntryDataText', {
      '@type': typeName('dns.entryDataText'),
      text: Type.String({ description: 'The text.' }),
    }),
    namedObject('DnsEntryDataNextResolver', {
      '@type': typeName('dns.entryDataNextResolver'),
      resolver: AccountAddress,
    }),
    namedObject('DnsEntryDataSmcAddress', {
      '@type': typeName('dns.entryDataSmcAddress'),
      smc_address: AccountAddress,
    }),
    namedObject('DnsEntryDataAdnlAddress', {
      '@type': typeName('dns.entryDataAdnlAddress'),
      adnl_address: AdnlAddress,
    }),
    namedObject('DnsEntryDataStorageAddress', {
      '@type': typeName('dns.entryDataStorageAddress'),
      bag_id: Type.String({ description: 'Bag of TON Storage: 64 lower-case hexadecimal digits.' }),
    }),
  ],
  { $id: 'DnsEntryData', discriminator: { propertyName: '@type' } },
);
export type DnsEntryData = Static<typeof DnsEntryData>;

const DnsEntry = namedObject('DnsEntry', {
  '@type': typeName('dns.entry'),
  name: Type.String({ description: 'The part of the name that the record is about.' }),
  category: hashField('SHA-256 of the name of the category, such as `wallet`.'),
  entry: DnsEntryData,
});

export const DnsResolved = namedObject(
  'DnsResolved',
  {
    '@type': typeName('dns.resolved'),
    entries: Type.Array(DnsEntry, { description: 'In the order of their categories.' }),
  },
  { description: 'What a resolver says about a name.' },
);
export type DnsResolved = Static<typeof DnsResolved>;
