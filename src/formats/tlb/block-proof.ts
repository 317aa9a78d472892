import { BlockIdExt } from '#formats/tlb/block-ref.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { bits256, cellRef, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CryptoSignaturePair } from '#formats/tlb/signature.js';

/** Signatures by index; the index has no meaning. */
const signatures = hashmapE(uintKey(16), CryptoSignaturePair);

/**
 * The validators' signatures of a block: `ordinary` ones sign its two hashes, `simplex` ones the vote for a candidate,
 * whose description is in `candidate_data` (bytes as snake data).
 */
export const BlockSignatures = union('BlockSignatures', [
  variant(
    `block_signatures_ordinary#11 validator_list_hash_short:uint32 catchain_seqno:uint32 sig_count:uint32 sig_weight:uint64
      signatures:(HashmapE 16 CryptoSignaturePair) = BlockSignatures;`,
    {
      validator_list_hash_short: uint32,
      catchain_seqno: uint32,
      sig_count: uint32,
      sig_weight: uint64,
      signatures,
    },
  ),
  variant(
    `block_signatures_simplex#12 validator_list_hash_short:uint32 catchain_seqno:uint32 sig_count:uint32 sig_weight:uint64
      signatures:(HashmapE 16 CryptoSignaturePair) session_id:bits256 slot:uint32 candidate_data:^Cell
      = BlockSignatures;`,
    {
      validator_list_hash_short: uint32,
      catchain_seqno: uint32,
      sig_count: uint32,
      sig_weight: uint64,
      signatures,
      session_id: bits256,
      slot: uint32,
      candidate_data: cellRef,
    },
  ),
]);
export type BlockSignatures = ValueOf<typeof BlockSignatures>;

/** A proof of a block's header (`root` is a Merkle proof of the block); masterchain blocks' carry signatures. */
export const BlockProof = record(
  'block_proof#c3 proof_for:BlockIdExt root:^Cell signatures:(Maybe ^BlockSignatures) = BlockProof;',
  { proof_for: BlockIdExt, root: cellRef, signatures: maybe(ref(BlockSignatures)) },
);
export type BlockProof = ValueOf<typeof BlockProof>;
