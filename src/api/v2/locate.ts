import { type StaticDecode, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { int64Parameter, parsedAddressParameter } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { extTransaction, TransactionJson, type TransactionWithCell } from '#api/v2/transactions.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { accountPrefix } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { Message } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FoundBlockRead } from '#services/chain/block-lookup.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';

const messageParams = Type.Object(
  {
    source: parsedAddressParameter('Sender of the message, in raw or user-friendly form.'),
    destination: parsedAddressParameter('Receiver of the message, in raw or user-friendly form.'),
    created_lt: int64Parameter('Logical time of the message: its `created_lt`.', 0n),
  },
  { additionalProperties: false },
);

const shared = {
  verbs: GET_OR_POST,
  tag: 'Transactions',
  params: messageParams,
  result: TransactionJson,
  statuses: [404, 422, 504],
  errorStatuses: { [v2Errors['transaction-not-located'].code]: 404 },
  price: () => PRICE.search,
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
  'The transaction that received a message. The message is followed over blocks, splits and merges of shards until it is ' +
  'found; 404 when nobody sent it, or when it has not been received yet.';

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
  description: 'The transaction that sent a message; 404 when there is none.',
  handle: (params, context) => locate('source', params, context),
});

/** Transactions by their messages, in the order of the published document. */
export const locateEndpoints: readonly AnyEndpoint<V2Context>[] = [tryLocateTx, tryLocateResultTx, tryLocateSourceTx];

/** What identifies an internal message; `created_lt` is that of the message. */
export interface MessageName {
  readonly source: Address;
  readonly destination: Address;
  readonly created_lt: bigint;
}

/** How far a message is followed, in masterchain blocks after it was sent. */
const MAX_FOLLOWED = 4096;

/** How many blocks are searched one by one where the account state does not lead to the transactions. */
const MAX_SEARCHED = 256;

/** Transactions of one account per query of a block. */
const BLOCK_PAGE = 16;

/** Transactions of one account per query of its history. */
const HISTORY_PAGE = 16;

/** Finds the transactions that sent and received a message. */
export class MessageSearch {
  readonly #chain: ChainReads;
  readonly #read: ReadOptions;

  constructor(chain: ChainReads, read: ReadOptions) {
    this.#chain = chain;
    this.#read = read;
  }

