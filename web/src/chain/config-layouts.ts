/** What a parameter of the configuration is about, and its type. */
interface ParamLayout {
  readonly title: string;
  /** Of {@link TYPES}, or a primitive one; absent: only its cell is shown. */
  readonly type?: string;
  /** Of the one value that it is, or of the entries of the dictionary that it is. */
  readonly name?: string;
}

const CONSENSUS =
  'next_candidate_delay_ms:uint32 consensus_timeout_ms:uint32 fast_attempts:uint32 attempt_duration:uint32 catchain_max_deps:uint32 max_block_bytes:uint32 max_collated_bytes:uint32';
const SIZES =
  'max_msg_bits:uint32 max_msg_cells:uint32 max_library_cells:uint32 max_vm_data_depth:uint16 max_ext_msg_size:uint32 max_ext_msg_depth:uint16';
const SIZES_V2 = `${SIZES} max_acc_state_cells:uint32 max_mc_acc_state_cells:uint32 max_acc_public_libraries:uint32 defer_out_queue_size_limit:uint32 max_msg_extra_currencies:uint32 max_acc_fixed_prefix_length:uint8 acc_state_cells_for_storage_dict:uint32 max_transaction_library_loads:?uint32`;
const WORKCHAIN =
  'enabled_since:time monitor_min_split:uint8 min_split:uint8 max_split:uint8 basic:uint1 active:Bool accept_msgs:Bool flags:uint13 zerostate_root_hash:hash zerostate_file_hash:hash version:uint32 format:WorkchainFormat';
const LIFETIMES =
  'mc_catchain_lifetime:seconds shard_catchain_lifetime:seconds shard_validators_lifetime:seconds shard_validators_num:uint32';

/**
 * The constructors of block.tlb that parameters have, by type, with their fields as `name:type`. A name `_` stands for no name. Types
 * are those of block.tlb with these differences: `seconds`, `time` and `hash` say how 32 or 256 bits are shown, `account` is an
 * account of the masterchain, `?T` is `Maybe T`, and `Hashmap/BITS/KEY/VALUE` has keys that are shown as `number`, `int`, `hash`, `account`
 * or `address` (workchain and account). Of a value `True` only keys are there, of a value `count` only the number of entries is shown.
 */
