import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe } from '#formats/tlb/codec/composites.js';
import { bits256, constrained, grams, uint32 } from '#formats/tlb/codec/primitives.js';
import { dependent, record } from '#formats/tlb/codec/record.js';

/**
 * Which coins are destroyed: all that reach `blackhole_addr` (an account id in the masterchain), and of the fees the part
 * `fee_burn_num` / `fee_burn_denom`.
 */
export const BurningConfig = record(
  `burning_config#01 blackhole_addr:(Maybe bits256)
    fee_burn_num:# fee_burn_denom:# { fee_burn_num <= fee_burn_denom } { fee_burn_denom >= 1 } = BurningConfig;`,
  {
    blackhole_addr: maybe(bits256),
    fee_burn_num: uint32,
    fee_burn_denom: dependent('fee_burn_num', (num: number) =>
      constrained(uint32, `fee_burn_denom >= 1 and >= fee_burn_num (${num})`, (denom) => denom >= 1 && denom >= num),
    ),
  },
);
export type BurningConfig = ValueOf<typeof BurningConfig>;

/** What it costs, in nanotons, to create an extra currency and to mint more of one. */
export const MintPrices = record('_ mint_new_price:Grams mint_add_price:Grams = ConfigParam 6;', {
  mint_new_price: grams,
  mint_add_price: grams,
});
export type MintPrices = ValueOf<typeof MintPrices>;

/** Nanotons created with each block for its validators; shards after `d` splits get `basechain_block_fee` / 2^d each. */
export const BlockCreateFees = record(
  'block_grams_created#6b masterchain_block_fee:Grams basechain_block_fee:Grams = BlockCreateFees;',
  { masterchain_block_fee: grams, basechain_block_fee: grams },
);
export type BlockCreateFees = ValueOf<typeof BlockCreateFees>;
