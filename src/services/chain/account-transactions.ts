import type { Address } from '#formats/address/address.js';
import {
  type ProvenTransaction,
  type ProvenTransactions,
  type TransactionRef,
  verifyAccountTransactions,
} from '#formats/proofs/account-transactions.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { LiteServerTransactionList } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetTransactions } from '#formats/tl/generated/lite-server-functions.js';
import type { AccountStates } from '#services/chain/account-state.js';
import type { Call, Checked } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import type { BlockAt, ReadOptions } from '#services/chain/read-options.js';

/** Which transactions of an account, from newer to older. */
export interface HistoryOptions extends ReadOptions {
  /** The newest one wanted, known by its hash. Default: the account's last one at `at`. */
  readonly from?: TransactionRef;
  /** Where the account's last transaction is looked up when `from` is not given. Default: the newest block. */
  readonly at?: BlockAt;
  /** At most this many. Default: 16 for a list, all for a walk. */
  readonly limit?: number;
  /** Not this one, and none before it. */
  readonly to_lt?: bigint;
}

/**
 * Transactions of an account without gaps: each is proven by the hash in the one after it. They go back to the first one
 * since the account last came to be: nothing leads from there to those before it was deleted.
 */
export interface HistoryRead {
  /** The block that told the account's last transaction; `null` when `from` was given. */
  readonly block: BlockId | null;
  readonly gen_utime: number | null;
  readonly transactions: readonly ProvenTransaction[];
  /** The transaction before the last one listed; `null` when that was the first since the account came to be. */
  readonly next: TransactionRef | null;
  readonly proof: readonly LiteServerTransactionList[] | null;
}

/** Most transactions in one answer. */
const MAX_LISTED = 16;

type Page = Checked<ProvenTransactions, LiteServerTransactionList>;

/** Reads of the transactions of accounts, across all splits and merges of their shards. */
export class AccountTransactions {
  readonly #states: AccountStates;

  constructor(states: AccountStates) {
    this.#states = states;
  }

  async transactions(call: Call, address: Address, options: HistoryOptions): Promise<HistoryRead> {
    const limit = limitOf(options, MAX_LISTED);
    const start = await this.#start(call, address, options);
    const transactions: ProvenTransaction[] = [];
    const answers: LiteServerTransactionList[] = [];
    let next = start.next;
    for await (const { value, answer } of this.#pages(() => call, address, { ...options, limit }, next)) {
      transactions.push(...value.transactions);
      next = value.next;
      if (call.wantsProof) answers.push(answer);
    }
    const { block, gen_utime } = start;
    return { block, gen_utime, transactions, next, proof: call.proof(answers) };
  }

  /**
   * The transactions one by one, asking for more as they are taken.
   * @param newCall begins a call for each question: a walk may take longer than any deadline
   */
  async *walk(newCall: () => Call, address: Address, options: HistoryOptions): AsyncGenerator<ProvenTransaction> {
    const limit = limitOf(options, Number.POSITIVE_INFINITY);
    const { next } = await this.#start(newCall(), address, options);
    for await (const { value } of this.#pages(newCall, address, { ...options, limit }, next)) yield* value.transactions;
  }

  async #start(
    call: Call,
    address: Address,
    { from, at }: HistoryOptions,
  ): Promise<Pick<HistoryRead, 'block' | 'gen_utime' | 'next'>> {
    if (from !== undefined) {
      if (from.hash.length !== 32 || from.lt <= 0n || from.lt >= 1n << 64n) {
        const value = `${from.lt} with a hash of ${from.hash.length} bytes`;
        throw chainErrors.parameter({ name: 'from', value, wanted: 'an lt from 1 on, and a hash of 32 bytes' });
      }
      return { block: null, gen_utime: null, next: from };
    }
    const read = await this.#states.account(call, address, { pruned: true, ...(at === undefined ? {} : { at }) });
    return { block: read.block, gen_utime: read.gen_utime, next: read.last_transaction };
  }

  async *#pages(
    newCall: () => Call,
    address: Address,
    { limit, to_lt = 0n }: HistoryOptions & { readonly limit: number },
    from: TransactionRef | null,
  ): AsyncGenerator<Page> {
    let next = from;
    let archive = false;
    for (let left = limit; next !== null && left > 0 && next.lt > to_lt; ) {
      const count = Math.min(left, MAX_LISTED);
      const { value, answer } = await this.#page(newCall(), address, next, count, archive);
      const { transactions } = value;
      // A server that gives fewer than asked for, though there are more, has come to the end of its history.
      archive ||= transactions.length < count;
      left -= transactions.length;
      next = value.next;
      const end = transactions.findIndex(({ lt }) => lt <= to_lt);
      if (end < 0) {
        yield { value, answer };
        continue;
      }
      const { lt, hash } = transactions[end]!;
      next = { lt, hash };
      yield { value: { transactions: transactions.slice(0, end), next }, answer };
    }
  }

  async #page(call: Call, address: Address, from: TransactionRef, count: number, archive: boolean): Promise<Page> {
    const question = {
      fn: LiteServerGetTransactions,
      query: {
        count,
        account: { workchain: address.workchain, id: address.hash },
        lt: BigInt.asIntN(64, from.lt),
        hash: from.hash,
      },
      immutable: true,
      verifiedAs: 'account transactions',
      verify: (found: LiteServerTransactionList) => {
        const proven = verifyAccountTransactions(address, from, found.transactions);
        const { length } = proven.transactions;
        if (length === 0) throw chainErrors['incomplete-answer']({ problem: 'it lists no transaction' });
        if (length > count) {
          throw chainErrors['incomplete-answer']({
            problem: `it lists ${length} transactions where ${count} are wanted`,
          });
        }
        return proven;
      },
    };
    return archive ? call.ask({ ...question, need: { kind: 'archive' } }) : call.askAnyAge(question);
  }
}

/** @throws chain/parameter */
function limitOf({ limit }: HistoryOptions, fallback: number): number {
  if (limit === undefined) return fallback;
  if (limit === Number.POSITIVE_INFINITY || (Number.isInteger(limit) && limit >= 1)) return limit;
  throw chainErrors.parameter({ name: 'limit', value: String(limit), wanted: 'a whole number from 1 on' });
}
