import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import {
  type AnswerPage,
  address,
  addressList,
  answerType,
  answerValue,
  boc,
  decimal,
  flag,
  hash,
  integer,
  jsonOf,
  list,
  nullable,
  required,
  text,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { namedBy } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { base64Text, decimalText } from '#api/v3/json-pieces.js';
import { checkPage, listAnswer, type PiecedRow, pageOf } from '#api/v3/page.js';
import {
  limitParameter,
  MAX_PAGE_ROWS,
  pageFields,
  sortParameter,
  v3AccountListParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { type OrderAction, orderActions } from '#domain/contracts/order-actions.js';
import type { OrderBody, OrderBodyType, StonfiSwapBody } from '#domain/contracts/order-messages.js';
import type { IndexedMultisig, IndexedMultisigOrder } from '#drivers/store/read/multisig-vesting.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isTernError } from '#kernel/tern-error.js';

const BODY_TYPES: Readonly<Record<OrderBodyType, true>> = {
  nft_transfer: true,
  ton_transfer: true,
  jetton_top_up: true,
  jetton_change_admin: true,
  jetton_claim_admin: true,
  jetton_change_content: true,
  jetton_call_to: true,
  jetton_set_status: true,
  jetton_transfer: true,
  jetton_burn: true,
  jetton_mint: true,
  single_nominator_withdraw: true,
  single_nominator_change_validator: true,
  vesting_internal_transfer: true,
  multisig_update_params: true,
  unknown: true,
};

type FieldValue = OrderBody['parsed_body'][keyof OrderBody['parsed_body']] | SomeValue;
type SomeValue = Address | readonly Address[] | Uint8Array | StonfiSwapBody | bigint | number | string | boolean | null;

/** Integers of 64 bits that are written as numbers; all others are strings. */
const NUMBERS: ReadonlySet<string> = new Set(['query_id', 'master_msg_query_id']);

/** Amounts that are written in coins of 10^9 units. */
const COINS: ReadonlySet<string> = new Set(['min_amount']);

/** A decoded message body, whose members depend on its type. */
const parsedBody = answerValue<object>(
  Type.Object({}, { additionalProperties: true, description: 'The decoded message body, as of `parsed_body_type`.' }),
  bodyJson,
);

function bodyJson(body: object, page: AnswerPage): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(body) as [string, FieldValue][]) {
    if (value !== null) members.push(`"${name}":${fieldJson(name, value, page)}`);
    else if (page.profile === 'toncenter') members.push(`"${name}":null`);
  }
  return `{${members.join(',')}}`;
}

function fieldJson(name: string, value: Exclude<FieldValue, null>, page: AnswerPage): string {
  if (typeof value === 'bigint') {
    if (NUMBERS.has(name)) return String(value);
    return COINS.has(name) ? `"${coins(value)}"` : decimalText(value);
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Address) return page.addresses.add(value);
  if (value instanceof Uint8Array) return base64Text(value);
  if (isAddressList(value)) return `[${value.map((each) => page.addresses.add(each)).join(',')}]`;
  return bodyJson(value, page);
}

function isAddressList(value: readonly Address[] | StonfiSwapBody): value is readonly Address[] {
  return Array.isArray(value);
}

/** Coins with as many decimal places as needed, nine at most. */
function coins(units: bigint): string {
  const [whole, part] = [units / 1_000_000_000n, units % 1_000_000_000n];
  return part === 0n ? String(whole) : `${whole}.${String(part).padStart(9, '0').replace(/0+$/, '')}`;
}

export const OrderActionJson = answerType(
  'OrderAction',
  {
    destination: nullable(address('Destination of the message; none for a change of the multisig itself.')),
    value: nullable(decimal('Nanotons that the message carries.')),
    body_raw: nullable(boc('The message body; for a change of the multisig itself the action.')),
    parsed: flag('It could be parsed.'),
    error: nullable(text('Why it could not be parsed.')),
    parsed_body: nullable(parsedBody),
    parsed_body_type: word('Type of the message body.', { enum: Object.keys(BODY_TYPES) }),
    send_mode: integer('Send mode.'),
  },
  'An action that a multisig performs when an order is executed.',
);

