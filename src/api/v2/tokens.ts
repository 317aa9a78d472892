import { type Static, Type } from '@sinclair/typebox';
import {
  bocBase64,
  bytesField,
  decimalField,
  friendlyAddress,
  normalizedAddress,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { type DnsRecord, type DnsRecords, dnsCategoryName } from '#domain/contracts/dns-records.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { NftItemData, TokenData } from '#domain/contracts/token-data.js';
import type { Address, ParsedAddress } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';

const tonAddress = (description: string) => Type.String({ description: `${description} User-friendly form.` });
const hex32 = (description: string) => Type.String({ description: `${description} 64 lower-case hexadecimal digits.` });

const TokenContentDict = Type.Record(Type.String(), Type.String(), {
  $id: 'TokenContentDict',
  description:
    'By key: uri, name, description, image, image_data (base64), symbol, decimals, amount_style, render_type.',
});

const TokenContentSchema = v2Object(
  'TokenContent',
  {
    type: Type.Union([Type.Literal('onchain'), Type.Literal('offchain')], {
      description: 'Where the description is: in the contract, or behind a link.',
    }),
    data: Type.Union([Type.String(), TokenContentDict], { description: 'The link, or the description by key.' }),
  },
  { description: 'What describes the token (TEP-64). With a `uri` among the keys there is more behind that link.' },
);
export type TokenContentJson = Static<typeof TokenContentSchema>;

export const JettonMasterDataJson = v2Object(
  'JettonMasterData',
  {
    '@type': typeName('ext.tokens.jettonMasterData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('jetton_master', { description: 'What kind of contract it is.' }),
    total_supply: decimalField('All there are, in the smallest units.'),
    mintable: Type.Boolean({ description: 'Whether more can be made.' }),
    admin_address: Type.Optional(tonAddress('Who can make more; not there when nobody can.')),
    jetton_content: TokenContentSchema,
    jetton_wallet_code: bytesField('Bag of cells with the code of the wallets.'),
  },
  { description: 'A jetton.' },
);

export const JettonWalletDataJson = v2Object(
  'JettonWalletData',
  {
    '@type': typeName('ext.tokens.jettonWalletData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('jetton_wallet', { description: 'What kind of contract it is.' }),
    balance: decimalField('In the smallest units.'),
    owner: tonAddress('Whose wallet it is.'),
    jetton: tonAddress('The jetton: its master contract.'),
    mintless_is_claimed: Type.Optional(
      Type.Boolean({ description: 'Of a jetton with an airdrop: whether the owner took theirs.' }),
    ),
    jetton_wallet_code: bytesField('Bag of cells with the code of the wallet.'),
  },
  { description: 'Someone’s wallet of one jetton; the master contract knows it.' },
);

export const NftCollectionDataJson = v2Object(
  'NftCollectionData',
  {
    '@type': typeName('ext.tokens.nftCollectionData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('nft_collection', { description: 'What kind of contract it is.' }),
    next_item_index: decimalField('Number of the next item; -1 when items are not numbered one by one.'),
    owner_address: Type.Optional(tonAddress('Whose collection it is; not there when it is nobody’s.')),
    collection_content: TokenContentSchema,
  },
  { description: 'A collection of NFTs.' },
);

const SmcAddr = v2Object('SmcAddr', {
  '@type': typeName('addr_std'),
  workchain_id: Type.Integer({ description: 'Workchain.', format: 'int32' }),
  address: hex32('Account id.'),
});
const DnsRecordStorageAddress = v2Object('DnsRecordStorageAddress', {
  '@type': typeName('dns_storage_address'),
  bag_id: hex32('Bag of TON Storage.'),
});
const DnsRecordSmcAddress = v2Object('DnsRecordSmcAddress', {
  '@type': typeName('dns_smc_address'),
  smc_addr: SmcAddr,
});
const DnsRecordAdnlAddress = v2Object('DnsRecordAdnlAddress', {
  '@type': typeName('dns_adnl_address'),
  adnl_addr: hex32('ADNL address of a site.'),
});
const DnsRecordNextResolver = v2Object('DnsRecordNextResolver', {
  '@type': typeName('dns_next_resolver'),
  resolver: SmcAddr,
});

const DnsRecordSchema = Type.Union(
  [DnsRecordStorageAddress, DnsRecordSmcAddress, DnsRecordAdnlAddress, DnsRecordNextResolver],
  { $id: 'DnsRecord', discriminator: { propertyName: '@type' } },
);
export type DnsRecordJson = Static<typeof DnsRecordSchema>;

/** Categories that have a name; others stand under their 64 upper-case hexadecimal digits. */
const DnsRecordSet = Type.Object(
  {
    dns_next_resolver: Type.Optional(DnsRecordSchema),
    wallet: Type.Optional(DnsRecordSchema),
    site: Type.Optional(DnsRecordSchema),
    storage: Type.Optional(DnsRecordSchema),
  },
  {
    $id: 'DnsRecordSet',
    additionalProperties: true,
    description: 'Records by category; one without a name stands under its hash, 64 upper-case hexadecimal digits.',
  },
);

const DnsContent = v2Object(
  'DnsContent',
  {
    domain: Type.String({ description: 'The domain, as `alice.ton`; empty when the contract does not tell it.' }),
    data: DnsRecordSet,
  },
  { description: 'Content of an NFT that is a domain.' },
);
export type DnsContentJson = Static<typeof DnsContent>;

export const NftItemDataJson = v2Object(
  'NftItemData',
  {
    '@type': typeName('ext.tokens.nftItemData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('nft_item', { description: 'What kind of contract it is.' }),
    init: Type.Boolean({ description: 'Whether the item was made already.' }),
    index: decimalField('Number of the item in its collection.'),
    collection_address: Type.Optional(tonAddress('Its collection; not there when it stands alone.')),
    owner_address: Type.Optional(tonAddress('Whose it is; not there when it is nobody’s.')),
    content: Type.Union([TokenContentSchema, DnsContent]),
  },
  { description: 'An NFT.' },
);

export const TokenDataJson = Type.Union(
  [JettonMasterDataJson, JettonWalletDataJson, NftCollectionDataJson, NftItemDataJson],
  {
    $id: 'TokenData',
    discriminator: { propertyName: '@type' },
    description: 'What a token contract tells of itself; its form depends on the kind of contract.',
  },
);
export type TokenDataJson = Static<typeof TokenDataJson>;

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
