import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { deferred } from '#formats/tlb/codec/composites.js';
import { uint16, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

/** Price of storage from `utime_since` (unix seconds) on, in 2^-16 nanotons for a bit or cell and second. */
export const StoragePrices = record(
  `_#cc utime_since:uint32 bit_price_ps:uint64 cell_price_ps:uint64
    mc_bit_price_ps:uint64 mc_cell_price_ps:uint64 = StoragePrices;`,
  {
    utime_since: uint32,
    bit_price_ps: uint64,
    cell_price_ps: uint64,
    mc_bit_price_ps: uint64,
    mc_cell_price_ps: uint64,
  },
);
export type StoragePrices = ValueOf<typeof StoragePrices>;

const GasPrices = variant(
  `gas_prices#dd gas_price:uint64 gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64
    freeze_due_limit:uint64 delete_due_limit:uint64 = GasLimitsPrices;`,
  {
    gas_price: uint64,
    gas_limit: uint64,
    gas_credit: uint64,
    block_gas_limit: uint64,
    freeze_due_limit: uint64,
    delete_due_limit: uint64,
  },
);

const GasPricesExt = variant(
  `gas_prices_ext#de gas_price:uint64 gas_limit:uint64 special_gas_limit:uint64 gas_credit:uint64
    block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64 = GasLimitsPrices;`,
  {
    gas_price: uint64,
    gas_limit: uint64,
    special_gas_limit: uint64,
    gas_credit: uint64,
    block_gas_limit: uint64,
    freeze_due_limit: uint64,
    delete_due_limit: uint64,
  },
);

/**
 * The price of gas in 2^-16 nanotons a unit, and its limits. As `gas_flat_pfx` the first `flat_gas_limit` units together
 * cost `flat_gas_price` nanotons, and `other` counts for the rest.
 */
export type GasLimitsPrices =
  | ValueOf<typeof GasPrices>
  | ValueOf<typeof GasPricesExt>
  | {
      readonly kind: 'gas_flat_pfx';
      readonly flat_gas_limit: bigint;
      readonly flat_gas_price: bigint;
      readonly other: GasLimitsPrices;
    };
export const GasLimitsPrices: Codec<GasLimitsPrices> = union('GasLimitsPrices', [
  GasPrices,
  GasPricesExt,
  variant('gas_flat_pfx#d1 flat_gas_limit:uint64 flat_gas_price:uint64 other:GasLimitsPrices = GasLimitsPrices;', {
    flat_gas_limit: uint64,
    flat_gas_price: uint64,
    other: deferred('GasLimitsPrices', (): Codec<GasLimitsPrices> => GasLimitsPrices),
  }),
]);

/**
 * Price of a message: `lump_price` + ⌈(`bit_price` · bits + `cell_price` · cells) / 2^16⌉ nanotons, its root cell not
 * counted; `first_frac` / 2^16 of it goes to the sending shard, `next_frac` / 2^16 of the rest to each shard on the way.
 */
export const MsgForwardPrices = record(
  `msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64
    ihr_price_factor:uint32 first_frac:uint16 next_frac:uint16 = MsgForwardPrices;`,
  {
    lump_price: uint64,
    bit_price: uint64,
    cell_price: uint64,
    ihr_price_factor: uint32,
    first_frac: uint16,
    next_frac: uint16,
  },
);
export type MsgForwardPrices = ValueOf<typeof MsgForwardPrices>;
