import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { toBase64 } from '#kernel/bytes.js';

/**
 * What a body says to people: a comment, an encrypted one, or something for the contract. `message` is what the legacy
 * field of this name shows; `null` leaves it out.
 */
export type BodyContent =
  | { readonly kind: 'text'; readonly text: Uint8Array; readonly message: string }
  | { readonly kind: 'encrypted'; readonly text: Uint8Array; readonly message: null }
  | { readonly kind: 'raw'; readonly message: string }
  | { readonly kind: 'exotic'; readonly message: null };

const OP_TEXT = 0;
const OP_ENCRYPTED = 0x2167da4b;

const EMPTY: BodyContent = { kind: 'raw', message: '' };
const EXOTIC: BodyContent = { kind: 'exotic', message: null };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the body of a message: as a comment when it has the form of one. */
export function bodyContent(body: Cell): BodyContent {
  if (body.bits === 0) return EMPTY;
  if (body.type !== CellType.ordinary) return EXOTIC;
  if (body.bits >= 32) {
    const slice = new Slice(body);
    const op = slice.loadUint(32);
    if (op === OP_TEXT || op === OP_ENCRYPTED) {
      const text = snakeBytes(slice);
      if (text !== null) {
        return op === OP_TEXT
          ? { kind: 'text', text, message: decodeText(text) }
          : { kind: 'encrypted', text, message: null };
      }
    }
  }
  return { kind: 'raw', message: `${toBase64(dataBytes(body))}\n` };
}

/** Empty when it is not UTF-8. */
function decodeText(text: Uint8Array): string {
  try {
    return utf8.decode(text);
  } catch {
    return '';
  }
}

/** The data of a cell, zeros after its last bit. */
function dataBytes(cell: Cell): Uint8Array {
  const whole = cell.bits >> 3;
  const rest = cell.bits & 7;
  const data = cell.bytes.subarray(cell.dataOffset, cell.dataOffset + whole + (rest === 0 ? 0 : 1));
  if (rest === 0) return data;
  const padded = data.slice();
  padded[whole]! &= 0xff << (8 - rest);
  return padded;
}

/**
 * The bits from the slice on and through the first references, as tonlib joins them: cells may end within a byte, only
 * the sum must be whole bytes. `null` when it is not, or when an exotic cell is in the way.
 */
function snakeBytes(head: Slice): Uint8Array | null {
  const parts: Slice[] = [head];
  let bits = head.remainingBits;
  for (let { cell } = head; cell.refCount > 0; ) {
    cell = cell.ref(0);
    if (cell.type !== CellType.ordinary) return null;
    parts.push(new Slice(cell));
    bits += cell.bits;
  }
  if ((bits & 7) !== 0) return null;
  const out = new Uint8Array(bits >> 3);
  let at = 0;
  for (const part of parts) at = append(out, at, part);
  return out;
}

/** @param from position in bits @returns the position after the part */
function append(out: Uint8Array, from: number, part: Slice): number {
  let at = from;
  const gap = (8 - (at & 7)) & 7;
  const first = Math.min(gap, part.remainingBits);
  if (first > 0) {
    out[at >> 3]! |= part.loadUint(first) << (gap - first);
    at += first;
  }
  const whole = part.remainingBits >> 3;
  if (whole > 0) {
    out.set(part.loadBytes(whole), at >> 3);
    at += whole * 8;
  }
  const rest = part.remainingBits;
  if (rest > 0) {
    out[at >> 3] = part.loadUint(rest) << (8 - rest);
    at += rest;
  }
  return at;
}
