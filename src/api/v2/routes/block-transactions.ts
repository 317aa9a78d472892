import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { afterHash, afterLt, count, DEFAULT_COUNT } from '#api/v2/parameters.js';
import { blockAt, blockFields } from '#api/v2/routes/block-at.js';
import { BlockTransactions, BlockTransactionsExt } from '#api/v2/schemas/transactions.js';
import { blockIdExt } from '#api/v2/serialize/ton-objects.js';
import { rawTransactionExt } from '#api/v2/serialize/transaction.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { MAX_LISTED_TRANSACTIONS } from '#formats/proofs/block-transactions.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';
import type { StretchOptions, StretchRead, TransactionId } from '#services/chain/block-transactions.js';

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

/**
 * As many transactions of a block as are asked for, with as many questions as it takes. Servers call a list incomplete as
 * soon as it is as long as asked for; one transaction more tells whether anything remains.
 */
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
    const left = Math.min(wanted + 1 - transactions.length, MAX_LISTED_TRANSACTIONS);
    const options = { ...context.read, at, count: left };
    const stretch = await read(after === undefined ? options : { ...options, after });
    for (const transaction of stretch.transactions) transactions.push(transaction);
    const { block } = stretch;
    if (transactions.length > wanted) return { block, transactions: transactions.slice(0, wanted), incomplete: true };
    if (!stretch.incomplete) return { block, transactions, incomplete: false };
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
  statuses: [404, 422, 504],
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
  statuses: [404, 422, 504],
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

/** Transactions of blocks, in the order of the published document. */
export const blockTransactionEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getBlockTransactions,
  getBlockTransactionsExt,
];
