/** The prime of Curve25519: 2^255 − 19. */
export const P = 2n ** 255n - 19n;

/** 32 bytes, little-endian. */
export function bigIntOf(bytes: Uint8Array): bigint {
  let number = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) number = (number << 8n) | BigInt(bytes[i]!);
  return number;
}

/** @param number below 2^256 */
export function bytesOf(number: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  for (let i = 0, rest = number; i < 32; i++, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
}

/** base^exponent modulo {@link P}. @param base not negative @param exponent above 0 */
export function powMod(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % P;
    if (bit === '1') result = (result * base) % P;
  }
  return result;
}
