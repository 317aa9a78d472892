import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/**
 * One record of a domain (TEP-81).
 *
 * ```
 * dns_text#1eda _:Text = DNSRecord;
 * dns_next_resolver#ba93 resolver:MsgAddressInt = DNSRecord;
 * dns_adnl_address#ad01 adnl_addr:bits256 flags:(## 8) { flags <= 1 } proto_list:flags.0?ProtoList = DNSRecord;
 * dns_smc_address#9fd3 smc_addr:MsgAddressInt flags:(## 8) { flags <= 1 } cap_list:flags.0?SmcCapList = DNSRecord;
 * dns_storage_address#7473 bag_id:bits256 = DNSRecord;
 * ```
 */
export type DnsRecord =
  | { readonly kind: 'dns_text'; readonly text: string }
  | { readonly kind: 'dns_next_resolver'; readonly resolver: Address }
  /** 32 bytes. */
  | { readonly kind: 'dns_adnl_address'; readonly adnl_addr: Uint8Array }
  | { readonly kind: 'dns_smc_address'; readonly smc_addr: Address }
  /** 32 bytes. */
  | { readonly kind: 'dns_storage_address'; readonly bag_id: Uint8Array }
  /** None of the above, or not well-formed. */
  | { readonly kind: 'unknown'; readonly cell: Cell };

export interface DnsEntry {
  /** 32 bytes: sha256 of the name of the category, such as `wallet`. */
  readonly category: Uint8Array;
  readonly record: DnsRecord;
}

/** What a resolver says about a name. */
export interface DnsRecords {
  /** Who said it: the last resolver of the chain. */
  readonly resolver: Address;
  /** The part of the name that the records are about, as that resolver sees it: `ton.`; `.` is the resolver itself. */
  readonly name: string;
  /** In the order of the categories as numbers. */
  readonly entries: readonly DnsEntry[];
}