const actionList = list(
  OrderActionJson,
  'The actions, with `parse_actions`; without a value if there are none or they cannot be parsed.',
);

const state = {
  last_transaction_lt: required(decimal('Logical time of its last transaction.'), 'last_trans_lt'),
  code_hash: nullable(hash('Hash of the code.')),
  data_hash: nullable(hash('Hash of the data.')),
};

const MultisigOrderJson = answerType(
  'MultisigOrder',
  {
    address: address('The order.'),
    multisig_address: required(address('The multisig.'), 'multisig'),
    order_seqno: decimal('Seqno of the order.'),
    threshold: nullable(integer('Number of approvals that are required.')),
    sent_for_execution: nullable(flag('It has the required approvals.')),
    approvals_mask: nullable(decimal('Approvals: bit i for the signer with index i.')),
    approvals_num: nullable(integer('Number of approvals.')),
    expiration_date: nullable(integer('When it expires, in unix seconds.')),
    order_boc: nullable(boc('The actions.')),
    signers: nullable(addressList('Who may approve. Raw addresses.')),
    ...state,
    actions: nullable(actionList, (order: IndexedMultisigOrder & { readonly withActions: boolean }) =>
      order.withActions && order.order_boc !== null ? parseActions(order.order_boc) : null,
    ),
  },
  'An order of a multisig. Members that the multisig has not initialised yet have no value.',
);

