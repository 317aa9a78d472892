import { createHash, createPrivateKey, createPublicKey, diffieHellman, hash, type KeyObject } from 'node:crypto';

/** An Ed25519 key pair. */
export interface KeyPair {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 32 bytes; TL `pk.ed25519#49682317 key:int256`. */
  readonly seed: Uint8Array;
}

/** Returns `size` cryptographically secure random bytes. */
export type RandomBytes = (size: number) => Uint8Array;

/** DER prefixes of `PrivateKeyInfo` and `SubjectPublicKeyInfo` (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const PKCS8_X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI_X25519 = Buffer.from('302a300506032b656e032100', 'hex');

/** `pub.ed25519#4813b4c6` */
const PUB_ED25519 = Buffer.from('c6b41348', 'hex');

/** @param seed 32 bytes */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  const spki = createPublicKey(privateKeyOf(PKCS8_ED25519, seed)).export({ format: 'der', type: 'spki' });
  return { publicKey: Uint8Array.from(spki.subarray(-32)), seed: Uint8Array.from(seed) };
}

export function generateKeyPair(randomBytes: RandomBytes): KeyPair {
  return keyPairFromSeed(randomBytes(32));
}

/** The ADNL short id: SHA-256 of `pub.ed25519 key:int256`. @param publicKey 32 bytes */
export function shortId(publicKey: Uint8Array): Uint8Array {
  return hash('sha256', Buffer.concat([PUB_ED25519, publicKey]), 'buffer');
}

/** d of the curve −x² + y² = 1 + d·x²·y²: −121665/121666 (RFC 8032 §5.1). */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Converts an Ed25519 public key to X25519: u = (1 + y) / (1 − y). Null when the bytes are not a curve point, not its
 * canonical encoding, or one of the two points for which the map is undefined.
 *
 * @param publicKey 32 bytes
 */
export function ed25519ToX25519(publicKey: Uint8Array): Uint8Array | null {
  const number = bigIntFromBytes(publicKey);
  const y = number & ((1n << 255n) - 1n);
  if (y >= FIELD_PRIME || y === 1n || y === FIELD_PRIME - 1n) return null;
  // x² = (y² − 1) / (d·y² + 1) has a root when numerator times denominator is a square (Euler).
  const square = (y * y) % FIELD_PRIME;
  if (powMod(((square - 1n) * (D * square + 1n)) % FIELD_PRIME, (FIELD_PRIME - 1n) / 2n) !== 1n) return null;
  return bytesFromBigInt(((1n + y) * powMod(FIELD_PRIME + 1n - y, FIELD_PRIME - 2n)) % FIELD_PRIME);
}

/**
 * The shared secret: X25519 of the own private key and the peer's public key, both converted from Ed25519.
 * Null when the peer's key is not a curve point, or is a point of small order, for which the secret would be public.
 *
 * @param peerPublicKey 32 bytes
 */
export function sharedSecret(own: KeyPair, peerPublicKey: Uint8Array): Uint8Array | null {
  const u = ed25519ToX25519(peerPublicKey);
  if (u === null) return null;
  const scalar = createHash('sha512').update(own.seed).digest().subarray(0, 32);
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI_X25519, u]), format: 'der', type: 'spki' });
  try {
    // X25519 clamps the scalar and fails when the result is zero, as for points of small order.
    return diffieHellman({ privateKey: privateKeyOf(PKCS8_X25519, scalar), publicKey });
  } catch {
    return null;
  }
}

function privateKeyOf(prefix: Uint8Array, key: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([prefix, key]), format: 'der', type: 'pkcs8' });
}

/** The prime of Curve25519: 2^255 − 19. */
export const FIELD_PRIME = 2n ** 255n - 19n;

/** 32 bytes, little-endian. */
export function bigIntFromBytes(bytes: Uint8Array): bigint {
  let number = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) number = (number << 8n) | BigInt(bytes[i]!);
  return number;
}

/** @param number below 2^256 */
export function bytesFromBigInt(number: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  for (let i = 0, rest = number; i < 32; i++, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
}

/** base^exponent modulo {@link FIELD_PRIME}. @param base not negative @param exponent above 0 */
export function powMod(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % FIELD_PRIME;
    if (bit === '1') result = (result * base) % FIELD_PRIME;
  }
  return result;
}
