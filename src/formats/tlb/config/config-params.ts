import type { Cell } from '#formats/cells/cell.js';
import { type Codec, decodeCell, encodeCell, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey, Dictionary, hashmap, hashmapE, hashmapRef, intKey, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bits256, cellRef, int32, unit } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import {
  BlockCreateFees,
  BlockLimits,
  BurningConfig,
  GasLimitsPrices,
  MintPrices,
  MsgForwardPrices,
  PrecompiledContractsConfig,
  SizeLimitsConfig,
  StoragePrices,
  SuspendedAddressList,
} from '#formats/tlb/config/limits-and-prices.js';
import { GlobalVersion, JettonBridgeParams, OracleBridgeParams, WorkchainDescr } from '#formats/tlb/config/network.js';
import {
  CatchainConfig,
  ComplaintPricing,
  ConfigVotingSetup,
  ConsensusConfig,
  ElectionTimings,
  MisbehaviourPunishmentConfig,
  NewConsensusConfigAll,
  StakeLimits,
  ValidatorCounts,
  ValidatorSet,
  ValidatorSignedTempKey,
} from '#formats/tlb/config/validators.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { isTernError } from '#kernel/tern-error.js';

/** All config parameters by number, each in a separate cell. */
export type ConfigDictionary = Dictionary<number, Cell>;

const parameters = { key: intKey(32), value: cellRef };

/** The address of the configuration contract in the masterchain, and the configuration. */
export const ConfigParams = record('_ config_addr:bits256 config:^(Hashmap 32 ^Cell) = ConfigParams;', {
  config_addr: bits256,
  config: hashmapRef(parameters.key, parameters.value),
});
export type ConfigParams = ValueOf<typeof ConfigParams>;

/** The configuration with this root cell, as liteservers and emulators exchange it without the address. */
export function configDictionary(root: Cell): ConfigDictionary {
  return new Dictionary(parameters, root);
}

const parameterNumbers = hashmap(intKey(32), unit);

function param<T>(name: string, schema: string, codec: Codec<T>): ConfigParamType<T> {
  return { name, schema, codec };
}

/** The type of a config parameter. A parameter with a single field has that field's value, without a wrapping object. */
export interface ConfigParamType<T> {
  /** The name of the field in the schema, or a descriptive one. */
  readonly name: string;
  readonly schema: string;
  readonly codec: Codec<T>;
}

/**
 * All parameters described by the schema. Others stay cells; negative numbers are free for any use, validators ignore
 * them.
 */
export const CONFIG_PARAMS = {
  0: param('config_addr', '_ config_addr:bits256 = ConfigParam 0;', bits256),
  1: param('elector_addr', '_ elector_addr:bits256 = ConfigParam 1;', bits256),
  2: param('minter_addr', '_ minter_addr:bits256 = ConfigParam 2;', bits256),
  3: param('fee_collector_addr', '_ fee_collector_addr:bits256 = ConfigParam 3;', bits256),
  4: param('dns_root_addr', '_ dns_root_addr:bits256 = ConfigParam 4;', bits256),
  5: param('burning_config', '_ BurningConfig = ConfigParam 5;', BurningConfig),
  6: param('mint_prices', MintPrices.schema, MintPrices),
  7: param('to_mint', '_ to_mint:ExtraCurrencyCollection = ConfigParam 7;', ExtraCurrencyCollection),
  8: param('global_version', '_ GlobalVersion = ConfigParam 8;', GlobalVersion),
  9: param('mandatory_params', '_ mandatory_params:(Hashmap 32 True) = ConfigParam 9;', parameterNumbers),
  10: param('critical_params', '_ critical_params:(Hashmap 32 True) = ConfigParam 10;', parameterNumbers),
  11: param('voting_setup', '_ ConfigVotingSetup = ConfigParam 11;', ConfigVotingSetup),
  12: param(
    'workchains',
    '_ workchains:(HashmapE 32 WorkchainDescr) = ConfigParam 12;',
    hashmapE(intKey(32), WorkchainDescr),
  ),
  13: param('complaint_prices', '_ ComplaintPricing = ConfigParam 13;', ComplaintPricing),
  14: param('block_create_fees', '_ BlockCreateFees = ConfigParam 14;', BlockCreateFees),
  15: param('election_timings', '_ ElectionTimings = ConfigParam 15;', ElectionTimings),
  16: param('validator_counts', ValidatorCounts.schema, ValidatorCounts),
  17: param('stake_limits', StakeLimits.schema, StakeLimits),
  18: param('storage_prices', '_ (Hashmap 32 StoragePrices) = ConfigParam 18;', hashmap(uintKey(32), StoragePrices)),
  19: param('global_id', '_ global_id:int32 = ConfigParam 19;', int32),
  20: param('mc_gas_prices', 'config_mc_gas_prices#_ GasLimitsPrices = ConfigParam 20;', GasLimitsPrices),
  21: param('gas_prices', 'config_gas_prices#_ GasLimitsPrices = ConfigParam 21;', GasLimitsPrices),
  22: param('mc_block_limits', 'config_mc_block_limits#_ BlockLimits = ConfigParam 22;', BlockLimits),
  23: param('block_limits', 'config_block_limits#_ BlockLimits = ConfigParam 23;', BlockLimits),
  24: param('mc_fwd_prices', 'config_mc_fwd_prices#_ MsgForwardPrices = ConfigParam 24;', MsgForwardPrices),
  25: param('fwd_prices', 'config_fwd_prices#_ MsgForwardPrices = ConfigParam 25;', MsgForwardPrices),
  28: param('catchain_config', '_ CatchainConfig = ConfigParam 28;', CatchainConfig),
  29: param('consensus_config', '_ ConsensusConfig = ConfigParam 29;', ConsensusConfig),
  30: param('new_consensus_config', '_ NewConsensusConfigAll = ConfigParam 30;', NewConsensusConfigAll),
  31: param(
    'fundamental_smc_addr',
    '_ fundamental_smc_addr:(HashmapE 256 True) = ConfigParam 31;',
    hashmapE(bytesKey(32), unit),
  ),
  32: param('prev_validators', '_ prev_validators:ValidatorSet = ConfigParam 32;', ValidatorSet),
  33: param('prev_temp_validators', '_ prev_temp_validators:ValidatorSet = ConfigParam 33;', ValidatorSet),
  34: param('cur_validators', '_ cur_validators:ValidatorSet = ConfigParam 34;', ValidatorSet),
  35: param('cur_temp_validators', '_ cur_temp_validators:ValidatorSet = ConfigParam 35;', ValidatorSet),
  36: param('next_validators', '_ next_validators:ValidatorSet = ConfigParam 36;', ValidatorSet),
  37: param('next_temp_validators', '_ next_temp_validators:ValidatorSet = ConfigParam 37;', ValidatorSet),
  39: param(
    'validator_temp_keys',
    '_ (HashmapE 256 ValidatorSignedTempKey) = ConfigParam 39;',
    hashmapE(bytesKey(32), ValidatorSignedTempKey),
  ),
  40: param(
    'misbehaviour_punishment_config',
    '_ MisbehaviourPunishmentConfig = ConfigParam 40;',
    MisbehaviourPunishmentConfig,
  ),
  43: param('size_limits_config', '_ SizeLimitsConfig = ConfigParam 43;', SizeLimitsConfig),
  44: param('suspended_address_list', '_ SuspendedAddressList = ConfigParam 44;', SuspendedAddressList),
  45: param('precompiled_contracts', '_ PrecompiledContractsConfig = ConfigParam 45;', PrecompiledContractsConfig),
  71: param('ethereum_bridge', '_ OracleBridgeParams = ConfigParam 71;', OracleBridgeParams),
  72: param('bnb_bridge', '_ OracleBridgeParams = ConfigParam 72;', OracleBridgeParams),
  73: param('polygon_bridge', '_ OracleBridgeParams = ConfigParam 73;', OracleBridgeParams),
  79: param('ethereum_token_bridge', '_ JettonBridgeParams = ConfigParam 79;', JettonBridgeParams),
  81: param('bnb_token_bridge', '_ JettonBridgeParams = ConfigParam 81;', JettonBridgeParams),
  82: param('polygon_token_bridge', '_ JettonBridgeParams = ConfigParam 82;', JettonBridgeParams),
} as const satisfies Readonly<Record<number, ConfigParamType<unknown>>>;

