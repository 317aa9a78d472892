import { DEFAULT_COUNT, DEFAULT_TRANSACTION_LIMIT } from '#api/v2/parameters.js';

/** Prices of calls in work units: 1 unit is about 1 ms of CPU time of this process, proof checks included. */
export const PRICE = {
  /** Nothing is read. */
  text: 0.1,
  /** The state of an account, with its proof. */
  account: 3,
  /** One lite query and its proof. */
  block: 2,
  /** Several proofs, up to a whole configuration. */
  proofs: 20,
  /** A get-method, the state that it runs on included; the gas is added. */
  getMethod: 8,
  /** A message is parsed and sent, and explained when it is refused. */
  send: 4,
  /** A message is executed on a copy of the state. */
  emulation: 15,
  /** A message is followed over blocks. */
  search: 40,
} as const;

/** One transaction of an account: a lite query returns 16 of them, each is checked by hash and written. */
const ACCOUNT_TRANSACTION = 0.8;
const BLOCK_TRANSACTION = { id: 0.03, whole: 0.8 } as const;

/** The price of a part of the history of an account. */
export function historyPrice({ limit = DEFAULT_TRANSACTION_LIMIT }: { readonly limit?: number | undefined }): number {
  return PRICE.account + limit * ACCOUNT_TRANSACTION;
}

/** The price of a list of the transactions of a block. @param form ids, or whole transactions */
export function blockTransactionsPrice(form: keyof typeof BLOCK_TRANSACTION) {
  return ({ count = DEFAULT_COUNT }: { readonly count?: number | undefined }): number =>
    PRICE.block + count * BLOCK_TRANSACTION[form];
}
