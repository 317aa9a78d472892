import { AccountStatus, AccStatusChange, StorageUsed } from '#formats/tlb/account.js';
import { type AugmentedDictionary, hashmapAug, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, deferred, type Lazy, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bigUintKey, bytesKey, type Dictionary, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import {
  bits256,
  bool,
  grams,
  int8,
  int32,
  uint,
  uint16,
  uint32,
  uint64,
  varUint,
} from '#formats/tlb/codec/primitives.js';
import { enumeration, group, record, union, variant } from '#formats/tlb/codec/record.js';
import { CurrencyCollection, currencySum } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';

/** Hashes before and after: of the `Account` cell around one transaction, or around all transactions of the account in a block. */
export const HASH_UPDATE = record('update_hashes#72 {X:Type} old_hash:bits256 new_hash:bits256 = HASH_UPDATE X;', {
  old_hash: bits256,
  new_hash: bits256,
});
export type HASH_UPDATE = ValueOf<typeof HASH_UPDATE>;

/** Storage fees since the last transaction in nanotons: collected, and still due. */
export const TrStoragePhase = record(
  'tr_phase_storage$_ storage_fees_collected:Grams storage_fees_due:(Maybe Grams) status_change:AccStatusChange = TrStoragePhase;',
  { storage_fees_collected: grams, storage_fees_due: maybe(grams), status_change: AccStatusChange },
);
export type TrStoragePhase = ValueOf<typeof TrStoragePhase>;

/** Due fees are collected, and the value of the message is added to the balance. */
export const TrCreditPhase = record(
  'tr_phase_credit$_ due_fees_collected:(Maybe Grams) credit:CurrencyCollection = TrCreditPhase;',
  { due_fees_collected: maybe(grams), credit: CurrencyCollection },
);
export type TrCreditPhase = ValueOf<typeof TrCreditPhase>;

/**
 * Why the compute phase was skipped.
 * `cskip_no_state$00 = ComputeSkipReason;` `cskip_bad_state$01 = ComputeSkipReason;`
 * `cskip_no_gas$10 = ComputeSkipReason;` `cskip_suspended$110 = ComputeSkipReason;`
 */
export const ComputeSkipReason = enumeration('ComputeSkipReason', {
  cskip_no_state: '$00',
  cskip_bad_state: '$01',
  cskip_no_gas: '$10',
  cskip_suspended: '$110',
});
export type ComputeSkipReason = ValueOf<typeof ComputeSkipReason>;

/** The execution of the contract's code, or why it was skipped. Gas fees in nanotons. */
export const TrComputePhase = union('TrComputePhase', [
  variant('tr_phase_compute_skipped$0 reason:ComputeSkipReason = TrComputePhase;', { reason: ComputeSkipReason }),
  variant(
    'tr_phase_compute_vm$1 success:Bool msg_state_used:Bool account_activated:Bool gas_fees:Grams ^[ gas_used:(VarUInteger 7) gas_limit:(VarUInteger 7) gas_credit:(Maybe (VarUInteger 3)) mode:int8 exit_code:int32 exit_arg:(Maybe int32) vm_steps:uint32 vm_init_state_hash:bits256 vm_final_state_hash:bits256 ] = TrComputePhase;',
    {
      success: bool,
      msg_state_used: bool,
      account_activated: bool,
      gas_fees: grams,
      '^vm': group({
        gas_used: varUint(7),
        gas_limit: varUint(7),
        gas_credit: maybe(varUint(3)),
        mode: int8,
        exit_code: int32,
        exit_arg: maybe(int32),
        vm_steps: uint32,
        vm_init_state_hash: bits256,
        vm_final_state_hash: bits256,
      }),
    },
  ),
]);
export type TrComputePhase = ValueOf<typeof TrComputePhase>;

/** The execution of the output actions. Fees in nanotons; `action_list_hash` is the hash of the `OutList` cell. */
export const TrActionPhase = record(
  'tr_phase_action$_ success:Bool valid:Bool no_funds:Bool status_change:AccStatusChange total_fwd_fees:(Maybe Grams) total_action_fees:(Maybe Grams) result_code:int32 result_arg:(Maybe int32) tot_actions:uint16 spec_actions:uint16 skipped_actions:uint16 msgs_created:uint16 action_list_hash:bits256 tot_msg_size:StorageUsed = TrActionPhase;',
  {
    success: bool,
    valid: bool,
    no_funds: bool,
    status_change: AccStatusChange,
    total_fwd_fees: maybe(grams),
    total_action_fees: maybe(grams),
    result_code: int32,
    result_arg: maybe(int32),
    tot_actions: uint16,
    spec_actions: uint16,
    skipped_actions: uint16,
    msgs_created: uint16,
    action_list_hash: bits256,
    tot_msg_size: StorageUsed,
  },
);
export type TrActionPhase = ValueOf<typeof TrActionPhase>;

/** Whether the message bounced to its sender after a failure. */
export const TrBouncePhase = union('TrBouncePhase', [
  variant('tr_phase_bounce_negfunds$00 = TrBouncePhase;', {}),
  variant('tr_phase_bounce_nofunds$01 msg_size:StorageUsed req_fwd_fees:Grams = TrBouncePhase;', {
    msg_size: StorageUsed,
    req_fwd_fees: grams,
  }),
  variant('tr_phase_bounce_ok$1 msg_size:StorageUsed msg_fees:Grams fwd_fees:Grams = TrBouncePhase;', {
    msg_size: StorageUsed,
    msg_fees: grams,
    fwd_fees: grams,
  }),
]);
export type TrBouncePhase = ValueOf<typeof TrBouncePhase>;

/** The two parts of an account that is split or merged together with its shard. */
export const SplitMergeInfo = record(
  'split_merge_info$_ cur_shard_pfx_len:(## 6) acc_split_depth:(## 6) this_addr:bits256 sibling_addr:bits256 = SplitMergeInfo;',
  { cur_shard_pfx_len: uint(6), acc_split_depth: uint(6), this_addr: bits256, sibling_addr: bits256 },
);
export type SplitMergeInfo = ValueOf<typeof SplitMergeInfo>;

const maybeStorage = maybe(TrStoragePhase);
const maybeCredit = maybe(TrCreditPhase);
const maybeAction = maybe(ref(TrActionPhase));

const transOrd = variant(
  'trans_ord$0000 credit_first:Bool storage_ph:(Maybe TrStoragePhase) credit_ph:(Maybe TrCreditPhase) compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool bounce:(Maybe TrBouncePhase) destroyed:Bool = TransactionDescr;',
  {
    credit_first: bool,
    storage_ph: maybeStorage,
    credit_ph: maybeCredit,
    compute_ph: TrComputePhase,
    action: maybeAction,
    aborted: bool,
    bounce: maybe(TrBouncePhase),
    destroyed: bool,
  },
);

const transStorage = variant('trans_storage$0001 storage_ph:TrStoragePhase = TransactionDescr;', {
  storage_ph: TrStoragePhase,
});

const transTickTock = variant(
  'trans_tick_tock$001 is_tock:Bool storage_ph:TrStoragePhase compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool = TransactionDescr;',
  {
    is_tock: bool,
    storage_ph: TrStoragePhase,
    compute_ph: TrComputePhase,
    action: maybeAction,
    aborted: bool,
    destroyed: bool,
  },
);

const transSplitPrepare = variant(
  'trans_split_prepare$0100 split_info:SplitMergeInfo storage_ph:(Maybe TrStoragePhase) compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool = TransactionDescr;',
  {
    split_info: SplitMergeInfo,
    storage_ph: maybeStorage,
    compute_ph: TrComputePhase,
    action: maybeAction,
    aborted: bool,
    destroyed: bool,
  },
);

const transMergePrepare = variant(
  'trans_merge_prepare$0110 split_info:SplitMergeInfo storage_ph:TrStoragePhase aborted:Bool = TransactionDescr;',
  { split_info: SplitMergeInfo, storage_ph: TrStoragePhase, aborted: bool },
);

const transactionRef: Codec<Lazy<Transaction>> = ref(deferred('Transaction', (): Codec<Transaction> => Transaction));

const transSplitInstall = variant(
  'trans_split_install$0101 split_info:SplitMergeInfo prepare_transaction:^Transaction installed:Bool = TransactionDescr;',
  { split_info: SplitMergeInfo, prepare_transaction: transactionRef, installed: bool },
);

const transMergeInstall = variant(
  'trans_merge_install$0111 split_info:SplitMergeInfo prepare_transaction:^Transaction storage_ph:(Maybe TrStoragePhase) credit_ph:(Maybe TrCreditPhase) compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool = TransactionDescr;',
  {
    split_info: SplitMergeInfo,
    prepare_transaction: transactionRef,
    storage_ph: maybeStorage,
    credit_ph: maybeCredit,
    compute_ph: TrComputePhase,
    action: maybeAction,
    aborted: bool,
    destroyed: bool,
  },
);

/** The kind of a transaction (ordinary, tick-tock, split, merge) and the results of its phases. */
export const TransactionDescr = union('TransactionDescr', [
  transOrd,
  transStorage,
  transTickTock,
  transSplitPrepare,
  transSplitInstall,
  transMergePrepare,
  transMergeInstall,
]);
export type TransactionDescr = ValueOf<typeof TransactionDescr>;

/** A transaction of one account. The hash of its cell is the transaction hash. */
export interface Transaction {
  /** The address without workchain. */
  readonly account_addr: Uint8Array;
  /** Logical time of the transaction; the messages that it sends have `lt + 1`, `lt + 2`, … */
  readonly lt: bigint;
  readonly prev_trans_hash: Uint8Array;
  /** Of the previous transaction of this account; 0 for the first one. */
  readonly prev_trans_lt: bigint;
  /** Unix seconds: generation time of the block. */
  readonly now: number;
  readonly outmsg_cnt: number;
  readonly orig_status: AccountStatus;
  readonly end_status: AccountStatus;
  readonly in_msg: Lazy<Message> | null;
  /** By index from 0, in the order of sending. */
  readonly out_msgs: Dictionary<number, Lazy<Message>>;
  /** Nanotons, without the forward fees of outgoing messages to other accounts. */
  readonly total_fees: CurrencyCollection;
  /** Hashes of the `Account` cell. */
  readonly state_update: Lazy<HASH_UPDATE>;
  readonly description: Lazy<TransactionDescr>;
}

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

/** The transactions of one account in a block by lt, at least one; `extra` of a node is the sum of their fees. */
export const AccountBlock = record(
  `acc_trans#5 account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection)
    state_update:^(HASH_UPDATE Account) = AccountBlock;`,
  {
    account_addr: bits256,
    transactions: hashmapAug(
      bigUintKey(64),
      ref(Transaction),
      CurrencyCollection,
      currencySum((transaction) => transaction.value.total_fees),
    ),
    state_update: ref(HASH_UPDATE),
  },
);
export type AccountBlock = ValueOf<typeof AccountBlock>;

/**
 * `_ (HashmapAugE 256 AccountBlock CurrencyCollection) = ShardAccountBlocks;`
 * By account id; the extra of a node is the sum of the transactions' fees.
 */
export const ShardAccountBlocks = hashmapAugE(
  bytesKey(32),
  AccountBlock,
  CurrencyCollection,
  currencySum((block) => block.transactions.extra),
);
export type ShardAccountBlocks = AugmentedDictionary<Uint8Array, AccountBlock, CurrencyCollection>;
