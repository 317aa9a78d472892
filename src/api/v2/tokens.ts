import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { accountParams, freshnessAt } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
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
      description: 'Where the content is: on-chain in the contract, or off-chain at a link.',
    }),
    data: Type.Union([Type.String(), TokenContentDict], { description: 'The link, or the content by key.' }),
  },
  { description: 'Content of the token (TEP-64). With a `uri` among the keys it is semi-chain: the link has more.' },
);
type TokenContentJson = Static<typeof TokenContentSchema>;

const JettonMasterDataJson = v2Object(
  'JettonMasterData',
  {
    '@type': typeName('ext.tokens.jettonMasterData'),
    address: tonAddress('The requested contract.'),
    contract_type: Type.Literal('jetton_master', { description: 'Contract type.' }),
    total_supply: decimalField('Total supply in the smallest units.'),
    mintable: Type.Boolean({ description: 'Whether more can be minted.' }),
    admin_address: Type.Optional(tonAddress('The admin, who can mint; absent when there is none.')),
    jetton_content: TokenContentSchema,
    jetton_wallet_code: bytesField('Bag of cells with the code of the jetton wallets.'),
  },
  { description: 'A jetton master.' },
);

const JettonWalletDataJson = v2Object(
  'JettonWalletData',
  {
    '@type': typeName('ext.tokens.jettonWalletData'),
    address: tonAddress('The requested contract.'),
    contract_type: Type.Literal('jetton_wallet', { description: 'Contract type.' }),
    balance: decimalField('In the smallest units.'),
    owner: tonAddress('The owner of the wallet.'),
    jetton: tonAddress('The jetton: its master contract.'),
    mintless_is_claimed: Type.Optional(
      Type.Boolean({ description: 'For mintless jettons: whether the owner claimed the airdrop.' }),
    ),
    jetton_wallet_code: bytesField('Bag of cells with the code of the wallet.'),
  },
  { description: 'A jetton wallet, confirmed by its master.' },
);

const NftCollectionDataJson = v2Object(
  'NftCollectionData',
  {
    '@type': typeName('ext.tokens.nftCollectionData'),
    address: tonAddress('The requested contract.'),
    contract_type: Type.Literal('nft_collection', { description: 'Contract type.' }),
    next_item_index: decimalField('Index of the next item; -1 for non-sequential indexes.'),
    owner_address: Type.Optional(tonAddress('The owner of the collection; absent when there is none.')),
    collection_content: TokenContentSchema,
  },
  { description: 'An NFT collection.' },
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
type DnsRecordJson = Static<typeof DnsRecordSchema>;

/** Categories with a name; others have their hash as key, 64 upper-case hexadecimal digits. */
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
    description:
      'Records by category; a category without a name has its hash as key, 64 upper-case hexadecimal digits.',
  },
);

const DnsContent = v2Object(
  'DnsContent',
  {
    domain: Type.String({ description: 'The domain, as `alice.ton`; empty when the contract does not return it.' }),
    data: DnsRecordSet,
  },
  { description: 'Content of an NFT that is a domain.' },
);
type DnsContentJson = Static<typeof DnsContent>;

const NftItemDataJson = v2Object(
  'NftItemData',
  {
    '@type': typeName('ext.tokens.nftItemData'),
    address: tonAddress('The requested contract.'),
    contract_type: Type.Literal('nft_item', { description: 'Contract type.' }),
    init: Type.Boolean({ description: 'Whether the item is initialised.' }),
    index: decimalField('Index of the item in its collection.'),
    collection_address: Type.Optional(tonAddress('Its collection; absent for an item without one.')),
    owner_address: Type.Optional(tonAddress('The owner of the item; absent when there is none.')),
    content: Type.Union([TokenContentSchema, DnsContent]),
  },
  { description: 'An NFT item.' },
);

const TokenDataJson = Type.Union([JettonMasterDataJson, JettonWalletDataJson, NftCollectionDataJson, NftItemDataJson], {
  $id: 'TokenData',
  discriminator: { propertyName: '@type' },
  description: 'The data of a token contract; the form depends on the contract type.',
});
type TokenDataJson = Static<typeof TokenDataJson>;

/** A token contract as `getTokenData` shows it; `addr_none` is left out. */
function tokenData(token: TokenData, asked: ParsedAddress): TokenDataJson {
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

/** By category; records of kinds that the published document does not have are left out. */
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

const getTokenData = v2Endpoint({
  name: 'getTokenData',
  verbs: GET_OR_POST,
  tag: 'Accounts',
  summary: 'Jetton or NFT data',
  description:
    'The data of a jetton master, jetton wallet, NFT collection or NFT item: owner, amounts, and on-chain content (TEP-64; ' +
    'links are returned, not followed). A jetton wallet or NFT item must be confirmed by its master or collection. An NFT ' +
    'item that is a domain has its DNS records.',
  params: accountParams,
  result: TokenDataJson,
  statuses: [404, 409, 422, 500, 504],
  errorStatuses: { [v2Errors['not-a-token'].code]: 409 },
  price: () => PRICE.getMethod,
  isQueuedElsewhere: true,
  freshness: freshnessAt,
  handle: async ({ address: parsed, seqno }, { network, read }) => {
    const { token } = await network.contracts.tokenData(parsed.address, { ...read, at: seqno ?? 'head' });
    if (token === null) throw v2Errors['not-a-token']({ address: normalizedAddress(parsed) });
    return tokenData(token, parsed);
  },
});

/** Methods about tokens. */
export const tokenEndpoints: readonly AnyEndpoint<V2Context>[] = [getTokenData];
