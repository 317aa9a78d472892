import type { Address } from '#formats/address/address.js';
import type { ParsedAddress } from '#formats/address/parse-address.js';

/** `0:83DFD552…` */
export function upperRaw({ workchain, hash }: Address): string {
  return `${workchain}:${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex').toUpperCase()}`;
}

/** The user-friendly form with the flags of the text that was given; bounceable when it had none. @throws address/workchain */
export function echoedAddress({ address, bounceable, testnet }: ParsedAddress): string {
  return address.toFriendly({ bounceable: bounceable ?? true, testnet: testnet ?? false });
}

/** What was given, in the one way to write it: raw stays raw, with upper-case digits; user-friendly is base64url. */
export function normalizedAddress(parsed: ParsedAddress): string {
  return parsed.form === 'raw' ? upperRaw(parsed.address) : echoedAddress(parsed);
}
