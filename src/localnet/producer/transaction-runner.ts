import type { TvmPrevBlocksInfo } from '#drivers/tvm/request-fields.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  type BlockAccount,
  type BlockAccounts,
  creditedAccount,
  type NewTransaction,
  NO_SHARD_ACCOUNT,
} from '#localnet/producer/block-accounts.js';
import type { Emulation, PendingExternalIn } from '#localnet/producer/block-request.js';
import { producerErrors } from '#localnet/producer/errors.js';

/** What all transactions of a block have in common. */
export interface TransactionContext {
  /** Root of the configuration. */
  readonly config: Cell;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly start_lt: bigint;
  /** 32 bytes. */
  readonly rand_seed: Uint8Array;
  readonly prev_blocks_info: TvmPrevBlocksInfo;
  /** Root of the masterchain's libraries. */
  readonly libraries: Cell | null;
  readonly resolveLibrary?: (hashes: readonly Uint8Array[]) => Promise<readonly (Cell | null)[]>;
}

/** Why no transaction was created. */
export interface TransactionRefusal {
  readonly exit_code: number | null;
  readonly problem: string;
}

/**
 * What causes a transaction: a message, or tick-tock. Gas of special messages does not count toward the block limits.
 */
export type Cause = { readonly message: Cell; readonly special?: boolean } | { readonly which: 'tick' | 'tock' };

/** Executes the transactions of a block, and tracks lt, gas and time. */
export class TransactionRunner {
  readonly #emulation: Emulation;
  readonly #context: TransactionContext;
  readonly #now: () => number;
  /** End lt of the latest transaction, at least `start_lt` + 1: the block's `end_lt`. */
  end_lt: bigint;
  count = 0;
  gas = 0n;
  emulateMs = 0;

  constructor(emulation: Emulation, context: TransactionContext, now: () => number) {
    this.#emulation = emulation;
    this.#context = context;
    this.#now = now;
    this.end_lt = context.start_lt + 1n;
  }

  /**
   * Executes a transaction and updates the account, or returns why there is none.
   * @param least minimum lt of the transaction
   * @throws what the emulation throws; producer/transaction-mismatch
   */
  async run(account: BlockAccount, cause: Cause, least: bigint): Promise<NewTransaction | TransactionRefusal> {
    // The state of an account that was deleted in this block does not contain its last lt.
    const lt = this.ltAfter(account, least);
    const { config, gen_utime, rand_seed, prev_blocks_info, libraries, resolveLibrary } = this.#context;
    const common = {
      shard_account: account.current,
      config,
      now: gen_utime,
      lt,
      rand_seed,
      prev_blocks_info,
      libraries,
      ...(resolveLibrary === undefined ? {} : { resolveLibrary }),
    };
    const began = this.#now();
    const result = await ('which' in cause
      ? this.#emulation.emulateTickTock({ ...common, which: cause.which })
      : this.#emulation.emulateTransaction({ ...common, message: cause.message }));
    this.emulateMs += this.#now() - began;
    if (!result.accepted) return { exit_code: result.exit_code, problem: result.problem };
    const value = decodeCell(Transaction, result.transaction);
    const transaction = { cell: result.transaction, value };
    this.#check(account, cause, lt, transaction, result.shard_account);
    this.add(account, transaction, result.shard_account);
    if ('message' in cause && cause.special !== true) this.gas += gasOf(value);
    return transaction;
  }

  /** The minimum lt of the account's next transaction, at least `lt`. */
  ltAfter(account: BlockAccount, lt: bigint): bigint {
    const last = account.transactions.at(-1);
    const end = last === undefined ? 0n : endOf(last.value);
    return end > lt ? end : lt;
  }

  /** As {@link ltAfter}, for a transaction that receives this message. */
  ltOf(account: BlockAccount, message: Cell, lt: bigint): bigint {
    const { info } = decodeCell(Message, message);
    const created = info.kind === 'ext_in_msg_info' ? 0n : info.created_lt;
    return this.ltAfter(account, created >= lt ? created + 1n : lt);
  }

  /** Adds a transaction that was not executed by the TVM. */
  add(account: BlockAccount, transaction: NewTransaction, after: Cell): void {
    const { value } = transaction;
    account.current = after;
    account.transactions.push(transaction);
    const end = endOf(value);
    if (end > this.end_lt) this.end_lt = end;
    this.count++;
  }

  #check(account: BlockAccount, cause: Cause, lt: bigint, { cell, value }: NewTransaction, after: Cell): void {
    const fail = (problem: string) =>
      producerErrors['transaction-mismatch']({ account: account.address.toRaw(), problem });
    const { start_lt, gen_utime } = this.#context;
    if (value.lt < lt || value.lt <= start_lt) throw fail(`its lt ${value.lt} is below ${lt}`);
    if (value.now !== gen_utime) throw fail(`its time is ${value.now} instead of ${gen_utime}`);
    if (!bytesEqual(value.account_addr, account.address.hash)) throw fail('it is of another account');
    const { old_hash, new_hash } = value.state_update.value;
    if (!bytesEqual(old_hash, account.current.ref(0).hash())) throw fail('it begins with another state');
    if (!bytesEqual(new_hash, after.ref(0).hash())) throw fail('it ends with another state');
    if ('message' in cause && !bytesEqual(value.in_msg?.cell.hash() ?? new Uint8Array(0), cause.message.hash()))
      throw fail('it has another message');
    if (cell.levelMask !== 0) throw fail('a part of it is left out');
  }
}

/** The lt after a transaction and its outbound messages. */
function endOf({ lt, outmsg_cnt }: Transaction): bigint {
  return lt + 1n + BigInt(outmsg_cnt);
}

function gasOf({ description }: Transaction): bigint {
  const { value } = description;
  if (!('compute_ph' in value) || value.compute_ph.kind !== 'tr_phase_compute_vm') return 0n;
  return value.compute_ph.gas_used;
}

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
