import { expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { CellType } from '#formats/cells/cell.js';
import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/block-access.js';

const leaf = (value: number) => new Builder().storeUint(value, 64).endCell();
const fork = (value: number) =>
  new Builder()
    .storeUint(value, 64)
    .storeRef(leaf(value + 1))
    .storeRef(leaf(value + 2))
    .endCell();
const root = new Builder().storeRef(fork(10)).storeRef(fork(20)).storeRef(fork(30)).endCell();

it('a proof shows what was read, and no other cells that have references', () => {
  const reader = new MerkleReader(root);
  openCell(reader.root.ref(1));
  const shown = openMerkleProof(parseBocRoot(reader.proofBytes()));
  expect(shown.hash(0)).toEqual(root.hash());
  expect([0, 1, 2].map((i) => shown.ref(i).type === CellType.prunedBranch)).toEqual([true, false, true]);
});

it('a part can be read with all that is below, and proofs made in between', () => {
  const reader = new MerkleReader(root);
  expect(openMerkleProof(reader.proof()).ref(0).type).toBe(CellType.prunedBranch);
  visitAll(reader.root);
  expect(openMerkleProof(reader.proof()).hash()).toEqual(root.hash());
});
