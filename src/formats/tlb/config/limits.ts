import { Address } from '#formats/address/address.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey, intKey, type KeyCodec } from '#formats/tlb/codec/dictionary-key.js';
import { constrained, uint8, uint16, uint32, uint64, unit } from '#formats/tlb/codec/primitives.js';
import { dependent, record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

const atLeast = (floor: string) =>
  dependent(floor, (least: number) => constrained(uint32, `at least ${floor} (${least})`, (limit) => limit >= least));

/** Marks of a block's fill: below `underload` shards may merge, above `soft_limit` they may split, `hard_limit` ends it. */
export const ParamLimits = record(
  `param_limits#c3 underload:# soft_limit:# { underload <= soft_limit }
    hard_limit:# { soft_limit <= hard_limit } = ParamLimits;`,
  { underload: uint32, soft_limit: atLeast('underload'), hard_limit: atLeast('soft_limit') },
);
export type ParamLimits = ValueOf<typeof ParamLimits>;

/** How much of a neighbour's message queue a block may take in. */
export const ImportedMsgQueueLimits = record(
  'imported_msg_queue_limits#d3 max_bytes:# max_msgs:# = ImportedMsgQueueLimits;',
  { max_bytes: uint32, max_msgs: uint32 },
);
export type ImportedMsgQueueLimits = ValueOf<typeof ImportedMsgQueueLimits>;

/** How big a block may get, in bytes, gas and logical time. */
export const BlockLimits = union('BlockLimits', [
  variant('block_limits#5d bytes:ParamLimits gas:ParamLimits lt_delta:ParamLimits = BlockLimits;', {
    bytes: ParamLimits,
    gas: ParamLimits,
    lt_delta: ParamLimits,
  }),
  variant(
    `block_limits_v2#5e bytes:ParamLimits gas:ParamLimits lt_delta:ParamLimits
      collated_data:ParamLimits imported_msg_queue:ImportedMsgQueueLimits = BlockLimits;`,
    {
      bytes: ParamLimits,
      gas: ParamLimits,
      lt_delta: ParamLimits,
      collated_data: ParamLimits,
      imported_msg_queue: ImportedMsgQueueLimits,
    },
  ),
]);
export type BlockLimits = ValueOf<typeof BlockLimits>;

const sizes = {
  max_msg_bits: uint32,
  max_msg_cells: uint32,
  max_library_cells: uint32,
  max_vm_data_depth: uint16,
  max_ext_msg_size: uint32,
  max_ext_msg_depth: uint16,
};
const sizesV2 = {
  ...sizes,
  max_acc_state_cells: uint32,
  max_mc_acc_state_cells: uint32,
  max_acc_public_libraries: uint32,
  defer_out_queue_size_limit: uint32,
  max_msg_extra_currencies: uint32,
  max_acc_fixed_prefix_length: uint8,
  acc_state_cells_for_storage_dict: uint32,
  max_transaction_library_loads: maybe(uint32),
};

/** How big messages, accounts and libraries may be. Networks without this parameter use the values built into nodes. */
export const SizeLimitsConfig = union('SizeLimitsConfig', [
  variant(
    `size_limits_config#01 max_msg_bits:uint32 max_msg_cells:uint32 max_library_cells:uint32 max_vm_data_depth:uint16
      max_ext_msg_size:uint32 max_ext_msg_depth:uint16 = SizeLimitsConfig;`,
    sizes,
  ),
  variant(
    `size_limits_config_v2#02 max_msg_bits:uint32 max_msg_cells:uint32 max_library_cells:uint32 max_vm_data_depth:uint16
      max_ext_msg_size:uint32 max_ext_msg_depth:uint16 max_acc_state_cells:uint32 max_mc_acc_state_cells:uint32
      max_acc_public_libraries:uint32 defer_out_queue_size_limit:uint32 max_msg_extra_currencies:uint32
      max_acc_fixed_prefix_length:uint8 acc_state_cells_for_storage_dict:uint32
      max_transaction_library_loads:(Maybe uint32) = SizeLimitsConfig;`,
    sizesV2,
  ),
  variant(
    `size_limits_config_v3#03 max_msg_bits:uint32 max_msg_cells:uint32 max_library_cells:uint32 max_vm_data_depth:uint16
      max_ext_msg_size:uint32 max_ext_msg_depth:uint16 max_acc_state_cells:uint32 max_mc_acc_state_cells:uint32
      max_acc_public_libraries:uint32 defer_out_queue_size_limit:uint32 max_msg_extra_currencies:uint32
      max_acc_fixed_prefix_length:uint8 acc_state_cells_for_storage_dict:uint32
      max_transaction_library_loads:(Maybe uint32)
      max_total_msg_bits:uint32 max_total_msg_cells:uint32 = SizeLimitsConfig;`,
    { ...sizesV2, max_total_msg_bits: uint32, max_total_msg_cells: uint32 },
  ),
]);
export type SizeLimitsConfig = ValueOf<typeof SizeLimitsConfig>;

const workchainKey = intKey(32);
const hashKey = bytesKey(32);

/** `[ wc:int32 addr:uint256 ]` */
const addressKey: KeyCodec<Address> = {
  bits: 288,
  encode: (address) => {
    const out = new Uint8Array(36);
    out.set(workchainKey.encode(address.workchain));
    out.set(hashKey.encode(address.hash), 4);
    return out;
  },
  decode: (bits) => Address.ofParts(workchainKey.decode(bits.subarray(0, 4)), bits.slice(4)),
};

/** `unit$_ = Unit;` */
const Unit: Codec<true> = { ...unit, type: 'Unit' };

/** Accounts without code whose deployment is refused until `suspended_until`, unix seconds. */
export const SuspendedAddressList = record(
  'suspended_address_list#00 addresses:(HashmapE 288 Unit) suspended_until:uint32 = SuspendedAddressList;',
  { addresses: hashmapE(addressKey, Unit), suspended_until: uint32 },
);
export type SuspendedAddressList = ValueOf<typeof SuspendedAddressList>;

/** The gas that a contract built into nodes is charged. */
export const PrecompiledSmc = record('precompiled_smc#b0 gas_usage:uint64 = PrecompiledSmc;', { gas_usage: uint64 });
export type PrecompiledSmc = ValueOf<typeof PrecompiledSmc>;

/** Contracts that nodes may run without the TVM, by the hash of their code. */
export const PrecompiledContractsConfig = record(
  'precompiled_contracts_config#c0 list:(HashmapE 256 PrecompiledSmc) = PrecompiledContractsConfig;',
  { list: hashmapE(hashKey, PrecompiledSmc) },
);
export type PrecompiledContractsConfig = ValueOf<typeof PrecompiledContractsConfig>;
