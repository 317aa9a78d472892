import { type AugmentedDictionary, hashmapAug, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bigUintKey, bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { bits256 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { CurrencyCollection, currencySum } from '#formats/tlb/currency.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** The transactions of one account in a block by lt, at least one; `extra` of a node is the sum of their fees. */
export const AccountBlock = record(
  `acc_trans#5 account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection)
    state_update:^(HASH_UPDATE Account) = AccountBlock;`,
  {
    account_addr: bits256,
    transactions: hashmapAug(
      bigUintKey(64),
      ref(Transaction),
      CurrencyCollection,
      currencySum((transaction) => transaction.value.total_fees),
    ),
    state_update: ref(HASH_UPDATE),
  },
);
export type AccountBlock = ValueOf<typeof AccountBlock>;

/**
 * `_ (HashmapAugE 256 AccountBlock CurrencyCollection) = ShardAccountBlocks;`
 * By account id; the extra of a node is the sum of the transactions' fees.
 */
export const ShardAccountBlocks = hashmapAugE(
  bytesKey(32),
  AccountBlock,
  CurrencyCollection,
  currencySum((block) => block.transactions.extra),
);
export type ShardAccountBlocks = AugmentedDictionary<Uint8Array, AccountBlock, CurrencyCollection>;
