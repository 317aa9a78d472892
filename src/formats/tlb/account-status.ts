import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { enumeration } from '#formats/tlb/codec/union.js';

/**
 * State of an account before or after a transaction.
 * `acc_state_uninit$00 = AccountStatus;` `acc_state_frozen$01 = AccountStatus;`
 * `acc_state_active$10 = AccountStatus;` `acc_state_nonexist$11 = AccountStatus;`
 */
export const AccountStatus = enumeration('AccountStatus', {
  acc_state_uninit: '$00',
  acc_state_frozen: '$01',
  acc_state_active: '$10',
  acc_state_nonexist: '$11',
});
export type AccountStatus = ValueOf<typeof AccountStatus>;

/**
 * What the storage or action phase did to the state of the account.
 * `acst_unchanged$0 = AccStatusChange;` `acst_frozen$10 = AccStatusChange;` `acst_deleted$11 = AccStatusChange;`
 */
export const AccStatusChange = enumeration('AccStatusChange', {
  acst_unchanged: '$0',
  acst_frozen: '$10',
  acst_deleted: '$11',
});
export type AccStatusChange = ValueOf<typeof AccStatusChange>;
