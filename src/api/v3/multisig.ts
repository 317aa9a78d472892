import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { AddressBookJson } from '#api/v3/address-book.js';
import {
  addressField,
  answerObject,
  base64Text,
  bocField,
  booleanField,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  integerField,
  listText,
  nullableField,
  type ProfileFormat,
  profileFormat,
  quotedText,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { AddressCollector, checkPage, pageAddressesText, pageOf, rowsOf } from '#api/v3/page.js';
import { accountListParameter, limitParameter, MAX_PAGE_ROWS, pageFields, sortParameter } from '#api/v3/parameters.js';
import { type OrderAction, orderActions } from '#domain/contracts/order-actions.js';
import type { OrderBody, OrderBodyType, StonfiSwapBody } from '#domain/contracts/order-messages.js';
import type { IndexedMultisig, IndexedMultisigOrder } from '#drivers/store/read/multisig-vesting.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isTernError } from '#kernel/tern-error.js';

const NAMES: Readonly<Record<OrderBodyType, true>> = {
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

/** What the body of an action can be. */
export const PARSED_BODY_TYPES: readonly string[] = Object.keys(NAMES);

/** An action of an order as `/multisig/orders` shows it. The answer names all addresses in it. */
export function orderActionText(action: OrderAction, dialect: ProfileFormat, addresses: AddressCollector): string {
  const { destination, value, body_raw, error, parsed_body: body } = action;
  const members =
    dialect.nullable('destination', destination === null ? null : addresses.add(destination)) +
    dialect.nullable('value', value === null ? null : decimalText(value)) +
    dialect.nullable('body_raw', body_raw === null ? null : base64Text(body_raw)) +
    `,"parsed":${action.parsed}` +
    dialect.nullable('error', error === null ? null : JSON.stringify(error)) +
    dialect.nullable('parsed_body', body === null ? null : bodyText(body, dialect, addresses)) +
    `,"parsed_body_type":${quotedText(action.parsed_body_type)},"send_mode":${action.send_mode}`;
  return `{${members.slice(1)}}`;
}

type FieldValue = OrderBody['parsed_body'][keyof OrderBody['parsed_body']] | SomeValue;
type SomeValue = Address | readonly Address[] | Uint8Array | StonfiSwapBody | bigint | number | string | boolean | null;

/** Integers of 64 bits that are written as numbers; all others are texts. */
const NUMBERS: ReadonlySet<string> = new Set(['query_id', 'master_msg_query_id']);

/** Amounts that are written in coins of 10^9 units. */
const COINS: ReadonlySet<string> = new Set(['min_amount']);

function bodyText(body: object, dialect: ProfileFormat, addresses: AddressCollector): string {
  let text = '';
  for (const [name, value] of Object.entries(body) as [string, FieldValue][]) {
    text += dialect.nullable(name, valueText(name, value, dialect, addresses));
  }
  return `{${text.slice(1)}}`;
}

function valueText(
  name: string,
  value: FieldValue,
  dialect: ProfileFormat,
  addresses: AddressCollector,
): string | null {
  if (value === null) return null;
  if (typeof value === 'bigint') {
    if (NUMBERS.has(name)) return String(value);
    return COINS.has(name) ? quotedText(coins(value)) : decimalText(value);
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Address) return addresses.add(value);
  if (value instanceof Uint8Array) return base64Text(value);
  if (isList(value)) return listText(value.map((address) => addresses.add(address)));
  return bodyText(value, dialect, addresses);
}

function isList(value: readonly Address[] | StonfiSwapBody): value is readonly Address[] {
  return Array.isArray(value);
}

/** As many digits behind the point as are needed, nine at most. */
function coins(units: bigint): string {
  const [whole, part] = [units / 1_000_000_000n, units % 1_000_000_000n];
  return part === 0n ? String(whole) : `${whole}.${String(part).padStart(9, '0').replace(/0+$/, '')}`;
}

function addresses(description: string) {
  return Type.Array(Type.String(), { description: `${description} Raw addresses.` });
}

const state = {
  last_transaction_lt: decimalField('Logical time of its last transaction.'),
  code_hash: nullableField(hash256Field('Of the code.')),
  data_hash: nullableField(hash256Field('Of the data.')),
};

const OrderActionJson = answerObject(
  'OrderAction',
  {
    destination: nullableField(addressField('Where the message goes; none of a change of the multisig itself.')),
    value: nullableField(decimalField('Nanotons that it brings.')),
    body_raw: nullableField(bocField('The body; of a change of the multisig itself the action.')),
    parsed: booleanField('It could be read.'),
    error: nullableField(textField('Why it could not.')),
    parsed_body: nullableField(
      Type.Object({}, { additionalProperties: true, description: 'The body by its fields, as of `parsed_body_type`.' }),
    ),
    parsed_body_type: textField('What the body is.', { enum: PARSED_BODY_TYPES }),
    send_mode: integerField('Mode of sending.'),
  },
  'What a multisig does when enough have agreed.',
);

export const MultisigOrderJson = answerObject(
  'MultisigOrder',
  {
    address: addressField('The order.'),
    multisig_address: addressField('The multisig.'),
    order_seqno: decimalField('Its number.'),
    threshold: nullableField(integerField('How many have to agree.')),
    sent_for_execution: nullableField(booleanField('Enough have agreed.')),
    approvals_mask: nullableField(decimalField('Who has: bit i for the signer with index i.')),
    approvals_num: nullableField(integerField('How many have.')),
    expiration_date: nullableField(integerField('Until when they may, in unix seconds.')),
    order_boc: nullableField(bocField('The actions.')),
    signers: nullableField(addresses('Who may agree.')),
    ...state,
    actions: nullableField(
      Type.Array(OrderActionJson, {
        description: 'The actions, with `parse_actions`; not there when there are none or they cannot be read.',
      }),
    ),
  },
  'An order of a multisig. What the multisig has not told it yet has no value.',
);

export const MultisigJson = answerObject(
  'Multisig',
  {
    address: addressField('The multisig.'),
    next_order_seqno: decimalField('Number of the next order; -1 where orders may have any.'),
    threshold: integerField('How many of the signers have to agree.'),
    signers: addresses('Who agrees to orders.'),
    proposers: addresses('Who may propose orders besides.'),
    ...state,
    orders: nullableField(
      Type.Array(MultisigOrderJson, {
        description: 'Its orders, the oldest first; empty with `include_orders=false`.',
      }),
    ),
  },
  'A multisig of version 2.',
);

export const MultisigResponse = answerObject('MultisigResponse', {
  multisigs: Type.Array(MultisigJson),
  address_book: AddressBookJson,
});

export const MultisigOrderResponse = answerObject('MultisigOrderResponse', {
  orders: Type.Array(MultisigOrderJson),
  address_book: AddressBookJson,
});

/** What an answer about multisigs is written with. The answer names all addresses of multisigs and orders. */
export interface MultisigPage {
  readonly dialect: ProfileFormat;
  readonly addresses: AddressCollector;
  /** With the actions of orders. */
  readonly actions: boolean;
}

/** A multisig as `/multisig/wallets` shows it. @param orders null: they were not asked for */
export function multisigText(
  multisig: IndexedMultisig,
  orders: readonly IndexedMultisigOrder[] | null,
  page: MultisigPage,
): string {
  const { dialect, addresses } = page;
  const listed = orders?.map((order) => multisigOrderText(order, page)) ?? [];
  const ordersText = orders !== null && listed.length === 0 ? dialect.noItems : listText(listed);
  return (
    `{"address":${addresses.add(multisig.address)},"next_order_seqno":${decimalText(multisig.next_order_seqno)}` +
    `,"threshold":${multisig.threshold},"signers":${listOf(multisig.signers, addresses)}` +
    `,"proposers":${listOf(multisig.proposers, addresses)}${stateText(multisig, dialect)},"orders":${ordersText}}`
  );
}

/** An order as `/multisig/orders` shows it. */
export function multisigOrderText(order: IndexedMultisigOrder, { dialect, addresses, actions }: MultisigPage): string {
  const { nullable } = dialect;
  const { signers, order_boc: boc, approvals_mask: mask } = order;
  return (
    `{"address":${addresses.add(order.address)},"multisig_address":${addresses.add(order.multisig)}` +
    `,"order_seqno":${decimalText(order.order_seqno)}` +
    nullable('threshold', maybeInteger(order.threshold)) +
    nullable('sent_for_execution', order.sent_for_execution === null ? null : String(order.sent_for_execution)) +
    nullable('approvals_mask', mask === null ? null : decimalText(mask)) +
    nullable('approvals_num', maybeInteger(order.approvals_num)) +
    nullable('expiration_date', maybeInteger(order.expiration_date)) +
    nullable('order_boc', boc === null ? null : base64Text(boc)) +
    nullable('signers', signers === null ? null : listOf(signers, addresses)) +
    stateText(order, dialect) +
    `${nullable('actions', actions && boc !== null ? actionsText(boc, dialect, addresses) : null)}}`
  );
}

/** Null: they cannot be read. */
function actionsText(boc: Uint8Array, dialect: ProfileFormat, addresses: AddressCollector): string | null {
  const actions = actionsOf(boc);
  return actions === null ? null : listText(actions.map((action) => orderActionText(action, dialect, addresses)));
}

function actionsOf(boc: Uint8Array) {
  try {
    return orderActions(parseBocRoot(boc));
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function stateText(
  { last_trans_lt, code_hash, data_hash }: IndexedMultisig | IndexedMultisigOrder,
  { nullable }: ProfileFormat,
): string {
  return (
    `,"last_transaction_lt":${decimalText(last_trans_lt)}` +
    nullable('code_hash', code_hash === null ? null : hashText(code_hash)) +
    nullable('data_hash', data_hash === null ? null : hashText(data_hash))
  );
}

function listOf(list: readonly Address[], addresses: AddressCollector): string {
  return listText(list.map((address) => addresses.add(address)));
}

function maybeInteger(value: bigint | null): string | null {
  return value === null ? null : String(value);
}

const TAG = 'Multisig';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** As the published document says; the live service takes no more than {@link MAX_PAGE_ROWS}, as everywhere. */
const MOST_ROWS = 1_024;

/** Most orders that come with the multisigs of one answer. */
const MOST_ORDERS = 5_000;

const page = {
  ...pageFields,
  limit: limitParameter({ most: MOST_ROWS }),
  sort: sortParameter('In the order in which the index found them.'),
};

function requireLimit(limit: number | undefined, { profile }: V3Context): void {
  if (profile !== 'toncenter' || limit === undefined || limit <= MAX_PAGE_ROWS) return;
  throw httpErrors['bad-parameter']({
    parameter: 'limit',
    problem: `it is ${limit}, and at most ${MAX_PAGE_ROWS} is allowed`,
  });
}

function multisigPage({ profile }: V3Context, actions: boolean): MultisigPage {
  return { dialect: profileFormat(profile), addresses: new AddressCollector(), actions };
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
      address: Type.Optional(accountListParameter('Only these multisigs')),
      wallet_address: Type.Optional(
        accountListParameter('Only multisigs of which one of these is a signer or a proposer'),
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
      address: Type.Optional(accountListParameter('Only these orders')),
      multisig_address: Type.Optional(accountListParameter('Only orders of these multisigs')),
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