/** Numbers of parameters described by the schema. */
export type ConfigParamIndex = keyof typeof CONFIG_PARAMS;

/** The value of a parameter. */
export type ConfigParamValue<I extends ConfigParamIndex> = ValueOf<(typeof CONFIG_PARAMS)[I]['codec']>;

/** A parameter of any number: decoded, or the cell itself (`name` is `null`) when the schema does not describe it. */
export type ConfigParam =
  | {
      readonly [I in ConfigParamIndex]: {
        readonly index: I;
        readonly name: string;
        readonly value: ConfigParamValue<I>;
      };
    }[ConfigParamIndex]
  | { readonly index: number; readonly name: null; readonly value: Cell };

/** Whether the schema describes the parameter of this number. */
export function isConfigParamIndex(index: number): index is ConfigParamIndex {
  return Object.hasOwn(CONFIG_PARAMS, index);
}

/**
 * The value of a parameter, `undefined` when the configuration does not contain it.
 * @throws cells/*, tlb/* with the parameter's name in the path; cells/pruned-branch when it is pruned
 */
export function configParam<I extends ConfigParamIndex>(
  config: ConfigDictionary,
  index: I,
): ConfigParamValue<I> | undefined {
  const cell = config.get(index);
  return cell === undefined ? undefined : decodeTyped(index, cell);
}

/**
 * Decodes the cell of a parameter of any number.
 * @throws cells/*, tlb/* with the parameter's name in the path. Networks have stored other data under numbers that
 *   nodes do not read (testnet: its token bridge under 79); code that shows whole configurations must handle this.
 */
export function decodeConfigParam(index: number, cell: Cell): ConfigParam {
  if (!isConfigParamIndex(index)) return { index, name: null, value: cell };
  return { index, name: CONFIG_PARAMS[index].name, value: decodeTyped(index, cell) } as ConfigParam;
}

/** Encodes a parameter. @throws cells/*, tlb/* when the value does not fit the type */
export function encodeConfigParam<I extends ConfigParamIndex>(index: I, value: ConfigParamValue<I>): Cell {
  return encodeCell(typedCodec(index), value);
}

function typedCodec<I extends ConfigParamIndex>(index: I): Codec<ConfigParamValue<I>> {
  return CONFIG_PARAMS[index].codec as Codec<unknown> as Codec<ConfigParamValue<I>>;
}

function decodeTyped<I extends ConfigParamIndex>(index: I, cell: Cell): ConfigParamValue<I> {
  try {
    return decodeCell(typedCodec(index), cell);
  } catch (error) {
    throw isTernError(error) ? error.within(CONFIG_PARAMS[index].name) : error;
  }
}
