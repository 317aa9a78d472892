import type { DnsAnswer } from '#domain/contracts/dns-answer.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { JettonMasterFields, JettonWalletFields } from '#domain/contracts/jetton.js';
import type { NftCollectionFields, NftItemFields } from '#domain/contracts/nft.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';

/** A contract whose code is known. */
export interface NativeAccount {
  readonly address: Address;
  /** As the account has it: a library reference stays one. */
  readonly code: Cell;
  readonly data: Cell;
}

/**
 * Get methods of a known code without its code: each gives what the get method gives, or throws a TernError where the
 * data is of another form than that code writes; then only running the code tells.
 */
export type NativeContract = NativeJettonMaster | NativeJettonWallet | NativeNftCollection | NativeNftItem;

export interface NativeJettonMaster {
  readonly kind: 'jetton_master';
  /** `get_jetton_data` */
  data(account: NativeAccount): JettonMasterFields;
  /** `get_wallet_address` */
  walletAddress(account: NativeAccount, owner: Address): Address;
}

export interface NativeJettonWallet {
  readonly kind: 'jetton_wallet';
  /** `get_wallet_data` */
  data(account: NativeAccount): JettonWalletFields;
  /** `is_claimed`; null when the code has no such method. */
  isClaimed(account: NativeAccount): boolean | null;
}

export interface NativeNftCollection {
  readonly kind: 'nft_collection';
  /** `get_collection_data` */
  data(account: NativeAccount): NftCollectionFields;
  /** `get_nft_address_by_index` */
  itemAddress(account: NativeAccount, index: bigint): Address;
  /** `get_nft_content` */
  itemContent(account: NativeAccount, index: bigint, individual: Cell): Cell;
}

export interface NativeNftItem {
  readonly kind: 'nft_item';
  /** `get_nft_data` */
  data(account: NativeAccount): NftItemFields;
  /** Null when the code has no such methods. */
  readonly domain: NativeDomain | null;
}

/** An item that is a domain. */
export interface NativeDomain {
  /** `dnsresolve` of the item itself, all categories. */
  records(account: NativeAccount): DnsAnswer;
  /** `get_domain`, bytes of the label; null when the code has no such method. */
  label(account: NativeAccount): Uint8Array | null;
  /** `get_full_domain`, labels with a zero byte after each, the last one first; null when the code has no such method. */
  fullName(account: NativeAccount): Uint8Array | null;
}

/** `addr_std` without anycast, or `addr_none`. @throws contract-data/other-form for the others */
export function loadPlainAddress(data: Slice): Address | null {
  const value = MsgAddress.load(data);
  if (value === null || value instanceof Address) return value;
  throw contractDataErrors['other-form']({ problem: `an address is ${value.kind}` });
}

/** As {@link loadPlainAddress}. @throws contract-data/other-form for `addr_none`, too */
export function loadAccount(data: Slice): Address {
  const value = loadPlainAddress(data);
  if (value === null) throw contractDataErrors['other-form']({ problem: 'an address is addr_none' });
  return value;
}

export function storeAddress(builder: Builder, { workchain, hash }: Address): Builder {
  return builder.storeUint(0b100, 3).storeInt(workchain, 8).storeBytes(hash);
}

/** Hash of a `StateInit` of code and data only; `depth`: with `fixed_prefix_length`. */
export function stateInitHash(code: Cell, data: Cell, depth: number | null = null): Uint8Array {
  const builder = new Builder();
  if (depth === null) builder.storeUint(0b00110, 5);
  else builder.storeBit(true).storeUint(depth, 5).storeUint(0b0110, 4);
  return builder.storeRef(code).storeRef(data).endCell().hash();
}
