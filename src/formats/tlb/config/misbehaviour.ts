import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { grams, uint16, uint32 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** What a complaint about a validator costs, in nanotons. */
export const ComplaintPricing = record(
  'complaint_prices#1a deposit:Grams bit_price:Grams cell_price:Grams = ComplaintPricing;',
  { deposit: grams, bit_price: grams, cell_price: grams },
);
export type ComplaintPricing = ValueOf<typeof ComplaintPricing>;

/**
 * Fines for validators that do not work: a flat part in nanotons and a part of the stake in 2^-32, both times multipliers
 * in 1/256 by severity and by the length of the interval in seconds.
 */
export const MisbehaviourPunishmentConfig = record(
  `misbehaviour_punishment_config_v1#01 default_flat_fine:Grams default_proportional_fine:uint32
    severity_flat_mult:uint16 severity_proportional_mult:uint16 unpunishable_interval:uint16
    long_interval:uint16 long_flat_mult:uint16 long_proportional_mult:uint16
    medium_interval:uint16 medium_flat_mult:uint16 medium_proportional_mult:uint16 = MisbehaviourPunishmentConfig;`,
  {
    default_flat_fine: grams,
    default_proportional_fine: uint32,
    severity_flat_mult: uint16,
    severity_proportional_mult: uint16,
    unpunishable_interval: uint16,
    long_interval: uint16,
    long_flat_mult: uint16,
    long_proportional_mult: uint16,
    medium_interval: uint16,
    medium_flat_mult: uint16,
    medium_proportional_mult: uint16,
  },
);
export type MisbehaviourPunishmentConfig = ValueOf<typeof MisbehaviourPunishmentConfig>;
