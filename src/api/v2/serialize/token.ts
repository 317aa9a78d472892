import type {
  DnsContentJson,
  DnsRecordJson,
  TokenContentJson,
  TokenData as TokenDataJson,
} from '#api/v2/schemas/tokens.js';
import { normalizedAddress } from '#api/v2/serialize/address.js';
import { bocBase64, friendlyAddress } from '#api/v2/serialize/ton-objects.js';
import { type DnsRecord, type DnsRecords, dnsCategoryName } from '#domain/contracts/dns-records.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { NftItemData, TokenData } from '#domain/contracts/token-data.js';
import type { Address } from '#formats/address/address.js';
import type { ParsedAddress } from '#formats/address/parse-address.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** A token contract as `getTokenData` shows it; nobody's addresses are left out. */
export function tokenData(token: TokenData, asked: ParsedAddress): TokenDataJson {
  const address = normalizedAddress(asked);
  switch (token.contract_type) {
    case 'jetton_master':
      return {
        '@type': 'ext.tokens.jettonMasterData',
        address,
        contract_type: 'jetton_master',
        total_supply: token.total_supply.toString(),
        mintable: token.mintable,
        ...optional('admin_address', token.admin_address),
        jetton_content: tokenContent(token.jetton_content),
        jetton_wallet_code: bocBase64(token.jetton_wallet_code),
      };
    case 'jetton_wallet':
      return {
        '@type': 'ext.tokens.jettonWalletData',
        address,
        contract_type: 'jetton_wallet',
        balance: token.balance.toString(),
        owner: friendlyAddress(token.owner),
        jetton: friendlyAddress(token.jetton),
        ...(token.mintless_is_claimed === null ? {} : { mintless_is_claimed: token.mintless_is_claimed }),
        jetton_wallet_code: bocBase64(token.jetton_wallet_code),
      };
    case 'nft_collection':
      return {
        '@type': 'ext.tokens.nftCollectionData',
        address,
        contract_type: 'nft_collection',
        next_item_index: token.next_item_index.toString(),
        ...optional('owner_address', token.owner_address),
        collection_content: tokenContent(token.collection_content),
      };
    case 'nft_item':
      return {
        '@type': 'ext.tokens.nftItemData',
        address,
        contract_type: 'nft_item',
        init: token.init,
        index: token.index.toString(),
        ...optional('collection_address', token.collection_address),
        ...optional('owner_address', token.owner_address),
        content: itemContent(token.content),
      };
  }
}

function optional<const Name extends string>(name: Name, address: Address | null): { [name in Name]?: string } {
  return (address === null ? {} : { [name]: friendlyAddress(address) }) as { [name in Name]?: string };
}

function itemContent(content: NftItemData['content']): TokenContentJson | DnsContentJson {
  return content.type === 'domain'
    ? { domain: content.domain, data: domainRecords(content.records) }
    : tokenContent(content);
}

function tokenContent(content: TokenContent): TokenContentJson {
  return content.type === 'offchain'
    ? { type: 'offchain', data: content.data }
    : { type: 'onchain', data: { ...content.data } as Record<string, string> };
}

/** By category; records of kinds that the document does not know are left out. */
function domainRecords({ entries }: DnsRecords): DnsContentJson['data'] {
  const set: Record<string, DnsRecordJson> = {};
  for (const { category, record } of entries) {
    const json = dnsRecord(record);
    if (json === null) continue;
    set[dnsCategoryName(category) ?? toHex(category).toUpperCase()] = json;
  }
  return set;
}

function dnsRecord(record: DnsRecord): DnsRecordJson | null {
  switch (record.kind) {
    case 'dns_smc_address':
      return { '@type': 'dns_smc_address', smc_addr: smcAddr(record.smc_addr) };
    case 'dns_next_resolver':
      return { '@type': 'dns_next_resolver', resolver: smcAddr(record.resolver) };
    case 'dns_adnl_address':
      return { '@type': 'dns_adnl_address', adnl_addr: toHex(record.adnl_addr) };
    case 'dns_storage_address':
      return { '@type': 'dns_storage_address', bag_id: toHex(record.bag_id) };
    default:
      return null;
  }
}

function smcAddr({ workchain, hash }: Address) {
  return { '@type': 'addr_std' as const, workchain_id: workchain, address: toHex(hash) };
}
