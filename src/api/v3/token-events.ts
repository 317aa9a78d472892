import { type TSchema, Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { AddressBookJson, MetadataJson } from '#api/v3/address-book.js';
import {
  addressField,
  answerObject,
  bocField,
  bocText,
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
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { AddressCollector, checkPage, pageAddressesText, pageOf, rowsOf } from '#api/v3/page.js';
import {
  accountListParameter,
  accountParameter,
  invalidParameter,
  pageFields,
  quotedInput,
  sortParameter,
  timeParameters,
} from '#api/v3/parameters.js';
import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import type { IndexedTokenEvent, ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import type { Address } from '#formats/address/address.js';
import { accountOf, type MsgAddress } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Of the transaction in which a wallet or an item received the message. */
const transaction = {
  transaction_hash: hash256Field('Hash of the transaction.'),
  transaction_lt: decimalField('Its logical time.'),
  transaction_now: integerField('When it happened: unix time in seconds.'),
  transaction_aborted: booleanField('The contract failed, and nothing moved.'),
};

const response_destination = nullableField(
  addressField('Who is to get the coins that are left; `addr_none` where the message names nobody.'),
);

const decoded = (of: string) =>
  nullableField(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: `${of} by its layout, with the name of it in \`@type\`. Not there when the layout is not known.`,
      },
    ),
  );

const custom = {
  custom_payload: nullableField(bocField('What the contract itself is told.')),
  decoded_custom_payload: decoded('That'),
};

const forward = {
  forward_payload: nullableField(
    bocField(
      'What the new owner is told, whether it stands in the message or in a cell of its own; not there when it is empty.',
    ),
  ),
  decoded_forward_payload: decoded('That'),
};

const trace_id = nullableField(hash256Field('Hash of the first transaction of its trace.'));

const JettonTransfer = answerObject(
  'JettonTransfer',
  {
    query_id: decimalField('Number that its sender chose.'),
    source: addressField('Owner of the jettons, who sent the message.'),
    destination: addressField('New owner.'),
    amount: decimalField('In the smallest units of the jetton.'),
    source_wallet: addressField('Jetton wallet of the source.'),
    jetton_master: addressField('Jetton master.'),
    ...transaction,
    response_destination,
    ...custom,
    forward_ton_amount: nullableField(decimalField('Nanotons that the new owner gets with the notification.')),
    ...forward,
    trace_id,
  },
  'Jettons that their owner sent to somebody.',
);

const JettonBurn = answerObject(
  'JettonBurn',
  {
    query_id: decimalField('Number that its sender chose.'),
    owner: addressField('Owner of the jettons, who sent the message.'),
    jetton_wallet: addressField('Jetton wallet of the owner.'),
    jetton_master: addressField('Jetton master.'),
    ...transaction,
    amount: decimalField('In the smallest units of the jetton.'),
    response_destination,
    ...custom,
    trace_id,
  },
  'Jettons that their owner gave up.',
);

const NFTTransfer = answerObject(
  'NFTTransfer',
  {
    query_id: decimalField('Number that its sender chose.'),
    nft_address: addressField('The item.'),
    nft_collection: nullableField(addressField('Its collection; there are items without one.')),
    ...transaction,
    old_owner: addressField('Owner before, who sent the message.'),
    new_owner: addressField('Owner after it.'),
    response_destination,
    ...custom,
    forward_amount: nullableField(decimalField('Nanotons that the new owner gets with the notification.')),
    ...forward,
    trace_id,
  },
  'An NFT that its owner gave to somebody.',
);

const response = ($id: string, member: string, row: TSchema) =>
  answerObject($id, { [member]: Type.Array(row), address_book: AddressBookJson, metadata: MetadataJson });

export const JettonTransfersResponse = response('JettonTransfersResponse', 'jetton_transfers', JettonTransfer);
export const JettonBurnsResponse = response('JettonBurnsResponse', 'jetton_burns', JettonBurn);
export const NFTTransfersResponse = response('NFTTransfersResponse', 'nft_transfers', NFTTransfer);

/** Writes an event of a kind as JSON; the accounts that it names are collected. */
export type TokenEventText<Kind extends ListedTokenKind> = (
  event: IndexedTokenEvent<Kind>,
  dialect: ProfileFormat,
  addresses: AddressCollector,
) => string;

/** `JettonTransfer` */
export const jettonTransferText: TokenEventText<'jetton_transfer'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimalText(body.query_id)},"source":${addresses.add(source)}` +
    `,"destination":${messageAddress(body.destination, addresses)},"amount":${decimalText(body.amount)}` +
    `,"source_wallet":${addresses.add(account)},"jetton_master":${addresses.add(token!)}` +
    transactionText(event) +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    dialect.nullable('forward_ton_amount', decimalText(body.forward_ton_amount)) +
    payloadText('forward_payload', body.forward_payload, dialect) +
    traceText(event, dialect)
  );
};

/** `JettonBurn` */
export const jettonBurnText: TokenEventText<'jetton_burn'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimalText(body.query_id)},"owner":${addresses.add(source)},"jetton_wallet":${addresses.add(account)}` +
    `,"jetton_master":${addresses.add(token!)}${transactionText(event)},"amount":${decimalText(body.amount)}` +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    traceText(event, dialect)
  );
};

