import type { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';

/** A collection whose items are domains (TEP-81), by which they are told from others that only say so. */
export interface DnsRoot {
  readonly collection: Address;
  /** What the names end with, without a dot before it: `ton`, `t.me`. */
  readonly zone: string;
}

const root = (collection: string, zone: string): DnsRoot => ({ collection: parseAddress(collection).address, zone });

/** The collections that everybody knows. */
export const DNS_ROOTS: readonly DnsRoot[] = [
  root('0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf', 'ton'),
  // Of the test network.
  root('0:e33ed33a42eb2032059f97d90c706f8400bb256d32139ca707f1564ad699c7dd', 'ton'),
  // User names of Telegram.
  root('0:80d78a35f955a14b679faa887ff4cd5bfc0f43b4a4eea2a7e6927f3701b273c2', 't.me'),
];

/** The root that a collection is; null when it is none. */
export function dnsRootOf(collection: Address | null, roots: readonly DnsRoot[]): DnsRoot | null {
  if (collection === null) return null;
  return roots.find((one) => one.collection.equals(collection)) ?? null;
}
