import { contractDataErrors } from '#domain/contracts/errors.js';
import { loadPlainAddress } from '#domain/contracts/native-data.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';

/** An item of the collection of `.ton` domains. */
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

/** A name of Telegram, which is a domain as well. */
export const TELEMINT_NAME = 'a7a2616a4d639a076c2f67e7cce0423fd2a1c2ee550ad651c1eda16ee13bcaca';
/** A number of Telegram. */
export const TELEMINT_NUMBER = '5b092991650fbc48b3288b08acc7677b22e4c25d48458c56d2a17f23e806b6b4';
/** Gifts of Telegram. */
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
