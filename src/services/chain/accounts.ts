import type { Address } from '#formats/address/address.js';
import { parseBocAhead } from '#formats/cells/boc-parse.js';
import { type ProvenAccountState, verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import {
  type ProvenTransaction,
  type ProvenTransactions,
  type TransactionRef,
  verifyAccountTransactions,
} from '#formats/proofs/transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  type LiteServerAccountState,
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
  LiteServerGetTransactions,
  type LiteServerTransactionList,
} from '#formats/tl/lite-api.js';
import { Account } from '#formats/tlb/account.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { BlockLookup, ShardTopReader } from '#services/chain/block-lookup.js';
import type { BlockDataReader } from '#services/chain/blocks.js';
import { chainErrors } from '#services/chain/errors.js';
import type { KeptAccounts, ProvenAccountValue } from '#services/chain/kept-accounts.js';
import {
  copyBlockId,
  expectBlock,
  needOfState,
  type ProvenBlock,
  type ProvenBlocks,
} from '#services/chain/proven-blocks.js';
import {
  type BlockAt,
  type CheckedAnswer,
  isNotAvailable,
  type ReadAt,
  type ReadContext,
  type ReadOptions,
  type ReadResult,
} from '#services/chain/read-context.js';

/** Smaller bags are hashed in less than a slice. */
const LARGE_BYTES = 128 * 1024;

/** An account state after a block. */
export interface AccountStateRead extends ReadResult<LiteServerAccountState>, ProvenAccountValue {}

export interface AccountStateOptions extends ReadAt {
  /** Omit code, data and libraries (their hashes remain), for a small answer. */
  readonly pruned?: boolean;
}

export interface AccountStateReaderModules {
  readonly blockIds: BlockLookup;
  readonly proven: ProvenBlocks;
  readonly shardTops: ShardTopReader;
  readonly blockData: BlockDataReader;
  /** `null`: every state is read. */
  readonly kept: KeptAccounts | null;
}

/** Reads account states. */
export class AccountStateReader {
  readonly #modules: AccountStateReaderModules;

  constructor(modules: AccountStateReaderModules) {
    this.#modules = modules;
  }

  async account(
    context: ReadContext,
    address: Address,
    { at, pruned = false }: AccountStateOptions,
  ): Promise<AccountStateRead> {
    const { blockIds, kept } = this.#modules;
    const block = await blockIds.resolveBlock(context, at);
    const isKept = context.caches && isMasterchain(block.id) && address.workchain !== MASTERCHAIN;
    if (!isKept || context.wantsProof) return this.#after(context, address, block, { pruned, immutable: true });
    const value = await kept?.find(address, block, pruned);
    if (value === undefined) return this.#after(context, address, block, { pruned, immutable: true, kept });
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: null };
  }

  /** Reads the state after an already proven block; the answer is not cached. */
  async accountAfter(context: ReadContext, address: Address, block: ProvenBlock): Promise<AccountStateRead> {
    const { id } = block;
    if (id.seqno === 0) throw chainErrors.zerostate({ block: printPosition(id) });
    const { workchain, hash } = address;
    if (!isMasterchain(id) && !(id.workchain === workchain && shardContains(id.shard, accountPrefix(hash)))) {
      const wanted = `a masterchain block, or a block of the shard of ${address.toRaw()}`;
      throw chainErrors.parameter({ name: 'block', value: printPosition(id), wanted });
    }
    return this.#after(context, address, block, { pruned: false, immutable: false });
  }

  async #after(
    context: ReadContext,
    address: Address,
    block: ProvenBlock,
    how: AccountQueryOptions,
  ): Promise<AccountStateRead> {
    const { proven } = this.#modules;
    let found: CheckedAnswer<ProvenAccountValue, LiteServerAccountState>;
    try {
      found = await this.#ask(context, address, block, how);
    } catch (error) {
      const read = isNotAvailable(error) ? await this.#inZerostate(context, address, block) : null;
      if (read === null) throw error;
      if (read.cell === null) context.reportAbsent(address);
      return read;
    }
    const { value, answer } = found;
    const { shard_block, shard_utime, cell } = value;
    if (cell === null) context.reportAbsent(address);
    const mc_seqno = isMasterchain(block.id) ? block.id.seqno : block.mc_seqno;
    if (shard_block !== null) {
      proven.add({ id: shard_block, gen_utime: shard_utime, mc_seqno });
      const answerBytes = answer.state.length + answer.proof.length + answer.shard_proof.length;
      how.kept?.keep(address, block, value, { pruned: how.pruned, answerBytes });
    }
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: context.proof(answer) };
  }

  #ask(
    context: ReadContext,
    address: Address,
    block: ProvenBlock,
    { pruned, immutable }: AccountQueryOptions,
  ): Promise<CheckedAnswer<ProvenAccountValue, LiteServerAccountState>> {
    const { id } = block;
    return context.query({
      fn: pruned ? LiteServerGetAccountStatePrunned : LiteServerGetAccountState,
      query: { id: blockIdToTl(id), account: { workchain: address.workchain, id: address.hash } },
      need: needOfState(block),
      immutable,
      verifiedAs: 'account',
      prepare: ({ state }) => hashAhead(state),
      verify: (answer) => {
        expectBlock(answer.id, id);
        const { shard_proof, proof, state } = answer;
        const parts = { shard_block: copyBlockId(answer.shardblk), shard_proof, proof, state };
        return decoded((pruned ? verifyPrunedAccountState : verifyAccountState)(id, address, parts));
      },
    });
  }

  /** Servers have no account proofs for a zerostate, the state of a shard until its first block: it is read as a whole. */
  async #inZerostate(context: ReadContext, address: Address, block: ProvenBlock): Promise<AccountStateRead | null> {
    const { shardTops, blockData } = this.#modules;
    const shard = { workchain: address.workchain, shard: accountPrefix(address.hash) };
    const top = await shardTops.topOf(context, block, shard);
    if (top === null || top.block.seqno !== 0) return null;
    const { state } = await blockData.zerostate(context, top.block);
    const shard_account = state.state.accounts.value.get(address.hash) ?? null;
    const account = shard_account?.account.cell ?? null;
    const value = decoded({ shard_state: state, shard_account, account });
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: null };
  }
}

