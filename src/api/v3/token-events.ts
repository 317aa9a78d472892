import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { contractDependencies, traceDependency } from '#api/v3/answer-keys.js';
import {
  type AnswerValue,
  address,
  answerType,
  answerValue,
  anyObject,
  boc,
  decimal,
  flag,
  hash,
  integer,
  nullable,
  required,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, type ListAnswer, listAnswer, pageOf } from '#api/v3/page.js';
import {
  invalidParameter,
  pageFields,
  quotedInput,
  sortParameter,
  timeParameters,
  v3AccountListParameter,
  v3AccountParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import type { IndexedTokenEvent, ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { accountOf, type MsgAddress } from '#formats/tlb/msg-address.js';

type JettonTransferEvent = IndexedTokenEvent<'jetton_transfer'>;
type JettonBurnEvent = IndexedTokenEvent<'jetton_burn'>;
type NftTransferEvent = IndexedTokenEvent<'nft_transfer'>;

/** An address in a message body, boxed: `addr_none` is a value, too. One that is no account is written as the name of its constructor. */
function bodyAddress(description: string): AnswerValue<{ readonly of: MsgAddress }> {
  return answerValue(address(description).schema, ({ of: value }, { addresses }) => {
    const account = accountOf(value);
    if (account !== null) return addresses.add(account);
    return value === null ? '"addr_none"' : `"${(value as { readonly kind: string }).kind}"`;
  });
}

/** The transaction in which a wallet or an item received the message. */
const transaction = {
  transaction_hash: required(hash('Hash of the transaction.'), 'hash'),
  transaction_lt: required(decimal('Its logical time.'), 'lt'),
  transaction_now: required(integer('Its time: unix time in seconds.'), 'now'),
  transaction_aborted: required(flag('The contract failed, and nothing was transferred.'), 'aborted'),
};

const responseDestination = nullable(
  bodyAddress('Receiver of the remaining coins; `addr_none` if the message names none.'),
  ({ body }: IndexedTokenEvent) => ({ of: body.response_destination }),
);

const decodedPayload = anyObject(
  'The payload by its layout, whose name is in `@type`. Without a value if the layout is unknown.',
);

function decoded(payload: Cell | null): object | null {
  return payload === null ? null : decodeMessageBody(payload).decoded;
}

const custom = {
  custom_payload: nullable(
    boc('Payload for the contract itself.'),
    ({ body }: IndexedTokenEvent) => body.custom_payload,
  ),
  decoded_custom_payload: nullable(decodedPayload, ({ body }: IndexedTokenEvent) => decoded(body.custom_payload)),
};

const forward = {
  forward_payload: nullable(
    boc('Payload for the new owner, stored in the message or in a cell of its own; without a value if it is empty.'),
    ({ body }: JettonTransferEvent | NftTransferEvent) => body.forward_payload,
  ),
  decoded_forward_payload: nullable(decodedPayload, ({ body }: JettonTransferEvent | NftTransferEvent) =>
    decoded(body.forward_payload),
  ),
};

const queryId = required(decimal('Query id, chosen by the sender.'), ({ body }: IndexedTokenEvent) => body.query_id);
const traceId = nullable(hash('Hash of the first transaction of its trace.'));

const JettonTransfer = answerType(
  'JettonTransfer',
  {
    query_id: queryId,
    source: address('Owner of the jettons, who sent the message.'),
    destination: required(bodyAddress('New owner.'), ({ body }: JettonTransferEvent) => ({ of: body.destination })),
    amount: required(decimal('In units of the jetton.'), ({ body }: JettonTransferEvent) => body.amount),
    source_wallet: required(address('Jetton wallet of the source.'), 'account'),
    jetton_master: required(address('Jetton master.'), ({ token }: JettonTransferEvent) => token as Address),
    ...transaction,
    response_destination: responseDestination,
    ...custom,
    forward_ton_amount: nullable(
      decimal('Nanotons that the new owner receives with the notification.'),
      ({ body }: JettonTransferEvent) => body.forward_ton_amount,
    ),
    ...forward,
    trace_id: traceId,
  },
  'A transfer of jettons.',
);

const JettonBurn = answerType(
  'JettonBurn',
  {
    query_id: queryId,
    owner: required(address('Owner of the jettons, who sent the message.'), 'source'),
    jetton_wallet: required(address('Jetton wallet of the owner.'), 'account'),
    jetton_master: required(address('Jetton master.'), ({ token }: JettonBurnEvent) => token as Address),
    ...transaction,
    amount: required(decimal('In units of the jetton.'), ({ body }: JettonBurnEvent) => body.amount),
    response_destination: responseDestination,
    ...custom,
    trace_id: traceId,
  },
  'A burn of jettons.',
);

const NFTTransfer = answerType(
  'NFTTransfer',
  {
    query_id: queryId,
    nft_address: required(address('The item.'), 'account'),
    nft_collection: nullable(address('Its collection, if it has one.'), 'token'),
    ...transaction,
    old_owner: required(address('Previous owner, who sent the message.'), 'source'),
    new_owner: required(bodyAddress('New owner.'), ({ body }: NftTransferEvent) => ({ of: body.new_owner })),
    response_destination: responseDestination,
    ...custom,
    forward_amount: nullable(
      decimal('Nanotons that the new owner receives with the notification.'),
      ({ body }: NftTransferEvent) => body.forward_amount,
    ),
    ...forward,
    trace_id: traceId,
  },
  'A transfer of an NFT.',
);

const JettonTransfers = listAnswer('JettonTransfersResponse', 'jetton_transfers', JettonTransfer, { metadata: true });
const JettonBurns = listAnswer('JettonBurnsResponse', 'jetton_burns', JettonBurn, { metadata: true });
const NftTransfers = listAnswer('NFTTransfersResponse', 'nft_transfers', NFTTransfer, { metadata: true });

/** Direction of a transfer as seen by the owner; `both` is the same as nothing, as in the live service. */
const directionParameter = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        '`in`: transfers to the owner; `out`: transfers from the owner. Default: both. Without an owner it has no effect.',
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

/** The owner, by both names that clients use. @param what `jettons` */
function ownerParameters(what: string) {
  return {
    owner_address: Type.Optional(v3AccountListParameter(`Owner of the ${what}`)),
    address: Type.Optional(v3AccountListParameter('Alias of `owner_address`')),
  };
}

/** Bounds, page and order of a list of events. */
const listParameters = {
  ...timeParameters('the transaction’s time', 'the transaction’s lt'),
  ...pageFields,
  sort: sortParameter('By the transaction’s lt, or by its unix time if the request bounds that.'),
};

interface OwnerParameters {
  readonly owner_address?: readonly Address[] | undefined;
  readonly address?: readonly Address[] | undefined;
}

/** @throws v3/parameters */
function checkEventParameters(params: Parameters<typeof checkPage>[0] & OwnerParameters): void {
  checkPage(params);
  if (params.owner_address === undefined || params.address === undefined) return;
  throw v3Errors.parameters({ problem: 'owner_address and address mean the same; give one of them' });
}

/** What a list of events depends on. */
function eventDependencies(
  contracts: readonly Address[] | undefined,
  { address, owner_address = address }: OwnerParameters,
  token: Address | undefined,
): readonly string[] | null {
  return contractDependencies(contracts, owner_address, token === undefined ? undefined : [token]);
}

/** Reads and writes a page of events. */
async function answerEvents<Kind extends ListedTokenKind>(
  kind: Kind,
  filter: TokenEventFilter,
  params: Parameters<typeof pageOf>[0],
  context: V3Context,
  answer: ListAnswer<IndexedTokenEvent<Kind>>,
) {
  const listed = await context.network.index.tokenEvents(kind, filter, pageOf(params, context), context.query);
  for (const { trace_id, trace_root } of listed.rows) {
    if (trace_id === null) context.dependsOn(traceDependency(trace_root));
  }
  return answer.write(listed, context);
}

/** The bounds among the parameters of a list. */
function boundsOf({ start_utime, end_utime, start_lt, end_lt }: TokenEventFilter): TokenEventFilter {
  return { start_utime, end_utime, start_lt, end_lt };
}

const jettonParameters = {
  jetton_wallet: Type.Optional(v3AccountListParameter('Jetton wallet that received the message: the owner’s')),
  jetton_master: Type.Optional(v3AccountParameter('Jetton master')),
};

/** Events are confirmed by the newest states of wallets and items. */
const EVENT_COVERAGE = { needs: ['history', 'state'] } as const;

const jettonTransfers = v3Endpoint({
  name: 'jetton/transfers',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Transfers of jettons',
  description:
    'Transfer messages (TEP-74) to jetton wallets that their masters confirm, which match all given conditions. Failed ones are ' +
    'left out.',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, direction: directionParameter, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonTransfers.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.tokenEvent),
  coverage: EVENT_COVERAGE,
  freshness: 'head',
  depends: ({ jetton_wallet, jetton_master, ...owned }) => eventDependencies(jetton_wallet, owned, jetton_master),
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction, jetton_wallet: account, jetton_master: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    return answerEvents('jetton_transfer', filter, params, context, JettonTransfers);
  },
});

