import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import {
  bits256,
  bool,
  cellRef,
  constrained,
  int32,
  int64,
  uint8,
  uint32,
  unit,
} from '#formats/tlb/codec/primitives.js';
import { dependent, record } from '#formats/tlb/codec/record.js';

/** What a proposal to change a parameter must reach: rounds, wins, storage time in seconds, prices in nanotons. */
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

/** How validators vote on changes of the configuration: parameters named critical (10) have rules of their own. */
export const ConfigVotingSetup = record(
  `cfg_vote_setup#91 normal_params:^ConfigProposalSetup critical_params:^ConfigProposalSetup = ConfigVotingSetup;`,
  { normal_params: ref(ConfigProposalSetup), critical_params: ref(ConfigProposalSetup) },
);
export type ConfigVotingSetup = ValueOf<typeof ConfigVotingSetup>;

/**
 * A proposal in the configuration contract: the new value of a parameter (none: remove it), and the hash that the present
 * value must have (`uint256` in the schema; here its 32 bytes).
 */
export const ConfigProposal = record(
  'cfg_proposal#f3 param_id:int32 param_value:(Maybe ^Cell) if_hash_equal:(Maybe uint256) = ConfigProposal;',
  { param_id: int32, param_value: maybe(cellRef), if_hash_equal: maybe(bits256) },
);
export type ConfigProposal = ValueOf<typeof ConfigProposal>;

/**
 * A proposal under vote. `voters` are numbers in the validator set `validator_set_id` (`uint256` in the schema; here 32
 * bytes); what is missing to win the round is `remaining_weight`, negative once it is won.
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
