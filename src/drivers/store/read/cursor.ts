import { storeErrors } from '#drivers/store/errors.js';
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

/** What keys of a list are like. */
export interface KeyForm {
  /** How many parts they have. */
  readonly parts: number;
  /** What a part fits into, signed. */
  readonly bits: number;
  /** Whether the first part may be null. */
  readonly hasNull: boolean;
}

/** @throws store/cursor */
export function decodeCursor(digest: Uint8Array, cursor: string, { parts, bits, hasNull }: KeyForm): OrderKey {
  const bytes = cursor.length > 1000 ? null : fromBase64(cursor);
  if (bytes === null || bytes.length <= DIGEST_BYTES) throw storeErrors.cursor({ problem: 'is not one' });
  if (!bytesEqual(bytes.subarray(0, DIGEST_BYTES), digest)) {
    throw storeErrors.cursor({ problem: 'belongs to another query' });
  }
  const texts = Buffer.from(bytes.subarray(DIGEST_BYTES)).toString('latin1').split(',');
  if (texts.length !== parts) throw storeErrors.cursor({ problem: 'is not one' });
  const key = texts.map((text) => parsePart(text, bits));
  if (key.some((part, i) => part === null && (i > 0 || !hasNull))) throw storeErrors.cursor({ problem: 'is not one' });
  return key;
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

/** Bytes as hexadecimal, whatever kind of array they are. */
function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const given = this[key];
  if (given instanceof Uint8Array) return toHex(given);
  return typeof value === 'bigint' ? value.toString() : value;
}
