import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { bytesOfKey, keyOfBytes, maybeAddress } from '#drivers/store/read/contract-lists.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { readPage } from '#drivers/store/read/pages.js';
import { all, type IndexSession, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** The DNS records of a domain (TEP-81), as its item contains them. */
export interface IndexedDnsRecord {
  /** The item. */
  readonly address: Address;
  readonly owner: Address | null;
  /** With its zone, such as `foundation.ton`. */
  readonly domain: string;
  readonly dns_next_resolver: Address | null;
  readonly dns_wallet: Address | null;
  /** 32 bytes. */
  readonly dns_site_adnl: Uint8Array | null;
  readonly dns_storage_bag_id: Uint8Array | null;
}

/** Filters are combined with AND; an absent one filters nothing. */
export interface DnsRecordFilter {
  /** The wallet record of the domain, whoever owns it. */
  readonly wallet?: Address | undefined;
  /** Exactly this domain. */
  readonly domain?: string | undefined;
}

interface DnsFound {
  readonly address: Uint8Array;
  readonly owner: Uint8Array | null;
  readonly domain: string;
  readonly dns_next_resolver: Uint8Array | null;
  readonly dns_wallet: Uint8Array | null;
  readonly dns_site_adnl: Uint8Array | null;
  readonly dns_storage_bag_id: Uint8Array | null;
}

/** The sort order, for an alias of the row. */
const order = (row: string): Sql => raw(`length(${row}.domain), ${row}.domain COLLATE "C", ${row}.address`);

/** A page of domains. */
export async function readDnsRecords(
  session: IndexSession,
  filter: DnsRecordFilter,
  page: Omit<Page, 'sort'>,
): Promise<Listed<IndexedDnsRecord>> {
  const { wallet, domain } = filter;
  const { rows, next } = await readPage<DnsFound, DnsFound>(
    {
      name: 'dnsRecords',
      filter,
      keyParts: 1,
      keyBits: 400,
      read: ({ after, offset, count }) => {
        const conditions = [raw('d.lapsed IS NULL')];
        if (wallet !== undefined) conditions.push(sql`d.dns_wallet = ${addressBytes(wallet)}::bytea`);
        if (domain !== undefined) conditions.push(sql`d.domain = ${domain}::text`);
        if (after?.[0] != null) {
          const last = sql`SELECT ${order('l')} FROM dns_items l WHERE l.address = ${bytesOfKey(after[0])}::bytea`;
          conditions.push(sql`(${order('d')}) > (${last})`);
        }
        return session.rows<DnsFound>(
          sql`SELECT d.address, d.owner, d.domain, d.dns_next_resolver, d.dns_wallet, d.dns_site_adnl, d.dns_storage_bag_id
            FROM dns_items d WHERE ${all(conditions)} ORDER BY ${order('d')} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ address }) => [keyOfBytes(address)],
    },
    { ...page, sort: 'asc' },
  );
  const records = rows.map((found) => ({
    ...found,
    address: addressOfBytes(found.address),
    owner: maybeAddress(found.owner),
    dns_next_resolver: maybeAddress(found.dns_next_resolver),
    dns_wallet: maybeAddress(found.dns_wallet),
  }));
  return { rows: records, next };
}
