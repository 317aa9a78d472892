import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { hashmapAug } from '#formats/tlb/codec/augmented-dictionary.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bigUintKey, hashmap } from '#formats/tlb/codec/dictionary.js';
import { uint8, unit } from '#formats/tlb/codec/primitives.js';
import { recognizeCell } from '#formats/tlb/recognize.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { errorOf } from '#test/support/error-code.js';

const key = bigUintKey(64);
const plain = hashmap(key, unit);
const augmented = hashmapAug(key, unit, uint8, { empty: 0, leaf: () => 0, combine: () => 0 });

/** A dictionary with a leaf for each key of so many bits: at each height there is one cell, which occurs twice above. */
function everyKey(keyBits: number, extraBits: number, value = new Builder()): Cell {
  let cell = new Builder()
    .storeUint(0, 2 + extraBits)
    .storeBuilder(value)
    .endCell();
  for (let i = 0; i < keyBits; i++) {
    cell = new Builder()
      .storeUint(0, 2 + extraBits)
      .storeRef(cell)
      .storeRef(cell)
      .endCell();
  }
  return parseBocRoot(serializeBoc(cell));
}

describe('an inline dictionary whose cells stand for 2^64 entries', () => {
  const dictionaries = [
    ['plain', decodeCell(plain, everyKey(64, 0))],
    ['augmented', decodeCell(augmented, everyKey(64, 8))],
  ] as const;
  it.each(dictionaries)('%s: is walked no further than its few cells allow', (_, dictionary) => {
    const error = errorOf(() => dictionary.count());
    expect([error.code, error.data.limit]).toEqual(['cells/dict-too-large', 65 + 65_536]);
    expect(errorOf(() => [...dictionary.entries()]).code).toBe('cells/dict-too-large');
    expect(errorOf(() => [...dictionary.entries({ pruned: 'skip' })]).code).toBe('cells/dict-too-large');
    expect(dictionary.has(7n)).toBe(true);
  });

  it('is soon known not to be a configuration', () => {
    const start = cpuMs();
    expect(recognizeCell(everyKey(32, 0, new Builder().storeRef(new Builder().endCell()))).type).toBe('Cell');
    expect(cpuMs() - start).toBeLessThan(1500);
  });
});
