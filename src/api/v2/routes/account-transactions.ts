import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import {
  address,
  archival,
  DEFAULT_LIMIT,
  limit,
  optionalHashParameter,
  optionalInt64Parameter,
  toLt,
} from '#api/v2/parameters.js';
import { Transactions, TransactionsStd } from '#api/v2/schemas/transactions.js';
import { transactionId } from '#api/v2/serialize/ton-objects.js';
import { extTransaction, rawTransaction } from '#api/v2/serialize/transaction.js';
import type { Address } from '#formats/address/address.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import { bytesEqual, toBase64 } from '#kernel/bytes/bytes.js';
import type { HistoryRead } from '#services/chain/account-transactions.js';
import { isServersFailure } from '#services/chain/call.js';

const READ = ['GET', 'POST'] as const;
const TAG = 'Transactions';

const historyParams = Type.Object(
  {
    address,
    limit,
    lt: optionalInt64Parameter(
      'Begin with the transaction that has this lt, itself included. Goes with `hash`. Default: the last one.',
      0n,
    ),
    hash: optionalHashParameter('Hash of the transaction to begin with: `transaction_id.hash` of an earlier answer.'),
    to_lt: toLt,
    archival,
  },
  { additionalProperties: false },
);
type HistoryParams = StaticDecode<typeof historyParams>;

function checkCursor({ lt, hash }: HistoryParams): void {
  if ((lt === undefined) === (hash === undefined)) return;
  const parameter = lt === undefined ? 'lt' : 'hash';
  throw httpErrors['bad-parameter']({ parameter, problem: 'lt and hash should be used together' });
}

type History = Pick<HistoryRead, 'transactions' | 'next'>;

/** Transactions of an account. From lt 0 on, the name of no transaction, there are none. */
async function history(params: HistoryParams, context: V2Context): Promise<History> {
  const { chain } = context.network;
  const { address: account } = params.address;
  const from = cursor(params);
  if (from?.lt === 0n) return { transactions: [], next: null };
  const options = {
    ...context.read,
    limit: params.limit ?? DEFAULT_LIMIT,
    ...(params.to_lt === undefined ? {} : { to_lt: params.to_lt }),
  };
  if (from === null) {
    const read = await chain.accountTransactions(account, options);
    if (read.transactions.length === 0) await requireWorkchain(account, context);
    return read;
  }
  try {
    return await chain.accountTransactions(account, { ...options, from });
  } catch (error) {
    if (isServersFailure(error)) await checkRef(account, from, context);
    throw error;
  }
}

function cursor({ lt, hash }: HistoryParams): TransactionRef | null {
  return lt === undefined || hash === undefined ? null : { lt, hash };
}

/** Servers do not prove that there is no such transaction; the block where it would be does. */
async function checkRef(account: Address, { lt, hash }: TransactionRef, context: V2Context): Promise<void> {
  const { cell } = await context.network.chain.transaction(account, lt, context.read);
  const found = cell.hash();
  if (bytesEqual(found, hash)) return;
  throw v2Errors['cursor-hash']({ lt, expected: toBase64(hash), found: toBase64(found) });
}

/** @throws v2/no-workchain for an account that cannot be there */
async function requireWorkchain(account: Address, { network, read }: V2Context): Promise<void> {
  const { workchain } = account;
  if (workchain === 0 || workchain === -1) return;
  const { shard_block } = await network.chain.account(account, { ...read, pruned: true });
  if (shard_block === null) throw v2Errors['no-workchain']({ address: account.toRaw(), workchain });
}

const historyDescription =
  'Transactions of an account from newer to older, each proven by the one after it. Without `lt` and `hash` it begins ' +
  'with the last one. They end with the first one, or with the one in which the account last came to be: nothing in ' +
  'the chain leads from there to what was before.';

const getTransactions = v2Endpoint({
  name: 'getTransactions',
  verbs: READ,
  tag: TAG,
  summary: 'Transactions of an account',
  description: `${historyDescription} For the next page take \`lt\` and \`hash\` of the last one: it is listed again.`,
  params: historyParams,
  // As the name of no transaction, lt 0 is the same as none.
  check: ({ lt, ...rest }) => checkCursor({ ...rest, ...(lt === 0n && rest.hash === undefined ? {} : { lt }) }),
  result: Transactions,
  statuses: [404, 422, 504],
  freshness: ({ hash }) => (hash === undefined ? 'head' : 'forever'),
  handle: async (params, context) => {
    const { workchain } = params.address.address;
    const { transactions } = await history(params, context);
    return transactions.map(({ hash, cell, transaction }) => extTransaction({ workchain, hash, cell, transaction }));
  },
});

const getTransactionsStd = v2Endpoint({
  name: 'getTransactionsStd',
  verbs: READ,
  tag: TAG,
  schemaName: 'TransactionsV2',
  summary: 'Transactions of an account, as tonlib shows them',
  description: `${historyDescription} For the next page take \`previous_transaction_id\`; at the end its \`lt\` is 0.`,
  params: historyParams,
  check: checkCursor,
  result: TransactionsStd,
  statuses: [404, 422, 504],
  freshness: ({ hash }) => (hash === undefined ? 'head' : 'forever'),
  handle: async (params, context): Promise<TransactionsStd> => {
    const { workchain } = params.address.address;
    const { transactions, next } = await history(params, context);
    return {
      '@type': 'raw.transactions',
      transactions: transactions.map(({ hash, cell, transaction }) =>
        rawTransaction({ workchain, hash, cell, transaction }),
      ),
      previous_transaction_id: transactionId(next),
    };
  },
});

/** Transactions of accounts, in the order of the published document. */
export const accountTransactionEndpoints: readonly AnyEndpoint<V2Context>[] = [getTransactions, getTransactionsStd];
