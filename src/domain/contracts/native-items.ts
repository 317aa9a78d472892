import { contractDataErrors } from '#domain/contracts/errors.js';
import {
  loadPlainAddress,
  type NativeAccount,
  type NativeContract,
  type NativeDomain,
  type NativeNftItem,
} from '#domain/contracts/native-contract.js';
import type { NftItemFields } from '#domain/contracts/nft.js';
import { wholeBytes } from '#domain/contracts/whole-bytes.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { concatBytes } from '#kernel/bytes/bytes.js';

function item(load: (account: NativeAccount) => NftItemFields, domain: NativeDomain | null = null): NativeNftItem {
  return { kind: 'nft_item', data: load, domain };
}

/** `index:uint64 collection_address:MsgAddress owner_address:MsgAddress content:^Cell`, and what `tail` reads. */
function numberedItem(tail: (data: Slice) => void): NativeNftItem {
  return item(({ data }) => {
    const slice = openCell(data);
    const index = slice.loadUintBig(64);
    const collection_address = loadPlainAddress(slice);
    const owner_address = loadPlainAddress(slice);
    const individual_content = slice.loadRef();
    tail(slice);
    slice.end();
    return { init: true, index, collection_address, owner_address, individual_content };
  });
}

const plainItem = numberedItem(() => {});
/** `editor_address:MsgAddress` */
const editableItem = numberedItem(loadPlainAddress);
/** `authority_address:MsgAddress revoked_at:uint64` (TEP-85) */
const boundItem = numberedItem((data) => {
  loadPlainAddress(data);
  data.skip(64);
});

/** `owner_address:MsgAddress editor_address:MsgAddress content:^Cell authority_address:MsgAddress revoked_at:uint64` */
const singleBoundItem = item(({ data }) => {
  const slice = openCell(data);
  const owner_address = loadPlainAddress(slice);
  loadPlainAddress(slice);
  const individual_content = slice.loadRef();
  loadPlainAddress(slice);
  slice.skip(64).end();
  return { init: true, index: 0n, collection_address: null, owner_address, individual_content };
});

/** `index:uint256 collection_address owner_address content:^Cell domain:^Cell auction:(HashmapE …) last_fill_up_time:uint64` */
function loadDnsItem(data: Cell) {
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

/** An item of the collection of `.ton` domains. */
const dnsItem = item(
  ({ data }) => {
    const { index, collection_address, owner_address, content } = loadDnsItem(data);
    return { init: true, index, collection_address, owner_address, individual_content: content };
  },
  {
    records: ({ data }) => {
      const content = openCell(loadDnsItem(data).content).skip(8);
      return { taken: 1, value: content.loadBit() ? content.loadRef() : null };
    },
    label: ({ data }) => wholeBytes(openCell(loadDnsItem(data).domain)),
    fullName: () => null,
  },
);

/**
 * `config:^[index:uint256 collection_address:MsgAddress] state:(Maybe ^[owner_address:MsgAddress content:^Cell
 * auction:(Maybe ^Cell) royalty_params:^Cell])`, where the content is `^[nft_content:^Cell dns:(Maybe ^Cell)
 * token_info:^Cell]`
 */
function loadTelemintItem(data: Cell) {
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
  if (state.loadBit()) state.loadRef();
  state.loadRef();
  state.end();
  const nft_content = content.loadRef();
  const dns = content.loadBit() ? content.loadRef() : null;
  const token_info = content.loadRef();
  content.end();
  return { index, collection_address, owner_address, nft_content, dns, token_info };
}

const loadTelemintFields: NativeNftItem['data'] = ({ data }) => {
  const { index, collection_address, owner_address, nft_content } = loadTelemintItem(data);
  return { init: true, index, collection_address, owner_address, individual_content: nft_content };
};

/** A number of Telegram. */
const telemintNumber = item(loadTelemintFields);

/** A name of Telegram, which is a domain as well: `token_info` is `length:uint8 name length:uint8 domain`. */
const telemintName = item(loadTelemintFields, {
  records: ({ data }) => ({ taken: 1, value: loadTelemintItem(data).dns }),
  label: () => null,
  fullName: ({ data }) => {
    const info = openCell(loadTelemintItem(data).token_info);
    const name = info.loadBytes(info.loadUint(8));
    const domain = info.loadBytes(info.loadUint(8));
    return concatBytes(domain, name, new Uint8Array(1));
  },
});

/** NFTs by the hash of their code, in lower-case hexadecimal. */
export const NATIVE_ITEMS: readonly (readonly [hash: string, contract: NativeContract])[] = [
  ['ba4d975d2b66231c1f0a0ccca6e8ff8f7ba0610c4b7639584b8e98303dc3128c', plainItem],
  ['e9d46f1ad4f3d05866b9800a3dc2202e4730bed1d344a54999b5e20f7f5226cc', editableItem],
  ['02e3a2370ea36b24eabff810cd84ef63dc180443d0b51adb9d3be4c0ea8f7319', plainItem],
  ['585913bfeb388db1997d2befb1806f2c79f1821337e1b0e8fb182bdec40e28c2', editableItem],
  ['2ffbf52beaf816157bfc9726dc2548327fa87ebfd2696eed27a9c2cda25c9edc', boundItem],
  ['68550b3df306e709935f2d3d97e226454a409ad7965c87163845ba56b0745f93', singleBoundItem],
  ['8b5ffc9ebfd39064d8d5f56e4659c826bb7593923f5ca48728be4d60af6f51f9', dnsItem],
  ['a7a2616a4d639a076c2f67e7cce0423fd2a1c2ee550ad651c1eda16ee13bcaca', telemintName],
  ['5b092991650fbc48b3288b08acc7677b22e4c25d48458c56d2a17f23e806b6b4', telemintNumber],
];
