import type { NewTransaction, RunAccount } from '#drivers/tvm/transaction-runner.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary } from '#formats/cells/dict-build.js';
import { lookup } from '#formats/cells/dict-read.js';
import {
  Account,
  type AccountState,
  type AccountStatus,
  AccountStorage,
  DepthBalanceInfo,
  NO_SHARD_ACCOUNT,
  ShardAccount,
  type ShardAccounts,
  SimpleLibs,
  type StateInit,
  storageUsed,
} from '#formats/tlb/account.js';
import { hashmapAug } from '#formats/tlb/codec/augmented-dictionary.js';
import { decodeCell, encodeCell, Lazy, ref } from '#formats/tlb/codec/codec.js';
import { bigUintKey, bytesKey, hashmap, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { unit } from '#formats/tlb/codec/primitives.js';
import { addCurrency, CurrencyCollection, currencySum, NO_CURRENCY } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import type { ShardStateTotals } from '#formats/tlb/shard-state.js';
import {
  AccountBlock,
  HASH_UPDATE,
  ShardAccountBlocks,
  Transaction,
  TransactionDescr,
} from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';

const KEY_BITS = 256;

/** As in {@link AccountBlock}. */
const TRANSACTIONS = hashmapAug(
  bigUintKey(64),
  ref(Transaction),
  CurrencyCollection,
  currencySum((transaction) => transaction.value.total_fees),
);

/** An account that a block reads or changes. */
export class BlockAccount implements RunAccount {
  readonly address: Address;
  /** `ShardAccount` before the block; for an imported account, the imported one. */
  before: Cell;
  /** Whether the shard has no such account in the state before. */
  readonly isNew: boolean;
  /** Current `ShardAccount`. */
  current: Cell;
  readonly transactions: NewTransaction[] = [];

  constructor(address: Address, before: Cell | null) {
    this.address = address;
    this.before = before ?? NO_SHARD_ACCOUNT;
    this.current = this.before;
    this.isNew = before === null;
  }

  /** Sets the state of an account that the chain does not have, as if it had always had it. */
  import(shardAccount: Cell): void {
    this.before = shardAccount;
    this.current = shardAccount;
  }

  get account(): Account {
    return decodeCell(Account, this.current.ref(0));
  }
}

/** What a block did to the accounts of its shard. */
export interface AccountsAfter {
  readonly accounts: ShardAccounts;
  readonly blocks: ShardAccountBlocks;
  /** Of all transactions. */
  readonly total_fees: CurrencyCollection;
}

/** The accounts of a shard while a block is produced: each is read once, and all changes are written at the end. */
export class BlockAccounts {
  readonly #before: ShardAccounts;
  readonly #workchain: number;
  readonly #opened = new Map<string, BlockAccount>();

  constructor(before: ShardAccounts, workchain: number) {
    this.#before = before;
    this.#workchain = workchain;
  }

  /** @param id 32 bytes */
  get(id: Uint8Array): BlockAccount {
    const key = toHex(id);
    const known = this.#opened.get(key);
    if (known !== undefined) return known;
    const account = new BlockAccount(Address.ofParts(this.#workchain, id), this.#read(id));
    this.#opened.set(key, account);
    return account;
  }

  /** The accounts that were opened, ordered by id. */
  opened(): BlockAccount[] {
    return [...this.#opened].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, account]) => account);
  }

  finish(): AccountsAfter {
    let accounts = this.#before;
    const blocks: [Uint8Array, Builder][] = [];
    let total_fees = NO_CURRENCY;
    for (const account of this.opened()) {
      const { before, current, transactions, address, isNew } = account;
      if (isNew ? current !== NO_SHARD_ACCOUNT : current !== before) {
        const after = decodeCell(ShardAccount, current);
        if (after.account.value.kind !== 'account_none') accounts = accounts.set(address.hash, after);
        else if (!isNew) accounts = accounts.delete(address.hash);
      }
      if (transactions.length === 0) continue;
      for (const { value } of transactions) total_fees = addCurrency(total_fees, value.total_fees);
      blocks.push([address.hash, accountBlock(account)]);
    }
    const { root, extra } = buildAugmentedDictionary(KEY_BITS, blocks, ShardAccountBlocks.dictionaryType.augmentation);
    const flag = new Builder().storeBit(root !== null);
    if (root !== null) flag.storeRef(root);
    return { accounts, blocks: decodeCell(ShardAccountBlocks, flag.storeBuilder(extra).endCell()), total_fees };
  }

  #read(id: Uint8Array): Cell | null {
    const slice = lookup(this.#before.root, KEY_BITS, id);
    if (slice === null) return null;
    DepthBalanceInfo.load(slice);
    return new Builder().storeSlice(slice).endCell();
  }
}

function accountBlock({ address, before, current, transactions }: BlockAccount): Builder {
  const builder = new Builder();
  AccountBlock.store(
    {
      account_addr: address.hash,
      transactions: TRANSACTIONS.of(transactions.map(({ cell, value }) => [value.lt, Lazy.ofCell(Transaction, cell)])),
      state_update: Lazy.ofValue(HASH_UPDATE, { old_hash: before.ref(0).hash(), new_hash: current.ref(0).hash() }),
    },
    builder,
  );
  return builder;
}

/** A transaction that was not executed by the TVM, and the account after it. */
export interface MadeTransaction {
  readonly transaction: NewTransaction;
  /** `ShardAccount` */
  readonly after: Cell;
}

/** An account after a state override. Its transaction has no message: it is a storage transaction with a fee of 0. */
export interface OverriddenAccount extends MadeTransaction {
  /** Balance after minus balance before, in nanotons. */
  readonly gained: bigint;
}

/** Where and when the change takes place. */
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

/** Sets balance, code or data of an account, by a transaction of its own. */
export function overriddenAccount(
  before: ShardAccount,
  change: AccountOverride,
  context: ChangeContext,
): OverriddenAccount {
  const { balance, state } = storedIn(before);
  const grams = change.balance ?? balance.grams;
  const made = makeTransaction(before, context, {
    balance: { grams, other: balance.other },
    state: changedState(state, change),
    in_msg: null,
    due_payment: null,
    description: FREE_STORAGE,
  });
  return { ...made, gained: grams - balance.grams };
}

const FREE_STORAGE: TransactionDescr = {
  kind: 'trans_storage',
  storage_ph: { storage_fees_collected: 0n, storage_fees_due: null, status_change: 'acst_unchanged' },
};

/** Sets an account to a former state, or removes it, by a transaction of its own. @param former an `Account` */
export function restoredAccount(before: ShardAccount, former: Cell, context: ChangeContext): MadeTransaction {
  const account = decodeCell(Account, former);
  if (account.kind === 'account_none') {
    return finishTransaction(before, context, {
      account: Lazy.ofCell(Account, former),
      in_msg: null,
      description: FREE_STORAGE,
    });
  }
  const { storage, storage_stat } = account;
  const { balance, state } = storage;
  const { due_payment } = storage_stat;
  return makeTransaction(before, context, { balance, state, due_payment, in_msg: null, description: FREE_STORAGE });
}

/**
 * Credits the value of a message to an account and does nothing else. Used when the TVM cannot execute the message, so
 * that it is not lost and does not block the messages after it.
 */
export function creditedAccount(before: ShardAccount, message: Cell, context: ChangeContext): MadeTransaction {
  const { info } = decodeCell(Message, message);
  const credit = info.kind === 'int_msg_info' ? info.value : NO_CURRENCY;
  const { balance, state } = storedIn(before);
  return makeTransaction(before, context, {
    balance: addCurrency(balance, credit),
    state: state ?? { kind: 'account_uninit' },
    due_payment: null,
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

/** Balance and state of an account; zero and null when it does not exist. */
function storedIn({ account }: ShardAccount): {
  readonly balance: CurrencyCollection;
  readonly state: AccountState | null;
} {
  const { value } = account;
  return value.kind === 'account' ? value.storage : { balance: NO_CURRENCY, state: null };
}

/** A transaction without fees and outbound messages. */
function makeTransaction(
  before: ShardAccount,
  context: ChangeContext,
  content: Pick<AccountStorage, 'balance' | 'state'> & {
    readonly due_payment: bigint | null;
    readonly in_msg: Transaction['in_msg'];
    readonly description: TransactionDescr;
  },
): MadeTransaction {
  const { address, lt, now } = context;
  const old = before.account.value;
  const { balance, state, due_payment, in_msg, description } = content;
  const storage: AccountStorage = { last_trans_lt: lt + 1n, balance, state };
  const account = Lazy.ofValue(Account, {
    kind: 'account',
    addr: old.kind === 'account' ? old.addr : address,
    storage_stat: {
      used: storageUsed(encodeCell(AccountStorage, storage)),
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: now,
      due_payment,
    },
    storage,
  });
  return finishTransaction(before, context, { account, in_msg, description });
}

function finishTransaction(
  before: ShardAccount,
  { address, lt, now }: ChangeContext,
  content: {
    readonly account: Lazy<Account>;
    readonly in_msg: Transaction['in_msg'];
    readonly description: TransactionDescr;
  },
): MadeTransaction {
  const { account, in_msg, description } = content;
  const old = before.account.value;
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

function changedState(before: AccountState | null, { code, data }: AccountOverride): AccountState {
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

type Libraries = ShardStateTotals['libraries'];

/** As in `LibDescr`. */
const Publishers = hashmap(bytesKey(32), unit);

/** Publisher of libraries that no account publishes. */
const NOBODY = new Uint8Array(32);

/** The masterchain's libraries after a block: accounts publish their public libraries for as long as they have them. */
export function librariesAfter(before: Libraries, accounts: readonly BlockAccount[]): Libraries {
  let libraries = before;
  for (const { address, before: old, current, transactions } of accounts) {
    if (transactions.length === 0) continue;
    const had = publicLibraries(old);
    const has = publicLibraries(current);
    for (const [name, lib] of had) if (!has.has(name)) libraries = withdraw(libraries, lib, address.hash);
    for (const [name, lib] of has) if (!had.has(name)) libraries = publish(libraries, lib, address.hash);
  }
  return libraries;
}

/** Publishes a library for the lifetime of the chain. */
export function publishForever(libraries: Libraries, lib: Cell): Libraries {
  return publish(libraries, lib, NOBODY);
}

function publish(libraries: Libraries, lib: Cell, publisher: Uint8Array): Libraries {
  const known = libraries.get(lib.hash());
  const publishers = known === undefined ? Publishers.of([[publisher, true]]) : known.publishers.set(publisher, true);
  return libraries.set(lib.hash(), { lib, publishers });
}

function withdraw(libraries: Libraries, lib: Cell, publisher: Uint8Array): Libraries {
  const known = libraries.get(lib.hash());
  if (known === undefined) return libraries;
  const publishers = known.publishers.delete(publisher);
  return publishers.isEmpty ? libraries.delete(lib.hash()) : libraries.set(lib.hash(), { ...known, publishers });
}

/** The public libraries of an account, keyed by their hashes in hex. */
function publicLibraries(shardAccount: Cell): Map<string, Cell> {
  const found = new Map<string, Cell>();
  const account = decodeCell(Account, shardAccount.ref(0));
  if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') return found;
  for (const [hash, { public: isPublic, root }] of account.storage.state.state_init.library)
    if (isPublic && bytesEqual(hash, root.hash())) found.set(toHex(hash), root);
  return found;
}
