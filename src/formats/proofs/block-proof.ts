import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { type BlockHeader, checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, blockOfIdExt, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, readRoots } from '#formats/proofs/proof-part.js';
import type { BlockSignature, SignatureSet } from '#formats/proofs/signature-set.js';
import { MAX_SIGNATURES } from '#formats/proofs/signatures.js';
import { checkSignedBlock } from '#formats/proofs/signed-block.js';
import type { ValidatorConfig } from '#formats/proofs/validator-set.js';
import { BlockProof, type BlockSignatures } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { concatBytes } from '#kernel/bytes/bytes.js';

/** A block proof as nodes keep it in their archives (`proof_…`, `prooflink_…`), its header checked. */
export interface ProvenBlock {
  readonly header: BlockHeader;
  /** Weight of the signers; `null` when signatures were not asked for. */
  readonly signed_weight: bigint | null;
}

/**
 * Checks the proof of a masterchain block: header, and signatures of the validators of the last key block before it.
 *
 * @param config of that key block, or of the zerostate; see `validatorConfigOf`
 * @throws proofs/other-block, proofs/root-hash, proofs/header, proofs/signatures-missing, proofs/signature-*,
 *   proofs/validator-set-hash, proofs/catchain-seqno, proofs/malformed, proofs/incomplete
 */
export function verifyBlockProof(bytes: Uint8Array, id: BlockId, config: ValidatorConfig): ProvenBlock {
  const { proof, header } = readBlockProof(bytes, id);
  return inPart('proof.signatures', () => {
    if (proof.signatures === null) throw proofsErrors['signatures-missing']({ block: printBlockId(id) });
    const signatures = proof.signatures.value;
    const signed_weight = checkSignedBlock(header, signatureSetOf(signatures), config);
    if (signatures.sig_weight === signed_weight) return { header, signed_weight };
    throw proofsErrors['signature-weight-declared']({ expected: signed_weight, found: signatures.sig_weight });
  });
}

/**
 * Checks a proof link: the header of a block whose id is trusted. Signatures, if there are any, are not looked at.
 * @throws proofs/other-block, proofs/root-hash, proofs/header, proofs/malformed, proofs/incomplete
 */
export function verifyBlockProofLink(bytes: Uint8Array, id: BlockId): ProvenBlock {
  return { header: readBlockProof(bytes, id).header, signed_weight: null };
}

function readBlockProof(bytes: Uint8Array, id: BlockId): { readonly proof: BlockProof; readonly header: BlockHeader } {
  return inPart('proof', () => {
    const proof = decodeCell(BlockProof, readRoots(bytes, 1)[0]!);
    const proofFor = blockOfIdExt(proof.proof_for);
    if (!sameBlock(proofFor, id)) {
      throw proofsErrors['other-block']({ expected: printBlockId(id), found: printBlockId(proofFor) });
    }
    return { proof, header: inPart('root', () => checkBlockHeader(openMerkleProof(proof.root), id)) };
  });
}

/** `CellString`: at most this many bytes. */
const MAX_CANDIDATE = 1024;

/** The signatures in a block proof. @throws proofs/signature-count, cells/*, tlb/* */
export function signatureSetOf(set: BlockSignatures): SignatureSet {
  const signatures: BlockSignature[] = [];
  for (const [index, pair] of set.signatures) {
    if (index !== signatures.length || index >= MAX_SIGNATURES) throw wrongCount(set, index + 1);
    const sign = pair.sign;
    if (sign.kind !== 'ed25519_signature') throw proofsErrors['signature-kind']({ kind: sign.kind });
    signatures.push({ node_id_short: pair.node_id_short, signature: concatBytes(sign.R, sign.s) });
  }
  if (signatures.length !== set.sig_count) throw wrongCount(set, signatures.length);
  const { validator_list_hash_short: validator_set_hash, catchain_seqno } = set;
  const base = { validator_set_hash, catchain_seqno, signatures };
  if (set.kind === 'block_signatures_ordinary') return { kind: 'ordinary', ...base };
  const candidate = loadSnakeBytes(openCell(set.candidate_data), { limit: MAX_CANDIDATE });
  return { kind: 'simplex', ...base, session_id: set.session_id, slot: set.slot, candidate };
}

function wrongCount(set: BlockSignatures, found: number): Error {
  return proofsErrors['signature-count']({ expected: String(set.sig_count), found });
}
