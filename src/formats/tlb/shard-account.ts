import { Address } from '#formats/address/address.js';
import { Account } from '#formats/tlb/account.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { bits256, constrained, uint, uint64 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';

/** An account in a shard state. `last_trans_lt` is the lt of its last transaction itself, `last_trans_hash` the hash. */
export const ShardAccount = record(
  'account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;',
  { account: ref(Account), last_trans_hash: bits256, last_trans_lt: uint64 },
);
export type ShardAccount = ValueOf<typeof ShardAccount>;

/**
 * Over accounts: the sum of their balances, and the largest depth of an anycast in their addresses (not of
 * `fixed_prefix_length`, which counts nothing here).
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
