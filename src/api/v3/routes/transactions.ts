import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import { opcodeIn } from '#api/v3/parameter-forms.js';
import {
  addressListParameter,
  addressParameter,
  blockSeqno,
  direction,
  hashListParameter,
  hashParameter,
  ltParameter,
  MAX_LIMIT,
  mcSeqno,
  opcode,
  pageFields,
  seqnoParameter,
  shard,
  sortParameter,
  timeParameters,
  workchain,
} from '#api/v3/parameters.js';
import { checkRound } from '#api/v3/routes/check-round.js';
import { TransactionsResponse } from '#api/v3/schemas/transactions.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';
import { serializeTransaction } from '#api/v3/serialize/transaction.js';
import type { IndexedTransaction } from '#drivers/store/read/index-reads.js';

const TAG = 'Blockchain Data';
const GET = ['GET'] as const;
const STATUSES = [404, 422, 504];

async function transactionsJson(transactions: readonly IndexedTransaction[], context: V3Context) {
  const dialect = dialectOf(context.profile);
  const addresses = new AddressCollector();
  const texts = transactions.map((transaction) => serializeTransaction(transaction, dialect, addresses).json);
  const last = await pageAddressesText(addresses, context, { metadata: false });
  return jsonText(`{"transactions":${listText(texts)},${last}}`);
}

const transactions = v3Endpoint({
  name: 'transactions',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions',
  description:
    'Transactions that meet all conditions given, by logical time; by unix time where one is a bound. The block that they ' +
    'are in is named by `workchain`, `shard` and `seqno`, the one that commits that by `mc_seqno`.',
  params: Type.Object(
    {
      workchain,
      shard,
      seqno: blockSeqno,
      mc_seqno: mcSeqno,
      account: Type.Optional(addressListParameter('Only of these accounts')),
      exclude_account: Type.Optional(addressListParameter('Not of these accounts')),
      hash: Type.Optional(hashListParameter('Only those with one of these hashes')),
      lt: ltParameter('Only those with this logical time.'),
      ...timeParameters('now', 'lt'),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async (params, context) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, ...filter } = params;
    const listed = await context.network.index.transactions(filter, pageOf(params, context), context.query);
    if (listed.rows.length === 0 && filter.mc_seqno !== undefined) await checkRound(filter.mc_seqno, context);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

const transactionsByMasterchainBlock = v3Endpoint({
  name: 'transactionsByMasterchainBlock',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions that a masterchain block commits',
  description: 'Transactions of the masterchain block and of all blocks of shards that it is the first to commit.',
  params: Type.Object(
    {
      seqno: seqnoParameter('Number of the masterchain block; one that is not indexed is an error (404).'),
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ seqno, ...page }, context) => {
    const { index } = context.network;
    const listed = await index.transactions({ mc_seqno: seqno }, pageOf(page, context), context.query);
    if (listed.rows.length === 0) await checkRound(seqno, context);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

const transactionsByMessage = v3Endpoint({
  name: 'transactionsByMessage',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions by a message',
  description:
    'Transactions that sent or received a message which meets all conditions given, each once. One of `msg_hash`, ' +
    '`body_hash` and `opcode` must be there.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(hashListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      body_hash: Type.Optional(hashParameter('Hash of the body')),
      opcode,
      source: Type.Optional(addressParameter('Sender of the message')),
      destination: Type.Optional(addressParameter('Receiver of the message')),
      direction,
      ...pageFields,
      sort: sortParameter('By logical time.'),
    },
    { additionalProperties: false },
  ),
  check: (params) => {
    checkPage(params);
    const { msg_hash, body_hash, opcode: asked } = params;
    if (msg_hash !== undefined || body_hash !== undefined || asked !== undefined) return;
    throw v3Errors.parameters({ problem: 'at least one of msg_hash, body_hash, opcode should be specified' });
  },
  result: TransactionsResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async (params, context) => {
    const { msg_hash, body_hash, source, destination, direction: side } = params;
    const asked = opcodeIn(context.profile, params.opcode);
    const filter = { msg_hash, body_hash, opcode: asked, source, destination, direction: side };
    const { index } = context.network;
    const listed = await index.transactionsByMessage(filter, pageOf(params, context), context.query);
    return transactionsJson(rowsOf(listed, context), context);
  },
});

/** They are few: a transaction sends at most 255 messages. */
const adjacentPage = {
  limit: Type.Optional(
    Type.Integer({
      description: `At most this many rows, 1 to ${MAX_LIMIT}. Default: all.`,
      format: 'int32',
      minimum: 1,
      maximum: MAX_LIMIT,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      description: 'Rows to leave out first.',
      format: 'int32',
      default: 0,
      minimum: 0,
      maximum: MAX_LIMIT,
    }),
  ),
};

const adjacentTransactions = v3Endpoint({
  name: 'adjacentTransactions',
  verbs: GET,
  tag: TAG,
  summary: 'Transactions before and after a transaction',
  description:
    'Transactions that share a message with one: what sent its incoming message, and what received its outgoing ones. None ' +
    'is an error (404).',
  params: Type.Object(
    {
      hash: hashParameter('Hash of the transaction'),
      direction: Type.Optional(
        Type.Union([Type.Literal('in'), Type.Literal('out'), Type.Literal('both')], {
          description: '`in`: the one before; `out`: those after. Default: both.',
        }),
      ),
      ...adjacentPage,
      sort: sortParameter('By logical time.', 'asc'),
    },
    { additionalProperties: false },
  ),
  result: TransactionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ hash, direction: side, limit = MAX_LIMIT, offset: skipped = 0, sort = 'asc' }, context) => {
    const way = side === 'both' ? undefined : side;
    const found = await context.network.index.adjacentTransactions(hash, way, context.query);
    if (found === null || found.length === 0) throw v3Errors['adjacent-not-found']({});
    const sorted = sort === 'asc' ? found : found.toReversed();
    return transactionsJson(sorted.slice(skipped, skipped + limit), context);
  },
});

/** Methods about transactions, in the order of the document. */
export const transactionEndpoints: readonly AnyEndpoint<V3Context>[] = [
  transactions,
  transactionsByMasterchainBlock,
  transactionsByMessage,
  adjacentTransactions,
];
