import { Address } from '#formats/address/address.js';
import { type Codec, deferred, maybe, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey, hashmapE, intKey, type KeyCodec } from '#formats/tlb/codec/dictionary.js';
import { bits256, constrained, grams, uint8, uint16, uint32, uint64, unit } from '#formats/tlb/codec/primitives.js';
import { dependent, record, union, variant } from '#formats/tlb/codec/record.js';

const atLeast = (floor: string) =>
  dependent(floor, (least: number) => constrained(uint32, `at least ${floor} (${least})`, (limit) => limit >= least));

/** Load limits of a block: below `underload` shards may merge, above `soft_limit` they may split; `hard_limit` ends the block. */
export const ParamLimits = record(
  `param_limits#c3 underload:# soft_limit:# { underload <= soft_limit }
    hard_limit:# { soft_limit <= hard_limit } = ParamLimits;`,
  { underload: uint32, soft_limit: atLeast('underload'), hard_limit: atLeast('soft_limit') },
);
export type ParamLimits = ValueOf<typeof ParamLimits>;

/** How much of a neighbour's out-message queue a block may import. */
export const ImportedMsgQueueLimits = record(
  'imported_msg_queue_limits#d3 max_bytes:# max_msgs:# = ImportedMsgQueueLimits;',
  { max_bytes: uint32, max_msgs: uint32 },
);
export type ImportedMsgQueueLimits = ValueOf<typeof ImportedMsgQueueLimits>;

/** Maximum size of a block in bytes, gas and logical time. */
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

/** Maximum sizes of messages, accounts and libraries. Without this parameter nodes use built-in defaults. */
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

/** The gas charged for a precompiled contract. */
export const PrecompiledSmc = record('precompiled_smc#b0 gas_usage:uint64 = PrecompiledSmc;', { gas_usage: uint64 });
export type PrecompiledSmc = ValueOf<typeof PrecompiledSmc>;

/** Precompiled contracts, which nodes may run without the TVM, by code hash. */
export const PrecompiledContractsConfig = record(
  'precompiled_contracts_config#c0 list:(HashmapE 256 PrecompiledSmc) = PrecompiledContractsConfig;',
  { list: hashmapE(hashKey, PrecompiledSmc) },
);
export type PrecompiledContractsConfig = ValueOf<typeof PrecompiledContractsConfig>;

/** Storage prices from `utime_since` (unix seconds) on, in 2^-16 nanotons per bit or cell and second. */
export const StoragePrices = record(
  `_#cc utime_since:uint32 bit_price_ps:uint64 cell_price_ps:uint64
    mc_bit_price_ps:uint64 mc_cell_price_ps:uint64 = StoragePrices;`,
  {
    utime_since: uint32,
    bit_price_ps: uint64,
    cell_price_ps: uint64,
    mc_bit_price_ps: uint64,
    mc_cell_price_ps: uint64,
  },
);
export type StoragePrices = ValueOf<typeof StoragePrices>;

const GasPrices = variant(
  `gas_prices#dd gas_price:uint64 gas_limit:uint64 gas_credit:uint64 block_gas_limit:uint64
    freeze_due_limit:uint64 delete_due_limit:uint64 = GasLimitsPrices;`,
  {
    gas_price: uint64,
    gas_limit: uint64,
    gas_credit: uint64,
    block_gas_limit: uint64,
    freeze_due_limit: uint64,
    delete_due_limit: uint64,
  },
);

const GasPricesExt = variant(
  `gas_prices_ext#de gas_price:uint64 gas_limit:uint64 special_gas_limit:uint64 gas_credit:uint64
    block_gas_limit:uint64 freeze_due_limit:uint64 delete_due_limit:uint64 = GasLimitsPrices;`,
  {
    gas_price: uint64,
    gas_limit: uint64,
    special_gas_limit: uint64,
    gas_credit: uint64,
    block_gas_limit: uint64,
    freeze_due_limit: uint64,
    delete_due_limit: uint64,
  },
);

/**
 * The gas price in 2^-16 nanotons per unit, and gas limits. With `gas_flat_pfx` the first `flat_gas_limit` units together
 * cost `flat_gas_price` nanotons, and `other` applies to the rest.
 */
export type GasLimitsPrices =
  | ValueOf<typeof GasPrices>
  | ValueOf<typeof GasPricesExt>
  | {
      readonly kind: 'gas_flat_pfx';
      readonly flat_gas_limit: bigint;
      readonly flat_gas_price: bigint;
      readonly other: GasLimitsPrices;
    };
export const GasLimitsPrices: Codec<GasLimitsPrices> = union('GasLimitsPrices', [
  GasPrices,
  GasPricesExt,
  variant('gas_flat_pfx#d1 flat_gas_limit:uint64 flat_gas_price:uint64 other:GasLimitsPrices = GasLimitsPrices;', {
    flat_gas_limit: uint64,
    flat_gas_price: uint64,
    other: deferred('GasLimitsPrices', (): Codec<GasLimitsPrices> => GasLimitsPrices),
  }),
]);

/**
 * Forward fee of a message: `lump_price` + ⌈(`bit_price` · bits + `cell_price` · cells) / 2^16⌉ nanotons, not counting its
 * root cell; `first_frac` / 2^16 of it goes to the sending shard, `next_frac` / 2^16 of the rest to each shard on the route.
 */
export const MsgForwardPrices = record(
  `msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64
    ihr_price_factor:uint32 first_frac:uint16 next_frac:uint16 = MsgForwardPrices;`,
  {
    lump_price: uint64,
    bit_price: uint64,
    cell_price: uint64,
    ihr_price_factor: uint32,
    first_frac: uint16,
    next_frac: uint16,
  },
);
export type MsgForwardPrices = ValueOf<typeof MsgForwardPrices>;

/**
 * Which coins are burned: all that reach `blackhole_addr` (an account id in the masterchain), and the fraction
 * `fee_burn_num` / `fee_burn_denom` of fees.
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

/** Prices in nanotons for creating an extra currency and for minting more of one. */
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
