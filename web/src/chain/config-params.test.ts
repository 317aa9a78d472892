import { readFileSync } from 'node:fs';
import { beginCell, Dictionary } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { openCell } from '#formats/cells/slice.js';
import { configParams, validatorSet } from './config-params.js';
import { hashmapEntries } from './hashmap.js';

const cellOf = (cell: { toBoc(): Buffer }) => parseBocRoot(new Uint8Array(cell.toBoc()));

it('a dictionary is read as @ton/core writes it', () => {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(16), Dictionary.Values.Uint(32));
  const keys = [0, 1, 2, 3, 100, 255, 256, 4_096, 32_767, 32_768, 65_535];
  for (const key of keys) dictionary.set(key, key * 3);
  const root = beginCell().storeDictDirect(dictionary).endCell();
  const read = hashmapEntries(openCell(cellOf(root)), 16).map(({ key, value }) => [Number(key), value.loadUint(32)]);
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
      'flat gas limit',
      'flat gas price',
      'gas price',
      'gas limit',
      'special gas limit',
      'gas credit',
      'block gas limit',
    ],
    ...['freeze due limit', 'delete due limit'],
  ]);
  // An unknown constructor: its cell only.
  expect(read[4]?.fields).toBeNull();
});

interface Leaf {
  readonly [member: string]: Leaf | string | number | boolean | null;
}

/** What a decoded parameter says: values, and keys of dictionaries; without tags and names. */
function leaves(value: Leaf | string | number | boolean | null): string[] {
  if (value === null) return [];
  if (typeof value !== 'object') return [String(value).toLowerCase()];
  return Object.entries(value).flatMap(([member, inner]) => {
    if (['Magic', 'SumType'].includes(member)) return [];
    return [...(/^(-?\d+|[0-9a-f]{64}|-?\d+:[0-9a-f]{64})$/.test(member) ? [member] : []), ...leaves(inner)];
  });
}

describe('the configuration of mainnet', () => {
  const folder = new URL('../../../vectors/config/', import.meta.url);
  const read = configParams(parseBocRoot(new Uint8Array(readFileSync(new URL('mainnet-65466080.boc', folder)))));
  const expected = JSON.parse(readFileSync(new URL('mainnet-65466080.json', folder), 'utf8')) as Leaf;

  it.each(read.filter(({ number }) => number >= 0))('has every value of parameter $number', ({ number, fields }) => {
    const decoded = expected[`ConfigParam${number}`];
    expect(fields).not.toBeNull();
    const shown = fields!.flatMap(({ name, value }) => [
      ...name.split(/[ :]+/),
      ...(typeof value === 'object' && value !== null ? value : [String(value)]),
    ]);
    // Accounts of the masterchain are hashes there, and negative numbers of parameters are not.
    const texts = new Set(
      shown.flatMap((text) => {
        const lower = text.toLowerCase();
        return [lower, lower.replace(/^-1:/, ''), ...(/^-\d+$/.test(lower) ? [`${2 ** 32 + Number(lower)}`] : [])];
      }),
    );
    // The sets of validators are not in that file. Of workchains it has the other constructor as well, with zeros.
    const missing = leaves(decoded ?? null).filter((leaf) => !texts.has(leaf));
    expect(missing.filter((leaf) => number !== 12 || !/^0+$|^false$/.test(leaf))).toEqual([]);
  });

  it('has no layout for negative numbers', () => {
    expect(read.filter(({ number }) => number < 0).map(({ fields }) => fields)).toEqual([null, null, null, null]);
  });
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
  const older = beginCell().storeUint(0x11, 8).storeUint(100, 32).storeUint(200, 32).storeUint(5, 16).storeUint(3, 16);
  const inline = beginCell().storeDictDirect(list).endCell().beginParse();
  expect(validatorSet(cellOf(older.storeSlice(inline).endCell()))).toEqual(read);
});
