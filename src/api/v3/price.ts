import type { Profile } from '#api/http/http-api.js';
import { DEFAULT_PAGE_ROWS } from '#api/v3/parameters.js';

/**
 * The work of one row of a list, in work units (about 1 ms of CPU time of this process), with its part of the address book.
 * Twice what pages of 1,000 rows of the recorded network take, whose messages are short.
 */
export const ROW_PRICE = {
  account: 0.1,
  action: 0.12,
  block: 0.03,
  bookEntry: 0.02,
  contract: 0.06,
  message: 0.5,
  opcode: 0.01,
  tokenEvent: 0.07,
  trace: 0.35,
  transaction: 0.2,
} as const;

/** The work of one item of a list in a request: it is decoded, and looked up in the index. */
const LIST_ITEM_PRICE = 0.01;

/** The work of any read of the index. */
const READ_PRICE = 2;

/** The state of an account from a liteserver, with its proof. */
export const ACCOUNT_PRICE = 3;

/** A get-method, the state that it runs on included; the gas is added. */
export const GET_METHOD_PRICE = 8;

/** A message is executed on a copy of the state. */
export const EMULATION_PRICE = 15;

/** A message is parsed and sent. */
export const SEND_PRICE = 4;

type ListParameters = Readonly<Record<string, unknown>> & { readonly limit?: number | undefined };

/** The price of a page: by its length, and by the items of all lists in the request. */
export function pagePrice(rowPrice: number, defaultRows: Readonly<Record<Profile, number>> = DEFAULT_PAGE_ROWS) {
  return (params: ListParameters, profile: Profile): number =>
    READ_PRICE + (params.limit ?? defaultRows[profile]) * rowPrice + itemsIn(params) * LIST_ITEM_PRICE;
}

/** The price of an answer with a row for each item of the lists in the request. */
export function itemsPrice(rowPrice: number) {
  return (params: Readonly<Record<string, unknown>>): number =>
    READ_PRICE + itemsIn(params) * (rowPrice + LIST_ITEM_PRICE);
}

function itemsIn(params: Readonly<Record<string, unknown>>): number {
  let items = 0;
  for (const value of Object.values(params)) if (Array.isArray(value)) items += value.length;
  return items;
}
