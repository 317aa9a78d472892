import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { bool, constrained, uint, uint32 } from '#formats/tlb/codec/primitives.js';
import { variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

const atLeastOne = constrained(uint32, 'at least 1', (value) => value >= 1);
const lifetimes = {
  mc_catchain_lifetime: atLeastOne,
  shard_catchain_lifetime: atLeastOne,
  shard_validators_lifetime: atLeastOne,
  shard_validators_num: atLeastOne,
};

/**
 * How validator sessions are formed: lifetimes in seconds, how many validators a shard has, and whether those of the
 * masterchain are shuffled (never, in the older form).
 */
export const CatchainConfig = union('CatchainConfig', [
  variant(
    `catchain_config#c1 mc_catchain_lifetime:(## 32) { mc_catchain_lifetime >= 1 }
      shard_catchain_lifetime:(## 32) { shard_catchain_lifetime >= 1 }
      shard_validators_lifetime:(## 32) { shard_validators_lifetime >= 1 }
      shard_validators_num:(## 32) { shard_validators_num >= 1 } = CatchainConfig;`,
    lifetimes,
  ),
  variant(
    `catchain_config_new#c2 flags:(## 7) { flags = 0 } shuffle_mc_validators:Bool mc_catchain_lifetime:(## 32) { mc_catchain_lifetime >= 1 }
      shard_catchain_lifetime:(## 32) { shard_catchain_lifetime >= 1 }
      shard_validators_lifetime:(## 32) { shard_validators_lifetime >= 1 }
      shard_validators_num:(## 32) { shard_validators_num >= 1 } = CatchainConfig;`,
    { flags: constrained(uint(7), 'flags = 0', (flags) => flags === 0), shuffle_mc_validators: bool, ...lifetimes },
  ),
]);
export type CatchainConfig = ValueOf<typeof CatchainConfig>;