const jettonBurns = v3Endpoint({
  name: 'jetton/burns',
  verbs: ['GET'],
  tag: 'Jettons',
  summary: 'Burns of jettons',
  description:
    'Burn messages (TEP-74) to jetton wallets that their masters confirm, which match all given conditions. Failed ones are ' +
    'included (`transaction_aborted`).',
  params: Type.Object(
    { ...ownerParameters('jettons'), ...jettonParameters, ...listParameters },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: JettonBurns.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.tokenEvent),
  coverage: EVENT_COVERAGE,
  freshness: 'head',
  depends: ({ jetton_wallet, jetton_master, ...owned }) => eventDependencies(jetton_wallet, owned, jetton_master),
  handle: (params, context) => {
    const { address, owner_address: owner = address, jetton_wallet: account, jetton_master: token } = params;
    return answerEvents('jetton_burn', { ...boundsOf(params), owner, account, token }, params, context, JettonBurns);
  },
});

const nftTransfers = v3Endpoint({
  name: 'nft/transfers',
  verbs: ['GET'],
  tag: 'NFTs',
  summary: 'Transfers of NFTs',
  description:
    'Transfer messages (TEP-62) to items that their collections confirm or that have no collection, which match all given ' +
    'conditions. Failed ones are included (`transaction_aborted`).',
  params: Type.Object(
    {
      ...ownerParameters('item'),
      item_address: Type.Optional(v3AccountListParameter('The item')),
      collection_address: Type.Optional(v3AccountParameter('Collection of the item')),
      direction: directionParameter,
      ...listParameters,
    },
    { additionalProperties: false },
  ),
  check: checkEventParameters,
  result: NftTransfers.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.tokenEvent),
  coverage: EVENT_COVERAGE,
  freshness: 'head',
  depends: ({ item_address, collection_address, ...owned }) =>
    eventDependencies(item_address, owned, collection_address),
  handle: (params, context) => {
    const { address, owner_address: owner = address, direction } = params;
    const { item_address: account, collection_address: token } = params;
    const filter = { ...boundsOf(params), owner, direction, account, token };
    return answerEvents('nft_transfer', filter, params, context, NftTransfers);
  },
});

export const jettonEventEndpoints: readonly AnyEndpoint<V3Context>[] = [jettonTransfers, jettonBurns];
export const nftEventEndpoints: readonly AnyEndpoint<V3Context>[] = [nftTransfers];
