import type { BlockHeader } from '#formats/proofs/block-header.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import { checkSetHash, checkSignatures } from '#formats/proofs/signatures.js';
import { computeValidatorGroup, type ValidatorConfig } from '#formats/proofs/validator-set.js';

/**
 * Checks that a masterchain block is signed by the validators that the last key block before it names, and gives the
 * weight of the signers. The header's own statement about its validators must agree.
 *
 * @param config of the last key block before the block, or of the zerostate
 * @throws proofs/validator-set, proofs/validator-set-hash, proofs/catchain-seqno, proofs/signature-*
 */
export function checkSignedBlock(header: BlockHeader, signatures: SignatureSet, config: ValidatorConfig): bigint {
  const { gen_catchain_seqno, gen_validator_list_hash_short } = header.info;
  const group = computeValidatorGroup(config, MASTERCHAIN_SHARD, gen_catchain_seqno);
  checkSetHash(gen_validator_list_hash_short, group, 'block header');
  return checkSignatures(signatures, header.id, group);
}