  /**
   * The transaction that sent a message: the last one of the source before `created_lt`, in the block that reaches it.
   * `null`: there is none.
   */
  async source(name: MessageName): Promise<TransactionWithCell | null> {
    const { source, created_lt } = name;
    const block = await this.#blockReaching(source, created_lt);
    if (block === null) return null;
    const { transactions } = await this.#chain.blockTransactions({
      ...this.#read,
      at: block.block,
      reverse: true,
      after: { account: source.hash, lt: created_lt },
      count: 1,
    });
    const [last] = transactions;
    if (last === undefined || !bytesEqual(last.account, source.hash)) return null;
    const found = withCell(source, last);
    for (const [, message] of found.transaction.out_msgs) if (isNamed(message.value, name)) return found;
    return null;
  }

  /**
   * The transaction that received a message; `null` when there is none, or not yet. A message may wait for many blocks while
   * shards split and merge, so the account is followed: by its state where it has one.
   */
  async result(name: MessageName): Promise<TransactionWithCell | null> {
    const { destination, created_lt } = name;
    const [sent, start] = await Promise.all([this.source(name), this.#blockReaching(destination, created_lt)]);
    if (start === null) return null;
    const found = await this.#inBlock(name, start);
    // System messages, which nobody sent, are received in the block that creates them.
    if (found !== null || sent === null) return found;
    return this.#follow(name, start);
  }

  /** Checks the account after growing numbers of blocks: often it is the next block, rarely it takes hundreds. */
  async #follow(name: MessageName, start: FoundBlockRead): Promise<TransactionWithCell | null> {
    const head = (await this.#chain.head(this.#read)).block.seqno;
    const first = start.masterchain_block.seqno;
    const progress: Progress = { lt: name.created_lt, end_lt: start.header.info.end_lt, searched: 0 };
    for (let ahead = 0; ; ahead = ahead * 2 + 1) {
      const at = Math.min(first + ahead, head);
      const found = await this.#until(name, at, progress);
      if (found !== null || at === head || ahead >= MAX_FOLLOWED) return found;
    }
  }

  /** Searches the transactions of the account since the last check, up to a masterchain block. */
  async #until(name: MessageName, at: number, progress: Progress): Promise<TransactionWithCell | null> {
    const { destination } = name;
    const state = await this.#chain.account(destination, { ...this.#read, at, pruned: true });
    const end_lt = state.shard_lt ?? 0n;
    const last = state.last_transaction;
    let found: TransactionWithCell | null = null;
    if (last === null) {
      // Nothing leads to transactions of an account that was deleted, or that the message did not create.
      found = await this.#inBlocks(name, end_lt, progress);
    } else if (last.lt > progress.lt) {
      let from: typeof last | null = last;
      let oldest = last.lt;
      while (from !== null && from.lt > progress.lt) {
        const { transactions, next } = await this.#chain.accountTransactions(destination, {
          ...this.#read,
          from,
          to_lt: progress.lt,
          limit: HISTORY_PAGE,
        });
        for (const each of transactions) {
          if (isReceived(each.transaction, name)) return { workchain: destination.workchain, ...each };
          oldest = each.lt;
        }
        from = next;
      }
      // The account was created in this time: it may have existed before.
      if (from === null) found = await this.#inBlocks(name, oldest, progress);
      progress.lt = last.lt;
    }
    if (end_lt > progress.end_lt) progress.end_lt = end_lt;
    return found;
  }

  /** Searches the blocks of the account's shard, whichever that is, after `progress.end_lt` up to an lt. */
  async #inBlocks(name: MessageName, untilLt: bigint, progress: Progress): Promise<TransactionWithCell | null> {
    while (progress.end_lt < untilLt && progress.searched < MAX_SEARCHED) {
      const block = await this.#blockReaching(name.destination, progress.end_lt + 1n);
      if (block === null) return null;
      progress.searched++;
      progress.end_lt = block.header.info.end_lt;
      const found = await this.#inBlock(name, block);
      if (found !== null) return found;
    }
    return null;
  }

  async #inBlock(name: MessageName, { block }: FoundBlockRead): Promise<TransactionWithCell | null> {
    const { destination, created_lt } = name;
    let lt = created_lt;
    for (;;) {
      const { transactions, incomplete } = await this.#chain.blockTransactions({
        ...this.#read,
        at: block,
        after: { account: destination.hash, lt },
        count: BLOCK_PAGE,
      });
      for (const each of transactions) {
        if (!bytesEqual(each.account, destination.hash)) return null;
        const found = withCell(destination, each);
        if (isReceived(found.transaction, name)) return found;
        lt = each.lt;
      }
      if (!incomplete) return null;
    }
  }

  /** The first block of an account's shard that reaches an lt; `null` when there is none yet, or no such workchain. */
  async #blockReaching({ workchain, hash }: Address, lt: bigint): Promise<FoundBlockRead | null> {
    const prefix = accountPrefix(hash);
    try {
      // All zeros are not a prefix; the last bit does not matter.
      const shard = prefix === 0n ? 1n : prefix;
      return await this.#chain.findBlock({ workchain, shard, by: 'lt', lt }, this.#read);
    } catch (error) {
      if (isTernError(error, 'chain/block-not-found')) return null;
      throw error;
    }
  }
}

/** The progress of a search. */
interface Progress {
  /** All transactions of the account up to this lt were checked, as far as its history leads to them. */
  lt: bigint;
  /** Blocks up to this end lt need no search. */
  end_lt: bigint;
  /** Blocks that were searched one by one. */
  searched: number;
}

function withCell(
  { workchain }: Address,
  { hash, cell }: { readonly hash: Uint8Array; readonly cell: Cell },
): TransactionWithCell {
  return { workchain, hash, cell, transaction: decodeCell(Transaction, cell) };
}

function isReceived({ in_msg }: Transaction, name: MessageName): boolean {
  return in_msg !== null && isNamed(in_msg.value, name);
}

function isNamed({ info }: Message, { source, destination, created_lt }: MessageName): boolean {
  return (
    info.kind === 'int_msg_info' &&
    info.created_lt === created_lt &&
    accountOf(info.src)?.equals(source) === true &&
    accountOf(info.dest)?.equals(destination) === true
  );
}
