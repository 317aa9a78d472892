import { type Codec, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey, hashmapE } from '#formats/tlb/codec/dictionary.js';
import {
  bits256,
  bool,
  constrained,
  grams,
  int32,
  uint,
  uint8,
  uint32,
  uint64,
} from '#formats/tlb/codec/primitives.js';
import { dependent, record, union, variant } from '#formats/tlb/codec/record.js';

/** Global version of the network, or version of the software that created a block, and capability bits. */
export const GlobalVersion = record('capabilities#c4 version:uint32 capabilities:uint64 = GlobalVersion;', {
  version: uint32,
  capabilities: uint64,
});
export type GlobalVersion = ValueOf<typeof GlobalVersion>;

const WorkchainFormatBasic = variant('wfmt_basic#1 vm_version:int32 vm_mode:uint64 = WorkchainFormat 1;', {
  vm_version: int32,
  vm_mode: uint64,
});

const WorkchainFormatExtended = variant(
  `wfmt_ext#0 min_addr_len:(## 12) max_addr_len:(## 12) addr_len_step:(## 12)
    { min_addr_len >= 64 } { min_addr_len <= max_addr_len } { max_addr_len <= 1023 } { addr_len_step <= 1023 }
    workchain_type_id:(## 32) { workchain_type_id >= 1 } = WorkchainFormat 0;`,
  {
    min_addr_len: constrained(uint(12), 'min_addr_len >= 64', (min) => min >= 64),
    max_addr_len: dependent('min_addr_len', (min: number) =>
      constrained(uint(12), `min_addr_len (${min}) <= max_addr_len <= 1023`, (max) => min <= max && max <= 1023),
    ),
    addr_len_step: constrained(uint(12), 'addr_len_step <= 1023', (step) => step <= 1023),
    workchain_type_id: constrained(uint32, 'workchain_type_id >= 1', (id) => id >= 1),
  },
);

/** Address format and virtual machine of a workchain: `wfmt_basic` (256-bit addresses, TVM) or `wfmt_ext`. */
export type WorkchainFormat = ValueOf<typeof WorkchainFormatBasic> | ValueOf<typeof WorkchainFormatExtended>;

/** `WorkchainFormat basic`: only the constructor selected by `basic`. */
const formats: Readonly<Record<'true' | 'false', Codec<WorkchainFormat>>> = {
  true: union('WorkchainFormat 1', [WorkchainFormatBasic]),
  false: union('WorkchainFormat 0', [WorkchainFormatExtended]),
};

/** When shards of a workchain split and merge, in seconds. */
export const WcSplitMergeTimings = record(
  `wc_split_merge_timings#0 split_merge_delay:uint32 split_merge_interval:uint32
    min_split_merge_interval:uint32 max_split_merge_delay:uint32 = WcSplitMergeTimings;`,
  {
    split_merge_delay: uint32,
    split_merge_interval: uint32,
    min_split_merge_interval: uint32,
    max_split_merge_delay: uint32,
  },
);
export type WcSplitMergeTimings = ValueOf<typeof WcSplitMergeTimings>;

const common = {
  enabled_since: uint32,
  monitor_min_split: uint8,
  min_split: dependent('monitor_min_split', (monitor: number) =>
    constrained(uint8, `min_split >= monitor_min_split (${monitor})`, (min) => min >= monitor),
  ),
  max_split: dependent('min_split', (min: number) =>
    constrained(uint8, `min_split (${min}) <= max_split <= 60`, (max) => min <= max && max <= 60),
  ),
  basic: bool,
  active: bool,
  accept_msgs: bool,
  flags: constrained(uint(13), 'flags = 0', (flags) => flags === 0),
  zerostate_root_hash: bits256,
  zerostate_file_hash: bits256,
  version: uint32,
  format: dependent('basic', (basic: boolean) => formats[`${basic}`]),
};

/**
 * A workchain: activation time (unix seconds), minimum and maximum depth of shard splits (`monitor_min_split` was formerly
 * `actual_min_split`), zerostate, and format.
 */
