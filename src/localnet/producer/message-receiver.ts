import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import {
  type BlockAccount,
  type BlockAccounts,
  type BlockTransaction,
  NO_SHARD_ACCOUNT,
} from '#localnet/producer/block-accounts.js';
import { creditedAccount } from '#localnet/producer/changed-account.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { isOwnFault, type MessageFaults } from '#localnet/producer/message-faults.js';
import type { ExternalMessage } from '#localnet/producer/round-request.js';
import type { Refusal, TransactionRunner } from '#localnet/producer/transaction-runner.js';

/** What messages are received with. */
export interface ReceptionContext {
  readonly start_lt: bigint;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly faults: MessageFaults;
  /** The state of an account that another chain may have; null when it has none. */
  readonly foreignAccount: ((address: Address) => Promise<Cell | null>) | null;
}

/** A transaction of a message, and whose it is. */
export interface Received {
  readonly account: BlockAccount;
  readonly transaction: BlockTransaction;
}

/** Makes the transactions of messages, and knows of the value that came and went otherwise. */
export class MessageReceiver {
  readonly #base: ReceptionContext;
  readonly #runner: TransactionRunner;
  readonly #accounts: BlockAccounts;
  #gained = NO_CURRENCY;
  #burned = NO_CURRENCY;

  constructor(base: ReceptionContext, runner: TransactionRunner, accounts: BlockAccounts) {
    this.#base = base;
    this.#runner = runner;
    this.#accounts = accounts;
  }

  /**
   * The account, whether it is there or not. One that the chain does not have may be taken over from another chain.
   * @param id 32 bytes
   * @throws producer/foreign-account
   */
  async open(id: Uint8Array): Promise<BlockAccount> {
    const account = this.#accounts.get(id);
    const { foreignAccount } = this.#base;
    if (foreignAccount === null || account.current !== NO_SHARD_ACCOUNT) return account;
    const foreign = await foreignAccount(account.address);
    const problem = foreign === null ? null : this.import(account, foreign);
    if (problem !== null) throw producerErrors['foreign-account']({ account: account.address.toRaw(), problem });
    return account;
  }

  /** Takes over the state of an account that the chain does not have. @returns what is wrong with it */
  import(account: BlockAccount, shardAccount: Cell): string | null {
    const value = decodeCell(ShardAccount, shardAccount).account.value;
    if (value.kind === 'account_none') return 'it says that there is none';
    const { addr, storage } = value;
    if (!(addr instanceof Address) || !addr.equals(account.address)) return 'it is the state of another account';
    if (storage.last_trans_lt > this.#base.start_lt)
      return `its last transaction ended at lt ${storage.last_trans_lt}, the block begins at ${this.#base.start_lt}`;
    account.import(shardAccount);
    this.gain(storage.balance);
    return null;
  }

  /** Value that came from nowhere: with accounts of other chains, and by changes from outside. */
  get gained(): CurrencyCollection {
    return this.#gained;
  }

  gain(value: CurrencyCollection): void {
    this.#gained = addCurrency(this.#gained, value);
  }

  /** Value that is destroyed, beside fees. */
  get burned(): CurrencyCollection {
    return this.#burned;
  }

  burn(value: CurrencyCollection): void {
    this.#burned = addCurrency(this.#burned, value);
  }

  /**
   * Makes the transaction of a message from outside.
   * @returns `later` when neither contract nor message are to blame that there is none
   */
  async external({ message, dest }: ExternalMessage, lt: bigint): Promise<Received | Refusal | 'later'> {
    try {
      const account = await this.open(dest.hash);
      const result = await this.#runner.run(account, { message }, lt);
      return 'cell' in result ? { account, transaction: result } : result;
    } catch (error) {
      return isOwnFault(error) ? { exit_code: null, problem: (error as Error).message } : 'later';
    }
  }

  /**
   * Makes the transaction of a message between accounts. One that no machine can execute, however often it is tried,
   * brings its value and does nothing.
   * @returns null when it is to be tried again
   */
  async internal(message: Cell): Promise<Received | null> {
    const lt = this.#base.start_lt + 1n;
    const runner = this.#runner;
    const base = this.#base;
    let account: BlockAccount;
    try {
      account = await this.open(receiverOf(message));
      const result = await runner.run(account, { message }, lt);
      if ('cell' in result) return { account, transaction: result };
    } catch (error) {
      if (!isOwnFault(error)) return null;
      account = this.#accounts.get(receiverOf(message));
    }
    if (!base.faults.add(message.hash())) return null;
    const before = decodeCell(ShardAccount, account.current);
    const context = { address: account.address, lt: runner.ltOf(account, message, lt), now: base.gen_utime };
    const { transaction, after } = creditedAccount(before, message, context);
    runner.add(account, transaction, after);
    return { account, transaction };
  }
}

/** Account id of the receiver of an internal message. @throws producer/no-receiver */
export function receiverOf(message: Cell): Uint8Array {
  const { info } = decodeCell(Message, message);
  if (info.kind === 'int_msg_info' && info.dest instanceof Address) return info.dest.hash;
  throw producerErrors['no-receiver']({ found: info.kind });
}
