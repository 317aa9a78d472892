import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, AccountStorage, type StorageUsed } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import type { ShardAccount } from '#formats/tlb/shard-account.js';
import type { StateInit } from '#formats/tlb/state-init.js';
import { toHex } from '#kernel/bytes/bytes.js';

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

/** Distinct cells of a tree, its root among them, and their bits. */
export function storageUsed(root: Cell): StorageUsed {
  const seen = new Set<string>();
  let bits = 0;
  const open = [root];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    const name = toHex(cell.hash());
    if (seen.has(name)) continue;
    seen.add(name);
    bits += cell.bits;
    for (let i = 0; i < cell.refCount; i++) open.push(cell.ref(i));
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}
