import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { bool, constrained, uint, uint8, uint16, uint32 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

const noFlags = (bits: number) => constrained(uint(bits), 'flags = 0', (flags) => flags === 0);
const roundCandidates = constrained(uint8, 'round_candidates >= 1', (value) => value >= 1);
const timings = {
  next_candidate_delay_ms: uint32,
  consensus_timeout_ms: uint32,
  fast_attempts: uint32,
  attempt_duration: uint32,
  catchain_max_deps: uint32,
  max_block_bytes: uint32,
  max_collated_bytes: uint32,
};

/** How validators agree on a block in the catchain protocol: timeouts in milliseconds, sizes in bytes. */
export const ConsensusConfig = union('ConsensusConfig', [
  variant(
    `consensus_config#d6 round_candidates:# { round_candidates >= 1 }
      next_candidate_delay_ms:uint32 consensus_timeout_ms:uint32 fast_attempts:uint32 attempt_duration:uint32
      catchain_max_deps:uint32 max_block_bytes:uint32 max_collated_bytes:uint32 = ConsensusConfig;`,
    { round_candidates: constrained(uint32, 'round_candidates >= 1', (value) => value >= 1), ...timings },
  ),
  variant(
    `consensus_config_new#d7 flags:(## 7) { flags = 0 } new_catchain_ids:Bool
      round_candidates:(## 8) { round_candidates >= 1 }
      next_candidate_delay_ms:uint32 consensus_timeout_ms:uint32 fast_attempts:uint32 attempt_duration:uint32
      catchain_max_deps:uint32 max_block_bytes:uint32 max_collated_bytes:uint32 = ConsensusConfig;`,
    { flags: noFlags(7), new_catchain_ids: bool, round_candidates: roundCandidates, ...timings },
  ),
  variant(
    `consensus_config_v3#d8 flags:(## 7) { flags = 0 } new_catchain_ids:Bool
      round_candidates:(## 8) { round_candidates >= 1 }
      next_candidate_delay_ms:uint32 consensus_timeout_ms:uint32 fast_attempts:uint32 attempt_duration:uint32
      catchain_max_deps:uint32 max_block_bytes:uint32 max_collated_bytes:uint32
      proto_version:uint16 = ConsensusConfig;`,
    {
      flags: noFlags(7),
      new_catchain_ids: bool,
      round_candidates: roundCandidates,
      ...timings,
      proto_version: uint16,
    },
  ),
  variant(
    `consensus_config_v4#d9 flags:(## 6) { flags = 0 } use_quic:Bool new_catchain_ids:Bool
      round_candidates:(## 8) { round_candidates >= 1 }
      next_candidate_delay_ms:uint32 consensus_timeout_ms:uint32 fast_attempts:uint32 attempt_duration:uint32
      catchain_max_deps:uint32 max_block_bytes:uint32 max_collated_bytes:uint32
      proto_version:uint16 catchain_max_blocks_coeff:uint32 = ConsensusConfig;`,
    {
      flags: noFlags(6),
      use_quic: bool,
      new_catchain_ids: bool,
      round_candidates: roundCandidates,
      ...timings,
      proto_version: uint16,
      catchain_max_blocks_coeff: uint32,
    },
  ),
]);
export type ConsensusConfig = ValueOf<typeof ConsensusConfig>;

const slotsPerLeaderWindow = constrained(uint32, 'slots_per_leader_window >= 1', (value) => value >= 1);

/**
 * How validators agree on a block in the simplex protocol. `noncritical_params` are timings and limits by number, for
 * example 0: the target interval between blocks in milliseconds, 1: the time to wait for the first block of a window; a
 * few of them (2, 5) hold the bits of a 32-bit float.
 */
export const NewConsensusConfig = union('NewConsensusConfig', [
  variant(
    `simplex_config#21 flags:(## 7) use_quic:Bool target_rate_ms:uint32
      slots_per_leader_window:(## 32) { slots_per_leader_window >= 1 }
      first_block_timeout_ms:uint32 max_leader_window_desync:uint32 = NewConsensusConfig;`,
    {
      flags: uint(7),
      use_quic: bool,
      target_rate_ms: uint32,
      slots_per_leader_window: slotsPerLeaderWindow,
      first_block_timeout_ms: uint32,
      max_leader_window_desync: uint32,
    },
  ),
  variant(
    `simplex_config_v2#22 flags:(## 5) protocol_version:(## 2) use_quic:Bool
      slots_per_leader_window:(## 32) { slots_per_leader_window >= 1 }
      noncritical_params:(HashmapE 8 uint32) = NewConsensusConfig;`,
    {
      flags: uint(5),
      protocol_version: uint(2),
      use_quic: bool,
      slots_per_leader_window: slotsPerLeaderWindow,
      noncritical_params: hashmapE(uintKey(8), uint32),
    },
  ),
]);
export type NewConsensusConfig = ValueOf<typeof NewConsensusConfig>;

/** The simplex settings of the masterchain and of shards; where there are none, {@link ConsensusConfig} counts. */
export const NewConsensusConfigAll = record(
  'new_consensus_config_all#10 mc:(Maybe ^NewConsensusConfig) shard:(Maybe ^NewConsensusConfig) = NewConsensusConfigAll;',
  { mc: maybe(ref(NewConsensusConfig)), shard: maybe(ref(NewConsensusConfig)) },
);
export type NewConsensusConfigAll = ValueOf<typeof NewConsensusConfigAll>;
