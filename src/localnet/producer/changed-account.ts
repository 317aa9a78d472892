import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { Account, type AccountState, AccountStorage, type StorageUsed } from '#formats/tlb/account.js';
import type { AccountStatus } from '#formats/tlb/account-status.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { NO_CURRENCY } from '#formats/tlb/currency.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { Message } from '#formats/tlb/message.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import { SimpleLibs, type StateInit } from '#formats/tlb/state-init.js';
import { Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import type { BlockTransaction } from '#localnet/producer/block-accounts.js';
import type { AccountChange } from '#localnet/producer/round-request.js';

/** An account given another state from outside. */
export interface ChangedAccount {
  /** Without a message: of the kind that only takes rent, and none is taken. */
  readonly transaction: BlockTransaction;
  /** `ShardAccount` */
  readonly after: Cell;
  /** What is there more than before, in nanotons; negative for less. */
  readonly gained: bigint;
}

/** Where and when the change is made. */
export interface ChangeContext {
  readonly address: Address;
  readonly lt: bigint;
  /** Unix seconds. */
  readonly now: number;
}

/** No messages are sent: see `Transaction`. */
const NO_MESSAGES: Transaction['out_msgs'] = hashmapE(uintKey(15), ref(Message)).of([]);

const NO_STATE_INIT: StateInit = {
  fixed_prefix_length: null,
  special: null,
  code: null,
  data: null,
  library: SimpleLibs.of([]),
};

/** Gives an account another balance, code or data, by a transaction of its own. */
export function changedAccount(
  before: ShardAccount,
  change: AccountChange,
  { address, lt, now }: ChangeContext,
): ChangedAccount {
  const old = before.account.value;
  const known = old.kind === 'account' ? old : null;
  const balance = known?.storage.balance ?? NO_CURRENCY;
  const grams = change.balance ?? balance.grams;
  const storage: AccountStorage = {
    last_trans_lt: lt + 1n,
    balance: { grams, other: balance.other },
    state: changedState(known?.storage.state ?? null, change),
  };
  const account = Lazy.ofValue(Account, {
    kind: 'account',
    addr: known?.addr ?? address,
    storage_stat: {
      used: storageUsed(encodeCell(AccountStorage, storage)),
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: now,
      due_payment: null,
    },
    storage,
  });
  const value: Transaction = {
    account_addr: address.hash,
    lt,
    prev_trans_hash: before.last_trans_hash,
    prev_trans_lt: before.last_trans_lt,
    now,
    outmsg_cnt: 0,
    orig_status: statusOf(old),
    end_status: statusOf(account.value),
    in_msg: null,
    out_msgs: NO_MESSAGES,
    total_fees: NO_CURRENCY,
    state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: before.account.cell.hash(), new_hash: account.cell.hash() }),
    description: Lazy.ofValue(TransactionDescr, {
      kind: 'trans_storage',
      storage_ph: { storage_fees_collected: 0n, storage_fees_due: null, status_change: 'acst_unchanged' },
    }),
  };
  const cell = encodeCell(Transaction, value);
  const after = encodeCell(ShardAccount, { account, last_trans_hash: cell.hash(), last_trans_lt: lt });
  return { transaction: { cell, value }, after, gained: grams - balance.grams };
}

function changedState(before: AccountState | null, { code, data }: AccountChange): AccountState {
  if (code === undefined && data === undefined) return before ?? { kind: 'account_uninit' };
  const init = before?.kind === 'account_active' ? before.state_init : NO_STATE_INIT;
  return {
    kind: 'account_active',
    state_init: { ...init, code: code === undefined ? init.code : code, data: data === undefined ? init.data : data },
  };
}

function statusOf(account: Account): AccountStatus {
  if (account.kind === 'account_none') return 'acc_state_nonexist';
  switch (account.storage.state.kind) {
    case 'account_active':
      return 'acc_state_active';
    case 'account_frozen':
      return 'acc_state_frozen';
    case 'account_uninit':
      return 'acc_state_uninit';
  }
}

/** Distinct cells of what an account stores (`AccountStorage`), its root among them, and their bits. */
function storageUsed(root: Cell): StorageUsed {
  const seen = new HashIndex();
  let bits = 0;
  const open = [root];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    const known = seen.size;
    if (seen.add(cell.hash()) !== known) continue;
    bits += cell.bits;
    for (let i = 0; i < cell.refCount; i++) open.push(cell.ref(i));
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}
