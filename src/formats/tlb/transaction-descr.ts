import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { bits256, bool, uint } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import {
  TrActionPhase,
  TrBouncePhase,
  TrComputePhase,
  TrCreditPhase,
  TrStoragePhase,
} from '#formats/tlb/transaction-phases.js';

/** The two halves of an account that is split or merged together with its shard. */
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

/** The value of `trans_split_install`; `T` is `Transaction`, which is declared on top of this. */
export interface TransSplitInstall<T> {
  readonly kind: 'trans_split_install';
  readonly split_info: SplitMergeInfo;
  readonly prepare_transaction: Lazy<T>;
  readonly installed: boolean;
}

/** The value of `trans_merge_install`; `T` is `Transaction`. */
export interface TransMergeInstall<T> {
  readonly kind: 'trans_merge_install';
  readonly split_info: SplitMergeInfo;
  readonly prepare_transaction: Lazy<T>;
  readonly storage_ph: TrStoragePhase | null;
  readonly credit_ph: TrCreditPhase | null;
  readonly compute_ph: TrComputePhase;
  readonly action: Lazy<TrActionPhase> | null;
  readonly aborted: boolean;
  readonly destroyed: boolean;
}

export type TransactionDescrOf<T> =
  | ValueOf<typeof transOrd>
  | ValueOf<typeof transStorage>
  | ValueOf<typeof transTickTock>
  | ValueOf<typeof transSplitPrepare>
  | TransSplitInstall<T>
  | ValueOf<typeof transMergePrepare>
  | TransMergeInstall<T>;

/**
 * The codec of `TransactionDescr`: what kind of transaction it is and how it went. Two of its constructors contain a
 * transaction, whose codec (and so this one, as `TransactionDescr`) is in transaction.ts.
 */
export function transactionDescr<T>(transaction: Codec<T>): Codec<TransactionDescrOf<T>> {
  return union('TransactionDescr', [
    transOrd,
    transStorage,
    transTickTock,
    transSplitPrepare,
    variant(
      'trans_split_install$0101 split_info:SplitMergeInfo prepare_transaction:^Transaction installed:Bool = TransactionDescr;',
      { split_info: SplitMergeInfo, prepare_transaction: ref(transaction), installed: bool },
    ),
    transMergePrepare,
    variant(
      'trans_merge_install$0111 split_info:SplitMergeInfo prepare_transaction:^Transaction storage_ph:(Maybe TrStoragePhase) credit_ph:(Maybe TrCreditPhase) compute_ph:TrComputePhase action:(Maybe ^TrActionPhase) aborted:Bool destroyed:Bool = TransactionDescr;',
      {
        split_info: SplitMergeInfo,
        prepare_transaction: ref(transaction),
        storage_ph: maybeStorage,
        credit_ph: maybeCredit,
        compute_ph: TrComputePhase,
        action: maybeAction,
        aborted: bool,
        destroyed: bool,
      },
    ),
  ]);
}
