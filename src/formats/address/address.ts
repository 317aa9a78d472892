import { addressErrors } from '#formats/address/errors.js';

/** First byte of the user-friendly form; the testnet flag is added to either of the other two. */
const AddressTag = { bounceable: 0x11, nonBounceable: 0x51, testnetFlag: 0x80 } as const;

/** Options of the user-friendly form. */
export interface FriendlyFormat {
  /** Asks wallets to send bounceable messages, so that coins sent to an account without a contract return. Default: `true`. */
  readonly bounceable?: boolean;
  /** Marks the address as testnet-only. Default: `false`. */
  readonly testnet?: boolean;
  /** base64url (`-`, `_`) instead of base64 (`+`, `/`). Default: `true`. */
  readonly urlSafe?: boolean;
}

/** Tag, workchain, hash, checksum. */
const scratch = Buffer.alloc(36);

/** The address of an account: `addr_std$10` without anycast. Immutable; the hash must not be written to. */
export class Address {
  /** int32; 0 is the basechain, -1 the masterchain. */
  readonly workchain: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;

  private constructor(workchain: number, hash: Uint8Array) {
    this.workchain = workchain;
    this.hash = hash;
  }

  /** @param hash 32 bytes; not copied @throws address/workchain, address/hash-length */
  static ofParts(workchain: number, hash: Uint8Array): Address {
    if ((workchain | 0) !== workchain) {
      throw addressErrors.workchain({ offset: 0, workchain: String(workchain), type: 'int32' });
    }
    if (hash.length !== 32) throw addressErrors['hash-length']({ offset: 0, length: hash.length, wanted: '32 bytes' });
    return new Address(workchain, hash);
  }

  /** `-1:3333…`: the workchain in decimal, the hash in lower-case hexadecimal. */
  toRaw(): string {
    scratch.set(this.hash);
    return `${this.workchain}:${scratch.toString('hex', 0, 32)}`;
  }

  /** `EQ…`: 48 characters with flags and checksum. @throws address/workchain when the workchain is not an int8 */
  toFriendly(format: FriendlyFormat = {}): string {
    const { workchain } = this;
    if ((workchain << 24) >> 24 !== workchain) {
      throw addressErrors.workchain({ offset: 0, workchain: String(workchain), type: 'int8' });
    }
    const tag = format.bounceable === false ? AddressTag.nonBounceable : AddressTag.bounceable;
    scratch[0] = format.testnet === true ? tag | AddressTag.testnetFlag : tag;
    scratch[1] = workchain;
    scratch.set(this.hash, 2);
    const crc = crc16(scratch, 34);
    scratch[34] = crc >> 8;
    scratch[35] = crc;
    return scratch.toString(format.urlSafe === false ? 'base64' : 'base64url');
  }

  equals(other: Address): boolean {
    if (this.workchain !== other.workchain) return false;
    const a = this.hash;
    const b = other.hash;
    for (let i = 0; i < 32; i++) if (a[i] !== b[i]) return false;
    return true;
  }

  /** The raw form. */
  toString(): string {
    return this.toRaw();
  }

  /** The raw form, for JSON. */
  toJSON(): string {
    return this.toRaw();
  }
}

/** A parsed address: the account, and the properties of its text form. */
export interface ParsedAddress {
  readonly address: Address;
  readonly form: 'raw' | 'friendly';
  /** Flags of the user-friendly form; `null` in the raw form, which has none. */
  readonly bounceable: boolean | null;
  readonly testnet: boolean | null;
  /** `true` when the text can stand in a URL as it is (no `+` or `/`); `null` in the raw form. */
  readonly urlSafe: boolean | null;
}

/** Flags in the digit tables beside the 4 or 6 bits of a digit. */
const STANDARD = 0x40;
const URL_SAFE = 0x80;
const BAD = 0x100;

const base64Digits = digitTable('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789');
for (const [character, digit] of [
  ['+', 62 | STANDARD],
  ['/', 63 | STANDARD],
  ['-', 62 | URL_SAFE],
  ['_', 63 | URL_SAFE],
] as const) {
  base64Digits[character.charCodeAt(0)] = digit;
}
const hexDigits = digitTable('0123456789abcdef');
for (let digit = 10; digit < 16; digit++) hexDigits[0x41 - 10 + digit] = digit;

function digitTable(characters: string): Uint16Array {
  const table = new Uint16Array(256).fill(BAD);
  for (let digit = 0; digit < characters.length; digit++) table[characters.charCodeAt(digit)] = digit;
  return table;
}

/** Tag, workchain, hash, checksum. */
const friendlyBytes = new Uint8Array(36);

/**
 * Reads an address in either form.
 *
 * Raw: `0:` or `-1:` (any int32) and 64 hexadecimal digits of either case. User-friendly: 48 characters of base64 or
 * base64url, which are a tag, the workchain (int8), the hash and a CRC-16 of these.
 *
 * @throws address/length, address/character, address/mixed-alphabets, address/checksum, address/tag,
 * address/workchain, address/hash-length
 */
export function parseAddress(text: string): ParsedAddress {
  const colon = text.indexOf(':');
  if (colon >= 0) {
    const address = parseRaw(text, colon);
    return { address, form: 'raw', bounceable: null, testnet: null, urlSafe: null };
  }
  return parseFriendly(text);
}

