import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { ChainFork, type ChainForkOptions } from '#localnet/fork/chain-fork.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { ChainReads } from '#services/chain/chain-reads.js';

/** A forked network that is opened when it is first needed; when that fails, it is tried again the next time. */
export class LateFork implements ForkSource {
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
