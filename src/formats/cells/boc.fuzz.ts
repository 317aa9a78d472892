import { parseBoc } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { bytesEqual } from '#kernel/bytes.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';
import { damagedTree, exampleBocs, exampleRoots } from '#test/fuzz/seeds.js';

const options = [
  {},
  { crc32c: true },
  { index: true },
  { index: true, cacheBits: true },
  { storeHashes: true },
  BLOCK_FILE,
];

/** Files as nodes write them, with damage on top of any flavour. */
function damagedFile(random: Random): Uint8Array {
  if (random.chance(1, 3)) return mutate(random.pick(exampleBocs), random);
  return mutate(serializeBoc(random.pick(exampleRoots), random.pick(options)), random);
}

/** Whatever is read can be written, and is then the same. */
function readAndWrite(input: Uint8Array): void {
  const { roots, table } = parseBoc(input);
  table.hashAll();
  const again = parseBoc(serializeBoc(roots, BLOCK_FILE)).roots;
  roots.forEach((root, i) => {
    if (!bytesEqual(root.hash(), again[i]!.hash())) throw new RangeError('another hash after writing and reading');
  });
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'boc-file',
    make: damagedFile,
    run: readAndWrite,
    allowed: (error) => /^cells\/(boc|cell|stored)-/.test(error.code),
  },
  {
    name: 'boc-tree',
    make: (random) => damagedTree(random),
    run: readAndWrite,
    allowed: (error) => /^cells\/(boc|cell|stored)-/.test(error.code),
  },
  {
    name: 'boc-noise',
    make: (random) => random.bytes(random.below(200)),
    run: readAndWrite,
    allowed: (error) => error.code.startsWith('cells/boc-'),
  },
];
