import { contentColumn, contractInterface } from '#domain/contracts/contract-interface.js';
import {
  type ContractView,
  nullOnContractError,
  type ViewedContract,
  verifyClaim,
} from '#domain/contracts/contract-view.js';
import {
  DNS_ROOTS,
  type DnsRoot,
  dnsRootOf,
  dnsresolve,
  getDomain,
  getFullDomain,
  readDomainName,
} from '#domain/contracts/dns-domain.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import { getNftAddressByIndex, getNftContent } from '#domain/contracts/interfaces/nft-collection.js';
import { loadPlainAddress, type NativeCode, nativeGetMethod } from '#domain/contracts/native-code.js';
import { readTokenContent, type TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';

/** Code hash of `.ton` domain items. */
export const DOT_TON_ITEM = '8b5ffc9ebfd39064d8d5f56e4659c826bb7593923f5ca48728be4d60af6f51f9';

/** `index:uint256 collection_address owner_address content:^Cell domain:^Cell auction:(HashmapE …) last_fill_up_time:uint64` */
export function loadDotTonItem(data: Cell) {
  const slice = openCell(data);
  const index = slice.loadUintBig(256);
  const collection_address = loadPlainAddress(slice);
  const owner_address = loadPlainAddress(slice);
  const content = slice.loadRef();
  const domain = slice.loadRef();
  if (slice.loadBit()) slice.loadRef();
  slice.skip(64).end();
  return { index, collection_address, owner_address, content, domain };
}

/** Code hash of Telegram usernames, which are domains as well. */
export const TELEMINT_NAME = 'a7a2616a4d639a076c2f67e7cce0423fd2a1c2ee550ad651c1eda16ee13bcaca';
/** Code hash of Telegram numbers. */
export const TELEMINT_NUMBER = '5b092991650fbc48b3288b08acc7677b22e4c25d48458c56d2a17f23e806b6b4';
/** Code hashes of Telegram gifts. */
export const TELEMINT_GIFTS: readonly string[] = [
  '2498bd63f3e9cc2c20c79abe58899a4816ea156855b8d4fcd47cda4bae9e911a',
  '91d9e2ac169fc785ce00de0a81af27622b9b7d1764415c775e7e50c03ce98aa2',
];

/**
 * `config:^[index:uint256 collection_address:MsgAddress] state:(Maybe ^[owner_address:MsgAddress content:^Cell
 * auction:(Maybe ^Cell) royalty_params:^Cell])`, where the content is `^[nft_content:^Cell dns:(Maybe ^Cell)
 * token_info:^Cell]`
 */
export function loadTelemintItem(data: Cell) {
  const slice = openCell(data);
  const config = openCell(slice.loadRef());
  const index = config.loadUintBig(256);
  const collection_address = loadPlainAddress(config);
  config.end();
  if (!slice.loadBit()) throw contractDataErrors['other-form']({ problem: 'the item has no state yet' });
  const state = openCell(slice.loadRef());
  slice.end();
  const owner_address = loadPlainAddress(state);
  const content = openCell(state.loadRef());
  const auction = state.loadBit() ? state.loadRef() : null;
  const royalty_params = state.loadRef();
  state.end();
  const nft_content = content.loadRef();
  const dns = content.loadBit() ? content.loadRef() : null;
  const token_info = content.loadRef();
  content.end();
  return { index, collection_address, owner_address, auction, royalty_params, nft_content, dns, token_info };
}

/** Results of `get_nft_data` (TEP-62). */
export interface NftItemFields {
  readonly init: boolean;
  readonly index: bigint;
  /** Null: it has no collection. */
  readonly collection_address: Address | null;
  /** Null: none. */
  readonly owner_address: Address | null;
  /** Its individual content; the whole content of an item without collection. Null: not initialised. */
  readonly individual_content: Cell | null;
}

/** An NFT item with its full content, which its collection returns. */
export interface NftItem extends Omit<NftItemFields, 'individual_content'> {
  readonly content: TokenContent;
  /** `alice.ton`, for items of the DNS collections; null: it is no such item, or returns no name. */
  readonly domain: string | null;
}

/** `(int init?, int index, slice collection_address, slice owner_address, cell individual_content) get_nft_data()` */
export const getNftData = getMethod('get_nft_data', (stack): NftItemFields => {
  const result = new MethodResult('get_nft_data', stack, 5);
  return {
    init: result.int() !== 0n,
    index: result.int(),
    collection_address: result.accountOrNull(),
    owner_address: result.accountOrNull(),
    individual_content: result.cellOrNull(),
  };
});

const NO_DOMAIN = [dnsresolve.name, getDomain.name, getFullDomain.name];

function itemCode(
  hashes: readonly string[],
  load: (data: Cell) => NftItemFields,
  lacks: readonly string[] = NO_DOMAIN,
): NativeCode {
  return { hashes, getMethods: [nativeGetMethod(getNftData, ({ data }) => load(data))], missingMethods: lacks };
}

/** `index:uint64 collection_address:MsgAddress owner_address:MsgAddress content:^Cell`, and what `tail` reads. */
function numberedItem(tail: (data: Slice) => void) {
  return (data: Cell): NftItemFields => {
    const slice = openCell(data);
    const index = slice.loadUintBig(64);
    const collection_address = loadPlainAddress(slice);
    const owner_address = loadPlainAddress(slice);
    const individual_content = slice.loadRef();
    tail(slice);
    slice.end();
    return { init: true, index, collection_address, owner_address, individual_content };
  };
}

const plainItem = itemCode(
  [
    'ba4d975d2b66231c1f0a0ccca6e8ff8f7ba0610c4b7639584b8e98303dc3128c',
    '02e3a2370ea36b24eabff810cd84ef63dc180443d0b51adb9d3be4c0ea8f7319',
  ],
  numberedItem(() => {}),
);

/** `editor_address:MsgAddress` */
const editableItem = itemCode(
  [
    'e9d46f1ad4f3d05866b9800a3dc2202e4730bed1d344a54999b5e20f7f5226cc',
    '585913bfeb388db1997d2befb1806f2c79f1821337e1b0e8fb182bdec40e28c2',
  ],
  numberedItem(loadPlainAddress),
);

/** `authority_address:MsgAddress revoked_at:uint64` (TEP-85) */
const boundItem = itemCode(
  ['2ffbf52beaf816157bfc9726dc2548327fa87ebfd2696eed27a9c2cda25c9edc'],
  numberedItem((data) => {
    loadPlainAddress(data);
    data.skip(64);
  }),
);

/** `owner_address:MsgAddress editor_address:MsgAddress content:^Cell authority_address:MsgAddress revoked_at:uint64` */
const singleBoundItem = itemCode(
  ['68550b3df306e709935f2d3d97e226454a409ad7965c87163845ba56b0745f93'],
  (data): NftItemFields => {
    const slice = openCell(data);
    const owner_address = loadPlainAddress(slice);
    loadPlainAddress(slice);
    const individual_content = slice.loadRef();
    loadPlainAddress(slice);
    slice.skip(64).end();
    return { init: true, index: 0n, collection_address: null, owner_address, individual_content };
  },
);

const dotTonItem = itemCode(
  [DOT_TON_ITEM],
  (data): NftItemFields => {
    const { index, collection_address, owner_address, content } = loadDotTonItem(data);
    return { init: true, index, collection_address, owner_address, individual_content: content };
  },
  [getFullDomain.name],
);

function loadTelemintFields(data: Cell): NftItemFields {
  const { index, collection_address, owner_address, nft_content } = loadTelemintItem(data);
  return { init: true, index, collection_address, owner_address, individual_content: nft_content };
}

const telemintNumber = itemCode([TELEMINT_NUMBER], loadTelemintFields);
const telemintGift = itemCode(TELEMINT_GIFTS, loadTelemintFields);
const telemintName = itemCode([TELEMINT_NAME], loadTelemintFields, [getDomain.name]);

/**
 * Data of an item, which its collection confirms by the address of that index.
 *
 * @throws contract-data/not-verified; as {@link ContractView.runGetMethod}
 */
export async function readNftFields(view: ContractView, item: ViewedContract): Promise<NftItemFields> {
  const fields = await view.runGetMethod(item, getNftData);
  const { collection_address, index } = fields;
  if (collection_address === null) return fields;
  const { address } = item;
  await verifyClaim({ kind: 'nft_item', address: address.toRaw(), by: collection_address.toRaw() }, async () =>
    (await view.runGetMethod(await view.contract(collection_address), getNftAddressByIndex, index)).equals(address),
  );
  return fields;
}

/** The full content of an item, which its collection returns; empty if the item is not initialised. @throws as {@link ContractView.runGetMethod} */
export async function readNftContent(view: ContractView, fields: NftItemFields): Promise<TokenContent> {
  const { collection_address, index, individual_content: individual } = fields;
  if (individual === null) return { type: 'onchain', data: {} };
  if (collection_address === null) return readTokenContent(individual);
  return readTokenContent(
    await view.runGetMethod(await view.contract(collection_address), getNftContent, index, individual),
  );
}

/** An NFT item (TEP-62). Items of the DNS collections have their domain in their content. */
export function nftItemInterface(roots: readonly DnsRoot[]) {
  return contractInterface({
    name: 'nft_item',
    methods: [[getNftData.name]],
    codes: [
      plainItem,
      editableItem,
      boundItem,
      singleBoundItem,
      dotTonItem,
      telemintNumber,
      telemintGift,
      telemintName,
    ],
    async read(view, contract): Promise<NftItem> {
      const fields = await readNftFields(view, contract);
      const { individual_content, ...rest } = fields;
      const root = dnsRootOf(rest.collection_address, roots);
      const content = await readNftContent(view, fields);
      const domain = root === null ? null : await nullOnContractError(() => readDomainName(view, contract, root));
      return { ...rest, content, domain };
    },
    // `real_owner` of API v3 is derived from sales and auctions.
    table: {
      name: 'nft_items',
      columns: { init: 'boolean', index: 'numeric', collection: 'address?', owner: 'address?', content: 'jsonb' },
    },
    row: ({ init, index, collection_address, owner_address, content, domain }) => ({
      init,
      index,
      collection: collection_address,
      owner: owner_address,
      content: contentColumn(content, domain === null ? {} : { domain }),
    }),
  });
}

export const nftItem = nftItemInterface(DNS_ROOTS);
