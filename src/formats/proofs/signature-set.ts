import { sha256 } from '#formats/cells/sha256.js';
import { type BlockId, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { concatBytes } from '#kernel/bytes/bytes.js';

/** Who signed, and the Ed25519 signature. */
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

/** Votes that made a candidate final (`liteServer.signatureSet.simplex`, `block_signatures_simplex#12`). */
export interface SimplexSignatureSet extends SignatureSetBase {
  readonly kind: 'simplex';
  readonly session_id: Uint8Array;
  /** int32 of TL; either sign is accepted for the same bits. */
  readonly slot: number;
  /** `consensus.CandidateHashData`, boxed. */
  readonly candidate: Uint8Array;
}

/** Signatures of the validators of one session under one masterchain block. */
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
