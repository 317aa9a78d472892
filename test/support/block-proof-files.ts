import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { sha256 } from '#formats/cells/digests.js';
import { type BlockId, blockOfIdExt, MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { checkZerostate, stateConfig } from '#formats/proofs/shard-state.js';
import { type ValidatorConfig, validatorConfigOf } from '#formats/proofs/validators.js';
import { BlockProof, BlockSignatures } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { fromHex } from '#kernel/bytes.js';
import type { ChainName } from '#test/support/vector-files.js';

/** The id of a block from its file. */
export function blockIdOfFile(bytes: Uint8Array, seqno: number, shard: Shard = MASTERCHAIN_SHARD): BlockId {
  return { ...shard, seqno, root_hash: parseBocRoot(bytes).hash(), file_hash: sha256(bytes) };
}

/** The id in the name of an archive's entry. */
export function blockIdOfName({ workchain, shard, seqno, rootHash, fileHash }: ChainName): BlockId {
  return {
    workchain,
    shard: BigInt(`0x${shard}`),
    seqno,
    root_hash: fromHex(rootHash)!,
    file_hash: fromHex(fileHash)!,
  };
}

/** The block that a proof file says to be of. */
export function blockIdOfProof(bytes: Uint8Array): BlockId {
  return blockOfIdExt(decodeCell(BlockProof, parseBocRoot(bytes)).proof_for);
}

/** Who validates after a zerostate. */
export function zerostateValidators(bytes: Uint8Array): ValidatorConfig {
  const state = checkZerostate(parseBocRoot(bytes), blockIdOfFile(bytes, 0));
  return validatorConfigOf(stateConfig(state).config);
}

/** A proof file with changed signatures. */
export function changeSignatures(bytes: Uint8Array, change: (set: BlockSignatures) => BlockSignatures): Uint8Array {
  const proof = decodeCell(BlockProof, parseBocRoot(bytes));
  const signatures = Lazy.ofValue(BlockSignatures, change(proof.signatures!.value));
  return serializeBoc([encodeCell(BlockProof, { ...proof, signatures })]);
}