/** Options of an account query. */
interface AccountQueryOptions {
  readonly pruned: boolean;
  /** Whether the answer may be cached. */
  readonly immutable: boolean;
  /** Where the state is kept for later blocks. */
  readonly kept?: KeptAccounts | null;
}

/** Decodes everything that was requested, so that an incomplete answer is detected immediately. */
function decoded({ shard_state, shard_account, account: cell }: ProvenAccountState): ProvenAccountValue {
  const account = cell === null ? null : inPart('state', () => decodeCell(Account, cell));
  return {
    shard_block: shard_state?.id ?? null,
    shard_utime: shard_state?.state.gen_utime ?? null,
    shard_lt: shard_state?.state.gen_lt ?? null,
    cell,
    account,
    last_transaction: lastTransaction(shard_account),
  };
}

function lastTransaction(entry: ProvenAccountState['shard_account']): TransactionRef | null {
  if (entry === null || entry.last_trans_lt === 0n) return null;
  return { lt: entry.last_trans_lt, hash: entry.last_trans_hash };
}

/** Selects transactions of an account, newest first. */
export interface HistoryOptions extends ReadOptions {
  /** The newest transaction, with its hash. Default: the account's last transaction at `at`. */
  readonly from?: TransactionRef;
  /** The block that determines the account's last transaction when `from` is absent. Default: the newest block. */
  readonly at?: BlockAt;
  /** Maximum number. Default: 16 for a list, unlimited for a walk. */
  readonly limit?: number;
  /** Exclusive lower bound of the lt. */
  readonly to_lt?: bigint;
}

/**
 * Consecutive transactions of an account: each is proven by `prev_trans_hash` of the next one. They reach back to the first
 * one since the account was last created: there is no link to transactions before a deletion.
 */
export interface HistoryRead {
  /** The block that proves the account's last transaction; `null` when `from` was given. */
  readonly block: BlockId | null;
  readonly gen_utime: number | null;
  readonly transactions: readonly ProvenTransaction[];
  /** The transaction before the last listed one; `null` when that was the first since the account was created. */
  readonly next: TransactionRef | null;
  readonly proof: readonly LiteServerTransactionList[] | null;
}

/** Maximum transactions per answer. */
const MAX_TRANSACTIONS_PER_QUERY = 16;

