import type { Address } from '#formats/address/address.js';
import { Account, AccountStorage } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import type { ShardAccount } from '#formats/tlb/shard-account.js';
import type { StateInit } from '#formats/tlb/state-init.js';
import { storageUsed } from '#formats/tlb/storage-used.js';

/** An account that is there from the beginning. */
export interface ZerostateAccount {
  readonly address: Address;
  /** Nanotons. */
  readonly balance: bigint;
  readonly init: StateInit;
}

/** The entry of the account in `ShardAccounts`: active, without a transaction, nothing ever paid for storage. */
export function zerostateAccount({ address, balance, init }: ZerostateAccount): ShardAccount {
  const storage: AccountStorage = {
    last_trans_lt: 0n,
    balance: onlyGrams(balance),
    state: { kind: 'account_active', state_init: init },
  };
  const account: Account = {
    kind: 'account',
    addr: address,
    storage_stat: {
      used: storageUsed(encodeCell(AccountStorage, storage)),
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 0,
      due_payment: null,
    },
    storage,
  };
  return { account: Lazy.ofValue(Account, account), last_trans_hash: new Uint8Array(32), last_trans_lt: 0n };
}
