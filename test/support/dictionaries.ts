import { beginCell, type Cell as CoreCell, Dictionary, type DictionaryValue } from '@ton/core';
import fc from 'fast-check';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { BitString, toHex } from '#kernel/bytes.js';

/** Generated entries: keys and values as texts of `0` and `1`; a value has `refs` references besides. */
interface DictCase {
  readonly keyBits: number;
  readonly entries: ReadonlyMap<string, ModelValue>;
  /** Keys of the same size, some of them in `entries`, some beside them. */
  readonly probes: readonly string[];
}

export interface ModelValue {
  readonly bits: string;
  readonly refs: number;
}

const KEY_BITS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 96, 255, 256, 257, 267, 288, 352];

/** Keys with long common beginnings and long runs of equal bits: where labels differ in form and nodes in place. */
function keyText(keyBits: number): fc.Arbitrary<string> {
  const bits = (length: number) =>
    fc.array(fc.boolean(), { minLength: length, maxLength: length }).map((all) => all.map(Number).join(''));
  const run = fc.tuple(fc.boolean(), fc.nat(keyBits)).map(([bit, length]) => (bit ? '1' : '0').repeat(length));
  return fc.tuple(run, bits(Math.min(keyBits, 6)), run, bits(keyBits)).map((parts) => parts.join('').slice(0, keyBits));
}

export const modelValue: fc.Arbitrary<ModelValue> = fc.record({
  bits: fc.array(fc.boolean(), { maxLength: 200 }).map((all) => all.map(Number).join('')),
  refs: fc.nat(3),
});

export const dictCase: fc.Arbitrary<DictCase> = fc
  .oneof(fc.integer({ min: 1, max: 352 }), fc.constantFrom(...KEY_BITS))
  .chain((keyBits) =>
    fc
      .tuple(
        fc.array(fc.tuple(keyText(keyBits), modelValue), { maxLength: 40 }),
        fc.array(keyText(keyBits), { maxLength: 12 }),
      )
      .map(([list, others]) => {
        const entries = new Map(list);
        return { keyBits, entries, probes: [...others, ...[...entries.keys()].slice(0, 8)] };
      }),
  );

/** A key as the dictionaries take it. */
export function keyOf(bits: string): Uint8Array {
  const key = new Uint8Array((bits.length + 7) >> 3);
  for (let i = 0; i < bits.length; i++) if (bits[i] === '1') key[i >> 3]! |= 0x80 >> (i & 7);
  return key;
}

/** The inverse of {@link keyOf}. */
export function textOf(key: Uint8Array, keyBits: number): string {
  let bits = '';
  for (let i = 0; i < keyBits; i++) bits += (key[i >> 3]! >> (7 - (i & 7))) & 1;
  return bits;
}

export function bitString(bits: string): BitString {
  return new BitString(keyOf(bits), bits.length);
}

/** What is left in a slice, as text: two slices that read the same give the same. */
export function describe(slice: Slice): string {
  const rest = slice.clone();
  const bits = rest.loadBits(rest.remainingBits);
  const refs: string[] = [];
  while (rest.remainingRefs > 0) refs.push(toHex(rest.loadRef().hash()));
  return [textOf(bits.bytes, bits.length), ...refs].join(' ');
}

const REFERENCED = [0, 1, 2].map((n) => new Builder().storeUint(n, 8).endCell());
const CORE_REFERENCED = [0, 1, 2].map((n) => beginCell().storeUint(n, 8).endCell());

export function builderOf({ bits, refs }: ModelValue): Builder {
  const builder = new Builder().storeBits(bitString(bits));
  for (let i = 0; i < refs; i++) builder.storeRef(REFERENCED[i]!);
  return builder;
}

export function describeValue(value: ModelValue): string {
  return describe(sliceOf(builderOf(value)));
}

export function sliceOf(builder: Builder): Slice {
  return openCell(builder.endCell());
}

const coreValue: DictionaryValue<ModelValue> = {
  serialize: ({ bits, refs }, builder) => {
    for (const bit of bits) builder.storeBit(bit === '1');
    for (let i = 0; i < refs; i++) builder.storeRef(CORE_REFERENCED[i]!);
  },
  parse: (slice) => ({ bits: '', refs: slice.remainingRefs }),
};

/** The root cell that @ton/core builds of these entries; null when there are none. */
export function coreDictionary(keyBits: number, entries: ReadonlyMap<string, ModelValue>): CoreCell | null {
  if (entries.size === 0) return null;
  const dictionary = Dictionary.empty(Dictionary.Keys.BigUint(keyBits), coreValue);
  for (const [key, value] of entries) dictionary.set(BigInt(`0b${key}`), value);
  return beginCell().storeDictDirect(dictionary).endCell();
}

/** The same cell as a line of a table, as it comes out of a bag of cells. */
export function inTable(cell: Cell): Cell {
  return parseBocRoot(serializeBoc(cell));
}

export function fromCore(cell: CoreCell): Cell {
  return parseBocRoot(new Uint8Array(cell.toBoc()));
}
