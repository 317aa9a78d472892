import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256 } from '#formats/cells/digests.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, MASTERCHAIN_SHARD, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { computeValidatorGroup, type ValidatorConfig, type ValidatorGroup } from '#formats/proofs/validators.js';
import { concatBytes, toHex } from '#kernel/bytes.js';

/** Maximum number of signatures of a set. */
export const MAX_SIGNATURES = 1024;

/** `pub.ed25519#4813b4c6` */
const PUB_ED25519 = Uint8Array.of(0xc6, 0xb4, 0x13, 0x48);

/** `SubjectPublicKeyInfo` of an Ed25519 key up to the key itself (RFC 8410). */
const SPKI_ED25519 = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/** The short node id in signature sets: SHA-256 of `pub.ed25519 key:int256`. */
export function nodeIdShort(publicKey: Uint8Array): Uint8Array {
  return sha256(concatBytes(PUB_ED25519, publicKey));
}

/** The key for node:crypto. @param publicKey 32 bytes */
export function ed25519Key(publicKey: Uint8Array): KeyObject {
  const der = Buffer.concat([SPKI_ED25519, publicKey]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/**
 * Verifies that more than two thirds of a session's validators, by weight, signed a block, and returns the weight of the
 * signers. As in nodes, one invalid signature or one unknown or repeated signer invalidates the whole set.
 *
 * @throws proofs/validator-set-hash, proofs/catchain-seqno when the set is of another session; proofs/signature-*
 */
export function checkSignatures(set: SignatureSet, block: BlockId, group: ValidatorGroup): bigint {
  if (set.catchain_seqno !== group.catchain_seqno) {
    throw proofsErrors['catchain-seqno']({ expected: group.catchain_seqno, found: set.catchain_seqno });
  }
  checkSetHash(set.validator_set_hash, group, 'signature set');
  const { signatures } = set;
  if (signatures.length === 0 || signatures.length > MAX_SIGNATURES) {
    throw proofsErrors['signature-count']({ expected: `1 to ${MAX_SIGNATURES}`, found: signatures.length });
  }
  const message = signedBytes(set, block);
  const members = new Map(group.validators.map((each) => [toHex(nodeIdShort(each.public_key)), each]));
  const signers = new Set<string>();
  let weight = 0n;
  for (const { node_id_short, signature } of signatures) {
    const node = toHex(node_id_short);
    if (signers.has(node)) throw proofsErrors['signature-duplicate-node']({ node });
    const validator = members.get(node);
    if (validator === undefined) throw proofsErrors['signature-unknown-node']({ node });
    signers.add(node);
    if (!verify(null, message, ed25519Key(validator.public_key), signature)) {
      throw proofsErrors['signature-invalid']({ node, key: toHex(validator.public_key) });
    }
    weight += validator.weight;
  }
  if (weight * 3n <= group.total_weight * 2n) {
    throw proofsErrors['signature-weight']({ found: weight, total: group.total_weight });
  }
  return weight;
}

/** @throws proofs/validator-set-hash */
export function checkSetHash(found: number, group: ValidatorGroup, holder: string): void {
  if (found === group.hash) return;
  const hex = (hash: number) => hash.toString(16).padStart(8, '0');
  throw proofsErrors['validator-set-hash']({ holder, expected: hex(group.hash), found: hex(found) });
}

/** The signer of a block, and its Ed25519 signature. */
export interface BlockSignature {
  /** SHA-256 of the key in its TL form, see `nodeIdShort`. */
  readonly node_id_short: Uint8Array;
  /** 64 bytes */
  readonly signature: Uint8Array;
}

interface SignatureSetBase {
  readonly validator_set_hash: number;
  readonly catchain_seqno: number;
  readonly signatures: readonly BlockSignature[];
}

/** Signatures of the hashes of a block (`liteServer.signatureSet.ordinary`, `block_signatures_ordinary#11`). */
export interface OrdinarySignatureSet extends SignatureSetBase {
  readonly kind: 'ordinary';
}

/** Votes that finalized a candidate (`liteServer.signatureSet.simplex`, `block_signatures_simplex#12`). */
export interface SimplexSignatureSet extends SignatureSetBase {
  readonly kind: 'simplex';
  readonly session_id: Uint8Array;
  /** int32 of TL; either sign is accepted for the same bits. */
  readonly slot: number;
  /** `consensus.CandidateHashData`, boxed. */
  readonly candidate: Uint8Array;
}

/** Signatures of one masterchain block by the validators of one session. */
export type SignatureSet = OrdinarySignatureSet | SimplexSignatureSet;

const TON_BLOCK_ID = 0xc50b6e70;
const DATA_TO_SIGN = 0xa8e33df8;
const FINALIZE_VOTE = 0x40a7e105;
const CANDIDATE_ID = 0xb691cd3f;
const CANDIDATE_ORDINARY = 0xe8f9bcdc;
const CANDIDATE_EMPTY = 0x72b4d933;
const CANDIDATE_PARENT = 0x1a4b9af1;
const CANDIDATE_WITHOUT_PARENTS = 0x22cbcca9;

/**
 * The bytes that the signatures of a set sign, when they are for `block`.
 *
 * Ordinary (68 bytes): `ton.blockId root_cell_hash:int256 file_hash:int256`. Simplex (84 bytes):
 * `consensus.dataToSign session_id:int256 data:bytes` where the data is
 * `consensus.simplex.finalizeVote id:consensus.CandidateId`, whose hash is that of the candidate.
 *
 * @throws proofs/signature-candidate, proofs/signature-block
 */
export function signedBytes(set: SignatureSet, block: BlockId): Uint8Array {
  if (set.kind === 'ordinary') return concatBytes(word(TON_BLOCK_ID), block.root_hash, block.file_hash);
  const voted = candidateBlock(set.candidate);
  if (!sameBlock(voted, block)) {
    throw proofsErrors['signature-block']({ expected: printBlockId(block), found: printBlockId(voted) });
  }
  const candidateHash = sha256(set.candidate);
  const vote = concatBytes(word(FINALIZE_VOTE), word(CANDIDATE_ID), word(set.slot), candidateHash);
  const voteWithLength = concatBytes(Uint8Array.of(vote.length), vote, new Uint8Array(3));
  return concatBytes(word(DATA_TO_SIGN), set.session_id, voteWithLength);
}

/**
 * The block that a candidate is about. The bytes must be exactly one of
 * `consensus.candidateHashDataOrdinary#e8f9bcdc block:tonNode.blockIdExt collated_file_hash:int256 parent:consensus.CandidateParent`,
 * `consensus.candidateHashDataEmpty#72b4d933 block:tonNode.blockIdExt parent:consensus.candidateId`.
 *
 * @throws proofs/signature-candidate
 */
export function candidateBlock(candidate: Uint8Array): BlockId {
  const view = new DataView(candidate.buffer, candidate.byteOffset, candidate.byteLength);
  if (candidate.length < 4 + 80 + 36) throw badCandidate(`${candidate.length} bytes`);
  const tag = view.getUint32(0, true);
  let length: number;
  if (tag === CANDIDATE_EMPTY) {
    length = 4 + 80 + 36;
  } else if (tag === CANDIDATE_ORDINARY) {
    length = 4 + 80 + 32 + parentLength(view, 4 + 80 + 32);
  } else {
    throw badCandidate(`constructor ${tag.toString(16).padStart(8, '0')}`);
  }
  if (candidate.length !== length) throw badCandidate(`${candidate.length} bytes instead of ${length}`);
  return {
    workchain: view.getInt32(4, true),
    shard: view.getBigUint64(8, true),
    seqno: view.getUint32(16, true),
    root_hash: candidate.subarray(20, 52),
    file_hash: candidate.subarray(52, 84),
  };
}

/** Length of a boxed `consensus.CandidateParent`. */
function parentLength(view: DataView, at: number): number {
  const tag = view.getUint32(at, true);
  if (tag === CANDIDATE_WITHOUT_PARENTS) return 4;
  if (tag !== CANDIDATE_PARENT) throw badCandidate(`parent ${tag.toString(16).padStart(8, '0')}`);
  if (view.byteLength < at + 8 || view.getUint32(at + 4, true) !== CANDIDATE_ID) throw badCandidate('id of the parent');
  return 4 + 4 + 36;
}

function badCandidate(problem: string): Error {
  return proofsErrors['signature-candidate']({ problem });
}

/** A TL word: 32 bits, least significant byte first. */
function word(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8, value >> 16, value >> 24);
}

/**
 * Verifies that a masterchain block is signed by the validators of the previous key block, and returns the
 * weight of the signers. The validator set hash in the header must agree.
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
