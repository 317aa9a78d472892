import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { MessageSearch } from '#api/v2/message-search.js';
import { addressParameter, int64Parameter } from '#api/v2/parameters.js';
import { Transaction } from '#api/v2/schemas/transactions.js';
import { extTransaction } from '#api/v2/serialize/transaction.js';

const messageParams = Type.Object(
  {
    source: addressParameter('Account that sent the message, in raw or user-friendly form.'),
    destination: addressParameter('Account that the message goes to, in raw or user-friendly form.'),
    created_lt: int64Parameter('Logical time of the message: its `created_lt`.', 0n),
  },
  { additionalProperties: false },
);

const shared = {
  verbs: ['GET', 'POST'],
  tag: 'Transactions',
  params: messageParams,
  result: Transaction,
  statuses: [404, 422, 504],
  errorStatuses: { [v2Errors['transaction-not-located'].code]: 404 },
  freshness: 'forever',
} as const;

/** @param end which of the two transactions of a message */
async function locate(end: 'source' | 'result', params: StaticDecode<typeof messageParams>, context: V2Context) {
  const source = params.source.address;
  const destination = params.destination.address;
  const { created_lt } = params;
  const search = new MessageSearch(context.network.chain, context.read);
  const found = await search[end]({ source, destination, created_lt });
  if (found !== null) return extTransaction(found);
  throw v2Errors['transaction-not-located']({
    source: source.toRaw(),
    destination: destination.toRaw(),
    created_lt,
  });
}

const resultDescription =
  'The transaction of the receiver that took a message in. A message is followed over blocks, and over splits and merges ' +
  'of shards, until it is found; 404 when nobody sent it, or when it has not arrived yet.';

const tryLocateTx = v2Endpoint({
  ...shared,
  name: 'tryLocateTx',
  summary: 'Find the transaction that received a message',
  description: `${resultDescription} The same as \`tryLocateResultTx\`.`,
  handle: (params, context) => locate('result', params, context),
});

const tryLocateResultTx = v2Endpoint({
  ...shared,
  name: 'tryLocateResultTx',
  summary: 'Find the transaction that received a message',
  description: resultDescription,
  handle: (params, context) => locate('result', params, context),
});

const tryLocateSourceTx = v2Endpoint({
  ...shared,
  name: 'tryLocateSourceTx',
  summary: 'Find the transaction that sent a message',
  description: 'The transaction of the sender that made a message; 404 when there is none.',
  handle: (params, context) => locate('source', params, context),
});

/** Transactions by their messages, in the order of the published document. */
export const locateEndpoints: readonly AnyEndpoint<V2Context>[] = [tryLocateTx, tryLocateResultTx, tryLocateSourceTx];