export const WorkchainDescr = union('WorkchainDescr', [
  variant(
    `workchain#a6 enabled_since:uint32 monitor_min_split:(## 8) min_split:(## 8) max_split:(## 8)
      { monitor_min_split <= min_split } { min_split <= max_split } { max_split <= 60 }
      basic:(## 1) active:Bool accept_msgs:Bool flags:(## 13) { flags = 0 }
      zerostate_root_hash:bits256 zerostate_file_hash:bits256
      version:uint32 format:(WorkchainFormat basic) = WorkchainDescr;`,
    common,
  ),
  variant(
    `workchain_v2#a7 enabled_since:uint32 monitor_min_split:(## 8) min_split:(## 8) max_split:(## 8)
      { monitor_min_split <= min_split } { min_split <= max_split } { max_split <= 60 }
      basic:(## 1) active:Bool accept_msgs:Bool flags:(## 13) { flags = 0 }
      zerostate_root_hash:bits256 zerostate_file_hash:bits256
      version:uint32 format:(WorkchainFormat basic) split_merge_timings:WcSplitMergeTimings
      persistent_state_split_depth:(## 8) { persistent_state_split_depth <= 63 } = WorkchainDescr;`,
    {
      ...common,
      split_merge_timings: WcSplitMergeTimings,
      persistent_state_split_depth: constrained(uint8, 'persistent_state_split_depth <= 63', (depth) => depth <= 63),
    },
  ),
]);
export type WorkchainDescr = ValueOf<typeof WorkchainDescr>;

/** Addresses in the other chain by the oracle's public key; `uint256` in the schema, here 32 bytes. */
const oracles = hashmapE(bytesKey(32), bits256);

/** A Toncoin bridge to another chain: contracts in the masterchain, and the oracles that attest transfers. */
export const OracleBridgeParams = record(
  `oracle_bridge_params#_ bridge_address:bits256 oracle_mutlisig_address:bits256 oracles:(HashmapE 256 uint256)
    external_chain_address:bits256 = OracleBridgeParams;`,
  { bridge_address: bits256, oracle_mutlisig_address: bits256, oracles, external_chain_address: bits256 },
);
export type OracleBridgeParams = ValueOf<typeof OracleBridgeParams>;

/** Fees and reserves of a token bridge in nanotons (`Coins` are `Grams`). */
export const JettonBridgePrices = record(
  `jetton_bridge_prices#_ bridge_burn_fee:Coins bridge_mint_fee:Coins
    wallet_min_tons_for_storage:Coins wallet_gas_consumption:Coins
    minter_min_tons_for_storage:Coins discover_gas_consumption:Coins = JettonBridgePrices;`,
  {
    bridge_burn_fee: grams,
    bridge_mint_fee: grams,
    wallet_min_tons_for_storage: grams,
    wallet_gas_consumption: grams,
    minter_min_tons_for_storage: grams,
    discover_gas_consumption: grams,
  },
);
export type JettonBridgePrices = ValueOf<typeof JettonBridgePrices>;

/** A bridge for tokens of another chain; bits of `state_flags` disable parts of it. */
export const JettonBridgeParams = union('JettonBridgeParams', [
  variant(
    `jetton_bridge_params_v0#00 bridge_address:bits256 oracles_address:bits256 oracles:(HashmapE 256 uint256)
      state_flags:uint8 burn_bridge_fee:Coins = JettonBridgeParams;`,
    { bridge_address: bits256, oracles_address: bits256, oracles, state_flags: uint8, burn_bridge_fee: grams },
  ),
  variant(
    `jetton_bridge_params_v1#01 bridge_address:bits256 oracles_address:bits256 oracles:(HashmapE 256 uint256)
      state_flags:uint8 prices:^JettonBridgePrices external_chain_address:bits256 = JettonBridgeParams;`,
    {
      bridge_address: bits256,
      oracles_address: bits256,
      oracles,
      state_flags: uint8,
      prices: ref(JettonBridgePrices),
      external_chain_address: bits256,
    },
  ),
]);
export type JettonBridgeParams = ValueOf<typeof JettonBridgeParams>;
