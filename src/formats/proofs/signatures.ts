import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256 } from '#formats/cells/sha256.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { type SignatureSet, signedBytes } from '#formats/proofs/signature-set.js';
import type { ValidatorGroup } from '#formats/proofs/validator-set.js';
import { concatBytes, toHex } from '#kernel/bytes/bytes.js';

/** Most signatures that a set may have. */
export const MAX_SIGNATURES = 1024;

/** `pub.ed25519#4813b4c6` */
const PUB_ED25519 = Uint8Array.of(0xc6, 0xb4, 0x13, 0x48);

/** `SubjectPublicKeyInfo` of an Ed25519 key up to the key itself (RFC 8410). */
const SPKI_ED25519 = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/** How nodes are called in signature sets: SHA-256 of `pub.ed25519 key:int256`. */
export function nodeIdShort(publicKey: Uint8Array): Uint8Array {
  return sha256(concatBytes(PUB_ED25519, publicKey));
}

/** The key as node:crypto wants it. @param publicKey 32 bytes */
export function ed25519Key(publicKey: Uint8Array): KeyObject {
  const der = Buffer.concat([SPKI_ED25519, publicKey]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/**
 * Checks that more than two thirds of a session's validators, by weight, signed a block, and gives the weight of the
 * signers. One wrong signature, unknown or repeated node spoils the whole set, as it does for nodes.
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
