import { BodyCursor } from '#domain/bodies/body-cursor.js';
import { decodeAll } from '#domain/bodies/body-decoding.js';
import { Decoding } from '#domain/bodies/decoding.js';
import type { JsonObject, JsonValue } from '#domain/bodies/json-value.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** The first bytes of a bag of cells, before which nothing can be said of it. */
const LEAST_BOC = 10;

/**
 * An opcode as people write it: hexadecimal with or without `0x`, else decimal, else negative decimal; unsigned 32 bits.
 * `null` when it is none of them.
 */
export function parseOpcode(text: string): number | null {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (/^0*[0-9a-fA-F]{1,8}$/.test(digits)) return Number.parseInt(digits, 16);
  if (!/^[+-]?\d{1,20}$/.test(digits)) return null;
  const value = Number(digits);
  const least = /^\d/.test(digits) ? 0 : -(2 ** 31);
  const most = /^\d/.test(digits) ? 2 ** 32 - 1 : 2 ** 31 - 1;
  return value >= least && value <= most ? value >>> 0 : null;
}

/**
 * Decodes a body that is given as a bag of cells, in base64 when it begins with `te6` and else in hexadecimal. Fields are
 * in the order of their names, and a comment has its form inside others. When nothing comes of it, the result is
 * `{"error": "unknown: …"}` with the reason.
 */
export function decodeBodyText(text: string): JsonObject {
  const decoded = decodeText(text);
  return typeof decoded === 'string' ? { error: `unknown: ${decoded}` } : (sorted(decoded) as JsonObject);
}

/** The fields, or why there are none. */
function decodeText(text: string): JsonObject | string {
  const base64 = text.startsWith('te6');
  const bytes = base64 ? base64Bytes(text) : hexBytes(text);
  if (typeof bytes === 'string') return `failed to decode ${base64 ? 'base64' : 'hex'}: ${bytes}`;
  const body = parseBody(bytes);
  if (typeof body === 'string') return `failed to deserialize boc: ${body}`;
  const from = BodyCursor.open(body, new Decoding(body), 0);
  if (from === undefined) return 'vm error - the body is an exotic cell';
  if (from.remainingBits < 32 && !from.isEmpty) return `boc is too small, size ${from.remainingBits}`;
  return decodeAll(from) ?? 'no parser succeeded';
}

function base64Bytes(text: string): Uint8Array | string {
  const bare = text.replace(/=+$/, '');
  const padding = text.length - bare.length;
  if (padding > 2) return 'Wrong string padding';
  if (text.length % 4 !== 0) return 'Wrong padding length';
  if (!/^[A-Za-z0-9+/]*$/.test(bare)) return 'Wrong character in the string';
  const bytes = Buffer.from(bare, 'base64');
  return bytes.toString('base64') === text ? new Uint8Array(bytes) : 'Wrong value in padding';
}

function hexBytes(text: string): Uint8Array | string {
  if (text.length % 2 !== 0) return 'Wrong hex string length';
  return fromHex(text) ?? 'Wrong hex string';
}

function parseBody(bytes: Uint8Array): Cell | string {
  if (bytes.length < LEAST_BOC) {
    return `cannot deserialize bag-of-cells: not enough bytes (${bytes.length} present, ${LEAST_BOC} required)`;
  }
  try {
    return parseBocRoot(bytes);
  } catch (error) {
    if (!isTernError(error)) throw error;
    return error.message;
  }
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const fields: JsonObject = {};
  for (const name of Object.keys(value).sort()) fields[name] = sorted(value[name] ?? null);
  return fields;
}
