import { existsSync, readFileSync, statSync } from 'node:fs';
import { describeOtherBytes } from '#app/cli/decode-known.js';
import { cliErrors } from '#app/cli/errors.js';
import { BOC_MAGIC } from '#formats/cells/boc-parse.js';
import { fromBase64, fromHex } from '#kernel/bytes.js';

/** Bytes to decode with their source, or an address. */
export type Input =
  | { readonly source: 'file' | 'standard input' | 'argument'; readonly bytes: Uint8Array }
  | { readonly source: 'address'; readonly text: string };

const STANDARD_INPUT = 0;

/**
 * Reads an argument: `-` for standard input, a file name, hex or base64 data, or an address. A file or standard input may
 * contain bytes, hex or base64.
 *
 * @throws cli/input when it is none of them
 */
export function readInput(argument: string): Input {
  if (argument === '-')
    return { source: 'standard input', bytes: unwrapText(readAll(STANDARD_INPUT, 'standard input')) };
  if (existsSync(argument)) {
    if (statSync(argument).isDirectory())
      throw cliErrors.input({ argument: shorten(argument), problem: 'is a folder' });
    return { source: 'file', bytes: unwrapText(readAll(argument, argument)) };
  }
  const bytes = textToBytes(argument);
  if (bytes !== null && (startsAsBoc(bytes) || describeOtherBytes(bytes, 'the argument') !== null)) {
    return { source: 'argument', bytes };
  }
  const text = argument.trim();
  if (looksLikeAddress(text)) return { source: 'address', text };
  const problem = 'is neither a file nor a BoC in hex or base64';
  throw cliErrors.input({
    argument: shorten(argument),
    problem: bytes?.length === 32 ? `${problem}; it has the size of a hash or a key, not of a BoC` : problem,
  });
}

function readAll(file: string | number, name: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (error) {
    throw cliErrors.input({ argument: shorten(name), problem: `cannot be read: ${(error as Error).message}` }, error);
  }
}

/** Decodes text files with base64 or hex; other content is returned unchanged. */
function unwrapText(bytes: Uint8Array): Uint8Array {
  if (
    bytes.length === 0 ||
    bytes.some((byte) => byte > 0x7e || (byte < 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09))
  )
    return bytes;
  return textToBytes(Buffer.from(bytes).toString('latin1')) ?? bytes;
}

/** Decodes hex or base64; ignores white space and `x{…}` around hex. */
function textToBytes(text: string): Uint8Array | null {
  const bare = text
    .replace(/\s+/g, '')
    .replace(/^x\{(.*)\}$/, '$1')
    .replace(/^0x/, '');
  if (bare === '') return null;
  return fromHex(bare) ?? fromBase64(bare);
}

/** Almost any word is valid base64: only data with a BoC magic is accepted, so that mistyped file names are detected. */
function startsAsBoc(bytes: Uint8Array): boolean {
  const magic = ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
  return bytes.length >= 4 && Object.values<number>(BOC_MAGIC).includes(magic);
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 40)}… (${text.length} characters)`;
}

/** Whether a string that is nothing else looks like an address: raw, or 48 characters of base64. */
function looksLikeAddress(text: string): boolean {
  return /^-?\d+:/.test(text) || /^[A-Za-z0-9+/_-]{48}$/.test(text);
}
