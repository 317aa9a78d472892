import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { PendingExternalIn } from '#localnet/producer/block-request.js';
import { buildInternalMessage, commentBody, createTransfer, MAX_QUERY } from '#localnet/wallets/create-transfer.js';
import { type FundedWallet, HIGHLOAD_TIMEOUT } from '#localnet/wallets/wallet-contract.js';

/** Query ids of a highload wallet per second: an id repeats after this many seconds, when it has long expired. */
const QUERIES_A_SECOND = 1023;
const SECONDS = (MAX_QUERY + 1) / QUERIES_A_SECOND;

/** Messages are dated back by this much, so that a block with an earlier time accepts them. */
const AGE_SECONDS = 60;

export interface FaucetModules {
  /** Unix seconds: the time of the network. */
  readonly now: () => number;
  /** [0, 1), not necessarily secret. */
  readonly random: () => number;
}

/** Sends coins from a highload wallet, whose messages need no order. */
export class Faucet {
  readonly #wallet: FundedWallet;
  readonly #modules: FaucetModules;
  /** The second whose query ids are used. It is ahead of the time while more queries are needed than a second has. */
  #second = -1;
  /** Query ids of it that have not been used. */
  #left = 0;
  #query = 0;

  constructor(wallet: FundedWallet, modules: FaucetModules) {
    this.#wallet = wallet;
    this.#modules = modules;
  }

  get address(): Address {
    return this.#wallet.address;
  }

  /**
   * Creates the external-in message that sends coins without bounce, so that non-existing accounts receive them as
   * well.
   * @param amount nanotons
   */
  transfer(to: Address, amount: bigint, comment: string | null): PendingExternalIn {
    const body = comment === null ? {} : { body: commentBody(comment) };
    return this.batch([buildInternalMessage({ to, value: amount, bounce: false, ...body })]);
  }

  /** Creates the external-in message that sends up to 254 messages (`MessageRelaxed`) at once. */
  batch(messages: readonly Cell[]): PendingExternalIn {
    const message = createTransfer(this.#wallet, {
      seqno: this.#nextQuery(),
      validUntil: this.#modules.now() - AGE_SECONDS + HIGHLOAD_TIMEOUT,
      messages: messages.map((each) => ({ message: each, mode: 1 })),
    });
    return { message, dest: this.#wallet.address };
  }

  /** A query id that was not used in the last hours, and probably not by a process that ended in this second. */
  #nextQuery(): number {
    const now = this.#modules.now();
    if (now > this.#second) {
      this.#second = now;
      this.#left = QUERIES_A_SECOND;
      this.#query = Math.floor(this.#modules.random() * QUERIES_A_SECOND);
    } else if (this.#left === 0) {
      // The time may stand still. The wallet does not compare query ids with it.
      this.#second++;
      this.#left = QUERIES_A_SECOND;
    }
    this.#left--;
    this.#query = (this.#query + 1) % QUERIES_A_SECOND;
    return (this.#second % SECONDS) * QUERIES_A_SECOND + this.#query;
  }
}
