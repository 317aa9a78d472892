import type { AnyEndpoint } from '#api/http/endpoint.js';

/** The price of a call whose endpoint declares none, in work units. */
const DEFAULT_PRICE = 1;

/**
 * The estimated work of a call before it runs, in work units: 1 unit is about 1 ms of CPU time of this process.
 *
 * @param params as the endpoint gets them
 * @param profile of the answer: lists have another default length in each
 */
export function priceOf(
  { price }: Pick<AnyEndpoint<never>, 'price'>,
  params: never,
  profile: 'spec' | 'toncenter',
): number {
  return price === undefined ? DEFAULT_PRICE : price(params, profile);
}
