import type { PrevBlocksInfo } from '#drivers/tvm/prev-blocks-info.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import type { BlockAccount, BlockTransaction } from '#localnet/producer/block-accounts.js';
import { producerErrors } from '#localnet/producer/errors.js';
import type { Emulation } from '#localnet/producer/round-request.js';

/** What all transactions of a block have in common. */
export interface TransactionContext {
  /** Root of the configuration. */
  readonly config: Cell;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly start_lt: bigint;
  /** 32 bytes. */
  readonly rand_seed: Uint8Array;
  readonly prev_blocks_info: PrevBlocksInfo;
  /** Root of the masterchain's libraries. */
  readonly libraries: Cell | null;
  readonly resolveLibrary?: (hashes: readonly Uint8Array[]) => Promise<readonly (Cell | null)[]>;
}

/** Why there is no transaction. */
export interface Refusal {
  readonly exit_code: number | null;
  readonly problem: string;
}

/** What makes a transaction: a message, or the time for a tick or tock. Gas of special messages counts for no limit. */
export type Cause = { readonly message: Cell; readonly special?: boolean } | { readonly which: 'tick' | 'tock' };

/** Makes the transactions of a block, and keeps account of lt, gas and time. */
export class TransactionRunner {
  readonly #emulation: Emulation;
  readonly #context: TransactionContext;
  readonly #now: () => number;
  /** End of the latest transaction, at least `start_lt` + 1: the block's `end_lt`. */
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
   * Makes a transaction of an account, which it changes, or says why there is none.
   * @param least the lt of the transaction, at the least
   * @throws what emulation throws; producer/transaction-mismatch
   */
  async run(account: BlockAccount, cause: Cause, least: bigint): Promise<BlockTransaction | Refusal> {
    // An account that was deleted in this block knows nothing of its last transaction any more.
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

  /** The next lt that a transaction of the account may have, at least `lt`. */
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

  /** Adds a transaction that was made otherwise. */
  add(account: BlockAccount, transaction: BlockTransaction, after: Cell): void {
    const { value } = transaction;
    account.current = after;
    account.transactions.push(transaction);
    const end = endOf(value);
    if (end > this.end_lt) this.end_lt = end;
    this.count++;
  }

  #check(account: BlockAccount, cause: Cause, lt: bigint, { cell, value }: BlockTransaction, after: Cell): void {
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

/** The lt after a transaction and the messages that it sent. */
export function endOf({ lt, outmsg_cnt }: Transaction): bigint {
  return lt + 1n + BigInt(outmsg_cnt);
}

function gasOf({ description }: Transaction): bigint {
  const { value } = description;
  if (!('compute_ph' in value) || value.compute_ph.kind !== 'tr_phase_compute_vm') return 0n;
  return value.compute_ph.gas_used;
}
