import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { CellType } from '#formats/cells/cell.js';
import { createMerkleProof } from '#formats/cells/merkle-proof.js';
import { createMerkleUpdate } from '#formats/cells/merkle-update.js';
import { merkleProof, merkleUpdate } from '#formats/tlb/block.js';
import { decodeCell, encodeCell, ref } from '#formats/tlb/codec/codec.js';
import { uint8 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const Inner = record('_ x:uint8 next:^Leaf = Inner;', {
  x: uint8,
  next: ref(record('_ y:uint8 = Leaf;', { y: uint8 })),
});
const Pair = record('_ left:^Inner right:^Inner = Pair;', { left: ref(Inner), right: ref(Inner) });

const inner = (x: number) =>
  new Builder()
    .storeUint(x, 8)
    .storeRef(new Builder().storeUint(x + 1, 8).endCell())
    .endCell();
const pair = (left: number, right: number) => new Builder().storeRef(inner(left)).storeRef(inner(right)).endCell();

describe('Merkle cells as values', () => {
  it('an update shows what changed', () => {
    const [before, after] = [pair(1, 5), pair(1, 7)];
    const update = roundTrip(merkleUpdate(Pair), createMerkleUpdate(before, after));
    expect([update.old_hash, update.new_hash]).toEqual([before.hash(), after.hash()]);
    expect([update.old_depth, update.new_depth]).toEqual([2, 2]);
    expect(update.new.value.right.value.x).toBe(7);
    expect(errorCode(() => update.new.value.left.value)).toBe('cells/pruned-branch');
  });

  it('a proof shows a part', () => {
    const tree = pair(1, 5);
    const keep = new Set([tree, tree.ref(1)].map((cell) => cell.hash().join()));
    const proof = roundTrip(
      merkleProof(Pair),
      createMerkleProof(tree, (cell) => keep.has(cell.hash().join())),
    );
    expect([proof.virtual_hash, proof.depth]).toEqual([tree.hash(), 2]);
    expect(proof.virtual_root.value.right.value.x).toBe(5);
    expect(errorCode(() => proof.virtual_root.value.left.value)).toBe('cells/pruned-branch');
  });

  it('state the hashes of what is in them, or cannot be written', () => {
    const update = decodeCell(merkleUpdate(Pair), createMerkleUpdate(pair(1, 5), pair(1, 7)));
    const wrong = encodeCell(merkleUpdate(Pair), update);
    expect(wrong.type).toBe(CellType.merkleUpdate);
    expect(errorCode(() => encodeCell(merkleUpdate(Pair), { ...update, new_hash: new Uint8Array(32) }).hash())).toBe(
      'cells/cell-exotic',
    );
  });

  itRefuses(merkleUpdate(Pair), [
    { id: 'an ordinary cell', cell: pair(1, 2), code: 'cells/exotic-not-expected', path: '' },
    { id: 'a proof', cell: createMerkleProof(pair(1, 2), () => true), code: 'cells/exotic-not-expected', path: '' },
  ]);
});