type Page = CheckedAnswer<ProvenTransactions, LiteServerTransactionList>;

/** Reads transactions of accounts, across splits and merges of their shards. */
export class AccountHistoryReader {
  readonly #states: AccountStateReader;

  constructor(states: AccountStateReader) {
    this.#states = states;
  }

  async transactions(context: ReadContext, address: Address, options: HistoryOptions): Promise<HistoryRead> {
    const limit = limitOf(options, MAX_TRANSACTIONS_PER_QUERY);
    const start = await this.#start(context, address, options);
    const transactions: ProvenTransaction[] = [];
    const answers: LiteServerTransactionList[] = [];
    let next = start.next;
    for await (const { value, answer } of this.#pages(() => context, address, { ...options, limit }, next)) {
      transactions.push(...value.transactions);
      next = value.next;
      if (context.wantsProof) answers.push(answer);
    }
    const { block, gen_utime } = start;
    return { block, gen_utime, transactions, next, proof: context.proof(answers) };
  }

  /**
   * Iterates over transactions and queries more pages on demand.
   * @param newContext creates a context for each query: a walk may take longer than any deadline
   */
  async *walk(
    newContext: () => ReadContext,
    address: Address,
    options: HistoryOptions,
  ): AsyncGenerator<ProvenTransaction> {
    const limit = limitOf(options, Number.POSITIVE_INFINITY);
    const { next } = await this.#start(newContext(), address, options);
    for await (const { value } of this.#pages(newContext, address, { ...options, limit }, next))
      yield* value.transactions;
  }

  async #start(
    context: ReadContext,
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
    const read = await this.#states.account(context, address, { pruned: true, ...(at === undefined ? {} : { at }) });
    return { block: read.block, gen_utime: read.gen_utime, next: read.last_transaction };
  }

  async *#pages(
    newContext: () => ReadContext,
    address: Address,
    { limit, to_lt = 0n }: HistoryOptions & { readonly limit: number },
    from: TransactionRef | null,
  ): AsyncGenerator<Page> {
    let next = from;
    let archive = false;
    for (let left = limit; next !== null && left > 0 && next.lt > to_lt; ) {
      const count = Math.min(left, MAX_TRANSACTIONS_PER_QUERY);
      const { value, answer } = await this.#page(newContext(), address, next, count, archive);
      const { transactions } = value;
      // A server that returns fewer than requested, although there are more, has reached the end of its history.
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

  async #page(
    context: ReadContext,
    address: Address,
    from: TransactionRef,
    count: number,
    archive: boolean,
  ): Promise<Page> {
    const liteQuery = {
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
        if (length === 0) throw chainErrors['incomplete-answer']({ problem: 'it contains no transaction' });
        if (length > count) {
          throw chainErrors['incomplete-answer']({
            problem: `it contains ${length} transactions, but ${count} were requested`,
          });
        }
        return proven;
      },
    };
    return archive ? context.query({ ...liteQuery, need: { kind: 'archive' } }) : context.queryAnyAge(liteQuery);
  }
}

/** @throws chain/parameter */
function limitOf({ limit }: HistoryOptions, fallback: number): number {
  if (limit === undefined) return fallback;
  if (limit === Number.POSITIVE_INFINITY || (Number.isInteger(limit) && limit >= 1)) return limit;
  throw chainErrors.parameter({ name: 'limit', value: String(limit), wanted: 'a whole number from 1 on' });
}

/**
 * Hashes a large bag of cells in slices, between which other requests get their turn; a state of 65,536 cells, the most that an
 * account has, takes 100 ms. What is wrong with it is left to the verification.
 *
 * @returns undefined when the bag is not large
 */
function hashAhead(bytes: Uint8Array): Promise<void> | undefined {
  return bytes.length < LARGE_BYTES ? undefined : hashInSlices(bytes);
}

async function hashInSlices(bytes: Uint8Array): Promise<void> {
  const slices = new WorkSlices(systemClock, null);
  try {
    slices.begin();
    const { table } = parseBocAhead(bytes);
    // References are to later cells only.
    for (let cell = table.count - 1; cell >= 0; cell--) {
      table.hashOffset(cell);
      if (slices.isOver) await slices.next();
    }
  } catch (error) {
    if (!isTernError(error)) throw error;
  }
}
