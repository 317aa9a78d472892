import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import {
  address,
  afterHash,
  afterLt,
  archival,
  count,
  DEFAULT_COUNT,
  DEFAULT_LIMIT,
  limit,
  optionalHashParameter,
  optionalInt64Parameter,
  toLt,
} from '#api/v2/parameters.js';
import { blockAt, blockFields } from '#api/v2/routes/block-at.js';
import {
  BlockTransactions,
  BlockTransactionsExt,
  Transactions,
  TransactionsStd,
} from '#api/v2/schemas/transactions.js';
import { blockIdExt, transactionId } from '#api/v2/serialize/ton-objects.js';
import { extTransaction, rawTransaction, rawTransactionExt } from '#api/v2/serialize/transaction.js';
import type { Address } from '#formats/address/address.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { MAX_LISTED_TRANSACTIONS } from '#formats/proofs/block-transactions.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toBase64, toHex } from '#kernel/bytes/bytes.js';
import type { HistoryRead } from '#services/chain/account-transactions.js';
import type { StretchOptions, StretchRead, TransactionId } from '#services/chain/block-transactions.js';
import { isServersFailure } from '#services/chain/call.js';

const READ = ['GET', 'POST'] as const;
const TAG = 'Transactions';

const blockTransactionsParams = Type.Object(
  { ...blockFields, after_lt: afterLt, after_hash: afterHash, count },
  { additionalProperties: false },
);
type BlockTransactionsParams = StaticDecode<typeof blockTransactionsParams>;

function checkAfter({ after_lt, after_hash }: BlockTransactionsParams): void {
  if ((after_lt === undefined) === (after_hash === undefined)) return;
  const parameter = after_lt === undefined ? 'after_lt' : 'after_hash';
  throw httpErrors['bad-parameter']({ parameter, problem: 'after_lt and after_hash should be used together' });
}

interface BlockStretch<Item> {
  readonly block: BlockId;
  readonly transactions: readonly Item[];
  readonly incomplete: boolean;
}

/** As many transactions of a block as are asked for, with as many questions as it takes. */
async function blockStretch<Item extends TransactionId>(
  params: BlockTransactionsParams,
  context: V2Context,
  read: (options: StretchOptions) => Promise<StretchRead<Item, unknown>>,
): Promise<BlockStretch<Item>> {
  const { after_lt, after_hash, count: wanted = DEFAULT_COUNT } = params;
  let after = after_lt === undefined || after_hash === undefined ? undefined : { account: after_hash, lt: after_lt };
  let at = await blockAt(params, context);
  const transactions: Item[] = [];
  for (;;) {
    const left = Math.min(wanted - transactions.length, MAX_LISTED_TRANSACTIONS);
    const options = { ...context.read, at, count: left };
    const stretch = await read(after === undefined ? options : { ...options, after });
    for (const transaction of stretch.transactions) transactions.push(transaction);
    const { block, incomplete } = stretch;
    if (!incomplete || transactions.length >= wanted) return { block, transactions, incomplete };
    at = block;
    const { account, lt } = transactions.at(-1) as Item;
    after = { account, lt };
  }
}

const getBlockTransactions = v2Endpoint({
  name: 'getBlockTransactions',
  verbs: READ,
  tag: TAG,
  summary: 'Names of the transactions of a block',
  description:
    'Account, logical time and hash of the transactions of a block. While `incomplete` is true, go on with `after_lt` ' +
    'and `after_hash` of the last one.',
  params: blockTransactionsParams,
  check: checkAfter,
  result: BlockTransactions,
  statuses: [422, 504],
  freshness: 'forever',
  handle: async (params, context): Promise<BlockTransactions> => {
    const { chain } = context.network;
    const { block, transactions, incomplete } = await blockStretch(params, context, (options) =>
      chain.transactionIds(options),
    );
    return {
      '@type': 'blocks.transactions',
      id: blockIdExt(block),
      req_count: params.count ?? DEFAULT_COUNT,
      incomplete,
      transactions: transactions.map(({ account, lt, hash }) => ({
        '@type': 'blocks.shortTxId' as const,
        mode: 135,
        account: `${block.workchain}:${toHex(account)}`,
        lt: lt.toString(),
        hash: toBase64(hash),
      })),
    };
  },
});

const getBlockTransactionsExt = v2Endpoint({
  name: 'getBlockTransactionsExt',
  verbs: READ,
  tag: TAG,
  summary: 'Transactions of a block',
  description:
    'The transactions of a block with their messages and fees. While `incomplete` is true, go on with `after_lt` and ' +
    '`after_hash` of the last one.',
  params: blockTransactionsParams,
  check: checkAfter,
  result: BlockTransactionsExt,
  statuses: [422, 504],
  freshness: 'forever',
  handle: async (params, context): Promise<BlockTransactionsExt> => {
    const { chain } = context.network;
    const { block, transactions, incomplete } = await blockStretch(params, context, (options) =>
      chain.blockTransactions(options),
    );
    const { workchain } = block;
    return {
      '@type': 'blocks.transactionsExt',
      id: blockIdExt(block),
      req_count: params.count ?? DEFAULT_COUNT,
      incomplete,
      transactions: transactions.map(({ hash, cell }) =>
        rawTransactionExt({ workchain, hash, cell, transaction: decodeCell(Transaction, cell) }),
      ),
    };
  },
});

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
  statuses: [422, 504],
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
  statuses: [422, 504],
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

/** Transactions of blocks and accounts, in the order of the published document. */
export const transactionEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getBlockTransactions,
  getBlockTransactionsExt,
  getTransactions,
  getTransactionsStd,
];
