import { storeErrors } from '#drivers/store/errors.js';
import { Address } from '#formats/address/address.js';
import { sha256 } from '#formats/cells/sha256.js';
import { bytesEqual, fromBase64, toBase64Url, toHex } from '#kernel/bytes/bytes.js';

/** The place of a row in its order: all that it is sorted by, and what tells rows apart that are equal in it. */
export type OrderKey = readonly (bigint | null)[];

const DIGEST_BYTES = 8;
const encoder = new TextEncoder();

/** Tells queries apart: which list, its filter and its direction. */
export function queryDigest(list: string, filter: object, sort: string): Uint8Array {
  const text = JSON.stringify([list, sort, Object.entries(filter).sort(byName)], plain);
  return sha256(encoder.encode(text)).slice(0, DIGEST_BYTES);
}

/** The cursor for what stands behind a row. */
export function encodeCursor(digest: Uint8Array, key: OrderKey): string {
  const text = encoder.encode(key.map((part) => (part === null ? '' : part.toString(36))).join(','));
  const bytes = new Uint8Array(DIGEST_BYTES + text.length);
  bytes.set(digest);
  bytes.set(text, DIGEST_BYTES);
  return toBase64Url(bytes);
}

/**
 * @param parts how many parts the key has
 * @param bits that a part fits into, signed
 * @throws store/cursor
 */
export function decodeCursor(digest: Uint8Array, cursor: string, parts: number, bits: number): OrderKey {
  const bytes = cursor.length > 1000 ? null : fromBase64(cursor);
  if (bytes === null || bytes.length <= DIGEST_BYTES) throw storeErrors.cursor({ problem: 'is not one' });
  if (!bytesEqual(bytes.subarray(0, DIGEST_BYTES), digest)) {
    throw storeErrors.cursor({ problem: 'belongs to another query' });
  }
  const texts = Buffer.from(bytes.subarray(DIGEST_BYTES)).toString('latin1').split(',');
  if (texts.length !== parts) throw storeErrors.cursor({ problem: 'is not one' });
  return texts.map((text) => parsePart(text, bits));
}

function parsePart(text: string, bits: number): bigint | null {
  if (text === '') return null;
  if (!/^-?[0-9a-z]{1,80}$/.test(text)) throw storeErrors.cursor({ problem: 'is not one' });
  let value = 0n;
  for (const digit of text.replace('-', '')) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  if (text.startsWith('-')) value = -value;
  if (BigInt.asIntN(bits, value) !== value) throw storeErrors.cursor({ problem: 'is not one' });
  return value;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Address) return value.toRaw();
  return value instanceof Uint8Array ? toHex(value) : value;
}
