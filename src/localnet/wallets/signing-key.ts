import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { walletsErrors } from '#localnet/wallets/errors.js';

/** What stands before the 32 bytes in a PKCS #8 Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

/** An Ed25519 key. */
export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The signature of bytes, 64 bytes. */
  sign(data: Uint8Array): Uint8Array;
}

/** The key that is made from a seed of 32 bytes. @throws wallets/seed-length */
export function signingKey(seed: Uint8Array): SigningKey {
  const key = privateKey(seed);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-SEED_BYTES)),
    sign: (data) => new Uint8Array(sign(null, data, key)),
  };
}

function privateKey(seed: Uint8Array): KeyObject {
  if (seed.length !== SEED_BYTES) throw walletsErrors['seed-length']({ length: seed.length });
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}
