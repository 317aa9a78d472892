import { tvmErrors } from '#drivers/tvm/errors.js';
import type { ResolveLibrary, TvmPrevBlocksInfo } from '#drivers/tvm/request-fields.js';
import type { TickTockRequest, TransactionRequest, TransactionResult } from '#drivers/tvm/transaction.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, compareBytes } from '#kernel/bytes.js';

/** A place in the processing order of messages: by lt, then by message hash. */
export interface MessagePlace {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

export function comparePlaces(a: MessagePlace, b: MessagePlace): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return compareBytes(a.hash, b.hash);
}

/** Messages created in a block and not yet received or enqueued, in processing order. */
export class NewMessages<Message extends { readonly place: MessagePlace }> {
  /** The next message is the last element. */
  readonly #waiting: Message[] = [];

  add(message: Message): void {
    const waiting = this.#waiting;
    let low = 0;
    let high = waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comparePlaces(waiting[middle]!.place, message.place) > 0) low = middle + 1;
      else high = middle;
    }
    waiting.splice(low, 0, message);
  }

  next(): Message | null {
    return this.#waiting.pop() ?? null;
  }
}

/** What all transactions of a block have in common. */
export interface BlockConditions {
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
  readonly resolveLibrary?: ResolveLibrary;
  /** All signature checks succeed. */
  readonly ignore_chksig?: boolean;
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

/** A transaction that was executed, encoded and decoded. */
export interface NewTransaction {
  readonly cell: Cell;
  readonly value: Transaction;
}

/** An account in a block, and the transactions that it has there. */
export interface RunAccount {
  readonly address: Address;
  /** `ShardAccount` */
  current: Cell;
  readonly transactions: NewTransaction[];
}

/** Executes transactions, as {@link TvmPool} does. */
export interface Emulation {
  emulateTransaction(request: TransactionRequest): Promise<TransactionResult>;
  emulateTickTock(request: TickTockRequest): Promise<TransactionResult>;
}

/**
 * Executes the transactions of a block, and tracks lt, gas and time. Whoever produces blocks and whoever predicts them execute with
 * the same runner.
 */
export class TransactionRunner {
  readonly #emulation: Emulation;
  readonly #context: BlockConditions;
  readonly #now: () => number;
  /** End lt of the latest transaction, at least `start_lt` + 1: the block's `end_lt`. */
  end_lt: bigint;
  count = 0;
  gas = 0n;
  emulateMs = 0;

  constructor(emulation: Emulation, context: BlockConditions, now: () => number) {
    this.#emulation = emulation;
    this.#context = context;
    this.#now = now;
    this.end_lt = context.start_lt + 1n;
  }

  /**
   * Executes a transaction and updates the account, or returns why there is none.
   * @param least minimum lt of the transaction
   * @throws what the emulation throws; tvm/transaction-mismatch
   */
  async run(account: RunAccount, cause: Cause, least: bigint): Promise<NewTransaction | TransactionRefusal> {
    // The state of an account that was deleted in this block does not contain its last lt.
    const lt = this.ltAfter(account, least);
    const { config, gen_utime, rand_seed, prev_blocks_info, libraries, resolveLibrary, ignore_chksig } = this.#context;
    const common = {
      shard_account: account.current,
      config,
      now: gen_utime,
      lt,
      rand_seed,
      prev_blocks_info,
      libraries,
      ...(resolveLibrary === undefined ? {} : { resolveLibrary }),
      ...(ignore_chksig === undefined ? {} : { ignore_chksig }),
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
  ltAfter(account: RunAccount, lt: bigint): bigint {
    const last = account.transactions.at(-1);
    const end = last === undefined ? 0n : endOf(last.value);
    return end > lt ? end : lt;
  }

  /** As {@link ltAfter}, for a transaction that receives this message. */
  ltOf(account: RunAccount, message: Cell, lt: bigint): bigint {
    const { info } = decodeCell(Message, message);
    const created = info.kind === 'ext_in_msg_info' ? 0n : info.created_lt;
    return this.ltAfter(account, created >= lt ? created + 1n : lt);
  }

  /** Adds a transaction that was not executed by the TVM. */
  add(account: RunAccount, transaction: NewTransaction, after: Cell): void {
    const { value } = transaction;
    account.current = after;
    account.transactions.push(transaction);
    const end = endOf(value);
    if (end > this.end_lt) this.end_lt = end;
    this.count++;
  }

  #check(account: RunAccount, cause: Cause, lt: bigint, { cell, value }: NewTransaction, after: Cell): void {
    const fail = (problem: string) => tvmErrors['transaction-mismatch']({ account: account.address.toRaw(), problem });
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
