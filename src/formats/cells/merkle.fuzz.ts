import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { createMerkleProof, openMerkleProof } from '#formats/cells/merkle-proof.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { createMerkleUpdate } from '#formats/cells/merkle-update-create.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import type { FuzzTarget } from '../../../test/fuzz/fuzz-target.js';
import { mutate } from '../../../test/fuzz/mutate.js';
import type { Random } from '../../../test/fuzz/random.js';
import { exampleRoots, randomCellBelow } from '../../../test/fuzz/seeds.js';

/** Part of an example, of level 0. */
function randomTree(random: Random): Cell {
  for (;;) {
    const cell = randomCellBelow(random.pick(exampleRoots), random);
    if (cell.level === 0) return cell;
  }
}

/** A cell by its hash, kept or not as a coin falls for that hash. */
function coin(random: Random): (cell: Cell) => boolean {
  const salt = random.below(256);
  const rarity = random.between(2, 6);
  return (cell) => (cell.hash()[salt & 31]! + salt) % rarity !== 0;
}

function damagedProof(random: Random): Uint8Array {
  return mutate(serializeBoc(createMerkleProof(randomTree(random), coin(random))), random, 2);
}

/** Two roots: an old state, and a damaged update from it to another. */
function damagedUpdate(random: Random): Uint8Array {
  const from = randomTree(random);
  const to = randomTree(random);
  return mutate(serializeBoc([from, createMerkleUpdate(from, to)]), random, 2);
}

/** What a proof shows has the hash it states; a proof of the proof's own content shows the same. */
function checkProof(input: Uint8Array): void {
  const [root] = parseBoc(input).roots;
  const shown = openMerkleProof(root!);
  const stated = root!.bytes.subarray(root!.dataOffset + 1, root!.dataOffset + 33);
  if (!bytesEqual(shown.hash(0), stated))
    throw new RangeError(`a proof of ${toHex(stated)} was accepted for another tree`);
}

/** An update that applies leads to the state that it states. */
function checkUpdate(input: Uint8Array): void {
  const [from, update] = parseBoc(input).roots;
  if (from === undefined || update === undefined) return;
  const to = applyMerkleUpdate(from, update);
  const stated = update.bytes.subarray(update.dataOffset + 33, update.dataOffset + 65);
  if (!bytesEqual(to.hash(0), stated)) throw new RangeError('an update led to another state than it states');
}

export const fuzzTargets: readonly FuzzTarget[] = [
  { name: 'merkle-proof', make: damagedProof, run: checkProof, allowed: (error) => error.code.startsWith('cells/') },
  { name: 'merkle-update', make: damagedUpdate, run: checkUpdate, allowed: (error) => error.code.startsWith('cells/') },
];
