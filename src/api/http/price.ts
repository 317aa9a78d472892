import type { AnyEndpoint } from '#api/http/endpoint.js';

// Prices are in work units: 1 unit is about 1 ms of CPU time of this process.

/** The price of a call whose endpoint declares none. */
const DEFAULT_PRICE = 1;

/** The price of finding a result in the cache and sending it, without its bytes. */
const CACHED_PRICE = 0.1;

/** How much of a result is sent by one unit: copied, compressed and written. Cheaper is no result. Receiving takes as much. */
const SENT_PER_UNIT = 40_000;

/** Bodies from this size on, in bytes, are priced, and parsed in a turn of their own. */
export const LARGE_BODY = 16 * 1024;

/** How much of a list is made by one unit, where its rows take the most work per byte: messages. */
const MADE_PER_UNIT = 9_000;

type Priced = Pick<AnyEndpoint<never>, 'price'>;

/**
 * The estimated work of a call before it runs.
 *
 * @param params as the endpoint gets them
 * @param profile of the answer: lists have another default length in each
 */
export function priceOf({ price }: Priced, params: never, profile: 'spec' | 'toncenter'): number {
  return price === undefined ? DEFAULT_PRICE : price(params, profile);
}

/** The price of receiving a body of at least {@link LARGE_BODY} bytes; smaller ones are free. */
export function bodyPrice(length: number): number {
  return length / SENT_PER_UNIT;
}

/** The price of a result from the cache. @param length of its text */
export function cachedPrice(length: number): number {
  return CACHED_PRICE + length / SENT_PER_UNIT;
}

/**
 * The work of a call after it ran. A list that is shorter than asked for costs less than its price, a longer text than the price
 * stands for costs more, and what the endpoint reported itself is added.
 */
export function workDone(
  endpoint: Priced,
  params: never,
  profile: 'spec' | 'toncenter',
  result: { readonly length: number; readonly worked: number },
): number {
  const { length } = result;
  const price = priceOf(endpoint, params, profile);
  const shortest = priceOf(endpoint, { ...(params as object), limit: 1, count: 1 } as never, profile);
  return Math.max(Math.min(price, shortest + length / MADE_PER_UNIT), cachedPrice(length)) + result.worked;
}
