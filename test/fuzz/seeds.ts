import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { BitString } from '#kernel/bytes.js';
import { mutate } from './mutate.js';
import type { Random } from './random.js';

const folder = join(import.meta.dirname, '..', '..', 'vectors', 'examples');

/** Real bags of cells: blocks, a zerostate, a config, proofs. */
export const exampleBocs: readonly Uint8Array[] = readdirSync(folder)
  .filter((name) => name.endsWith('.boc'))
  .sort()
  .map((name) => new Uint8Array(readFileSync(join(folder, name))));

export const exampleRoots: readonly Cell[] = exampleBocs.map((bytes) => parseBoc(bytes).roots[0] as Cell);

/** A cell somewhere below the root. */
export function randomCellBelow(root: Cell, random: Random): Cell {
  let cell = root;
  while (cell.refCount > 0 && !random.chance(1, 6)) cell = cell.ref(random.below(cell.refCount));
  return cell;
}

/**
 * A real tree of cells, damaged: a bag without checksum and index, so that the damage reaches the cells. Half of the
 * time of a part of an example only, which makes small inputs.
 */
export function damagedTree(random: Random, roots: readonly Cell[] = exampleRoots): Uint8Array {
  const root = random.pick(roots);
  const part = random.chance(1, 2) ? randomCellBelow(root, random) : root;
  return mutate(serializeBoc(part), random, 3);
}

/** Bits added to, cut from or changed in one cell, or its references exchanged. */
function damageCell(cell: Cell, random: Random): Cell {
  const builder = new Builder();
  const slice = new Slice(cell);
  const bits = slice.loadBits(random.chance(1, 4) ? random.below(cell.bits + 1) : cell.bits);
  const bytes = random.chance(3, 4) && bits.length > 0 ? flipBits(bits, random) : bits;
  builder.storeBits(bytes);
  if (random.chance(1, 8) && builder.remainingBits > 8) builder.storeUint(random.below(256), 8);
  const refs = Array.from({ length: cell.refCount }, (_, i) => cell.ref(i));
  if (random.chance(1, 6)) refs.reverse();
  if (random.chance(1, 8)) refs.pop();
  if (random.chance(1, 8) && refs.length > 0 && refs.length < 4) refs.push(random.pick(refs));
  for (const ref of refs) builder.storeRef(ref);
  return cell.type === CellType.ordinary ? builder.endCell() : cell;
}

function flipBits(bits: BitString, random: Random): BitString {
  const bytes = bits.bytes.slice();
  for (let left = random.between(1, 3); left > 0; left--) {
    const at = random.below(bits.length);
    bytes[at >> 3]! ^= 0x80 >> (at & 7);
  }
  return new BitString(bytes, bits.length);
}

/** The tree with one cell on a random way down exchanged for a damaged one; a sound tree of cells with unsound content. */
export function damageBelow(root: Cell, random: Random): Cell {
  if (root.type !== CellType.ordinary) return root;
  if (root.refCount === 0 || random.chance(1, 5)) return damageCell(root, random);
  const chosen = random.below(root.refCount);
  const builder = new Builder().storeBits(new Slice(root).loadBits(root.bits));
  for (let i = 0; i < root.refCount; i++)
    builder.storeRef(i === chosen ? damageBelow(root.ref(i), random) : root.ref(i));
  return builder.endCell();
}