/** Null: they cannot be parsed. */
function parseActions(order: Uint8Array): readonly OrderAction[] | null {
  try {
    return orderActions(parseBocRoot(order));
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

const MultisigJson = answerType(
  'Multisig',
  {
    address: address('The multisig.'),
    next_order_seqno: decimal('Seqno of the next order; -1 if orders may have any.'),
    threshold: integer('Number of approvals that an order requires.'),
    signers: addressList('Who approves orders. Raw addresses.'),
    proposers: addressList('Who else may propose orders. Raw addresses.'),
    ...state,
    orders: nullable(
      jsonOf(
        Type.Array(MultisigOrderJson.schema, {
          description: 'Its orders, the oldest first; empty with `include_orders=false`.',
        }),
      ),
    ),
  },
  'A multisig of version 2.',
);

/** A multisig with its orders; null: they were not requested. */
interface MultisigRow {
  readonly multisig: IndexedMultisig;
  readonly orders: readonly IndexedMultisigOrder[] | null;
}

const multisigRow: PiecedRow<MultisigRow> = {
  schema: MultisigJson.schema,
  *pieces({ multisig, orders }, page) {
    // The live service has null for an empty list of orders.
    const isNull = orders?.length === 0 && page.profile === 'toncenter';
    const json = writeAnswerJson(MultisigJson, { ...multisig, orders: isNull ? null : '[]' }, page);
    if (orders === null || orders.length === 0) return yield json;
    // The orders are its last member.
    yield json.slice(0, -']}'.length);
    for (const [i, order] of orders.entries()) {
      const text = writeAnswerJson(MultisigOrderJson, { ...order, withActions: false }, page);
      yield i === 0 ? text : `,${text}`;
    }
    yield ']}';
  },
};

const Multisigs = listAnswer('MultisigResponse', 'multisigs', multisigRow, { metadata: false });
const MultisigOrders = listAnswer('MultisigOrderResponse', 'orders', MultisigOrderJson, { metadata: false });

const TAG = 'Multisig';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** As the published document says; the live service accepts at most {@link MAX_PAGE_ROWS}, as everywhere. */
const MAX_ROWS = 1_024;

/** Maximal number of orders in an answer with multisigs. */
const MAX_ORDERS = 5_000;

const page = {
  ...pageFields,
  limit: limitParameter({ most: MAX_ROWS }),
  sort: sortParameter('In the order of their first transactions.'),
};

function requireLimit(limit: number | undefined, { profile }: V3Context): void {
  if (profile !== 'toncenter' || limit === undefined || limit <= MAX_PAGE_ROWS) return;
  throw httpErrors['bad-parameter']({
    parameter: 'limit',
    problem: `it is ${limit}, and at most ${MAX_PAGE_ROWS} is allowed`,
  });
}

const wallets = v3Endpoint({
  name: 'multisig/wallets',
  verbs: GET,
  tag: TAG,
  summary: 'Multisigs',
  description:
    'Multisigs of version 2 that match all given conditions, with their orders. At least one of `address` and ' +
    `\`wallet_address\` is required. If the multisigs have more than ${MAX_ORDERS.toLocaleString('en')} orders in total, a ` +
    'request with orders is refused (422).',
  params: Type.Object(
    {
      address: Type.Optional(v3AccountListParameter('Only these multisigs')),
      wallet_address: Type.Optional(v3AccountListParameter('Only multisigs with one of these as a signer or proposer')),
      include_orders: Type.Optional(Type.Boolean({ description: 'Include their orders.', default: true })),
      ...page,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    if (given.address !== undefined || given.wallet_address !== undefined) return;
    throw v3Errors.parameters({ problem: 'At least one of address or wallet_address should be specified' });
  },
  result: Multisigs.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.contract),
  coverage: {
    needs: ({ address, include_orders = true }) => (address === undefined || include_orders ? ['state'] : []),
    names: ({ address }) => ({ contracts: address }),
  },
  freshness: 'head',
  handle: async ({ address, wallet_address, include_orders = true, ...rest }, context) => {
    requireLimit(rest.limit, context);
    const filter = { address, wallet_address };
    const listed = await context.network.index.multisigs(filter, pageOf(rest, context), context.query);
    const orders = include_orders ? await ordersOf(listed.rows, context) : null;
    const rows = listed.rows.map((multisig) => ({
      multisig,
      orders: orders === null ? null : (orders.get(multisig.address.toRaw()) ?? []),
    }));
    return Multisigs.write({ rows, next: listed.next }, context);
  },
});

/** By the raw address of the multisig, the oldest first. @throws v3/too-many-orders */
async function ordersOf(
  multisigs: readonly IndexedMultisig[],
  { network, query, foresee, worked }: V3Context,
): Promise<ReadonlyMap<string, readonly IndexedMultisigOrder[]>> {
  const addresses = multisigs.map(({ address }) => address);
  const found = await network.index.ordersOfMultisigs(addresses, MAX_ORDERS + 1, query);
  if (found.length > MAX_ORDERS) throw v3Errors['too-many-orders']({ most: MAX_ORDERS });
  foresee(found.length * ROW_PRICE.contract);
  worked(found.length * ROW_PRICE.contract);
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
    'Orders of multisigs that match all given conditions. At least one of `address` and `multisig_address` is required. ' +
    'With `parse_actions` each order has the actions that its execution performs.',
  params: Type.Object(
    {
      address: Type.Optional(v3AccountListParameter('Only these orders')),
      multisig_address: Type.Optional(v3AccountListParameter('Only orders of these multisigs')),
      parse_actions: Type.Optional(Type.Boolean({ description: 'Parse `order_boc` into `actions`.', default: false })),
      ...page,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    if (given.address !== undefined || given.multisig_address !== undefined) return;
    throw v3Errors.parameters({ problem: 'At least one of address or multisig_address should be specified' });
  },
  result: MultisigOrders.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.contract),
  coverage: namedBy('address'),
  freshness: 'head',
  handle: async ({ address, multisig_address, parse_actions = false, ...rest }, context) => {
    requireLimit(rest.limit, context);
    const filter = { address, multisig_address };
    const listed = await context.network.index.multisigOrders(filter, pageOf(rest, context), context.query);
    const rows = listed.rows.map((order) => ({ ...order, withActions: parse_actions }));
    return MultisigOrders.write({ rows, next: listed.next }, context);
  },
});

/** Methods about multisigs. */
export const multisigEndpoints: readonly AnyEndpoint<V3Context>[] = [wallets, orders];
