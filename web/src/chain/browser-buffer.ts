/**
 * The part of Node's `Buffer` that the codecs of Tern use (`formats/address`, `formats/cells`), for browsers. Imported first by
 * the page: the codecs take `Buffer` from the global object.
 */
type Encoding = 'hex' | 'base64' | 'base64url' | 'latin1' | 'utf8';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Bytes that go through `String.fromCharCode` at once: arguments of a call are limited. */
const CHUNK = 8_192;

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

function bytesOf(text: string, encoding: Encoding): Uint8Array {
  if (encoding === 'utf8') return new TextEncoder().encode(text);
  if (encoding === 'hex') return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const plain = encoding === 'latin1' ? text : atob(text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, ''));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

function textOf(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === 'utf8') return new TextDecoder().decode(bytes);
  if (encoding === 'latin1') return latin1(bytes);
  if (encoding === 'hex') return Array.from(bytes, (byte) => HEX[byte]).join('');
  const text = btoa(latin1(bytes));
  return encoding === 'base64' ? text : text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

class Bytes extends Uint8Array {
  override toString(encoding: Encoding = 'utf8', from = 0, to = this.length): string {
    return textOf(new Uint8Array(this.buffer, this.byteOffset + from, to - from), encoding);
  }
}

/** As Node has it: a method of any bytes. */
function sliceTo(encoding: Encoding) {
  return function (this: Uint8Array, from: number, to: number): string {
    return textOf(this.subarray(from, to), encoding);
  };
}

export const BrowserBuffer = {
  prototype: {
    hexSlice: sliceTo('hex'),
    base64Slice: sliceTo('base64'),
    base64urlSlice: sliceTo('base64url'),
    latin1Slice: sliceTo('latin1'),
  },
  alloc: (size: number): Bytes => new Bytes(size),
  /** Views a buffer from an offset on, or encodes a text. */
  from(source: string | ArrayBuffer, second: Encoding | number = 'utf8', length?: number): Bytes {
    if (typeof source !== 'string') return new Bytes(source, second as number, length);
    const bytes = bytesOf(source, second as Encoding);
    return new Bytes(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
  },
};

(globalThis as { Buffer?: unknown }).Buffer ??= BrowserBuffer;
