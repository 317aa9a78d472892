import type { Address } from '#formats/address/address.js';
import type { ExternalInMessage } from '#localnet/producer/block-request.js';
import { buildInternalMessage, commentBody, createTransfer, MAX_QUERY } from '#localnet/wallets/create-transfer.js';
import { type FundedWallet, HIGHLOAD_TIMEOUT } from '#localnet/wallets/wallet-contract.js';

/** Queries of a highload wallet by the second: a number comes again after as many seconds, when it is long forgotten. */
const QUERIES_A_SECOND = 1023;
const SECONDS = (MAX_QUERY + 1) / QUERIES_A_SECOND;

/** The message is made to be this old, so that a block whose time is behind takes it, too. */
const AGE_SECONDS = 60;

export interface FaucetModules {
  /** Unix seconds: the time of the network. */
  readonly now: () => number;
  /** [0, 1), need not be secret. */
  readonly random: () => number;
}

/** Gives coins to anybody: a highload wallet, which needs no order among what it sends. */
export class Faucet {
  readonly #wallet: FundedWallet;
  readonly #modules: FaucetModules;
  #second = -1;
  #query = 0;

  constructor(wallet: FundedWallet, modules: FaucetModules) {
    this.#wallet = wallet;
    this.#modules = modules;
  }

  get address(): Address {
    return this.#wallet.address;
  }

  /**
   * The message from outside that sends coins. It does not bounce: accounts that are not there get them, too.
   * @param amount nanotons
   */
  transfer(to: Address, amount: bigint, comment: string | null): ExternalInMessage {
    const body = comment === null ? {} : { body: commentBody(comment) };
    const message = createTransfer(this.#wallet, {
      seqno: this.#nextQuery(),
      validUntil: this.#modules.now() - AGE_SECONDS + HIGHLOAD_TIMEOUT,
      messages: [{ message: buildInternalMessage({ to, value: amount, bounce: false, ...body }), mode: 1 }],
    });
    return { message, dest: this.#wallet.address };
  }

  /** A number that was not used in the last hours, nor is likely to have been by a process that ended in this second. */
  #nextQuery(): number {
    const now = this.#modules.now();
    if (now !== this.#second) {
      this.#second = now;
      this.#query = Math.floor(this.#modules.random() * QUERIES_A_SECOND);
    }
    this.#query = (this.#query + 1) % QUERIES_A_SECOND;
    return (now % SECONDS) * QUERIES_A_SECOND + this.#query;
  }
}
