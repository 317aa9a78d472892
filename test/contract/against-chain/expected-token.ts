import { createHash } from 'node:crypto';
import { type Cell as CoreCell, Dictionary } from '@ton/core';
import { shown } from '#test/contract/against-chain/core.js';
import { type AccountView, viewOf } from '#test/contract/against-chain/expected-account.js';
import type { Subject } from '#test/contract/against-chain/subject.js';

type Expected = (subject: Subject, address: string) => Record<string, unknown> | null;

const jettonMaster: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const total_supply = slice.loadCoins();
  const admin = slice.loadMaybeAddress();
  const content = slice.loadRef();
  return {
    '@type': 'ext.tokens.jettonMasterData',
    contract_type: 'jetton_master',
    total_supply: total_supply.toString(),
    mintable: true,
    ...(admin === null ? {} : { admin_address: admin.toString() }),
    jetton_content: contentOf(content),
    jetton_wallet_code: shown(slice.loadRef()),
  };
};

const jettonWallet: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  return {
    '@type': 'ext.tokens.jettonWalletData',
    contract_type: 'jetton_wallet',
    balance: slice.loadCoins().toString(),
    owner: slice.loadAddress().toString(),
    jetton: slice.loadAddress().toString(),
    jetton_wallet_code: shown(slice.loadRef()),
  };
};

const nftCollection: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const owner = slice.loadMaybeAddress();
  const next_item_index = slice.loadUintBig(64);
  return {
    '@type': 'ext.tokens.nftCollectionData',
    contract_type: 'nft_collection',
    next_item_index: next_item_index.toString(),
    ...(owner === null ? {} : { owner_address: owner.toString() }),
    collection_content: contentOf(slice.loadRef().refs[0]!),
  };
};

/** Its content is what the collection puts before the own one. */
const nftItem: Expected = (subject, address) => {
  const { data } = head(subject, address);
  const slice = data!.beginParse();
  const index = slice.loadUintBig(64);
  const collection = slice.loadMaybeAddress();
  if (collection === null || slice.remainingRefs === 0) return null;
  const owner = slice.loadAddress();
  const own = slice.loadRef();
  const held = head(subject, collection.toRawString()).data?.beginParse();
  if (held === undefined) return null;
  held.loadMaybeAddress();
  held.loadUintBig(64);
  const common = held.loadRef().refs[1]!;
  return {
    '@type': 'ext.tokens.nftItemData',
    contract_type: 'nft_item',
    init: true,
    index: index.toString(),
    collection_address: collection.toString(),
    owner_address: owner.toString(),
    content: { type: 'offchain', data: snake(common) + snake(own) },
  };
};

/** By what the accounts of the recording are called: layouts of their data, which are those of the standard contracts. */
export const TOKENS: readonly (readonly [kind: string, expected: Expected])[] = [
  ['jetton_master_v1', jettonMaster],
  ['jetton_master_discoverable', jettonMaster],
  ['jetton_wallet_v1', jettonWallet],
  ['jetton_wallet_discoverable', jettonWallet],
  ['nft_collection_v1', nftCollection],
  ['nft_item_v1', nftItem],
];

function head({ record }: Subject, address: string): AccountView {
  return viewOf(record.account(record.head.id.seqno, address));
}

const FIELDS = [
  'uri',
  'name',
  'description',
  'image',
  'image_data',
  'symbol',
  'decimals',
  'amount_style',
  'render_type',
];

/** TEP-64. */
function contentOf(cell: CoreCell): unknown {
  const slice = cell.beginParse();
  if (slice.loadUint(8) === 1) return { type: 'offchain', data: snake(cell, 8) };
  const dictionary = slice.loadDict(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  const data: Record<string, string> = {};
  let known = 0;
  for (const field of FIELDS) {
    const value = dictionary.get(createHash('sha256').update(field).digest());
    if (value === undefined) continue;
    known++;
    data[field] = snake(value, 8);
  }
  if (known !== dictionary.size) throw new RangeError('content with fields of other names');
  return { type: 'onchain', data };
}

/** Bytes through the first references as text. */
function snake(cell: CoreCell, skipped = 0): string {
  const parts: Buffer[] = [];
  for (let at: CoreCell | undefined = cell; at !== undefined; at = at.refs[0]) {
    const slice = at.beginParse();
    if (at === cell) slice.skip(skipped);
    parts.push(slice.loadBuffer(slice.remainingBits / 8));
  }
  return Buffer.concat(parts).toString('utf8');
}
