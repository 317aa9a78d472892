import type { Codec } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { bits256, uint16 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** A change from one tree to another; what both have in common is pruned in both. Hashes and depths are those of the whole trees. */
export interface MerkleUpdate<T> {
  readonly old_hash: Uint8Array;
  readonly new_hash: Uint8Array;
  readonly old_depth: number;
  readonly new_depth: number;
  readonly old: Lazy<T>;
  readonly new: Lazy<T>;
}

/** The codec of `MERKLE_UPDATE X`, an exotic cell. That hashes and depths are those of the references, the cell checks itself. */
export function merkleUpdate<T>(tree: Codec<T>): Codec<MerkleUpdate<T>> {
  const codec: Codec<MerkleUpdate<T>> = record(
    `!merkle_update#04 {X:Type} old_hash:bits256 new_hash:bits256 old_depth:uint16 new_depth:uint16 old:^X new:^X
      = MERKLE_UPDATE X;`,
    { old_hash: bits256, new_hash: bits256, old_depth: uint16, new_depth: uint16, old: ref(tree), new: ref(tree) },
  );
  return { ...codec, type: `(MERKLE_UPDATE ${tree.type})` };
}

/** A part of a tree; what is not in it is pruned. Hash and depth are those of the whole tree. */
export interface MerkleProof<T> {
  readonly virtual_hash: Uint8Array;
  readonly depth: number;
  readonly virtual_root: Lazy<T>;
}

/** The codec of `MERKLE_PROOF X`, an exotic cell. */
export function merkleProof<T>(tree: Codec<T>): Codec<MerkleProof<T>> {
  const codec: Codec<MerkleProof<T>> = record(
    '!merkle_proof#03 {X:Type} virtual_hash:bits256 depth:uint16 virtual_root:^X = MERKLE_PROOF X;',
    { virtual_hash: bits256, depth: uint16, virtual_root: ref(tree) },
  );
  return { ...codec, type: `(MERKLE_PROOF ${tree.type})` };
}