export const TYPES: Readonly<Record<string, readonly string[]>> = {
  BurningConfig: ['burning_config#01 blackhole_addr:?account fee_burn_num:uint32 fee_burn_denom:uint32'],
  MintPrices: ['_ mint_new_price:Grams mint_add_price:Grams'],
  GlobalVersion: ['capabilities#c4 version:uint32 capabilities:uint64'],
  ConfigVotingSetup: ['cfg_vote_setup#91 normal:^ConfigProposalSetup critical:^ConfigProposalSetup'],
  ConfigProposalSetup: [
    'cfg_vote_cfg#36 min_tot_rounds:uint8 max_tot_rounds:uint8 min_wins:uint8 max_losses:uint8 min_store_sec:seconds max_store_sec:seconds bit_price:uint32 cell_price:uint32',
  ],
  WorkchainDescr: [
    `workchain#a6 ${WORKCHAIN}`,
    `workchain_v2#a7 ${WORKCHAIN} _:WcSplitMergeTimings persistent_state_split_depth:uint8`,
  ],
  WorkchainFormat: ['wfmt_basic#1 vm_version:int32 vm_mode:uint64'],
  WcSplitMergeTimings: [
    'wc_split_merge_timings#0 split_merge_delay:seconds split_merge_interval:seconds min_split_merge_interval:seconds max_split_merge_delay:seconds',
  ],
  ComplaintPricing: ['complaint_prices#1a deposit:Grams bit_price:Grams cell_price:Grams'],
  BlockCreateFees: ['block_grams_created#6b masterchain_block_fee:Grams basechain_block_fee:Grams'],
  ElectionTimings: [
    '_ validators_elected_for:seconds elections_start_before:seconds elections_end_before:seconds stake_held_for:seconds',
  ],
  ValidatorCounts: ['_ max_validators:uint16 max_main_validators:uint16 min_validators:uint16'],
  StakeLimits: ['_ min_stake:Grams max_stake:Grams min_total_stake:Grams max_stake_factor:uint32'],
  StoragePrices: [
    'storage_prices#cc utime_since:time bit_price_ps:uint64 cell_price_ps:uint64 mc_bit_price_ps:uint64 mc_cell_price_ps:uint64',
  ],
  GasLimitsPrices: [
    'gas_flat_pfx#d1 flat_gas_limit:uint64 flat_gas_price:uint64 _:GasLimitsPrices',
    'gas_prices_ext#de gas_price:uint64 gas_limit:uint64 special_gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64',
    'gas_prices#dd gas_price:uint64 gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64',
  ],
  BlockLimits: [
    'block_limits#5d bytes:ParamLimits gas:ParamLimits lt_delta:ParamLimits',
    'block_limits_v2#5e bytes:ParamLimits gas:ParamLimits lt_delta:ParamLimits collated_data:ParamLimits imported_msg_queue:ImportedMsgQueueLimits',
  ],
  ParamLimits: ['param_limits#c3 underload:uint32 soft_limit:uint32 hard_limit:uint32'],
  ImportedMsgQueueLimits: ['imported_msg_queue_limits#d3 max_bytes:uint32 max_msgs:uint32'],
  MsgForwardPrices: [
    'msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64 ihr_price_factor:uint32 first_frac:uint16 next_frac:uint16',
  ],
  CatchainConfig: [
    `catchain_config_new#c2 flags:uint7 shuffle_mc_validators:Bool ${LIFETIMES}`,
    `catchain_config#c1 ${LIFETIMES}`,
  ],
  ConsensusConfig: [
    `consensus_config_v4#d9 flags:uint6 use_quic:Bool new_catchain_ids:Bool round_candidates:uint8 ${CONSENSUS} proto_version:uint16 catchain_max_blocks_coeff:uint32`,
    `consensus_config_v3#d8 flags:uint7 new_catchain_ids:Bool round_candidates:uint8 ${CONSENSUS} proto_version:uint16`,
    `consensus_config_new#d7 flags:uint7 new_catchain_ids:Bool round_candidates:uint8 ${CONSENSUS}`,
    `consensus_config#d6 round_candidates:uint32 ${CONSENSUS}`,
  ],
  NewConsensusConfigAll: ['new_consensus_config_all#10 masterchain:?^NewConsensusConfig shards:?^NewConsensusConfig'],
  NewConsensusConfig: [
    'simplex_config_v2#22 flags:uint5 protocol_version:uint2 use_quic:Bool slots_per_leader_window:uint32 parameter:HashmapE/8/number/uint32',
    'simplex_config#21 flags:uint7 use_quic:Bool target_rate_ms:uint32 slots_per_leader_window:uint32 first_block_timeout_ms:uint32 max_leader_window_desync:uint32',
  ],
  ValidatorSet: [
    'validators_ext#12 from:time to:time validators:uint16 of_the_masterchain:uint16 total_weight:uint64 listed:HashmapE/16/number/count',
    'validators#11 from:time to:time validators:uint16 of_the_masterchain:uint16 listed:Hashmap/16/number/count',
  ],
  MisbehaviourPunishmentConfig: [
    'misbehaviour_punishment_config_v1#01 default_flat_fine:Grams default_proportional_fine:uint32 severity_flat_mult:uint16 severity_proportional_mult:uint16 unpunishable_interval:uint16 long_interval:uint16 long_flat_mult:uint16 long_proportional_mult:uint16 medium_interval:uint16 medium_flat_mult:uint16 medium_proportional_mult:uint16',
  ],
  SizeLimitsConfig: [
    `size_limits_config#01 ${SIZES}`,
    `size_limits_config_v2#02 ${SIZES_V2}`,
    `size_limits_config_v3#03 ${SIZES_V2} max_total_msg_bits:uint32 max_total_msg_cells:uint32`,
  ],
  SuspendedAddressList: ['suspended_address_list#00 addresses:HashmapE/288/address/True suspended_until:time'],
  PrecompiledContractsConfig: ['precompiled_contracts_config#c0 code:HashmapE/256/hash/PrecompiledSmc'],
  PrecompiledSmc: ['precompiled_smc#b0 gas_usage:uint64'],
  OracleBridgeParams: [
    '_ bridge:account oracle_multisig:account oracle:HashmapE/256/hash/hash external_chain_address:hash',
  ],
  JettonBridgeParams: [
    'jetton_bridge_params_v0#00 bridge:account oracles_address:account oracle:HashmapE/256/hash/hash state_flags:uint8 burn_bridge_fee:Grams',
    'jetton_bridge_params_v1#01 bridge:account oracles_address:account oracle:HashmapE/256/hash/hash state_flags:uint8 _:^JettonBridgePrices external_chain_address:hash',
  ],
  JettonBridgePrices: [
    '_ bridge_burn_fee:Grams bridge_mint_fee:Grams wallet_min_tons_for_storage:Grams wallet_gas_consumption:Grams minter_min_tons_for_storage:Grams discover_gas_consumption:Grams',
  ],
};

