import { type Static, type StaticDecode, Type } from '@sinclair/typebox';
import { type AnyEndpoint, type JsonText, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { extMessage, MessageJson, MessageStd, rawMessage } from '#api/v2/messages.js';
import {
  accountParameter,
  afterHashParameter,
  afterLtParameter,
  archivalParameter,
  blockAt,
  blockFields,
  countParameter,
  DEFAULT_COUNT,
  DEFAULT_TRANSACTION_LIMIT,
  optionalHashParameter,
  optionalInt64Parameter,
  toLtParameter,
  transactionLimitParameter,
} from '#api/v2/parameters.js';
import { blockTransactionsPrice, historyPrice } from '#api/v2/price.js';
import {
  AccountAddress,
  blockIdExt,
  bocBase64,
  bytesField,
  decimalField,
  friendlyAddress,
  hashField,
  InternalTransactionId,
  TonBlockIdExt,
  transactionId,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { MAX_LISTED_TRANSACTIONS, type TransactionRef } from '#formats/proofs/transactions.js';
import { decodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import type { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toBase64, toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { HistoryRead } from '#services/chain/accounts.js';
import { isServersFailure } from '#services/chain/read-context.js';
import type { BlockTransactionId, TransactionPageOptions, TransactionPageRead } from '#services/chain/transactions.js';

/** Of reads that nobody calls off. */

const account = Type.String({ description: 'The account in raw form.' });

const transactionProperties = {
  utime: Type.Integer({ description: 'Unix time in seconds.' }),
  data: bytesField('Bag of cells with the transaction.'),
  transaction_id: InternalTransactionId,
  fee: decimalField('All fees in nanotons, forward fees of the sent messages included.'),
  storage_fee: decimalField('The storage fee in it.'),
  other_fee: decimalField('The rest of it.'),
};

const outMessages = 'Sent messages, in this order.';

export const TransactionJson = v2Object(
  'Transaction',
  {
    '@type': typeName('ext.transaction'),
    address: AccountAddress,
    account,
    ...transactionProperties,
    in_msg: Type.Optional(MessageJson),
    out_msgs: Type.Array(MessageJson, { description: outMessages }),
  },
  { description: 'A transaction. Without `in_msg` no message caused it.' },
);
export type TransactionJson = Static<typeof TransactionJson>;

const stdFields = {
  ...transactionProperties,
  in_msg: Type.Optional(MessageStd),
  out_msgs: Type.Array(MessageStd, { description: outMessages }),
};

const TransactionStd = v2Object(
  'TransactionStd',
  { '@type': typeName('raw.transaction'), address: AccountAddress, ...stdFields },
  { description: 'A transaction as tonlib shows it. Without `in_msg` no message caused it.' },
);
type TransactionStd = Static<typeof TransactionStd>;

const TransactionExt = v2Object(
  'TransactionExt',
  { '@type': typeName('raw.transactionExt'), address: AccountAddress, account, ...stdFields },
  { description: 'A transaction of a block with its account.' },
);
type TransactionExt = Static<typeof TransactionExt>;

const TransactionsJson = Type.Array(TransactionJson, {
  $id: 'Transactions',
  description: 'From newer to older.',
});

const TransactionsStd = v2Object('TransactionsStd', {
  '@type': typeName('raw.transactions'),
  transactions: Type.Array(TransactionStd, { description: 'From newer to older.' }),
  previous_transaction_id: InternalTransactionId,
});
type TransactionsStd = Static<typeof TransactionsStd>;

const ShortTxId = v2Object(
  'ShortTxId',
  {
    '@type': typeName('blocks.shortTxId'),
    mode: Type.Integer({ description: 'Which fields are present, as bits: always 135, all of them.' }),
    account,
    lt: Type.String({ description: 'Logical time of the transaction.' }),
    hash: hashField('Hash of the transaction.'),
  },
  { description: 'The id of a transaction of a block.' },
);

const transactionListProperties = {
  id: TonBlockIdExt,
  req_count: Type.Integer({ description: 'The requested number.' }),
  incomplete: Type.Boolean({
    description: 'There are more: continue with `after_lt` and `after_hash` of the last one.',
  }),
};

const inOrder = 'Ordered by account and logical time.';

const BlockTransactionsJson = v2Object(
  'BlockTransactions',
  {
    '@type': typeName('blocks.transactions'),
    ...transactionListProperties,
    transactions: Type.Array(ShortTxId, { description: inOrder }),
  },
  { description: 'Ids of the transactions of a block.' },
);
type BlockTransactionsJson = Static<typeof BlockTransactionsJson>;

const BlockTransactionsExt = v2Object(
  'BlockTransactionsExt',
  {
    '@type': typeName('blocks.transactionsExt'),
    ...transactionListProperties,
    transactions: Type.Array(TransactionExt, { description: inOrder }),
  },
  { description: 'Transactions of a block.' },
);
type BlockTransactionsExt = Static<typeof BlockTransactionsExt>;

const TAG = 'Transactions';

const historyParams = Type.Object(
  {
    address: accountParameter,
    limit: transactionLimitParameter,
    lt: optionalInt64Parameter(
      'Start with the transaction with this lt and `hash`, itself included. Default: the last one.',
      0n,
    ),
    hash: optionalHashParameter('Hash of the transaction to start with: `transaction_id.hash` of an earlier response.'),
    to_lt: toLtParameter,
    archival: archivalParameter,
  },
  { additionalProperties: false },
);
type HistoryParams = StaticDecode<typeof historyParams>;

function checkCursor({ lt, hash }: HistoryParams): void {
  if ((lt === undefined) === (hash === undefined)) return;
  const parameter = lt === undefined ? 'lt' : 'hash';
  throw httpErrors['bad-parameter']({ parameter, problem: 'lt and hash should be used together' });
}

/** As {@link checkCursor}, but a lone lt is taken: the list starts with the last transaction. */
function checkLegacyCursor(params: HistoryParams): void {
  const { lt, hash } = params;
  // Lt 0 stands for no transaction: without a hash it is the same as none. A hash that is given, but empty, is undefined here.
  const isLone = hash === undefined && (lt === 0n || !Object.hasOwn(params, 'hash'));
  if (!isLone) checkCursor(params);
}

type History = Pick<HistoryRead, 'transactions' | 'next'>;

/** Transactions of an account. Lt 0 stands for no transaction: from there on there are none. */
async function readHistory(params: HistoryParams, context: V2Context): Promise<History> {
  const { chain } = context.network;
  const { address: account } = params.address;
  const from = cursor(params);
  if (from?.lt === 0n) return { transactions: [], next: null };
  const options = {
    ...context.read,
    limit: params.limit ?? DEFAULT_TRANSACTION_LIMIT,
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

/** Liteservers do not prove that a transaction does not exist; the block where it would be does. */
async function checkRef(account: Address, { lt, hash }: TransactionRef, context: V2Context): Promise<void> {
  const { cell } = await context.network.chain.transaction(account, lt, context.read);
  const found = cell.hash();
  if (bytesEqual(found, hash)) return;
  throw v2Errors['cursor-hash']({ lt, expected: toBase64(hash), found: toBase64(found) });
}

/** @throws v2/no-workchain for an account of a workchain that the network does not have */
async function requireWorkchain(account: Address, { network, read }: V2Context): Promise<void> {
  const { workchain } = account;
  if (workchain === 0 || workchain === -1) return;
  const { shard_block } = await network.chain.account(account, { ...read, pruned: true });
  if (shard_block === null) throw v2Errors['no-workchain']({ address: account.toRaw(), workchain });
}

const historyDescription =
  'Transactions of an account from newer to older, each proven by the one after it. Without `lt` and `hash` the list starts ' +
  'with the last one. It ends with the first one, or with the one that last created the account: the chain has no link ' +
  'from there to earlier ones.';

const getTransactions = v2Endpoint({
  name: 'getTransactions',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Transactions of an account',
  description: `${historyDescription} For the next page use \`lt\` and \`hash\` of the last one, which is listed again; without \`hash\`, \`lt\` has no effect.`,
  params: historyParams,
  check: checkLegacyCursor,
  result: TransactionsJson,
  statuses: [404, 422, 504],
  price: historyPrice,
  freshness: ({ hash }) => (hash === undefined ? 'head' : 'forever'),
  handle: async (params, context) => {
    const { workchain } = params.address.address;
    const { transactions } = await readHistory(params, context);
    return jsonText(await listJson(transactions, (each) => extTransaction({ workchain, ...each }), context));
  },
});

const getTransactionsStd = v2Endpoint({
  name: 'getTransactionsStd',
  verbs: GET_OR_POST,
  tag: TAG,
  schemaName: 'TransactionsV2',
  summary: 'Transactions of an account, as tonlib shows them',
  description: `${historyDescription} For the next page use \`previous_transaction_id\`; at the end its \`lt\` is 0.`,
  params: historyParams,
  check: checkCursor,
  result: TransactionsStd,
  statuses: [404, 422, 504],
  price: historyPrice,
  freshness: ({ hash }) => (hash === undefined ? 'head' : 'forever'),
  handle: async (params, context): Promise<JsonText> => {
    const { workchain } = params.address.address;
    const { transactions, next } = await readHistory(params, context);
    const list = await listJson(transactions, (each) => rawTransaction({ workchain, ...each }), context);
    const rest: Omit<TransactionsStd, 'transactions'> = {
      '@type': 'raw.transactions',
      previous_transaction_id: transactionId(next),
    };
    return jsonText(objectJson(rest, 'transactions', list));
  },
});

/** Transactions of accounts, in the order of the published document. */
export const accountTransactionEndpoints: readonly AnyEndpoint<V2Context>[] = [getTransactions, getTransactionsStd];

const blockTransactionsParams = Type.Object(
  { ...blockFields, after_lt: afterLtParameter, after_hash: afterHashParameter, count: countParameter },
  { additionalProperties: false },
);
type BlockTransactionsParams = StaticDecode<typeof blockTransactionsParams>;

function checkAfter({ after_lt, after_hash }: BlockTransactionsParams): void {
  if ((after_lt === undefined) === (after_hash === undefined)) return;
  const parameter = after_lt === undefined ? 'after_lt' : 'after_hash';
  throw httpErrors['bad-parameter']({ parameter, problem: 'after_lt and after_hash should be used together' });
}

interface TransactionPage<Item> {
  readonly block: BlockId;
  readonly transactions: readonly Item[];
  readonly incomplete: boolean;
}

/**
 * The requested number of transactions of a block, with as many lite queries as it takes. Liteservers report a list as
 * incomplete as soon as it has the requested length; one transaction more shows whether any remain.
 */
async function readTransactionPage<Item extends BlockTransactionId>(
  params: BlockTransactionsParams,
  context: V2Context,
  read: (options: TransactionPageOptions) => Promise<TransactionPageRead<Item, unknown>>,
): Promise<TransactionPage<Item>> {
  const { after_lt, after_hash, count: wanted = DEFAULT_COUNT } = params;
  let after = after_lt === undefined || after_hash === undefined ? undefined : { account: after_hash, lt: after_lt };
  let at = await blockAt(params, context);
  const transactions: Item[] = [];
  for (;;) {
    const left = Math.min(wanted + 1 - transactions.length, MAX_LISTED_TRANSACTIONS);
    const options = { ...context.read, at, count: left };
    const page = await read(after === undefined ? options : { ...options, after });
    for (const transaction of page.transactions) transactions.push(transaction);
    const { block } = page;
    if (transactions.length > wanted) return { block, transactions: transactions.slice(0, wanted), incomplete: true };
    if (!page.incomplete) return { block, transactions, incomplete: false };
    at = block;
    const { account, lt } = transactions.at(-1) as Item;
    after = { account, lt };
  }
}

const getBlockTransactions = v2Endpoint({
  name: 'getBlockTransactions',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Ids of the transactions of a block',
  description:
    'Account, logical time and hash of the transactions of a block. While `incomplete` is true, continue with `after_lt` ' +
    'and `after_hash` of the last one.',
  params: blockTransactionsParams,
  check: checkAfter,
  result: BlockTransactionsJson,
  statuses: [404, 422, 504],
  price: blockTransactionsPrice('id'),
  freshness: 'forever',
  handle: async (params, context): Promise<BlockTransactionsJson> => {
    const { chain } = context.network;
    const { block, transactions, incomplete } = await readTransactionPage(params, context, (options) =>
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
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Transactions of a block',
  description:
    'The transactions of a block with their messages and fees. While `incomplete` is true, continue with `after_lt` and ' +
    '`after_hash` of the last one.',
  params: blockTransactionsParams,
  check: checkAfter,
  result: BlockTransactionsExt,
  statuses: [404, 422, 504],
  price: blockTransactionsPrice('whole'),
  freshness: 'forever',
  handle: async (params, context): Promise<JsonText> => {
    const { chain } = context.network;
    const { block, transactions, incomplete } = await readTransactionPage(params, context, (options) =>
      chain.blockTransactions(options),
    );
    const { workchain } = block;
    const list = await listJson(
      transactions,
      ({ hash, cell }) => rawTransactionExt({ workchain, hash, cell, transaction: decodeCell(Transaction, cell) }),
      context,
    );
    const rest: Omit<BlockTransactionsExt, 'transactions'> = {
      '@type': 'blocks.transactionsExt',
      id: blockIdExt(block),
      req_count: params.count ?? DEFAULT_COUNT,
      incomplete,
    };
    return jsonText(objectJson(rest, 'transactions', list));
  },
});

/** Transactions of blocks, in the order of the published document. */
export const blockTransactionEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getBlockTransactions,
  getBlockTransactionsExt,
];

/** A transaction with its cell, and the workchain, which the cell does not contain. */
export interface TransactionWithCell {
  readonly workchain: number;
  readonly hash: Uint8Array;
  readonly cell: Cell;
  readonly transaction: Transaction;
}

/** As `getTransactions` shows it (`ext.transaction`). */
export function extTransaction(source: TransactionWithCell): TransactionJson {
  const account = accountRaw(source);
  return { '@type': 'ext.transaction', account, ...transactionFields(source, extMessage) };
}

/** As tonlib shows it (`raw.transaction`). */
function rawTransaction(source: TransactionWithCell): TransactionStd {
  return { '@type': 'raw.transaction', ...transactionFields(source, rawMessage) };
}

/** The common fields, with messages in one of the two forms. */
function transactionFields<Json extends MessageJson | MessageStd>(
  source: TransactionWithCell,
  write: (message: Lazy<Message>) => Json,
) {
  const { hash, cell, transaction } = source;
  const messages = transactionMessages(transaction, write);
  const { fee, storageFee } = fees(transaction, messages.forwardFees);
  return {
    address: { '@type': 'accountAddress' as const, account_address: accountText(source) },
    utime: transaction.now,
    data: bocBase64(cell),
    transaction_id: transactionId({ lt: transaction.lt, hash }),
    fee: fee.toString(),
    storage_fee: storageFee.toString(),
    other_fee: (fee - storageFee).toString(),
    out_msgs: messages.out,
    ...(messages.in === null ? {} : { in_msg: messages.in }),
  };
}

/** As `getBlockTransactionsExt` shows it (`raw.transactionExt`). */
function rawTransactionExt(source: TransactionWithCell): TransactionExt {
  return { '@type': 'raw.transactionExt', account: accountRaw(source), ...transactionFields(source, rawMessage) };
}

function accountRaw({ workchain, transaction }: TransactionWithCell): string {
  return `${workchain}:${toHex(transaction.account_addr).toUpperCase()}`;
}

function accountText({ workchain, transaction }: TransactionWithCell): string {
  return friendlyAddress(Address.ofParts(workchain, transaction.account_addr));
}

interface Messages<Json> {
  readonly in: Json | null;
  readonly out: Json[];
  /** Of the internal messages that it sent; nanotons. */
  readonly forwardFees: bigint;
}

function transactionMessages<Json extends MessageJson | MessageStd>(
  transaction: Transaction,
  serialize: (message: Lazy<Message>) => Json,
): Messages<Json> {
  const { in_msg, out_msgs } = transaction;
  const out: Json[] = [];
  let forwardFees = 0n;
  if (!out_msgs.isEmpty) {
    for (const [, message] of out_msgs) {
      const { info } = message.value;
      if (info.kind === 'int_msg_info') forwardFees += info.fwd_fee;
      out.push(serialize(message));
    }
  }
  return { in: in_msg === null ? null : serialize(in_msg), out, forwardFees };
}

/** All fees, and the storage fee among them; nanotons. */
function fees(transaction: Transaction, forwardFees: bigint): { readonly fee: bigint; readonly storageFee: bigint } {
  const description = transaction.description.value;
  const storage = 'storage_ph' in description ? description.storage_ph : null;
  return { fee: transaction.total_fees.grams + forwardFees, storageFee: storage?.storage_fees_collected ?? 0n };
}

/**
 * JSON of a list, written in slices, between which other requests get their turn: a thousand transactions take 100 ms.
 *
 * @throws the reason of the signal when the request is called off
 */
async function listJson<Item>(
  items: readonly Item[],
  write: (item: Item) => object,
  { read }: Pick<V2Context, 'read'>,
): Promise<string> {
  const slices = new WorkSlices(systemClock, read.signal ?? null);
  const texts = await slices.map(items, (item) => JSON.stringify(write(item)));
  return `[${texts.join(',')}]`;
}

/** JSON of an object one of whose members is already JSON. */
function objectJson(members: object, name: string, json: string): string {
  const rest = JSON.stringify(members);
  return `${rest.slice(0, -1)},${JSON.stringify(name)}:${json}}`;
}
