import { v2Errors } from '#api/v2/errors.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { fromBase64, fromHex } from '#kernel/bytes/bytes.js';

const MIN_INT64 = -(1n << 63n);
const MAX_INT64 = (1n << 63n) - 1n;
const MAX_UINT64 = (1n << 64n) - 1n;

/**
 * Reads 256 bits: 64 hexadecimal digits, 44 characters of base64 or base64url with their padding, or 43 of base64url
 * without.
 * @throws v2/parameter-value
 */
export function decodeHash(text: string): Uint8Array {
  const bytes =
    text.length === 64
      ? fromHex(text)
      : (text.length === 44 && text.endsWith('=')) || (text.length === 43 && !/[+/]/.test(text))
        ? fromBase64(text)
        : null;
  if (bytes?.length === 32) return bytes;
  throw badValue(`${quoted(text)} is not a hash: 64 hexadecimal digits or 32 bytes in base64 or base64url`);
}

/** An account id in any form of {@link decodeHash}, or within an address. @throws v2/parameter-value */
export function decodeAccountId(text: string): Uint8Array {
  if (text.includes(':') || text.length === 48) return parseAddress(text).address.hash;
  return decodeHash(text);
}

/** Standard base64 with its padding, nothing else. @throws v2/parameter-value */
export function decodeBase64(text: string): Uint8Array {
  const stray = /[^A-Za-z0-9+/=]/.exec(text);
  if (stray !== null) {
    const { index, 0: character } = stray;
    const hint = character === '-' || character === '_' ? '; this is base64url, wanted is standard base64' : '';
    throw badValue(`it is not base64: ${JSON.stringify(character)} at offset ${index}${hint}`);
  }
  if (text.length % 4 !== 0) {
    throw badValue(`it is not base64: ${text.length} characters, wanted is a multiple of 4 with the padding`);
  }
  const bytes = fromBase64(text);
  if (bytes !== null) return bytes;
  throw badValue('it is not base64: the padding or the last bits are wrong');
}

/** As {@link decodeBase64}, of at least one byte. @throws v2/parameter-value */
export function decodeNonEmptyBase64(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  return decodeBase64(text);
}

/** Decimal digits with an optional sign. @throws v2/parameter-value */
export function decodeInt64(text: string, minimum: bigint): bigint {
  const value = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : null;
  if (value !== null && value >= minimum && value <= MAX_INT64) return value;
  throw badValue(`${quoted(text)} is not a whole number from ${minimum} to ${MAX_INT64}`);
}

const TRUE = /^(y|yes|t|true|on|1)$/i;
const FALSE = /^(n|no|f|false|off|0)$/i;

/** Texts as queries have them; an empty one is the same as none. @throws v2/parameter-value */
export function decodeBoolean(value: boolean | number | string): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value === '') return undefined;
  if (TRUE.test(value)) return true;
  if (FALSE.test(value)) return false;
  throw badValue(`${quoted(value)} is neither true nor false`);
}

/** A shard as uint64, from any of its ways of writing. @throws v2/parameter-value */
export function decodeShard(text: string): bigint {
  let value: bigint | null = null;
  if (/^[+-]?\d{1,20}$/.test(text)) value = BigInt(text.replace('+', ''));
  else if (/^0[xX][0-9a-fA-F]{1,16}$/.test(text)) value = BigInt(text);
  if (value === null || value < MIN_INT64 || value > MAX_UINT64) {
    throw badValue(`${quoted(text)} is not a shard: a 64-bit decimal number or 0x and up to 16 hexadecimal digits`);
  }
  // Without the bit that ends the prefix it means the first shard, as an account id of zeros does.
  return value === 0n ? 1n : BigInt.asUintN(64, value);
}

function badValue(problem: string): Error {
  return v2Errors['parameter-value']({ problem });
}

/** A text as an error message can show it. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
