import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { nodeIdShort, type SignatureSet, signedBytes } from '#formats/proofs/signatures.js';
import { computeValidatorGroup, type ValidatorGroup, validatorConfigOf } from '#formats/proofs/validators.js';
import type { McStateExtra } from '#formats/tlb/shard-state.js';
import { bytesEqual, concatBytes, toHex } from '#kernel/bytes.js';

/** The key of the only validator. */
export interface ValidatorKey {
  /** Ed25519, 32 bytes: `created_by` of blocks. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** `PrivateKeyInfo` of an Ed25519 key up to the seed itself (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes */
export function validatorKey(seed: Uint8Array): ValidatorKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(spki.length - 32)),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
}

/**
 * The validator session of the next block: `hash` and `catchain_seqno` go into `gen_validator_list_hash_short` and
 * `gen_catchain_seqno` of its header.
 *
 * @param extra of the masterchain state that the block refers to
 * @param catchain_seqno of a shard: see `nextShardBlocks`; of the masterchain: from `extra.info`
 */
export function sessionOf(extra: McStateExtra, shard: Shard, catchain_seqno: number): ValidatorGroup {
  return computeValidatorGroup(validatorConfigOf(extra.config.config), shard, catchain_seqno);
}

/** Inputs of signing a masterchain block. */
export interface SigningContext {
  readonly kind: 'simplex' | 'ordinary';
  readonly key: ValidatorKey;
  /** The validator session of the block: see {@link sessionOf}. */
  readonly group: ValidatorGroup;
  readonly randomBytes: (size: number) => Uint8Array;
}

const CANDIDATE_ORDINARY = 0xe8f9bcdc;
const CANDIDATE_PARENT = 0x1a4b9af1;
const CANDIDATE_ID = 0xb691cd3f;
const CANDIDATE_WITHOUT_PARENTS = 0x22cbcca9;

/**
 * Signs a masterchain block. Fields of a simplex session that cannot be verified from outside (its id, the collated
 * data, the hash of the parent candidate) are random; the slot is the seqno, and that of the parent the one before.
 *
 * @throws proofs/signature-unknown-node when the key is not in the group
 */
export function signBlock(id: BlockId, { kind, key, group, randomBytes }: SigningContext): SignatureSet {
  const node_id_short = nodeIdShort(key.publicKey);
  if (!group.validators.some(({ public_key }) => bytesEqual(public_key, key.publicKey)))
    throw proofsErrors['signature-unknown-node']({ node: toHex(node_id_short) });
  const session = { validator_set_hash: group.hash, catchain_seqno: group.catchain_seqno };
  const unsigned: SignatureSet =
    kind === 'ordinary'
      ? { kind, ...session, signatures: [] }
      : {
          kind,
          ...session,
          signatures: [],
          session_id: randomBytes(32),
          slot: id.seqno,
          candidate: candidateOf(id, randomBytes),
        };
  return { ...unsigned, signatures: [{ node_id_short, signature: key.sign(signedBytes(unsigned, id)) }] };
}

/** `consensus.candidateHashDataOrdinary block:tonNode.blockIdExt collated_file_hash:int256 parent:consensus.CandidateParent` */
function candidateOf(
  { workchain, shard, seqno, root_hash, file_hash }: BlockId,
  randomBytes: SigningContext['randomBytes'],
): Uint8Array {
  const place = new DataView(new ArrayBuffer(20));
  place.setUint32(0, CANDIDATE_ORDINARY, true);
  place.setInt32(4, workchain, true);
  place.setBigUint64(8, shard, true);
  place.setUint32(16, seqno, true);
  const parent =
    seqno === 1
      ? word(CANDIDATE_WITHOUT_PARENTS)
      : concatBytes(word(CANDIDATE_PARENT), word(CANDIDATE_ID), word(seqno - 1), randomBytes(32));
  return concatBytes(new Uint8Array(place.buffer), root_hash, file_hash, randomBytes(32), parent);
}

/** A TL word: 32 bits, little-endian. */
function word(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8, value >> 16, value >> 24);
}
