import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256 } from '#formats/cells/digests.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, MASTERCHAIN_SHARD, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { computeValidatorGroup, type ValidatorConfig, type ValidatorGroup } from '#formats/proofs/validators.js';
import { PubEd25519 } from '#formats/tl/adnl.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import {
  ConsensusCandidateHashData,
  ConsensusDataToSign,
  ConsensusSimplexUnsignedVote,
  TonBlockId,
} from '#formats/tl/consensus.js';
import { decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Maximum number of signatures of a set. */
export const MAX_SIGNATURES = 1024;

/** `SubjectPublicKeyInfo` of an Ed25519 key up to the key itself (RFC 8410). */
const SPKI_ED25519 = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/** The short node id in signature sets: SHA-256 of `pub.ed25519 key:int256`. */
export function nodeIdShort(publicKey: Uint8Array): Uint8Array {
  return sha256(encodeBoxed(PubEd25519, { key: publicKey }));
}

/** More than two sets of validators of mainnet. */
const MOST_KEYS = 2_048;

/** Keys by their bytes in hexadecimal, the oldest first: to make one takes about as long as to verify a signature. */
const keys = new Map<string, KeyObject>();

/** The key for node:crypto. @param publicKey 32 bytes */
export function ed25519Key(publicKey: Uint8Array): KeyObject {
  const hex = toHex(publicKey);
  const known = keys.get(hex);
  if (known !== undefined) return known;
  const der = Buffer.concat([SPKI_ED25519, publicKey]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  if (keys.size >= MOST_KEYS) keys.delete(keys.keys().next().value!);
  keys.set(hex, key);
  return key;
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
  if (set.kind === 'ordinary') {
    return encodeBoxed(TonBlockId, { root_cell_hash: block.root_hash, file_hash: block.file_hash });
  }
  const voted = candidateBlock(set.candidate);
  if (!sameBlock(voted, block)) {
    throw proofsErrors['signature-block']({ expected: printBlockId(block), found: printBlockId(voted) });
  }
  const data = encodeBoxed(ConsensusSimplexUnsignedVote, {
    kind: 'consensus.simplex.finalizeVote',
    id: { slot: set.slot | 0, hash: sha256(set.candidate) },
  });
  return encodeBoxed(ConsensusDataToSign, { session_id: set.session_id, data });
}

/** The block of a candidate (`consensus.CandidateHashData`, boxed). @throws proofs/signature-candidate */
export function candidateBlock(candidate: Uint8Array): BlockId {
  try {
    return blockIdFromTl(decodeOne(ConsensusCandidateHashData, candidate).block);
  } catch (error) {
    throw isTernError(error) ? proofsErrors['signature-candidate']({ problem: error.message }, error) : error;
  }
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
