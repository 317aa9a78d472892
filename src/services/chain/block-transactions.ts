import type { Cell } from '#formats/cells/cell.js';
import {
  MAX_LISTED_TRANSACTIONS,
  type TransactionsQuery,
  verifyBlockTransactions,
  verifyTransactionIds,
} from '#formats/proofs/block-transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockTransactions, LiteServerBlockTransactionsExt } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerListBlockTransactions,
  LiteServerListBlockTransactionsExt,
} from '#formats/tl/generated/lite-server-functions.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call, Checked } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfBlock } from '#services/chain/need.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** Which stretch of a block's transactions. They are ordered by account, then by lt. */
export interface StretchOptions extends ReadAt {
  /** At most this many; servers give 256 at once. Default: 256. */
  readonly count?: number;
  /** From the last to the first. */
  readonly reverse?: boolean;
  /** Begin after this one; `account` is the id, 32 bytes. */
  readonly after?: { readonly account: Uint8Array; readonly lt: bigint };
}

/** The name of a transaction in its block. */
export interface TransactionId {
  /** 32 bytes; the workchain is that of the block. */
  readonly account: Uint8Array;
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** A transaction of a block. */
export interface BlockTransaction extends TransactionId {
  readonly cell: Cell;
}

/** A stretch without gaps. */
export interface StretchRead<Item, Answer> extends Answered<Answer> {
  readonly transactions: readonly Item[];
  /** There may be more: as many as asked for were found. */
  readonly incomplete: boolean;
}

/** All of a block's transactions. */
export interface WholeRead<Item, Answer> extends Answered<readonly Answer[]> {
  readonly transactions: readonly Item[];
}

export type TransactionIdsRead = StretchRead<TransactionId, LiteServerBlockTransactions>;
export type TransactionsRead = StretchRead<BlockTransaction, LiteServerBlockTransactionsExt>;
export type AllTransactionsRead = WholeRead<BlockTransaction, LiteServerBlockTransactionsExt>;

interface Stretch<Item> {
  readonly transactions: readonly Item[];
  readonly incomplete: boolean;
}

/** Account, lt and hash of each; the proof too. The other bits follow from the query. */
const MODE = 1 | 2 | 4 | 32;
const REVERSE = 64;
const AFTER = 128;

/** Reads of the transactions of a block. */
export class BlockTransactions {
  readonly #blockIds: BlockIds;

  constructor(blockIds: BlockIds) {
    this.#blockIds = blockIds;
  }

  async ids(call: Call, options: StretchOptions): Promise<TransactionIdsRead> {
    const query = stretchQuery(options);
    const block = await this.#blockIds.resolveBlock(call, options.at);
    const { id } = block;
    const { value, answer } = await call.ask({
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
    return { block: id, gen_utime: block.gen_utime, ...value, proof: call.proof(answer) };
  }

  async transactions(call: Call, options: StretchOptions): Promise<TransactionsRead> {
    const query = stretchQuery(options);
    const block = await this.#blockIds.resolveBlock(call, options.at);
    const { value, answer } = await this.#stretch(call, block, query);
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: call.proof(answer) };
  }

  async all(call: Call, { at }: ReadAt): Promise<AllTransactionsRead> {
    const block = await this.#blockIds.resolveBlock(call, at);
    const transactions: BlockTransaction[] = [];
    const answers: LiteServerBlockTransactionsExt[] = [];
    let query: TransactionsQuery = { count: MAX_LISTED_TRANSACTIONS, reverse: false, after: null };
    for (let more = true; more; ) {
      const { value, answer } = await this.#stretch(call, block, query);
      for (const transaction of value.transactions) transactions.push(transaction);
      if (call.wantsProof) answers.push(answer);
      more = value.incomplete;
      const last = value.transactions.at(-1);
      if (last !== undefined) query = { ...query, after: { account: last.account, lt: last.lt } };
    }
    return { block: block.id, gen_utime: block.gen_utime, transactions, proof: call.proof(answers) };
  }

  #stretch(
    call: Call,
    block: ProvenBlock,
    query: TransactionsQuery,
  ): Promise<Checked<Stretch<BlockTransaction>, LiteServerBlockTransactionsExt>> {
    const { id } = block;
    return call.ask({
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
function stretchQuery({ count = MAX_LISTED_TRANSACTIONS, reverse = false, after }: StretchOptions): TransactionsQuery {
  if (!Number.isInteger(count) || count < 1 || count > MAX_LISTED_TRANSACTIONS) {
    throw chainErrors.parameter({ name: 'count', value: String(count), wanted: `1 to ${MAX_LISTED_TRANSACTIONS}` });
  }
  if (after !== undefined && after.account.length !== 32) {
    const { length } = after.account;
    throw chainErrors.parameter({ name: 'after.account', value: `${length} bytes long`, wanted: '32 bytes' });
  }
  return { count, reverse, after: after ?? null };
}
