import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, type AccountState, AccountStorage } from '#formats/tlb/account.js';
import type { AccountStatus } from '#formats/tlb/account-status.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { Message } from '#formats/tlb/message.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import { SimpleLibs, type StateInit } from '#formats/tlb/state-init.js';
import { storageUsed } from '#formats/tlb/storage-used.js';
import { Transaction, TransactionDescr } from '#formats/tlb/transaction.js';
import type { BlockTransaction } from '#localnet/producer/block-accounts.js';
import type { AccountChange } from '#localnet/producer/round-request.js';

/** A transaction that no machine made, and the account after it. */
export interface MadeTransaction {
  readonly transaction: BlockTransaction;
  /** `ShardAccount` */
  readonly after: Cell;
}

/** An account given another state from outside. Its transaction has no message: it is one that only takes rent, of 0. */
export interface ChangedAccount extends MadeTransaction {
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
export function changedAccount(before: ShardAccount, change: AccountChange, context: ChangeContext): ChangedAccount {
  const { balance, state } = storedIn(before);
  const grams = change.balance ?? balance.grams;
  const made = makeTransaction(before, context, {
    balance: { grams, other: balance.other },
    state: changedState(state, change),
    in_msg: null,
    description: {
      kind: 'trans_storage',
      storage_ph: { storage_fees_collected: 0n, storage_fees_due: null, status_change: 'acst_unchanged' },
    },
  });
  return { ...made, gained: grams - balance.grams };
}

/**
 * Gives an account the value of a message and no more: what is done when no machine can execute the message, so that it
 * is not lost and does not stay in the way of others.
 */
export function creditedAccount(before: ShardAccount, message: Cell, context: ChangeContext): MadeTransaction {
  const { info } = decodeCell(Message, message);
  const credit = info.kind === 'int_msg_info' ? info.value : NO_CURRENCY;
  const { balance, state } = storedIn(before);
  return makeTransaction(before, context, {
    balance: addCurrency(balance, credit),
    state: state ?? { kind: 'account_uninit' },
    in_msg: Lazy.ofCell(Message, message),
    description: {
      kind: 'trans_ord',
      credit_first: true,
      storage_ph: null,
      credit_ph: { due_fees_collected: null, credit },
      compute_ph: { kind: 'tr_phase_compute_skipped', reason: 'cskip_bad_state' },
      action: null,
      aborted: true,
      bounce: null,
      destroyed: false,
    },
  });
}

/** What an account has; nothing when there is none. */
function storedIn({ account }: ShardAccount): {
  readonly balance: CurrencyCollection;
  readonly state: AccountState | null;
} {
  const { value } = account;
  return value.kind === 'account' ? value.storage : { balance: NO_CURRENCY, state: null };
}

/** A transaction without fees and messages sent. */
function makeTransaction(
  before: ShardAccount,
  { address, lt, now }: ChangeContext,
  content: Pick<AccountStorage, 'balance' | 'state'> & {
    readonly in_msg: Transaction['in_msg'];
    readonly description: TransactionDescr;
  },
): MadeTransaction {
  const old = before.account.value;
  const { balance, state, in_msg, description } = content;
  const storage: AccountStorage = { last_trans_lt: lt + 1n, balance, state };
  const account = Lazy.ofValue(Account, {
    kind: 'account',
    addr: old.kind === 'account' ? old.addr : address,
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
    in_msg,
    out_msgs: NO_MESSAGES,
    total_fees: NO_CURRENCY,
    state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: before.account.cell.hash(), new_hash: account.cell.hash() }),
    description: Lazy.ofValue(TransactionDescr, description),
  };
  const cell = encodeCell(Transaction, value);
  const after = encodeCell(ShardAccount, { account, last_trans_hash: cell.hash(), last_trans_lt: lt });
  return { transaction: { cell, value }, after };
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
