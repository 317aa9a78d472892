import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeParam, validatorConfigOf, validatorsOf } from '#formats/proofs/validators.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { hashmapRef, intKey } from '#formats/tlb/codec/dictionary.js';
import { cellRef } from '#formats/tlb/codec/primitives.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { CatchainConfig, ValidatorSet } from '#formats/tlb/config/validators.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const zerostate = decodeCell(
  ShardStateUnsplit,
  parseBocRoot(readBytes(vectorPath('mainnet-genesis/zerostate_mc_5E994FCF.boc'))),
);
const params = zerostate.custom!.value.config.config;
const set = decodeParam(params, 34, ValidatorSet)!;
const dictionary = hashmapRef(intKey(32), cellRef);
const configOf = (entries: readonly (readonly [number, Cell])[]): ConfigDictionary => dictionary.of(entries);
const entries: readonly (readonly [number, Cell])[] = [...params];

describe('the validators of a configuration', () => {
  it('are those of parameter 34', () => {
    const config = validatorConfigOf(params);
    expect(config).toMatchObject({ main: set.main, shuffle_mc_validators: false });
    expect(config.validators.length).toBe(set.total);
  });

  it('are those of parameter 35 where there is one', () => {
    const temporary = { ...set, main: 1 };
    expect(validatorConfigOf(configOf([...entries, [35, encodeCell(ValidatorSet, temporary)]])).main).toBe(1);
  });

  it('are shuffled when parameter 28 says so; without it there are defaults', () => {
    const catchain: CatchainConfig = {
      kind: 'catchain_config_new',
      flags: 0,
      shuffle_mc_validators: true,
      mc_catchain_lifetime: 1,
      shard_catchain_lifetime: 1,
      shard_validators_lifetime: 1,
      shard_validators_num: 11,
    };
    const others = entries.filter(([param]) => param !== 28);
    const changed = configOf([...others, [28, encodeCell(CatchainConfig, catchain)]]);
    expect(validatorConfigOf(changed)).toMatchObject({ shuffle_mc_validators: true, shard_validators_num: 11 });
    expect(validatorConfigOf(configOf(others))).toMatchObject({
      shuffle_mc_validators: false,
      shard_validators_num: 7,
    });
  });

  it('are refused when there are none, or they are something else', () => {
    const others = entries.filter(([param]) => param !== 34);
    expect(errorCode(() => validatorConfigOf(configOf(others)))).toBe('proofs/config-param');
    const wrong = errorOf(() => validatorConfigOf(configOf([...others, [34, entries[0]![1]]])));
    expect(wrong).toMatchObject({ code: 'proofs/malformed', path: 'config[34]' });
  });

  it('are refused when the set contradicts itself', () => {
    expect(errorCode(() => validatorsOf({ ...set, total: set.total + 1 }))).toBe('proofs/validator-set');
    const ext = { ...set, kind: 'validators_ext', total_weight: 1n } as ValidatorSet;
    expect(errorCode(() => validatorsOf(ext))).toBe('proofs/validator-set');
    const gap = { ...set, list: set.list.delete(0) } as ValidatorSet;
    expect(errorCode(() => validatorsOf(gap))).toBe('proofs/validator-set');
    const first = set.list.get(0)!;
    const weightless = { ...set, list: set.list.set(0, { ...first, weight: 0n }) } as ValidatorSet;
    expect(errorCode(() => validatorsOf(weightless))).toBe('proofs/validator-set');
  });
});
