import { StorageUsed } from '#formats/tlb/account.js';
import { AccStatusChange } from '#formats/tlb/account-status.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe } from '#formats/tlb/codec/composites.js';
import { bits256, bool, grams, int8, int32, uint16, uint32, varUint } from '#formats/tlb/codec/primitives.js';
import { group, record, variant } from '#formats/tlb/codec/record.js';
import { enumeration, union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';

/** Rent for the time since the last transaction, in nanotons: what was taken, and what is still owed. */
export const TrStoragePhase = record(
  'tr_phase_storage$_ storage_fees_collected:Grams storage_fees_due:(Maybe Grams) status_change:AccStatusChange = TrStoragePhase;',
  { storage_fees_collected: grams, storage_fees_due: maybe(grams), status_change: AccStatusChange },
);
export type TrStoragePhase = ValueOf<typeof TrStoragePhase>;

/** The value of the message is added to the balance, debts are taken off. */
export const TrCreditPhase = record(
  'tr_phase_credit$_ due_fees_collected:(Maybe Grams) credit:CurrencyCollection = TrCreditPhase;',
  { due_fees_collected: maybe(grams), credit: CurrencyCollection },
);
export type TrCreditPhase = ValueOf<typeof TrCreditPhase>;

/**
 * Why no code ran.
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

/** The run of the contract's code, or why there was none. Gas fees in nanotons. */
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

/** What was done of the actions that the code asked for. Fees in nanotons; `action_list_hash` is that of the `OutList` cell. */
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

/** Whether the message went back to its sender after a failure. */
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
