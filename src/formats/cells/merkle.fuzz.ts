import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { createMerkleProof, openMerkleProof } from '#formats/cells/merkle-proof.js';
import { applyMerkleUpdate, createMerkleUpdate, readMerkleUpdate } from '#formats/cells/merkle-update.js';
import { bytesEqual } from '#kernel/bytes.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';
import { exampleRoots, randomCellBelow } from '#test/fuzz/seeds.js';

const wholeRoots = exampleRoots.filter((root) => root.levelMask === 0);

function wholePart(random: Random): Cell {
  let part = randomCellBelow(random.pick(wholeRoots), random);
  while (part.levelMask !== 0) part = randomCellBelow(random.pick(wholeRoots), random);
  return part;
}

/** Whatever hash was not computed but taken over must be the right one. */
function expectHonest(cell: Cell): void {
  const [read] = parseBoc(serializeBoc(cell)).roots;
  if (!bytesEqual(read!.hash(), cell.hash())) throw new RangeError('a cell has another hash than its content');
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'merkle-update',
    make: (random) => {
      const [before, after] = [wholePart(random), wholePart(random)];
      const bytes = serializeBoc([before, createMerkleUpdate(before, after)]);
      return random.chance(1, 8) ? bytes : mutate(bytes, random, 2);
    },
    run: (input) => {
      const { roots } = parseBoc(input);
      const [before, update] = [roots[0]!, roots.at(-1)!];
      const after = applyMerkleUpdate(before, update);
      if (!bytesEqual(after.hash(0), readMerkleUpdate(update).newHash))
        throw new RangeError('another state than stated');
      expectHonest(after);
      if (before.levelMask !== 0 || after.levelMask !== 0) return;
      const again = applyMerkleUpdate(before, createMerkleUpdate(before, after));
      if (!bytesEqual(again.hash(), after.hash())) throw new RangeError('an own update leads elsewhere');
    },
    allowed: (error) => /^cells\/(boc|cell|merkle|update|exotic|pruned)-/.test(error.code),
  },
  {
    name: 'merkle-proof',
    make: (random) => {
      const part = wholePart(random);
      const bytes = serializeBoc(createMerkleProof(part, () => random.chance(3, 4)));
      return random.chance(1, 8) ? bytes : mutate(bytes, random, 2);
    },
    run: (input) => {
      const virtualRoot = openMerkleProof(parseBoc(input).roots[0]!);
      const again = createMerkleProof(virtualRoot, (cell) => (cell.hash()[0]! & 1) === 0);
      if (!bytesEqual(openMerkleProof(again).hash(0), virtualRoot.hash(0)))
        throw new RangeError('pruning changed the hash');
      expectHonest(again);
    },
    allowed: (error) => /^cells\/(boc|cell|merkle|exotic|pruned)-/.test(error.code),
  },
];