/** `NFTTransfer` */
export const nftTransferText: TokenEventText<'nft_transfer'> = (event, dialect, addresses) => {
  const { body, source, account, token } = event;
  return (
    `{"query_id":${decimalText(body.query_id)},"nft_address":${addresses.add(account)}` +
    dialect.nullable('nft_collection', token === null ? null : addresses.add(token)) +
    `${transactionText(event)},"old_owner":${addresses.add(source)}` +
    `,"new_owner":${messageAddress(body.new_owner, addresses)}` +
    dialect.nullable('response_destination', messageAddress(body.response_destination, addresses)) +
    payloadText('custom_payload', body.custom_payload, dialect) +
    dialect.nullable('forward_amount', decimalText(body.forward_amount)) +
    payloadText('forward_payload', body.forward_payload, dialect) +
    traceText(event, dialect)
  );
};

function transactionText({ hash, lt, now, aborted }: IndexedTokenEvent): string {
  return (
    `,"transaction_hash":${hashText(hash)},"transaction_lt":${decimalText(lt)}` +
    `,"transaction_now":${now},"transaction_aborted":${aborted}`
  );
}

/** The last member, and the end of the object. */
function traceText({ trace_id }: IndexedTokenEvent, dialect: ProfileFormat): string {
  return `${dialect.nullable('trace_id', trace_id === null ? null : hashText(trace_id))}}`;
}

/** An address in a body: one that is no account is called by the name of its constructor. */
function messageAddress(address: MsgAddress, addresses: AddressCollector): string {
  const account = accountOf(address);
  if (account !== null) return addresses.add(account);
  return address === null ? '"addr_none"' : `"${(address as { readonly kind: string }).kind}"`;
}

function payloadText(name: string, cell: Cell | null, dialect: ProfileFormat): string {
  const decoded = cell === null ? null : decodeMessageBody(cell).decoded;
  return (
    dialect.nullable(name, cell === null ? null : bocText(cell)) +
    dialect.nullable(`decoded_${name}`, decoded === null ? null : JSON.stringify(decoded))
  );
}

/** Which way tokens go; as the live service, `both` says the same as nothing. */
export const directionParameter = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'With the owner: `in`: what the owner gets; `out`: what the owner gives away. Default: both. Without an owner it has ' +
        'no effect.',
      enum: ['in', 'out'],
    }),
  )
    .Decode((text): 'in' | 'out' | undefined => {
      if (text === 'in' || text === 'out') return text;
      if (text === 'both') return undefined;
      throw invalidParameter(`${quotedInput(text)} is neither in nor out`);
    })
    .Encode((value) => value ?? 'both'),
);

/** The owner, by both names that clients know. @param what `jettons` */
export function ownerParameters(what: string) {
  return {
    owner_address: Type.Optional(accountListParameter(`Owner of the ${what}`)),
    address: Type.Optional(accountListParameter('The same as `owner_address`')),
  };
}

