import type { NewTransaction, TransactionRefusal, TransactionRunner } from '#drivers/tvm/transaction-runner.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { NO_SHARD_ACCOUNT, ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { type BlockAccount, type BlockAccounts, creditedAccount } from '#localnet/producer/block-accounts.js';
import type { PendingExternalIn } from '#localnet/producer/block-request.js';
import { producerErrors } from '#localnet/producer/errors.js';

/** Inputs of message processing. */
export interface ReceptionContext {
  readonly start_lt: bigint;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly faults: MessageFaults;
  /** The state of an account in the forked network; null when it does not exist there. */
  readonly forkedAccount: ((address: Address) => Promise<Cell | null>) | null;
}

/** A transaction and its account. */
export interface Received {
  readonly account: BlockAccount;
  readonly transaction: NewTransaction;
}

/** Executes the transactions of messages, and tracks value that does not come or go with messages. */
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
   * Opens an account, existing or not. An account that the chain does not have may be imported from the forked network.
   * @param id 32 bytes
   * @throws producer/foreign-account
   */
  async open(id: Uint8Array): Promise<BlockAccount> {
    const account = this.#accounts.get(id);
    const { forkedAccount } = this.#base;
    if (forkedAccount === null || account.current !== NO_SHARD_ACCOUNT) return account;
    const foreign = await forkedAccount(account.address);
    const problem = foreign === null ? null : this.import(account, foreign);
    if (problem !== null) throw producerErrors['foreign-account']({ account: account.address.toRaw(), problem });
    return account;
  }

  /** Imports the state of an account that the chain does not have. @returns what is wrong with it */
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

  /** Value that came with imported accounts and state overrides. */
  get gained(): CurrencyCollection {
    return this.#gained;
  }

  gain(value: CurrencyCollection): void {
    this.#gained = addCurrency(this.#gained, value);
  }

  /** Value that was burned, besides fees. */
  get burned(): CurrencyCollection {
    return this.#burned;
  }

  burn(value: CurrencyCollection): void {
    this.#burned = addCurrency(this.#burned, value);
  }

  /**
   * Executes an external-in message.
   * @returns `later` when neither contract nor message caused the failure
   */
  async external({ message, dest }: PendingExternalIn, lt: bigint): Promise<Received | TransactionRefusal | 'later'> {
    try {
      const account = await this.open(dest.hash);
      const result = await this.#runner.run(account, { message }, lt);
      return 'cell' in result ? { account, transaction: result } : result;
    } catch (error) {
      return isOwnFault(error) ? { exit_code: null, problem: (error as Error).message } : 'later';
    }
  }

  /**
   * Executes an internal message. A message that the TVM repeatedly fails to execute is credited without execution.
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

/** Errors caused by the message or its contract, not by busy or closing TVM workers. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  'tvm/timeout',
  'tvm/crashed',
  'tvm/refused',
  'tvm/bad-library',
  'producer/foreign-account',
]);

/** Number of attempts to execute an internal message. */
const TRIES = 3;
const MOST_KNOWN = 1_000;

/** Whether an error shows that the message cannot be executed; otherwise it may be tried again later. */
function isOwnFault(error: unknown): boolean {
  return isTernError(error) && OWN_FAULTS.has(error.code);
}

/** Counts failed attempts to execute messages. */
export class MessageFaults {
  readonly #counts = new Map<string, number>();

  /** Counts one more. @returns whether to give up */
  add(hash: Uint8Array): boolean {
    const key = toHex(hash);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.delete(key);
    if (count >= TRIES) return true;
    if (this.#counts.size >= MOST_KNOWN) this.#counts.clear();
    this.#counts.set(key, count);
    return false;
  }
}
