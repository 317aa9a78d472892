import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart } from '#formats/proofs/proof-part.js';
import type { Validator, ValidatorConfig } from '#formats/proofs/validator-set.js';
import { type Codec, decodeCell } from '#formats/tlb/codec/codec.js';
import { CatchainConfig } from '#formats/tlb/config/catchain-config.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { ValidatorSet } from '#formats/tlb/config/validator-set.js';

const CATCHAIN_CONFIG = 28;
const CURRENT_VALIDATORS = 34;
const CURRENT_TEMPORARY_VALIDATORS = 35;

/** What nodes assume when there is no parameter 28. */
const DEFAULT_SHARD_VALIDATORS = 7;

/**
 * Who validates according to a configuration: parameter 35 where there is one, else 34, and 28.
 * @throws proofs/config-param, proofs/validator-set, proofs/malformed, proofs/incomplete
 */
export function validatorConfigOf(params: ConfigDictionary): ValidatorConfig {
  const temporary = decodeParam(params, CURRENT_TEMPORARY_VALIDATORS, ValidatorSet);
  const set = temporary ?? decodeParam(params, CURRENT_VALIDATORS, ValidatorSet);
  if (set === null) throw proofsErrors['config-param']({ param: CURRENT_VALIDATORS, problem: 'is missing' });
  const catchain = decodeParam(params, CATCHAIN_CONFIG, CatchainConfig);
  return {
    validators: validatorsOf(set),
    main: set.main,
    shuffle_mc_validators: catchain?.kind === 'catchain_config_new' && catchain.shuffle_mc_validators,
    shard_validators_num: catchain?.shard_validators_num ?? DEFAULT_SHARD_VALIDATORS,
  };
}

/** A parameter, or `null` when the configuration has none of this number. @throws proofs/malformed, proofs/incomplete */
export function decodeParam<T>(params: ConfigDictionary, param: number, codec: Codec<T>): T | null {
  return inPart(`config[${param}]`, () => {
    const cell = params.get(param);
    return cell === undefined ? null : decodeCell(codec, cell);
  });
}

/** The members of a set, in their order. @throws proofs/validator-set when it contradicts itself */
export function validatorsOf(set: ValidatorSet): readonly Validator[] {
  const validators: Validator[] = [];
  let sum = 0n;
  for (const [index, descr] of set.list) {
    if (index !== validators.length) throw wrong(`it has number ${index} where ${validators.length} is next`);
    if (descr.weight === 0n) throw wrong(`number ${index} has no weight`);
    sum += descr.weight;
    const adnl_addr = descr.kind === 'validator_addr' ? descr.adnl_addr : null;
    validators.push({ public_key: descr.public_key.pubkey, weight: descr.weight, adnl_addr });
  }
  if (validators.length !== set.total) throw wrong(`it has ${validators.length} members instead of ${set.total}`);
  if (set.kind === 'validators_ext' && set.total_weight !== sum) {
    throw wrong(`its members weigh ${sum} instead of ${set.total_weight}`);
  }
  return validators;
}

function wrong(problem: string): Error {
  return proofsErrors['validator-set']({ problem });
}
