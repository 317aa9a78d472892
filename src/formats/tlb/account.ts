import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { encodeCell, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey, type Dictionary, hashmapE } from '#formats/tlb/codec/dictionary.js';
import {
  bits256,
  bool,
  cellRef,
  constrained,
  grams,
  uint,
  uint32,
  uint64,
  varUint,
} from '#formats/tlb/codec/primitives.js';
import { enumeration, record, union, variant } from '#formats/tlb/codec/record.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';

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
 * Change of the account state by the storage or action phase.
 * `acst_unchanged$0 = AccStatusChange;` `acst_frozen$10 = AccStatusChange;` `acst_deleted$11 = AccStatusChange;`
 */
export const AccStatusChange = enumeration('AccStatusChange', {
  acst_unchanged: '$0',
  acst_frozen: '$10',
  acst_deleted: '$11',
});
export type AccStatusChange = ValueOf<typeof AccStatusChange>;

/** Whether a special masterchain contract receives tick and tock transactions in every block. */
export const TickTock = record('tick_tock$_ tick:Bool tock:Bool = TickTock;', { tick: bool, tock: bool });
export type TickTock = ValueOf<typeof TickTock>;

/** A library in an account; only public ones of masterchain accounts are visible to others. The key is the hash of `root`. */
export const SimpleLib = record('simple_lib$_ public:Bool root:^Cell = SimpleLib;', { public: bool, root: cellRef });
export type SimpleLib = ValueOf<typeof SimpleLib>;

/** Libraries of an account by hash. */
export const SimpleLibs = hashmapE(bytesKey(32), SimpleLib);
export type SimpleLibs = Dictionary<Uint8Array, SimpleLib>;

/** Code, data and libraries of an account. */
export interface StateInit {
  /** Number of address bits that need not match the hash of this structure (formerly split_depth); `null` is 0. */
  readonly fixed_prefix_length: number | null;
  readonly special: TickTock | null;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** Decoded on demand, like all dictionaries. */
  readonly library: SimpleLibs;
}

/**
 * Code, data and libraries of an account. Its hash is the address of an account deployed with it.
 * The `(Maybe ^Cell)` of the schema in `library` is the root of a `(HashmapE 256 SimpleLib)`, which has the same bits.
 */
export const StateInit = record(
  '_ fixed_prefix_length:(Maybe (## 5)) special:(Maybe TickTock) code:(Maybe ^Cell) data:(Maybe ^Cell) library:(Maybe ^Cell) = StateInit;',
  {
    fixed_prefix_length: maybe(uint(5)),
    special: maybe(TickTock),
    code: maybe(cellRef),
    data: maybe(cellRef),
    library: SimpleLibs,
  },
);

/** The state of a contract without special flags and libraries. */
export function stateInitOf(code: Cell, data: Cell): StateInit {
  return { fixed_prefix_length: null, special: null, code, data, library: SimpleLibs.of([]) };
}

/** Storage size: number of distinct cells and total data bits. */
export const StorageUsed = record('storage_used$_ cells:(VarUInteger 7) bits:(VarUInteger 7) = StorageUsed;', {
  cells: varUint(7),
  bits: varUint(7),
});
export type StorageUsed = ValueOf<typeof StorageUsed>;

/**
 * Since global version 11 large accounts carry the hash of a dictionary of their cells. Previously the three tag bits were
 * a length (of public cells, always 0), so that old accounts decode as `storage_extra_none`.
 */
export const StorageExtraInfo = union('StorageExtraInfo', [
  variant('storage_extra_none$000 = StorageExtraInfo;', {}),
  variant('storage_extra_info$001 dict_hash:uint256 = StorageExtraInfo;', { dict_hash: bits256 }),
]);
export type StorageExtraInfo = ValueOf<typeof StorageExtraInfo>;

/** Storage size and debt of an account: `last_paid` in unix seconds (0: never), `due_payment` in nanotons. */
export const StorageInfo = record(
  'storage_info$_ used:StorageUsed storage_extra:StorageExtraInfo last_paid:uint32 due_payment:(Maybe Grams) = StorageInfo;',
  { used: StorageUsed, storage_extra: StorageExtraInfo, last_paid: uint32, due_payment: maybe(grams) },
);
export type StorageInfo = ValueOf<typeof StorageInfo>;

