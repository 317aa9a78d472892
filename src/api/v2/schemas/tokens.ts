import { type Static, Type } from '@sinclair/typebox';
import { bytesField, decimalField, namedObject, typeName } from '#api/v2/schemas/ton-objects.js';

const tonAddress = (description: string) => Type.String({ description: `${description} User-friendly form.` });
const hex32 = (description: string) => Type.String({ description: `${description} 64 lower-case hexadecimal digits.` });

const TokenContentDict = Type.Record(Type.String(), Type.String(), {
  $id: 'TokenContentDict',
  description:
    'By key: uri, name, description, image, image_data (base64), symbol, decimals, amount_style, render_type.',
});

const TokenContent = namedObject(
  'TokenContent',
  {
    type: Type.Union([Type.Literal('onchain'), Type.Literal('offchain')], {
      description: 'Where the description is: in the contract, or behind a link.',
    }),
    data: Type.Union([Type.String(), TokenContentDict], { description: 'The link, or the description by key.' }),
  },
  { description: 'What describes the token (TEP-64). With a `uri` among the keys there is more behind that link.' },
);
export type TokenContentJson = Static<typeof TokenContent>;

export const JettonMasterData = namedObject(
  'JettonMasterData',
  {
    '@type': typeName('ext.tokens.jettonMasterData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('jetton_master', { description: 'What kind of contract it is.' }),
    total_supply: decimalField('All there are, in the smallest units.'),
    mintable: Type.Boolean({ description: 'Whether more can be made.' }),
    admin_address: Type.Optional(tonAddress('Who can make more; not there when nobody can.')),
    jetton_content: TokenContent,
    jetton_wallet_code: bytesField('Bag of cells with the code of the wallets.'),
  },
  { description: 'A jetton.' },
);

export const JettonWalletData = namedObject(
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

export const NftCollectionData = namedObject(
  'NftCollectionData',
  {
    '@type': typeName('ext.tokens.nftCollectionData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('nft_collection', { description: 'What kind of contract it is.' }),
    next_item_index: decimalField('Number of the next item; -1 when items are not numbered one by one.'),
    owner_address: Type.Optional(tonAddress('Whose collection it is; not there when it is nobody’s.')),
    collection_content: TokenContent,
  },
  { description: 'A collection of NFTs.' },
);

const SmcAddr = namedObject('SmcAddr', {
  '@type': typeName('addr_std'),
  workchain_id: Type.Integer({ description: 'Workchain.', format: 'int32' }),
  address: hex32('Account id.'),
});
const DnsRecordStorageAddress = namedObject('DnsRecordStorageAddress', {
  '@type': typeName('dns_storage_address'),
  bag_id: hex32('Bag of TON Storage.'),
});
const DnsRecordSmcAddress = namedObject('DnsRecordSmcAddress', {
  '@type': typeName('dns_smc_address'),
  smc_addr: SmcAddr,
});
const DnsRecordAdnlAddress = namedObject('DnsRecordAdnlAddress', {
  '@type': typeName('dns_adnl_address'),
  adnl_addr: hex32('ADNL address of a site.'),
});
const DnsRecordNextResolver = namedObject('DnsRecordNextResolver', {
  '@type': typeName('dns_next_resolver'),
  resolver: SmcAddr,
});

const DnsRecord = Type.Union(
  [DnsRecordStorageAddress, DnsRecordSmcAddress, DnsRecordAdnlAddress, DnsRecordNextResolver],
  { $id: 'DnsRecord', discriminator: { propertyName: '@type' } },
);
export type DnsRecordJson = Static<typeof DnsRecord>;

/** Categories that have a name; others stand under their 64 upper-case hexadecimal digits. */
const DnsRecordSet = Type.Object(
  {
    dns_next_resolver: Type.Optional(DnsRecord),
    wallet: Type.Optional(DnsRecord),
    site: Type.Optional(DnsRecord),
    storage: Type.Optional(DnsRecord),
  },
  {
    $id: 'DnsRecordSet',
    additionalProperties: true,
    description: 'Records by category; one without a name stands under its hash, 64 upper-case hexadecimal digits.',
  },
);

const DnsContent = namedObject(
  'DnsContent',
  {
    domain: Type.String({ description: 'The domain, as `alice.ton`; empty when the contract does not tell it.' }),
    data: DnsRecordSet,
  },
  { description: 'Content of an NFT that is a domain.' },
);
export type DnsContentJson = Static<typeof DnsContent>;

export const NftItemData = namedObject(
  'NftItemData',
  {
    '@type': typeName('ext.tokens.nftItemData'),
    address: tonAddress('The contract that was asked for.'),
    contract_type: Type.Literal('nft_item', { description: 'What kind of contract it is.' }),
    init: Type.Boolean({ description: 'Whether the item was made already.' }),
    index: decimalField('Number of the item in its collection.'),
    collection_address: Type.Optional(tonAddress('Its collection; not there when it stands alone.')),
    owner_address: Type.Optional(tonAddress('Whose it is; not there when it is nobody’s.')),
    content: Type.Union([TokenContent, DnsContent]),
  },
  { description: 'An NFT.' },
);

export const TokenData = Type.Union([JettonMasterData, JettonWalletData, NftCollectionData, NftItemData], {
  $id: 'TokenData',
  discriminator: { propertyName: '@type' },
  description: 'What a token contract tells of itself; its form depends on the kind of contract.',
});
export type TokenData = Static<typeof TokenData>;
