import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerTransactionList } from '#formats/tl/lite-api.js';
import { shardAccountCell } from '#formats/tlb/account.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource, ForkStart } from '#localnet/fork/fork-source.js';
import type { ChainReads } from '#services/chain/chain-reads.js';

/** Proving the head of a network from the trusted block may take many queries. */
const START_MS = 120_000;

const READ_MS = 20_000;

/**
 * Reads the block and configuration that a fork starts from.
 *
 * @param at seqno of a masterchain block; null for the newest one
 * @param source name of the network for users
 * @throws fork/bad-block, fork/no-start
 */
export async function readForkStart(chain: ChainReads, at: number | null, source: string): Promise<ForkStart> {
  if (at === 0) throw forkErrors['bad-block']({ source, problem: 'block 0 is the zerostate, which is no block' });
  const limits = { deadlineMs: START_MS };
  try {
    const head = await chain.head(limits);
    if (head.block.seqno === 0) throw forkErrors['bad-block']({ source, problem: 'it has no block yet' });
    if (at !== null && at > head.block.seqno) {
      const problem = `there is no block ${at} yet, the newest one is ${head.block.seqno}`;
      throw forkErrors['bad-block']({ source, problem });
    }
    const { block, header } = await chain.header({ ...limits, at: at ?? head.block });
    const { root } = await chain.config({ ...limits, at: block });
    const { gen_utime, end_lt } = header.info;
    return { block, gen_utime, end_lt, global_id: header.block.global_id, config: root };
  } catch (error) {
    if (!isTernError(error) || error.code === forkErrors['bad-block'].code) throw error;
    throw forkErrors['no-start']({ source, problem: error.message }, error);
  }
}

export interface ChainForkOptions {
  /** The masterchain block whose state is read. */
  readonly block: BlockId;
  /** Name of the network for users. */
  readonly source: string;
}

/** The state of a network after a block, by verified reads. */
export class ChainFork implements ForkSource {
  readonly #options: ChainForkOptions;
  readonly #chain: ChainReads;

  constructor(options: ChainForkOptions, chain: ChainReads) {
    this.#options = options;
    this.#chain = chain;
  }

  async account(address: Address): Promise<Cell | null> {
    const { block } = this.#options;
    const read = await this.#try(`account ${address.toRaw()}`, () =>
      this.#chain.account(address, { at: block, deadlineMs: READ_MS, cache: false }),
    );
    const { cell, account, last_transaction } = read;
    if (cell === null || account?.kind !== 'account') return null;
    return shardAccountCell(cell, last_transaction);
  }

  async library(hash: Uint8Array): Promise<Cell | null> {
    const { block: at } = this.#options;
    const { libraries } = await this.#try(`library ${toHex(hash)}`, () =>
      this.#chain.libraries([hash], { at, deadlineMs: READ_MS, cache: false }),
    );
    return libraries.get(toHex(hash)) ?? null;
  }

  async transactions(address: Address, from: TransactionRef, count: number): Promise<Uint8Array> {
    const what = `transaction ${toHex(from.hash)} of ${address.toRaw()}`;
    const { proof } = await this.#try(what, () =>
      this.#chain.accountTransactions(address, { from, limit: count, deadlineMs: READ_MS, proof: true, cache: false }),
    );
    return encodeBoxed(LiteServerTransactionList, proof![0]!);
  }

  async #try<T>(what: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!isTernError(error)) throw error;
      const { source, block } = this.#options;
      const place = isMasterchain(block) ? `${source}, block ${block.seqno}` : `${source}, ${printPosition(block)}`;
      throw forkErrors.unreachable({ what, source: place, problem: error.message }, error);
    }
  }
}

/** A forked network that is opened lazily; a failed attempt is repeated on the next read. */
export class LazyChainFork implements ForkSource {
  readonly #options: ChainForkOptions;
  readonly #open: () => Promise<ChainReads>;
  #chain: Promise<ChainReads> | null = null;

  constructor(options: ChainForkOptions, open: () => Promise<ChainReads>) {
    this.#options = options;
    this.#open = open;
  }

  /** Reads of the network. @throws what opening it throws */
  async opened(): Promise<ChainReads> {
    this.#chain ??= this.#open();
    const opening = this.#chain;
    try {
      return await opening;
    } catch (error) {
      if (this.#chain === opening) this.#chain = null;
      throw error;
    }
  }

  async account(address: Address): Promise<Cell | null> {
    return (await this.#fork(`account ${address.toRaw()}`)).account(address);
  }

  async library(hash: Uint8Array): Promise<Cell | null> {
    return (await this.#fork(`library ${toHex(hash)}`)).library(hash);
  }

  async transactions(address: Address, from: TransactionRef, count: number): Promise<Uint8Array> {
    return (await this.#fork(`transactions of ${address.toRaw()}`)).transactions(address, from, count);
  }

  async #fork(what: string): Promise<ForkSource> {
    try {
      return new ChainFork(this.#options, await this.opened());
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw forkErrors.unreachable({ what, source: this.#options.source, problem: error.message }, error);
    }
  }
}

/** Accounts and libraries that are known not to exist there; beyond this many the oldest are forgotten. */
const MAX_ABSENT = 65_536;

/**
 * Reads of a fork source: identical reads in flight are coalesced, and what does not exist there is not read again.
 */
export class CachedForkSource implements ForkSource {
  readonly #source: ForkSource;
  readonly #absent = new Set<string>();
  readonly #inFlight = new Map<string, Promise<Cell | null>>();

  constructor(source: ForkSource) {
    this.#source = source;
  }

  account(address: Address): Promise<Cell | null> {
    return this.#once(address.toRaw(), () => this.#source.account(address));
  }

  library(hash: Uint8Array): Promise<Cell | null> {
    return this.#once(toHex(hash), () => this.#source.library(hash));
  }

  transactions(address: Address, from: TransactionRef, count: number): Promise<Uint8Array> {
    return this.#source.transactions(address, from, count);
  }

  async #once(key: string, read: () => Promise<Cell | null>): Promise<Cell | null> {
    if (this.#absent.has(key)) return null;
    let reading = this.#inFlight.get(key);
    if (reading === undefined) {
      reading = read().finally(() => this.#inFlight.delete(key));
      this.#inFlight.set(key, reading);
    }
    const found = await reading;
    if (found === null) this.#rememberAbsent(key);
    return found;
  }

  #rememberAbsent(key: string): void {
    this.#absent.add(key);
    if (this.#absent.size <= MAX_ABSENT) return;
    const [oldest] = this.#absent;
    this.#absent.delete(oldest!);
  }
}
