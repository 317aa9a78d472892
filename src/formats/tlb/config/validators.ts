import { CryptoSignature, SigPubKey } from '#formats/tlb/block-proof.js';
import { maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { hashmap, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import {
  bits256,
  bool,
  cellRef,
  constrained,
  grams,
  int32,
  int64,
  uint,
  uint8,
  uint16,
  uint32,
  uint64,
  unit,
} from '#formats/tlb/codec/primitives.js';
import { dependent, record, union, variant } from '#formats/tlb/codec/record.js';

/** A validator: its key, its voting weight and, in the constructor used today, its ADNL address. */
export const ValidatorDescr = union('ValidatorDescr', [
  variant('validator#53 public_key:SigPubKey weight:uint64 = ValidatorDescr;', {
    public_key: SigPubKey,
    weight: uint64,
  }),
  variant('validator_addr#73 public_key:SigPubKey weight:uint64 adnl_addr:bits256 = ValidatorDescr;', {
    public_key: SigPubKey,
    weight: uint64,
    adnl_addr: bits256,
  }),
]);
export type ValidatorDescr = ValueOf<typeof ValidatorDescr>;

/** `main` follows `total` and must not exceed it. */
const mainOf = dependent('total', (total: number) =>
  constrained(uint16, `1 <= main <= total (${total})`, (main) => main >= 1 && main <= total),
);

/**
 * Validators of a period (`utime_since` to `utime_until`, unix seconds) by index; the first `main` of `total`
 * validate the masterchain. Although the schema does not say so, the keys of `list` must be 0 to `total` - 1, no weight may
 * be 0, and `total_weight` must be their sum. The list is read lazily, so callers that rely on this must check it.
 */
export const ValidatorSet = union('ValidatorSet', [
  variant(
    `validators#11 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16) { main <= total } { main >= 1 }
      list:(Hashmap 16 ValidatorDescr) = ValidatorSet;`,
    {
      utime_since: uint32,
      utime_until: uint32,
      total: uint16,
      main: mainOf,
      list: hashmap(uintKey(16), ValidatorDescr),
    },
  ),
  variant(
    `validators_ext#12 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16) { main <= total } { main >= 1 }
      total_weight:uint64 list:(HashmapE 16 ValidatorDescr) = ValidatorSet;`,
    {
      utime_since: uint32,
      utime_until: uint32,
      total: uint16,
      main: mainOf,
      total_weight: uint64,
      list: hashmapE(uintKey(16), ValidatorDescr),
    },
  ),
]);
export type ValidatorSet = ValueOf<typeof ValidatorSet>;

/** Timings of validator elections in seconds: terms, start and end of elections, and how long stakes stay locked. */
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

/** Maximum and minimum number of validators, and the maximum in the masterchain. */
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

/** Stakes in nanotons; `max_stake_factor` / 65536 is the maximum ratio of the largest to the smallest effective stake. */
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

/** A temporary key, signed with the permanent one. Unused on all networks so far. */
export const ValidatorSignedTempKey = record(
  'signed_temp_key#4 key:^ValidatorTempKey signature:CryptoSignature = ValidatorSignedTempKey;',
  { key: ref(ValidatorTempKey), signature: CryptoSignature },
);
export type ValidatorSignedTempKey = ValueOf<typeof ValidatorSignedTempKey>;

const atLeastOne = constrained(uint32, 'at least 1', (value) => value >= 1);
const lifetimes = {
  mc_catchain_lifetime: atLeastOne,
  shard_catchain_lifetime: atLeastOne,
  shard_validators_lifetime: atLeastOne,
  shard_validators_num: atLeastOne,
};

/**
 * How validator sessions are formed: catchain lifetimes in seconds, the number of validators of a shard, and whether the
 * masterchain validators are shuffled (never, in the older constructor).
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

/** Parameters of the catchain consensus: timeouts in milliseconds, sizes in bytes. */
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
 * Parameters of the simplex consensus. `noncritical_params` are timings and limits by number, for
 * example 0: the target interval between blocks in milliseconds, 1: the timeout for the first block of a window; a
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

/** The simplex settings of the masterchain and of shards; where they are absent, {@link ConsensusConfig} applies. */
export const NewConsensusConfigAll = record(
  'new_consensus_config_all#10 mc:(Maybe ^NewConsensusConfig) shard:(Maybe ^NewConsensusConfig) = NewConsensusConfigAll;',
  { mc: maybe(ref(NewConsensusConfig)), shard: maybe(ref(NewConsensusConfig)) },
);
export type NewConsensusConfigAll = ValueOf<typeof NewConsensusConfigAll>;

/** Prices of a complaint about a validator in nanotons. */
export const ComplaintPricing = record(
  'complaint_prices#1a deposit:Grams bit_price:Grams cell_price:Grams = ComplaintPricing;',
  { deposit: grams, bit_price: grams, cell_price: grams },
);
export type ComplaintPricing = ValueOf<typeof ComplaintPricing>;

/**
 * Fines for misbehaving validators: a flat part in nanotons and a proportion of the stake in units of 2^-32, both scaled by
 * multipliers in 1/256 for severity and for the length of the interval in seconds.
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

/** Requirements for a proposal to change a parameter: rounds, wins, storage time in seconds, prices in nanotons. */
export const ConfigProposalSetup = record(
  `cfg_vote_cfg#36 min_tot_rounds:(## 8) max_tot_rounds:(## 8) { min_tot_rounds <= max_tot_rounds }
    min_wins:uint8 max_losses:uint8 min_store_sec:(## 32) max_store_sec:(## 32) { min_store_sec <= max_store_sec }
    bit_price:uint32 cell_price:uint32 = ConfigProposalSetup;`,
  {
    min_tot_rounds: uint8,
    max_tot_rounds: dependent('min_tot_rounds', (min: number) =>
      constrained(uint8, `max_tot_rounds >= min_tot_rounds (${min})`, (max) => max >= min),
    ),
    min_wins: uint8,
    max_losses: uint8,
    min_store_sec: uint32,
    max_store_sec: dependent('min_store_sec', (min: number) =>
      constrained(uint32, `max_store_sec >= min_store_sec (${min})`, (max) => max >= min),
    ),
    bit_price: uint32,
    cell_price: uint32,
  },
);
export type ConfigProposalSetup = ValueOf<typeof ConfigProposalSetup>;

/** How validators vote on configuration changes; critical parameters (config parameter 10) have separate rules. */
export const ConfigVotingSetup = record(
  `cfg_vote_setup#91 normal_params:^ConfigProposalSetup critical_params:^ConfigProposalSetup = ConfigVotingSetup;`,
  { normal_params: ref(ConfigProposalSetup), critical_params: ref(ConfigProposalSetup) },
);
export type ConfigVotingSetup = ValueOf<typeof ConfigVotingSetup>;

/**
 * A proposal in the configuration contract: the new value of a parameter (none: remove it), and the hash that the current
 * value must have (`uint256` in the schema; here 32 bytes).
 */
export const ConfigProposal = record(
  'cfg_proposal#f3 param_id:int32 param_value:(Maybe ^Cell) if_hash_equal:(Maybe uint256) = ConfigProposal;',
  { param_id: int32, param_value: maybe(cellRef), if_hash_equal: maybe(bits256) },
);
export type ConfigProposal = ValueOf<typeof ConfigProposal>;

/**
 * The voting status of a proposal. `voters` are indexes in the validator set `validator_set_id` (`uint256` in the schema;
 * here 32 bytes); `remaining_weight` is the weight missing to win the round, negative once it is won.
 */
export const ConfigProposalStatus = record(
  `cfg_proposal_status#ce expires:uint32 proposal:^ConfigProposal is_critical:Bool voters:(HashmapE 16 True)
    remaining_weight:int64 validator_set_id:uint256 rounds_remaining:uint8 wins:uint8 losses:uint8 = ConfigProposalStatus;`,
  {
    expires: uint32,
    proposal: ref(ConfigProposal),
    is_critical: bool,
    voters: hashmapE(uintKey(16), unit),
    remaining_weight: int64,
    validator_set_id: bits256,
    rounds_remaining: uint8,
    wins: uint8,
    losses: uint8,
  },
);
export type ConfigProposalStatus = ValueOf<typeof ConfigProposalStatus>;
