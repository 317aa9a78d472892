import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { addressText, hashText } from '#api/v3/serialize/texts.js';
import type { IndexedDnsRecord } from '#drivers/store/read/dns-reads.js';

/** A domain as `/dns/records` shows it. The answer names its item, its owner and its wallet. */
export function dnsRecordText(record: IndexedDnsRecord, { nullable }: Dialect, addresses: AddressCollector): string {
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
