import { AccountStatus } from '#formats/tlb/account-status.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { deferred, maybe, ref } from '#formats/tlb/codec/composites.js';
import { type Dictionary, hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { bits256, uint, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { group, record } from '#formats/tlb/codec/record.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { Message } from '#formats/tlb/message.js';
import { type TransactionDescrOf, transactionDescr } from '#formats/tlb/transaction-descr.js';

/** A transaction: one step of one account. Its cell's hash is the transaction's hash. */
export interface Transaction {
  /** The address without workchain. */
  readonly account_addr: Uint8Array;
  /** Logical time of the transaction; the messages that it sends have `lt + 1`, `lt + 2`, … */
  readonly lt: bigint;
  readonly prev_trans_hash: Uint8Array;
  /** Of the previous transaction of this account; 0 for the first one. */
  readonly prev_trans_lt: bigint;
  /** Unix seconds: when its block was made. */
  readonly now: number;
  readonly outmsg_cnt: number;
  readonly orig_status: AccountStatus;
  readonly end_status: AccountStatus;
  readonly in_msg: Lazy<Message> | null;
  /** By number from 0, in the order of sending. */
  readonly out_msgs: Dictionary<number, Lazy<Message>>;
  /** Nanotons, without the forward fees of messages that go on to other accounts. */
  readonly total_fees: CurrencyCollection;
  /** Hashes of the `Account` cell. */
  readonly state_update: Lazy<HASH_UPDATE>;
  readonly description: Lazy<TransactionDescr>;
}

/** What kind of transaction it is (ordinary, tick-tock, split, merge) and how its phases went. */
export type TransactionDescr = TransactionDescrOf<Transaction>;
export const TransactionDescr: Codec<TransactionDescr> = transactionDescr<Transaction>(
  deferred('Transaction', () => Transaction),
);

export const Transaction: Codec<Transaction> = record(
  'transaction$0111 account_addr:bits256 lt:uint64 prev_trans_hash:bits256 prev_trans_lt:uint64 now:uint32 outmsg_cnt:uint15 orig_status:AccountStatus end_status:AccountStatus ^[ in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)) ] total_fees:CurrencyCollection state_update:^(HASH_UPDATE Account) description:^TransactionDescr = Transaction;',
  {
    account_addr: bits256,
    lt: uint64,
    prev_trans_hash: bits256,
    prev_trans_lt: uint64,
    now: uint32,
    outmsg_cnt: uint(15),
    orig_status: AccountStatus,
    end_status: AccountStatus,
    '^messages': group({ in_msg: maybe(ref(Message)), out_msgs: hashmapE(uintKey(15), ref(Message)) }),
    total_fees: CurrencyCollection,
    state_update: ref(HASH_UPDATE),
    description: ref(TransactionDescr),
  },
);
