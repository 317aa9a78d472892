import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, printPosition } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import {
  MAX_LISTED_TRANSACTIONS,
  type TransactionsQuery,
  verifyBlockTransactions,
  verifyTransaction,
  verifyTransactionIds,
} from '#formats/proofs/transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  type LiteServerBlockTransactions,
  type LiteServerBlockTransactionsExt,
  LiteServerGetOneTransaction,
  LiteServerListBlockTransactions,
  LiteServerListBlockTransactionsExt,
  type LiteServerTransactionInfo,
} from '#formats/tl/lite-api.js';
import { accountPrefix } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import type { BlockLookup } from '#services/chain/block-lookup.js';
import { chainErrors } from '#services/chain/errors.js';
import { expectBlock, needOfBlock, type ProvenBlock } from '#services/chain/proven-blocks.js';
import type { CheckedAnswer, ReadAt, ReadContext, ReadResult } from '#services/chain/read-context.js';

/** Selects a page of a block's transactions, ordered by account, then by lt. */
export interface TransactionPageOptions extends ReadAt {
  /** Maximum number; servers return at most 256. Default: 256. */
  readonly count?: number;
  /** In reverse order. */
  readonly reverse?: boolean;
  /** Start after this transaction; `account` is the account id, 32 bytes. */
  readonly after?: { readonly account: Uint8Array; readonly lt: bigint };
}

/** Identifies a transaction in its block. */
export interface BlockTransactionId {
  /** Account id, 32 bytes; the workchain is that of the block. */
  readonly account: Uint8Array;
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** A transaction of a block. */
export interface BlockTransactionEntry extends BlockTransactionId {
  readonly cell: Cell;
}

/** A page of consecutive transactions. */
export interface TransactionPageRead<Item, Answer> extends ReadResult<Answer> {
  readonly transactions: readonly Item[];
  /** There may be more: the page is full. */
  readonly incomplete: boolean;
}

/** All transactions of a block. */
export interface TransactionListRead<Item, Answer> extends ReadResult<readonly Answer[]> {
  readonly transactions: readonly Item[];
}

export type TransactionIdsRead = TransactionPageRead<BlockTransactionId, LiteServerBlockTransactions>;
export type TransactionsRead = TransactionPageRead<BlockTransactionEntry, LiteServerBlockTransactionsExt>;
export type AllTransactionsRead = TransactionListRead<BlockTransactionEntry, LiteServerBlockTransactionsExt>;

interface TransactionPage<Item> {
  readonly transactions: readonly Item[];
  readonly incomplete: boolean;
}

/** Mode bits for account, lt, hash and proof. The others depend on the query. */
const MODE = 1 | 2 | 4 | 32;
const REVERSE = 64;
const AFTER = 128;

/** Reads transactions of blocks. */
export class BlockTransactionReader {
  readonly #blockIds: BlockLookup;

  constructor(blockIds: BlockLookup) {
    this.#blockIds = blockIds;
  }

  async ids(context: ReadContext, options: TransactionPageOptions): Promise<TransactionIdsRead> {
    const query = pageQuery(options);
    const block = await this.#blockIds.resolveBlock(context, options.at);
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerListBlockTransactions,
      query: tlQuery(block, query),
      need: needOfBlock(block),
      immutable: true,
      verifiedAs: 'transaction ids',
      verify: (found) => {
        expectBlock(found.id, id);
        const { incomplete, transactions } = verifyTransactionIds(id, query, found.proof, found.ids);
        return { incomplete, transactions: transactions.map(({ account, lt, hash }) => ({ account, lt, hash })) };
      },
    });
    return { block: id, gen_utime: block.gen_utime, ...value, proof: context.proof(answer) };
  }

  async transactions(context: ReadContext, options: TransactionPageOptions): Promise<TransactionsRead> {
    const query = pageQuery(options);
    const block = await this.#blockIds.resolveBlock(context, options.at);
    const { value, answer } = await this.#readPage(context, block, query);
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: context.proof(answer) };
  }

  async all(context: ReadContext, { at }: ReadAt): Promise<AllTransactionsRead> {
    const block = await this.#blockIds.resolveBlock(context, at);
    const transactions: BlockTransactionEntry[] = [];
    const answers: LiteServerBlockTransactionsExt[] = [];
    let query: TransactionsQuery = { count: MAX_LISTED_TRANSACTIONS, reverse: false, after: null };
    for (let more = true; more; ) {
      const { value, answer } = await this.#readPage(context, block, query);
      for (const transaction of value.transactions) transactions.push(transaction);
      if (context.wantsProof) answers.push(answer);
      more = value.incomplete;
      const last = value.transactions.at(-1);
      if (last !== undefined) query = { ...query, after: { account: last.account, lt: last.lt } };
    }
    return { block: block.id, gen_utime: block.gen_utime, transactions, proof: context.proof(answers) };
  }

  #readPage(
    context: ReadContext,
    block: ProvenBlock,
    query: TransactionsQuery,
  ): Promise<CheckedAnswer<TransactionPage<BlockTransactionEntry>, LiteServerBlockTransactionsExt>> {
    const { id } = block;
    return context.query({
      fn: LiteServerListBlockTransactionsExt,
      query: tlQuery(block, query),
      need: needOfBlock(block),
      immutable: true,
      verifiedAs: 'transactions',
      verify: (found) => {
        expectBlock(found.id, id);
        return verifyBlockTransactions(id, query, found.proof, found.transactions);
      },
    });
  }
}

