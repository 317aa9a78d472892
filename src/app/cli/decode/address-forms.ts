import type { Json } from '#app/cli/decode/json-value.js';
import type { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';

/** Whether a text that is nothing else can only be meant as an address: raw, or 48 characters of base64. */
export function looksLikeAddress(text: string): boolean {
  return /^-?\d+:/.test(text) || /^[A-Za-z0-9+/_-]{48}$/.test(text);
}

/** All ways to write an address. @throws address/* when it is wrong */
export function addressForms(text: string): Json {
  const { address } = parseAddress(text);
  const hasFriendly = address.workchain >= -128 && address.workchain <= 127;
  return {
    type: 'address',
    raw: address.toRaw(),
    ...(hasFriendly ? { mainnet: friendly(address, false), testnet: friendly(address, true) } : {}),
  };
}

function friendly(address: Address, testnet: boolean): Json {
  return {
    bounceable: address.toFriendly({ bounceable: true, testnet }),
    non_bounceable: address.toFriendly({ bounceable: false, testnet }),
  };
}
