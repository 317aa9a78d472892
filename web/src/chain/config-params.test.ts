import { beginCell, Dictionary } from '@ton/core';
import { expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { configParams, validatorSet } from './config-params.js';
import { hashmapEntries } from './hashmap.js';

const cellOf = (cell: { toBoc(): Buffer }) => parseBocRoot(new Uint8Array(cell.toBoc()));

it('a dictionary is read as @ton/core writes it', () => {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(16), Dictionary.Values.Uint(32));
  const keys = [0, 1, 2, 3, 100, 255, 256, 4_096, 32_767, 32_768, 65_535];
  for (const key of keys) dictionary.set(key, key * 3);
  const root = beginCell().storeDictDirect(dictionary).endCell();
  const read = hashmapEntries(cellOf(root), 16).map(({ key, value }) => [Number(key), value.loadUint(32)]);
  expect(read).toEqual(keys.map((key) => [key, key * 3]));
});

it('parameters are read by the first constructor that fits', () => {
  const parameters = Dictionary.empty(Dictionary.Keys.Int(32), Dictionary.Values.Cell());
  parameters.set(-7, beginCell().storeUint(1, 8).endCell());
  parameters.set(8, beginCell().storeUint(0xc4, 8).storeUint(12, 32).storeUint(494, 64).endCell());
  parameters.set(14, beginCell().storeUint(0x6b, 8).storeCoins(1_700_000_000n).storeCoins(1_000_000_000n).endCell());
  const gas = beginCell().storeUint(0xd1, 8).storeUint(100, 64).storeUint(40_000, 64).storeUint(0xde, 8);
  for (const value of [26_214_400, 1_000_000, 70_000_000, 10_000, 2_500_000, 100_000_000, 1_000_000_000])
    gas.storeUint(value, 64);
  parameters.set(20, gas.endCell());
  parameters.set(21, beginCell().storeUint(0xff, 8).endCell());
  const read = configParams(cellOf(beginCell().storeDictDirect(parameters).endCell()));
  expect(read.map(({ number }) => number)).toEqual([-7, 8, 14, 20, 21]);
  expect(read[0]?.fields).toBeNull();
  expect(read[1]?.fields?.map(({ name, value }) => [name, value])).toEqual([
    ['version', 12n],
    ['capabilities', 494n],
  ]);
  expect(read[2]?.fields?.map(({ value }) => value)).toEqual([1_700_000_000n, 1_000_000_000n]);
  expect(read[3]?.fields?.map(({ name }) => name)).toEqual([
    ...[
      'flat_gas_limit',
      'flat_gas_price',
      'gas_price',
      'gas_limit',
      'special_gas_limit',
      'gas_credit',
      'block_gas_limit',
    ],
    ...['freeze_due_limit', 'delete_due_limit'],
  ]);
  // An unknown constructor: its cell only.
  expect(read[4]?.fields).toBeNull();
});

it('validators are read from both constructors', () => {
  const validator = (index: number) =>
    beginCell()
      .storeUint(0x73, 8)
      .storeUint(0x8e81278a, 32)
      .storeBuffer(Buffer.alloc(32, index))
      .storeUint(1_000 + index, 64)
      .storeBuffer(Buffer.alloc(32, 0xaa));
  const list = Dictionary.empty(Dictionary.Keys.Uint(16), {
    serialize: (index: number, builder) => void builder.storeBuilder(validator(index)),
    parse: () => 0,
  });
  for (let index = 0; index < 5; index++) list.set(index, index);
  const set = beginCell()
    .storeUint(0x12, 8)
    .storeUint(100, 32)
    .storeUint(200, 32)
    .storeUint(5, 16)
    .storeUint(3, 16)
    .storeUint(5_010, 64)
    .storeDict(list);
  const read = validatorSet(cellOf(set.endCell()));
  expect([read.since, read.until, read.main, read.validators.length, read.totalWeight]).toEqual([
    100,
    200,
    3,
    5,
    5_010n,
  ]);
  expect(read.validators[4]).toEqual({ index: 4, publicKey: '04'.repeat(32), weight: 1_004n, adnl: 'aa'.repeat(32) });
});