/** The parameters by their numbers. */
export const PARAMS: Readonly<Record<number, ParamLayout>> = {
  0: { title: 'Address of the configuration contract', type: 'account', name: 'address' },
  1: { title: 'Address of the elector', type: 'account', name: 'address' },
  2: { title: 'Address of the minter', type: 'account', name: 'address' },
  3: { title: 'Address of the fee collector', type: 'account', name: 'address' },
  4: { title: 'Address of the root of TON DNS', type: 'account', name: 'address' },
  5: { title: 'Burning of fees', type: 'BurningConfig' },
  6: { title: 'Prices for minting extra currencies', type: 'MintPrices' },
  7: { title: 'Extra currencies to mint', type: 'HashmapE/32/number/VarUInteger32', name: 'currency' },
  8: { title: 'Version of the network', type: 'GlobalVersion' },
  9: { title: 'Mandatory parameters', type: 'Hashmap/32/int/True', name: 'parameters' },
  10: { title: 'Critical parameters', type: 'Hashmap/32/int/True', name: 'parameters' },
  11: { title: 'Voting on proposals', type: 'ConfigVotingSetup' },
  12: { title: 'Workchains', type: 'HashmapE/32/int/WorkchainDescr', name: 'workchain' },
  13: { title: 'Prices of complaints', type: 'ComplaintPricing' },
  14: { title: 'Rewards for blocks', type: 'BlockCreateFees' },
  15: { title: 'Timing of elections', type: 'ElectionTimings' },
  16: { title: 'Number of validators', type: 'ValidatorCounts' },
  17: { title: 'Stakes', type: 'StakeLimits' },
  18: { title: 'Storage prices', type: 'Hashmap/32/number/StoragePrices', name: 'from' },
  19: { title: 'Global id', type: 'int32', name: 'id' },
  20: { title: 'Gas in the masterchain', type: 'GasLimitsPrices' },
  21: { title: 'Gas in the basechain', type: 'GasLimitsPrices' },
  22: { title: 'Limits of masterchain blocks', type: 'BlockLimits' },
  23: { title: 'Limits of basechain blocks', type: 'BlockLimits' },
  24: { title: 'Forward fees in the masterchain', type: 'MsgForwardPrices' },
  25: { title: 'Forward fees in the basechain', type: 'MsgForwardPrices' },
  28: { title: 'Catchain', type: 'CatchainConfig' },
  29: { title: 'Consensus', type: 'ConsensusConfig' },
  30: { title: 'New consensus', type: 'NewConsensusConfigAll' },
  31: { title: 'Special accounts', type: 'HashmapE/256/account/True', name: 'accounts' },
  32: { title: 'Previous validators', type: 'ValidatorSet' },
  33: { title: 'Previous temporary validators', type: 'ValidatorSet' },
  34: { title: 'Current validators', type: 'ValidatorSet' },
  35: { title: 'Current temporary validators', type: 'ValidatorSet' },
  36: { title: 'Next validators', type: 'ValidatorSet' },
  37: { title: 'Next temporary validators', type: 'ValidatorSet' },
  39: { title: 'Temporary keys of validators' },
  40: { title: 'Fines for misbehaviour', type: 'MisbehaviourPunishmentConfig' },
  43: { title: 'Limits of sizes', type: 'SizeLimitsConfig' },
  44: { title: 'Suspended addresses', type: 'SuspendedAddressList' },
  45: { title: 'Precompiled contracts', type: 'PrecompiledContractsConfig' },
  71: { title: 'Bridge to Ethereum', type: 'OracleBridgeParams' },
  72: { title: 'Bridge to BNB Smart Chain', type: 'OracleBridgeParams' },
  73: { title: 'Bridge to Polygon', type: 'OracleBridgeParams' },
  79: { title: 'Bridge of tokens from Ethereum', type: 'JettonBridgeParams' },
  81: { title: 'Bridge of tokens from BNB Smart Chain', type: 'JettonBridgeParams' },
  82: { title: 'Bridge of tokens from Polygon', type: 'JettonBridgeParams' },
};
