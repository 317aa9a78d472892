import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ExtraCurrencyCollection, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { ShardFees } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import {
  burnedOfFees,
  createdValue,
  globalBalanceAfter,
  importedFees,
  specialValues,
} from '#localnet/producer/value-flow.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

// Of the recorded network: blocks create 1.7 and 1 coins, half of all fees is burned, currencies 239 and -17 are minted.
const zerostate = decodeCell(ShardStateUnsplit, parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc'))));
const config = zerostate.custom!.value.config.config;
const WHOLE = 1n << 63n;
const fees = (amount: bigint, create: bigint) =>
  ShardFees.of([
    [
      { workchain: 0, shard: WHOLE },
      { fees: onlyGrams(amount), create: onlyGrams(create) },
    ],
  ]);
const nothing = { total_validator_fees: NO_CURRENCY, global_balance: NO_CURRENCY };
const without = (...params: readonly number[]): ConfigDictionary =>
  params.reduce((rest, param) => rest.delete(param), config);

describe('what a block creates', () => {
  it.each([
    [-1, WHOLE, 1_700_000_000n],
    [0, WHOLE, 1_000_000_000n],
    [0, 1n << 62n, 500_000_000n],
    [0, 5n << 60n, 125_000_000n],
    [1, WHOLE, 0n],
  ])('in workchain %i, shard %i: %i', (workchain, shard, amount) => {
    expect(createdValue(config, { workchain, shard }).grams).toBe(amount);
  });

  it('is nothing without parameter 14', () => {
    expect(createdValue(without(14), { workchain: 0, shard: WHOLE })).toBe(NO_CURRENCY);
  });
});

describe('what is burned', () => {
  it('is the part of the fees that parameter 5 says, without what was created', () => {
    // As in masterchain block 342 of the recorded network.
    const { fees_imported, burned } = importedFees(config, fees(1_098_294_017n, 1_000_000_000n));
    expect([fees_imported.grams, burned.grams]).toEqual([1_098_294_017n, 49_147_008n]);
  });

  it('is nothing without parameter 5, or without fees', () => {
    expect([burnedOfFees(without(5), 100n), burnedOfFees(config, 0n), burnedOfFees(config, -3n)]).toEqual([0n, 0n, 0n]);
  });
});

describe('what a masterchain block brings to accounts', () => {
  it('is all fees that there are, and the currencies that are missing', () => {
    const state = { ...nothing, total_validator_fees: onlyGrams(24_336_641n) };
    const special = specialValues(config, state, fees(1_098_294_017n, 1_000_000_000n));
    expect(special.recovered).toEqual(onlyGrams(24_336_641n + 1_700_000_000n + 1_098_294_017n - 49_147_008n));
    expect(special.collector).toEqual(new Uint8Array(32).fill(0x33));
    expect([...special.minted.other]).toEqual([
      [239, 666_666_666_666n],
      [4_294_967_279, 1_000_000_000_000n],
    ]);
    expect(special.minter).not.toBeNull();
  });

  it('is only what is missing of a currency', () => {
    const other = ExtraCurrencyCollection.of([
      [239, 666_666_666_600n],
      [4_294_967_279, 2_000_000_000_000n],
    ]);
    const state = { ...nothing, global_balance: { grams: 0n, other } };
    expect([...specialValues(config, state, fees(0n, 0n)).minted.other]).toEqual([[239, 66n]]);
  });

  it('goes to the collector of parameter 3 where there is one', () => {
    const collector = new Uint8Array(32).fill(0x44);
    const special = specialValues(config.set(3, encodeConfigParam(3, collector)), nothing, fees(0n, 0n));
    expect(special.collector).toEqual(collector);
  });

  it('is nothing without a collector and a minter, or when it would be too little', () => {
    const none = specialValues(without(1, 2), nothing, fees(5_000_000_000n, 0n));
    expect(none).toEqual({ recovered: NO_CURRENCY, collector: null, minted: NO_CURRENCY, minter: null });
    const little = specialValues(without(14), nothing, fees(0n, 0n));
    expect([little.recovered, little.collector]).toEqual([NO_CURRENCY, null]);
  });
});

it('keeps what was burned in the global balance', () => {
  const block = { created: onlyGrams(17n), minted: onlyGrams(2n), shard_fees: fees(100n, 10n) };
  expect(globalBalanceAfter(onlyGrams(1_000n), block)).toEqual(onlyGrams(1_029n));
});