function tlQuery({ id }: ProvenBlock, { count, reverse, after }: TransactionsQuery) {
  const mode = MODE | (reverse ? REVERSE : 0) | (after === null ? 0 : AFTER);
  return {
    id: blockIdToTl(id),
    mode,
    count,
    after: after === null ? null : { account: after.account, lt: BigInt.asIntN(64, after.lt) },
    reverse_order: reverse,
    want_proof: true,
  };
}

/** @throws chain/parameter */
function pageQuery({
  count = MAX_LISTED_TRANSACTIONS,
  reverse = false,
  after,
}: TransactionPageOptions): TransactionsQuery {
  if (!Number.isInteger(count) || count < 1 || count > MAX_LISTED_TRANSACTIONS) {
    throw chainErrors.parameter({ name: 'count', value: String(count), wanted: `1 to ${MAX_LISTED_TRANSACTIONS}` });
  }
  if (after !== undefined && after.account.length !== 32) {
    const { length } = after.account;
    throw chainErrors.parameter({ name: 'after.account', value: `${length} bytes long`, wanted: '32 bytes' });
  }
  return { count, reverse, after: after ?? null };
}

/** A transaction with its block. */
export interface TransactionRead extends ReadResult<LiteServerTransactionInfo> {
  readonly gen_utime: number;
  readonly cell: Cell;
  readonly transaction: Transaction;
  /** A masterchain block that proves the block. Honest servers return the one that commits it. */
  readonly masterchain_block: BlockId;
}

/** Reads single transactions. */
export class SingleTransactionReader {
  readonly #blockIds: BlockLookup;

  constructor(blockIds: BlockLookup) {
    this.#blockIds = blockIds;
  }

  /**
   * The transaction of an account with an lt. It can only be in the first block of the account's shard that reaches the lt.
   * @throws chain/transaction-not-found when proven not to exist; chain/block-not-found when there is no such block yet
   */
  async transaction(context: ReadContext, address: Address, lt: bigint): Promise<TransactionRead> {
    const { workchain, hash } = address;
    const found = await this.#blockIds.find(context, { workchain, shard: prefixOf(address), by: 'lt', lt });
    const { block, gen_utime, masterchain_block } = found;
    const { value, answer } = await context.query({
      fn: LiteServerGetOneTransaction,
      query: { id: blockIdToTl(block), account: { workchain, id: hash }, lt: BigInt.asIntN(64, lt) },
      need: needOfBlock({ id: block, gen_utime, mc_seqno: masterchain_block.seqno }),
      immutable: true,
      verifiedAs: 'transaction',
      verify: ({ id, proof, transaction }) => {
        expectBlock(id, block);
        const cell = verifyTransaction(block, hash, lt, { proof, transaction });
        return cell && { cell, transaction: inPart('transaction', () => decodeCell(Transaction, cell)) };
      },
    });
    if (value === null) {
      throw chainErrors['transaction-not-found']({ account: address.toRaw(), lt, block: printPosition(block) });
    }
    return { block, gen_utime, ...value, masterchain_block, proof: context.proof(answer) };
  }
}

/** The first 64 bits of the account id determine the shard. Zero is not a valid shard, so the last bit, which is never significant, is set. */
function prefixOf(address: Address): bigint {
  const prefix = accountPrefix(address.hash);
  return prefix === 0n ? 1n : prefix;
}
