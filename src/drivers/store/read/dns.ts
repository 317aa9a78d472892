import { dnsItem } from '#domain/contracts/interfaces/dns-item.js';
import { addressBytes } from '#drivers/store/keys.js';
import { bytesOfKey, keyOfBytes } from '#drivers/store/read/contract-lists.js';
import { contractReader, type IndexedRow, type StoredContract } from '#drivers/store/read/contract-rows.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { readPage } from '#drivers/store/read/pages.js';
import { all, type IndexSession, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** The DNS records of a domain (TEP-81), as its item contains them. */
export type IndexedDnsRecord = IndexedRow<typeof dnsItem>;

/** Filters are combined with AND; an absent one filters nothing. */
export interface DnsRecordFilter {
  /** The wallet record of the domain, whoever owns it. */
  readonly wallet?: Address | undefined;
  /** Exactly this domain. */
  readonly domain?: string | undefined;
}

const DOMAINS = contractReader(dnsItem);
type DnsFound = StoredContract<typeof dnsItem>;

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
          sql`SELECT ${raw(DOMAINS.columns('d'))} FROM dns_items d WHERE ${all(conditions)} ORDER BY ${order('d')} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ address }) => [keyOfBytes(address)],
    },
    { ...page, sort: 'asc' },
  );
  return { rows: rows.map(DOMAINS.row), next };
}
