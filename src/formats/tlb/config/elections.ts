import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bits256, constrained, grams, uint16, uint32 } from '#formats/tlb/codec/primitives.js';
import { dependent, record } from '#formats/tlb/codec/record.js';
import { CryptoSignature, SigPubKey } from '#formats/tlb/signature.js';

/** When validators are elected, for how long, and how long a stake stays locked afterwards; in seconds. */
export const ElectionTimings = record(
  `_ validators_elected_for:uint32 elections_start_before:uint32
    elections_end_before:uint32 stake_held_for:uint32 = ElectionTimings;`,
  {
    validators_elected_for: uint32,
    elections_start_before: uint32,
    elections_end_before: uint32,
    stake_held_for: uint32,
  },
);
export type ElectionTimings = ValueOf<typeof ElectionTimings>;

/** How many validators there may be, how many of them in the masterchain, and how few. */
export const ValidatorCounts = record(
  `_ max_validators:(## 16) max_main_validators:(## 16) min_validators:(## 16)
    { max_validators >= max_main_validators } { max_main_validators >= min_validators } { min_validators >= 1 } = ConfigParam 16;`,
  {
    max_validators: uint16,
    max_main_validators: dependent('max_validators', (max: number) =>
      constrained(uint16, `max_main_validators <= max_validators (${max})`, (main) => main <= max),
    ),
    min_validators: dependent('max_main_validators', (main: number) =>
      constrained(uint16, `1 <= min_validators <= max_main_validators (${main})`, (min) => min >= 1 && min <= main),
    ),
  },
);
export type ValidatorCounts = ValueOf<typeof ValidatorCounts>;

/** Stakes in nanotons; `max_stake_factor` / 65536 is how many times the smallest stake the largest one may weigh. */
export const StakeLimits = record(
  '_ min_stake:Grams max_stake:Grams min_total_stake:Grams max_stake_factor:uint32 = ConfigParam 17;',
  { min_stake: grams, max_stake: grams, min_total_stake: grams, max_stake_factor: uint32 },
);
export type StakeLimits = ValueOf<typeof StakeLimits>;

/** A validator's temporary key and ADNL address, until `valid_until` (unix seconds). */
export const ValidatorTempKey = record(
  'validator_temp_key#3 adnl_addr:bits256 temp_public_key:SigPubKey seqno:# valid_until:uint32 = ValidatorTempKey;',
  { adnl_addr: bits256, temp_public_key: SigPubKey, seqno: uint32, valid_until: uint32 },
);
export type ValidatorTempKey = ValueOf<typeof ValidatorTempKey>;

/** A temporary key, signed with the permanent one. No network has used them yet. */
export const ValidatorSignedTempKey = record(
  'signed_temp_key#4 key:^ValidatorTempKey signature:CryptoSignature = ValidatorSignedTempKey;',
  { key: ref(ValidatorTempKey), signature: CryptoSignature },
);
export type ValidatorSignedTempKey = ValueOf<typeof ValidatorSignedTempKey>;
