import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe } from '#formats/tlb/codec/composites.js';
import { bits256, grams, uint32, uint64, varUint } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';
import { StateInit } from '#formats/tlb/state-init.js';

/** How much is stored: distinct cells, and their data bits in sum. */
export const StorageUsed = record('storage_used$_ cells:(VarUInteger 7) bits:(VarUInteger 7) = StorageUsed;', {
  cells: varUint(7),
  bits: varUint(7),
});
export type StorageUsed = ValueOf<typeof StorageUsed>;

/**
 * Since global version 11 large accounts carry the hash of a dictionary of their cells. The three bits of the tag were a
 * length (of public cells, always 0) before, so that old accounts read as `storage_extra_none`.
 */
export const StorageExtraInfo = union('StorageExtraInfo', [
  variant('storage_extra_none$000 = StorageExtraInfo;', {}),
  variant('storage_extra_info$001 dict_hash:uint256 = StorageExtraInfo;', { dict_hash: bits256 }),
]);
export type StorageExtraInfo = ValueOf<typeof StorageExtraInfo>;

/** What an account stores and owes: `last_paid` in unix seconds (0: never), `due_payment` in nanotons. */
export const StorageInfo = record(
  'storage_info$_ used:StorageUsed storage_extra:StorageExtraInfo last_paid:uint32 due_payment:(Maybe Grams) = StorageInfo;',
  { used: StorageUsed, storage_extra: StorageExtraInfo, last_paid: uint32, due_payment: maybe(grams) },
);
export type StorageInfo = ValueOf<typeof StorageInfo>;

/** An account that exists is uninitialised (has coins only), active, or frozen (only the hash of its state is left). */
export const AccountState = union('AccountState', [
  variant('account_uninit$00 = AccountState;', {}),
  variant('account_active$1 _:StateInit = AccountState;', { state_init: StateInit }),
  variant('account_frozen$01 state_hash:bits256 = AccountState;', { state_hash: bits256 }),
]);
export type AccountState = ValueOf<typeof AccountState>;

/**
 * Balance and state of an account. `last_trans_lt` is the END of the last transaction: its lt, plus 1, plus the number of
 * messages it sent. The lt of the transaction itself stands in `ShardAccount`.
 */
export const AccountStorage = record(
  'account_storage$_ last_trans_lt:uint64 balance:CurrencyCollection state:AccountState = AccountStorage;',
  { last_trans_lt: uint64, balance: CurrencyCollection, state: AccountState },
);
export type AccountStorage = ValueOf<typeof AccountStorage>;

/** An account, or that there is none. Its cell's hash is what transactions show before and after. */
export const Account = union('Account', [
  variant('account_none$0 = Account;', {}),
  variant('account$1 addr:MsgAddressInt storage_stat:StorageInfo storage:AccountStorage = Account;', {
    addr: MsgAddressInt,
    storage_stat: StorageInfo,
    storage: AccountStorage,
  }),
]);
export type Account = ValueOf<typeof Account>;