/** Bounds, page and order of a list of events. */
export const listParameters = {
  ...timeParameters('the transaction’s time', 'the transaction’s lt'),
  ...pageFields,
  sort: sortParameter('By the transaction’s lt, or by its time where a bound of time is given.'),
};

interface OwnerParameters {
  readonly owner_address?: readonly Address[] | undefined;
  readonly address?: readonly Address[] | undefined;
}

/** @throws v3/parameters */
export function checkEventParameters(params: Parameters<typeof checkPage>[0] & OwnerParameters): void {
  checkPage(params);
  if (params.owner_address === undefined || params.address === undefined) return;
  throw v3Errors.parameters({ problem: 'owner_address and address mean the same; give one of them' });
}

/** Reads a page of events and writes it as `{"member":[…],"address_book":{…},"metadata":{…}}`. */
export async function answerEvents<Kind extends ListedTokenKind>(
  kind: Kind,
  filter: TokenEventFilter,
  params: Parameters<typeof pageOf>[0],
  context: V3Context,
  write: { readonly member: string; readonly text: TokenEventText<Kind> },
) {
  const listed = await context.network.index.tokenEvents(kind, filter, pageOf(params, context), context.query);
  const addresses = new AddressCollector();
  const dialect = profileFormat(context.profile);
  const rows = rowsOf(listed, context).map((event) => write.text(event, dialect, addresses));
  return jsonText(`{"${write.member}":${listText(rows)},${await pageAddressesText(addresses, context)}}`);
}

/** The bounds among the parameters of a list. */
export function boundsOf({ start_utime, end_utime, start_lt, end_lt }: TokenEventFilter): TokenEventFilter {
  return { start_utime, end_utime, start_lt, end_lt };
}

const jettonParameters = {
  jetton_wallet: Type.Optional(accountListParameter('Jetton wallet that received the message: that of the owner')),
  jetton_master: Type.Optional(accountParameter('Jetton master')),
};

const jettonTransfers = v3Endpoint({
  name: 'jetton/transfers',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Transfers of jettons',
  description:
    'Messages by which owners sent jettons from wallets that their masters confirm, where all conditions given hold. ' +
    'Those that failed are left out.',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, direction: directionParameter, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonTransfersResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction, jetton_wallet: account, jetton_master: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    const write = { member: 'jetton_transfers', text: jettonTransferText };
    return answerEvents('jetton_transfer', filter, params, context, write);
  },
});

const jettonBurns = v3Endpoint({
  name: 'jetton/burns',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Burns of jettons',
  description:
    'Messages by which owners gave up jettons of wallets that their masters confirm, where all conditions given hold. ' +
    'Those that failed say so.',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonBurnsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, jetton_wallet: account, jetton_master: token } = params;
    const write = { member: 'jetton_burns', text: jettonBurnText };
    return answerEvents('jetton_burn', { ...boundsOf(params), owner, account, token }, params, context, write);
  },
});

/** The methods about what happened to jettons. */
export const jettonEventEndpoints: readonly AnyEndpoint<V3Context>[] = [jettonTransfers, jettonBurns];

const nftTransfers = v3Endpoint({
  name: 'nft/transfers',
  verbs: ['GET'],
  tag: 'NFTs',
  summary: 'Transfers of NFTs',
  description:
    'Messages by which owners gave items to somebody, where all conditions given hold; of items that their collections ' +
    'confirm, and of those without a collection. Those that failed say so.',
  params: Type.Object(
    {
      ...ownerParameters('item'),
      item_address: Type.Optional(accountListParameter('The item')),
      collection_address: Type.Optional(accountParameter('Collection of the item')),
      direction: directionParameter,
      ...listParameters,
    },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: NFTTransfersResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction } = params;
    const { item_address: account, collection_address: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    return answerEvents('nft_transfer', filter, params, context, { member: 'nft_transfers', text: nftTransferText });
  },
});

/** The method about what happened to NFTs. */
export const nftEventEndpoints: readonly AnyEndpoint<V3Context>[] = [nftTransfers];
