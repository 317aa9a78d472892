import { type ContractView, nullOnContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import {
  ALL_CATEGORIES,
  DNS_ROOTS,
  DNS_SELF,
  dnsRootOf,
  dnsresolve,
  getDomain,
  getFullDomain,
} from '#domain/contracts/dns-domain.js';
import { type DnsRecords, decodeDomainName, readDnsEntries } from '#domain/contracts/dns-records.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** A jetton master (TEP-74: `get_jetton_data`). */
interface JettonMasterData {
  readonly contract_type: 'jetton_master';
  readonly address: Address;
  /** In units of the jetton. */
  readonly total_supply: bigint;
  readonly mintable: boolean;
  /** Null: nobody. */
  readonly admin_address: Address | null;
  readonly jetton_content: TokenContent;
  readonly jetton_wallet_code: Cell;
}

/** A jetton wallet (TEP-74: `get_wallet_data`), confirmed by its master. */
interface JettonWalletData {
  readonly contract_type: 'jetton_wallet';
  readonly address: Address;
  /** In units of the jetton. */
  readonly balance: bigint;
  readonly owner: Address;
  /** The master. */
  readonly jetton: Address;
  readonly jetton_wallet_code: Cell;
  /** Of mintless jettons: the airdrop was claimed. Null: the contract has no `is_claimed`. */
  readonly mintless_is_claimed: boolean | null;
}

/** A collection of NFTs (TEP-62: `get_collection_data`). */
interface NftCollectionData {
  readonly contract_type: 'nft_collection';
  readonly address: Address;
  /** -1: items are not numbered. */
  readonly next_item_index: bigint;
  /** Null: nobody. */
  readonly owner_address: Address | null;
  readonly collection_content: TokenContent;
}

/** An NFT item (TEP-62: `get_nft_data`), confirmed by its collection if it has one. */
export interface NftItemData {
  readonly contract_type: 'nft_item';
  readonly address: Address;
  readonly init: boolean;
  readonly index: bigint;
  /** Null: it has no collection. */
  readonly collection_address: Address | null;
  /** Null: nobody. */
  readonly owner_address: Address | null;
  readonly content: TokenContent | DomainContent;
}

/** Content of an NFT that is a domain. */
export interface DomainContent {
  readonly type: 'domain';
  /** `alice.ton`; empty if the contract does not return it. */
  readonly domain: string;
  readonly records: DnsRecords;
}

/** Data of a token contract, as in `getTokenData` of API v2. */
export type TokenData = JettonMasterData | JettonWalletData | NftCollectionData | NftItemData;

/**
 * The content of an NFT that is a domain: items of the `.ton` collections, and others that have records. Null: it is no domain. Only
 * names of the `.ton` collections end in `.ton`: other items could claim any name and have the one that they return, or only
 * the label.
 *
 * @throws cells/* for records that are no dictionary; as {@link ContractView.runGetMethod} if it could not be run
 */
export async function readDomainContent(
  view: ContractView,
  item: ViewedContract,
  collection: Address | null,
): Promise<DomainContent | null> {
  const answer = await nullOnContractError(() => view.runGetMethod(item, dnsresolve, DNS_SELF, ALL_CATEGORIES));
  const dotTon = dnsRootOf(collection, DNS_ROOTS)?.zone === 'ton';
  if (answer === null || answer.taken > DNS_SELF.length || (answer.value === null && !dotTon)) return null;
  const entries = readDnsEntries(answer.value);
  const domain = await readName(view, item, dotTon);
  return { type: 'domain', domain: domain ?? '', records: { resolver: item.address, name: '.', entries } };
}

async function readName(view: ContractView, item: ViewedContract, dotTon: boolean): Promise<string | null> {
  const full = dotTon ? null : await nullOnContractError(() => view.runGetMethod(item, getFullDomain));
  if (full !== null) return ownName(full);
  const label = await nullOnContractError(() => view.runGetMethod(item, getDomain));
  if (label === null) return null;
  return dotTon ? `${labelUtf8.decode(label)}.ton` : ownName(label);
}

const labelUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The name that a domain outside of `.ton` returns; empty if it falsely claims to be in `.ton`. */
function ownName(bytes: Uint8Array): string {
  const name = decodeDomainName(bytes).slice(0, -1);
  return name === 'ton' || name.toLowerCase().endsWith('.ton') ? '' : name;
}
