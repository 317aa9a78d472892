import { Type } from '@sinclair/typebox';
import { AddressBook } from '#api/v3/schemas/address-book.js';
import { address, hash, namedObject, nullable, text } from '#api/v3/schemas/fields.js';

export const DNSRecord = namedObject(
  'DNSRecord',
  {
    nft_item_address: address('The item that the domain is.'),
    nft_item_owner: nullable(address('Whose it is; none while it is up for auction.')),
    domain: text('With its zone, such as `foundation.ton`.'),
    dns_next_resolver: nullable(address('The contract to be asked about domains below this one.')),
    dns_wallet: nullable(address('Where coins for the domain go.')),
    dns_site_adnl: nullable(hash('ADNL address of a site.')),
    dns_storage_bag_id: nullable(hash('Bag of TON Storage.')),
  },
  'A domain, and what it leads to.',
);

export const DNSRecordsResponse = namedObject('DNSRecordsResponse', {
  records: Type.Array(DNSRecord),
  address_book: AddressBook,
});
