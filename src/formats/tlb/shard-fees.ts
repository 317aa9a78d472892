import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { bigUintKey, intKey, type KeyCodec } from '#formats/tlb/codec/dictionary-key.js';
import { record } from '#formats/tlb/codec/record.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { concatBytes } from '#kernel/bytes/bytes.js';

const int32Key = intKey(32);
const uint64Key = bigUintKey(64);

/** A workchain, and a shard in it as uint64 with the tag bit. */
export interface ShardKey {
  readonly workchain: number;
  readonly shard: bigint;
}

/** Keys of 96 bits: workchain int32, shard uint64. */
export const shardKey: KeyCodec<ShardKey> = {
  bits: 96,
  encode: ({ workchain, shard }) => concatBytes(int32Key.encode(workchain), uint64Key.encode(shard)),
  decode: (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { workchain: view.getInt32(0), shard: view.getBigUint64(4) };
  },
};

/** What a shard's blocks that a masterchain block registers collected in fees and created. */
export const ShardFeeCreated = record('_ fees:CurrencyCollection create:CurrencyCollection = ShardFeeCreated;', {
  fees: CurrencyCollection,
  create: CurrencyCollection,
});
export type ShardFeeCreated = ValueOf<typeof ShardFeeCreated>;

/**
 * `_ (HashmapAugE 96 ShardFeeCreated ShardFeeCreated) = ShardFees;`
 * By shard; the extra of a node is the sum.
 */
export const ShardFees = hashmapAugE(shardKey, ShardFeeCreated, ShardFeeCreated, {
  empty: { fees: NO_CURRENCY, create: NO_CURRENCY },
  leaf: (value) => value,
  combine: (left, right) => ({
    fees: addCurrency(left.fees, right.fees),
    create: addCurrency(left.create, right.create),
  }),
});
export type ShardFees = AugmentedDictionary<ShardKey, ShardFeeCreated, ShardFeeCreated>;
