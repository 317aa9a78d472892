import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary, checkDictionary } from '#formats/cells/dict-build.js';
import { deleteEntry, setEntry } from '#formats/cells/dict-edit.js';
import { forEachEntry, lookup } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { loadContentBytes } from '#formats/cells/snake.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';
import { damagedTree } from '#test/fuzz/seeds.js';

/** The first byte of an input chooses the length of the keys; the rest is the bag of cells. */
const KEY_BITS = [1, 7, 15, 32, 64, 96, 256, 352];

function damagedDictionary(random: Random): Uint8Array {
  const choice = random.below(KEY_BITS.length);
  const keyBits = KEY_BITS[choice]!;
  const entries = new Map<string, readonly [Uint8Array, Builder]>();
  for (let left = random.between(1, 24); left > 0; left--) {
    const key = random.bytes((keyBits + 7) >> 3);
    if (random.chance(1, 2)) key.fill(0, 0, key.length - 1);
    if (keyBits % 8 !== 0) key[key.length - 1]! &= 0xff << (8 - (keyBits % 8));
    entries.set(key.join(), [key, new Builder().storeBytes(random.bytes(random.below(20)))]);
  }
  const boc = mutate(serializeBoc(buildDictionary(keyBits, entries.values()) as Cell), random, 2);
  return Uint8Array.from([choice, ...boc]);
}

/** Reads, edits and checks; entries that were read must be found, and a checked dictionary must be what its entries build. */
function useDictionary(input: Uint8Array): void {
  const keyBits = KEY_BITS[(input[0] ?? 0) % KEY_BITS.length]!;
  const root = parseBocRoot(input.subarray(1));
  const entries: (readonly [Uint8Array, Slice])[] = [];
  forEachEntry(root, keyBits, (key, value) => void entries.push([key, value]));
  for (const [key] of entries.slice(0, 4)) {
    if (lookup(root, keyBits, key) === null) throw new RangeError('an entry that was read is not found');
    const without = deleteEntry(root, keyBits, key).root;
    if (without !== null && lookup(without, keyBits, key) !== null)
      throw new RangeError('a deleted entry is still there');
    setEntry(without, keyBits, key, new Builder());
  }
  if (!isCanonical(root, keyBits)) return;
  const rebuilt = buildDictionary(keyBits, entries) as Cell;
  if (!bytesEqual(rebuilt.hash(), root.hash()))
    throw new RangeError('a canonical dictionary is not what its entries build');
}

function isCanonical(root: Cell, keyBits: number): boolean {
  try {
    checkDictionary(root, keyBits);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'dictionary',
    make: damagedDictionary,
    run: useDictionary,
    allowed: (error) => error.code.startsWith('cells/'),
  },
  {
    name: 'dictionary-of-anything',
    make: (random) => Uint8Array.from([random.below(256), ...damagedTree(random)]),
    run: useDictionary,
    allowed: (error) => error.code.startsWith('cells/'),
  },
  {
    name: 'snake',
    make: (random) => damagedTree(random),
    run: (input) => void loadContentBytes(openCell(parseBocRoot(input))),
    allowed: (error) => error.code.startsWith('cells/'),
  },
];
