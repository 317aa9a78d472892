import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Opcode of an encrypted comment. */
export const ENCRYPTED_COMMENT = 0x2167da4b;

/** A comment in a message body or in a payload. */
export interface Comment {
  /** Null: there is none. Base64 of the bytes when it is encrypted. */
  readonly text: string | null;
  readonly encrypted: boolean;
}

const NO_COMMENT: Comment = { text: null, encrypted: false };

/** The first 32 bits of a body; null when it is shorter, or not an ordinary cell. */
export function bodyOpcode(body: Cell): number | null {
  return body.type !== CellType.ordinary || body.bits < 32 ? null : openCell(body).preloadUint(32);
}

/** `text#00000000 text:SnakeData` or `encrypted#2167da4b data:SnakeData`; anything else has no comment. */
export function readComment(body: Cell | null): Comment {
  const opcode = body === null ? null : bodyOpcode(body);
  if (body === null || opcode === null || (opcode !== 0 && opcode !== ENCRYPTED_COMMENT)) return NO_COMMENT;
  const slice = openCell(body).skip(32);
  if (slice.remainingBits < 8) return { text: null, encrypted: opcode !== 0 };
  const bytes = snakeBytes(slice);
  if (bytes === null) return { text: null, encrypted: opcode !== 0 };
  return opcode === 0 ? { text: lenientText(bytes), encrypted: false } : { text: toBase64(bytes), encrypted: true };
}

function snakeBytes(slice: Slice): Uint8Array | null {
  try {
    return loadSnakeBytes(slice);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 without U+0000; bytes that are none are shown as `\xff`. */
export function lenientText(bytes: Uint8Array): string {
  let decoded: string;
  try {
    decoded = utf8.decode(bytes);
  } catch {
    decoded = escapedText(bytes);
  }
  return decoded.replaceAll('\0', '');
}

function escapedText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) text += `\\x${bytes[at]!.toString(16).padStart(2, '0')}`;
    else text += utf8.decode(bytes.subarray(at, at + length));
    at += Math.max(length, 1);
  }
  return text;
}

/** Length of the valid UTF-8 sequence at a place; 0: there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    utf8.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}