function parseFriendly(text: string): ParsedAddress {
  if (text.length !== 48) throw addressErrors.length({ length: text.length });
  const digits = base64Digits;
  const bytes = friendlyBytes;
  let marks = 0;
  let codes = 0;
  for (let from = 0, to = 0; from < 48; from += 4, to += 3) {
    const c0 = text.charCodeAt(from);
    const c1 = text.charCodeAt(from + 1);
    const c2 = text.charCodeAt(from + 2);
    const c3 = text.charCodeAt(from + 3);
    const d0 = digits[c0 & 0xff]!;
    const d1 = digits[c1 & 0xff]!;
    const d2 = digits[c2 & 0xff]!;
    const d3 = digits[c3 & 0xff]!;
    codes |= c0 | c1 | c2 | c3;
    marks |= d0 | d1 | d2 | d3;
    bytes[to] = (d0 << 2) | ((d1 >> 4) & 3);
    bytes[to + 1] = (d1 << 4) | ((d2 >> 2) & 15);
    bytes[to + 2] = (d2 << 6) | (d3 & 63);
  }
  if (codes > 0xff || marks >= BAD || (marks & (STANDARD | URL_SAFE)) === (STANDARD | URL_SAFE)) {
    throw badBase64(text);
  }
  const stored = (bytes[34]! << 8) | bytes[35]!;
  const computed = crc16(bytes, 34);
  if (stored !== computed) {
    throw addressErrors.checksum({ offset: 45, stored: hex(stored, 4), computed: hex(computed, 4) });
  }
  const tag = bytes[0]! & ~AddressTag.testnetFlag;
  if (tag !== AddressTag.bounceable && tag !== AddressTag.nonBounceable) {
    throw addressErrors.tag({ offset: 0, tag: hex(bytes[0]!, 2) });
  }
  const hash = new Uint8Array(32);
  for (let i = 0; i < 32; i++) hash[i] = bytes[i + 2]!;
  return {
    address: Address.ofParts((bytes[1]! << 24) >> 24, hash),
    form: 'friendly',
    bounceable: tag === AddressTag.bounceable,
    testnet: bytes[0]! >= AddressTag.testnetFlag,
    urlSafe: (marks & STANDARD) === 0,
  };
}

function parseRaw(text: string, colon: number): Address {
  const workchain = parseWorkchain(text, colon);
  const length = text.length - colon - 1;
  const digits = hexDigits;
  const hash = new Uint8Array(32);
  let marks = length === 64 ? 0 : BAD;
  if (length === 64) {
    for (let i = 0, from = colon + 1; i < 32; i++, from += 2) {
      const c0 = text.charCodeAt(from);
      const c1 = text.charCodeAt(from + 1);
      const byte = (digits[c0 & 0xff]! << 4) | digits[c1 & 0xff]! | ((c0 | c1) & 0xff00);
      marks |= byte;
      hash[i] = byte;
    }
  }
  if (marks >= BAD) throw badHex(text, colon + 1);
  return Address.ofParts(workchain, hash);
}

/** Plain decimal notation only: no sign but `-`, no leading zeros, no `-0`. */
function parseWorkchain(text: string, colon: number): number {
  const negative = text.charCodeAt(0) === 0x2d;
  const first = negative ? 1 : 0;
  let value = 0;
  for (let at = first; at < colon; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) throw badCharacter(text, at, 'a decimal digit');
    if (at - first < 10) value = value * 10 + digit;
  }
  const count = colon - first;
  const leadingZero = text.charCodeAt(first) === 0x30 && (count > 1 || negative);
  const signed = negative ? -value : value;
  if (count < 1 || count > 10 || leadingZero || (signed | 0) !== signed) {
    throw addressErrors.workchain({
      offset: 0,
      workchain: JSON.stringify(text.slice(0, Math.min(colon, 16))),
      type: 'int32',
    });
  }
  return signed;
}

function badBase64(text: string): Error {
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const digit = code > 0xff ? BAD : base64Digits[code]!;
    if (digit >= BAD) return badCharacter(text, at, 'of the base64 or base64url alphabet');
    marks |= digit & (STANDARD | URL_SAFE);
    if (marks === (STANDARD | URL_SAFE)) {
      return addressErrors['mixed-alphabets']({ offset: at, character: text.charAt(at) });
    }
  }
  throw addressErrors.length({ length: text.length });
}

function badHex(text: string, start: number): Error {
  // A wrong character explains a wrong length, so it is reported first.
  for (let at = start, end = Math.min(text.length, start + 64); at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 0xff || hexDigits[code]! >= BAD) return badCharacter(text, at, 'a hexadecimal digit');
  }
  return addressErrors['hash-length']({ offset: start, length: text.length - start, wanted: '64 hexadecimal digits' });
}

function badCharacter(text: string, offset: number, allowed: string): Error {
  return addressErrors.character({ offset, character: String.fromCodePoint(text.codePointAt(offset)!), allowed });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

const table = makeTable();

function makeTable(): Uint16Array {
  const all = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    all[byte] = crc;
  }
  return all;
}

/** CRC-16/XMODEM (polynomial 0x1021, start 0, not reflected) of `bytes[0, end)`: 0..65535. */
export function crc16(bytes: Uint8Array, end: number = bytes.length): number {
  let crc = 0;
  for (let i = 0; i < end; i++) crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ bytes[i]!]!;
  return crc;
}
