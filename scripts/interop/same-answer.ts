import { parseBoc } from '#formats/cells/boc-parse.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { Json, JsonObject } from './tonlib-session.js';

/** First bytes of a bag of cells, in base64. */
const BAG = 'te6cc';

/**
 * Where two answers differ, as `path: expected, found`; empty when they say the same. Bags of cells are the same when
 * their roots are: how they are written is free. A field named in `free` may have any value.
 */
export function differences(
  expected: Json | undefined,
  found: Json | undefined,
  free: readonly string[] = [],
): string[] {
  const lines: string[] = [];
  const compare = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (Object.is(a, b)) return;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) lines.push(`${path}: ${a.length} items, ${b.length} items`);
      else for (const [i, item] of a.entries()) compare(item, b[i], `${path}[${i}]`);
    } else if (isObject(a) && isObject(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        if (!free.includes(key)) compare(a[key], b[key], path === '' ? key : `${path}.${key}`);
      }
    } else if (typeof a !== 'string' || typeof b !== 'string' || !sameBags(a, b)) {
      lines.push(`${path}: ${print(a)}, ${print(b)}`);
    }
  };
  compare(expected, found, '');
  return lines;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sameBags(a: string, b: string): boolean {
  if (!a.startsWith(BAG) || !b.startsWith(BAG)) return false;
  const roots = rootHashes(a);
  return roots !== null && roots === rootHashes(b);
}

function rootHashes(base64: string): string | null {
  const bytes = fromBase64(base64);
  if (bytes === null) return null;
  try {
    return parseBoc(bytes)
      .roots.map((root) => toHex(root.hash()))
      .join();
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function print(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}

/** @throws with the first differences when an answer is not the expected one */
export function expectSame(expected: Json | undefined, found: Json | undefined, what: string): void {
  const lines = differences(expected, found);
  if (lines.length > 0) throw new Error(`${what}: expected and found differ: ${lines.slice(0, 3).join('; ')}`);
}
