import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import { addressListParameter, limitParameter, MAX_LIMIT, pageFields, sortParameter } from '#api/v3/parameters.js';
import { MultisigOrderResponse, MultisigResponse } from '#api/v3/schemas/multisig.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { type MultisigPage, multisigOrderText, multisigText } from '#api/v3/serialize/multisig.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';
import type { IndexedMultisig, IndexedMultisigOrder } from '#drivers/store/read/multisig-reads.js';

const TAG = 'Multisig';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** As the published document says; the live service takes no more than {@link MAX_LIMIT}, as everywhere. */
const MOST_ROWS = 1_024;

/** Most orders that come with the multisigs of one answer. */
const MOST_ORDERS = 5_000;

const page = {
  ...pageFields,
  limit: limitParameter({ most: MOST_ROWS }),
  sort: sortParameter('In the order in which the index found them.'),
};

function requireLimit(limit: number | undefined, { profile }: V3Context): void {
  if (profile !== 'toncenter' || limit === undefined || limit <= MAX_LIMIT) return;
  throw httpErrors['bad-parameter']({
    parameter: 'limit',
    problem: `it is ${limit}, and at most ${MAX_LIMIT} is allowed`,
  });
}

function multisigPage({ profile }: V3Context, actions: boolean): MultisigPage {
  return { dialect: dialectOf(profile), addresses: new AddressCollector(), actions };
}

const wallets = v3Endpoint({
  name: 'multisig/wallets',
  verbs: GET,
  tag: TAG,
  summary: 'Multisigs',
  description:
    'Multisigs of version 2 that meet all conditions given, with their orders. At least one of `address` and ' +
    `\`wallet_address\` must be given. Of multisigs with more than ${MOST_ORDERS.toLocaleString('en')} orders together it is ` +
    'an error (422) to ask for orders.',
  params: Type.Object(
    {
      address: Type.Optional(addressListParameter('Only these multisigs')),
      wallet_address: Type.Optional(
        addressListParameter('Only multisigs of which one of these is a signer or a proposer'),
      ),
      include_orders: Type.Optional(Type.Boolean({ description: 'With their orders.', default: true })),
      ...page,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    if (given.address !== undefined || given.wallet_address !== undefined) return;
    throw v3Errors.parameters({ problem: 'At least one of address or wallet_address should be specified' });
  },
  result: MultisigResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, wallet_address, include_orders = true, ...rest }, context) => {
    requireLimit(rest.limit, context);
    const filter = { address, wallet_address };
    const listed = await context.network.index.multisigs(filter, pageOf(rest, context), context.query);
    const multisigs = rowsOf(listed, context);
    const orders = include_orders ? await ordersOf(multisigs, context) : null;
    const written = multisigPage(context, false);
    const texts = multisigs.map((multisig) =>
      multisigText(multisig, orders === null ? null : (orders.get(multisig.address.toRaw()) ?? []), written),
    );
    const book = await pageAddressesText(written.addresses, context, { metadata: false });
    return jsonText(`{"multisigs":${listText(texts)},${book}}`);
  },
});

/** By the raw address of the multisig, the oldest first. @throws v3/too-many-orders */
async function ordersOf(
  multisigs: readonly IndexedMultisig[],
  { network, query }: V3Context,
): Promise<ReadonlyMap<string, readonly IndexedMultisigOrder[]>> {
  const addresses = multisigs.map(({ address }) => address);
  const found = await network.index.ordersOfMultisigs(addresses, MOST_ORDERS + 1, query);
  if (found.length > MOST_ORDERS) throw v3Errors['too-many-orders']({ most: MOST_ORDERS });
  const orders = new Map<string, IndexedMultisigOrder[]>();
  for (const order of found) {
    const multisig = order.multisig.toRaw();
    const list = orders.get(multisig);
    if (list === undefined) orders.set(multisig, [order]);
    else list.push(order);
  }
  return orders;
}

const orders = v3Endpoint({
  name: 'multisig/orders',
  verbs: GET,
  tag: TAG,
  summary: 'Orders of multisigs',
  description:
    'Orders of multisigs that meet all conditions given. At least one of `address` and `multisig_address` must be given. ' +
    'With `parse_actions` each order tells what is done when enough have agreed.',
  params: Type.Object(
    {
      address: Type.Optional(addressListParameter('Only these orders')),
      multisig_address: Type.Optional(addressListParameter('Only orders of these multisigs')),
      parse_actions: Type.Optional(Type.Boolean({ description: 'Read `order_boc` to `actions`.', default: false })),
      ...page,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    if (given.address !== undefined || given.multisig_address !== undefined) return;
    throw v3Errors.parameters({ problem: 'At least one of address or multisig_address should be specified' });
  },
  result: MultisigOrderResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, multisig_address, parse_actions = false, ...rest }, context) => {
    requireLimit(rest.limit, context);
    const filter = { address, multisig_address };
    const listed = await context.network.index.multisigOrders(filter, pageOf(rest, context), context.query);
    const written = multisigPage(context, parse_actions);
    const texts = rowsOf(listed, context).map((order) => multisigOrderText(order, written));
    const book = await pageAddressesText(written.addresses, context, { metadata: false });
    return jsonText(`{"orders":${listText(texts)},${book}}`);
  },
});

/** Methods about multisigs. */
export const multisigEndpoints: readonly AnyEndpoint<V3Context>[] = [wallets, orders];