/** State of an existing account: uninitialised (balance only), active, or frozen (only the hash of its state is left). */
export const AccountState = union('AccountState', [
  variant('account_uninit$00 = AccountState;', {}),
  variant('account_active$1 _:StateInit = AccountState;', { state_init: StateInit }),
  variant('account_frozen$01 state_hash:bits256 = AccountState;', { state_hash: bits256 }),
]);
export type AccountState = ValueOf<typeof AccountState>;

/**
 * Balance and state of an account. `last_trans_lt` is the END of the last transaction: its lt, plus 1, plus the number of
 * outgoing messages. The lt of the transaction itself is in `ShardAccount`.
 */
export const AccountStorage = record(
  'account_storage$_ last_trans_lt:uint64 balance:CurrencyCollection state:AccountState = AccountStorage;',
  { last_trans_lt: uint64, balance: CurrencyCollection, state: AccountState },
);
export type AccountStorage = ValueOf<typeof AccountStorage>;

/** An account, or `account_none`. Transactions contain the hash of this cell before and after. */
export const Account = union('Account', [
  variant('account_none$0 = Account;', {}),
  variant('account$1 addr:MsgAddressInt storage_stat:StorageInfo storage:AccountStorage = Account;', {
    addr: MsgAddressInt,
    storage_stat: StorageInfo,
    storage: AccountStorage,
  }),
]);
export type Account = ValueOf<typeof Account>;

/** The `Account` of an account that does not exist: `account_none$0`. */
export const NO_ACCOUNT = encodeCell(Account, { kind: 'account_none' });

/** An account in a shard state, with lt and hash of its last transaction. */
export const ShardAccount = record(
  'account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;',
  { account: ref(Account), last_trans_hash: bits256, last_trans_lt: uint64 },
);
export type ShardAccount = ValueOf<typeof ShardAccount>;

/** Encodes a {@link ShardAccount}. @param account the `Account` @param last its last transaction; null: it never had one */
export function shardAccountCell(account: Cell, last: { readonly hash: Uint8Array; readonly lt: bigint } | null): Cell {
  const { hash = new Uint8Array(32), lt = 0n } = last ?? {};
  return new Builder().storeRef(account).storeBytes(hash).storeUint(lt, 64).endCell();
}

/** The `ShardAccount` of an account that does not exist, and never had a transaction. */
export const NO_SHARD_ACCOUNT = shardAccountCell(NO_ACCOUNT, null);

/**
 * The sum of account balances, and the greatest anycast depth of their addresses (`fixed_prefix_length` does not
 * count).
 */
export const DepthBalanceInfo = record(
  'depth_balance$_ split_depth:(#<= 30) balance:CurrencyCollection = DepthBalanceInfo;',
  { split_depth: constrained(uint(5), 'split_depth <= 30', (depth) => depth <= 30), balance: CurrencyCollection },
);
export type DepthBalanceInfo = ValueOf<typeof DepthBalanceInfo>;

/** `_ (HashmapAugE 256 ShardAccount DepthBalanceInfo) = ShardAccounts;` — all accounts of a shard by address. */
export const ShardAccounts = hashmapAugE(bytesKey(32), ShardAccount, DepthBalanceInfo, {
  empty: { split_depth: 0, balance: NO_CURRENCY },
  leaf: ({ account }) => {
    const { value } = account;
    if (value.kind === 'account_none') return { split_depth: 0, balance: NO_CURRENCY };
    const { addr, storage } = value;
    const split_depth = addr instanceof Address ? 0 : (addr.anycast?.depth ?? 0);
    return { split_depth, balance: storage.balance };
  },
  combine: (left, right) => ({
    split_depth: Math.max(left.split_depth, right.split_depth),
    balance: addCurrency(left.balance, right.balance),
  }),
});
export type ShardAccounts = AugmentedDictionary<Uint8Array, ShardAccount, DepthBalanceInfo>;

/** The `StorageUsed` of a tree: its distinct cells, including the root, and their bits. */
export function storageUsed(root: Cell): StorageUsed {
  const seen = new HashIndex();
  seen.add(root.hash());
  const open = [root];
  let bits = 0;
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    bits += cell.bits;
    for (let index = 0; index < cell.refCount; index++) {
      const child = cell.ref(index);
      const known = seen.size;
      if (seen.add(child.hash()) === known) open.push(child);
    }
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}
