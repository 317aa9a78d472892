import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { metadataErrors } from '#services/metadata/errors.js';

/** What a token says of itself, as it was found. */
export type MetadataDocument = Readonly<Record<string, unknown>>;

/** Deeper documents are refused before anything is made of them. */
const MAX_DEPTH = 64;

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  // Some servers leave the wrapper out.
  deflate: (bytes: Uint8Array, options: { maxOutputLength: number }) =>
    promisify((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)(bytes, options),
};

/**
 * Takes the encoding off a body.
 *
 * @param most bytes that it may have afterwards; no more than these are made
 * @throws metadata/content-encoding, metadata/too-large
 */
export async function decodeBody(body: Uint8Array, encoding: string | undefined, most: number): Promise<Uint8Array> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : null;
  const shown = JSON.stringify(name.slice(0, 40));
  if (decode === null) throw metadataErrors['content-encoding']({ encoding: shown, problem: 'is not known' });
  try {
    return await decode(body, { maxOutputLength: most });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw metadataErrors['too-large']({ what: 'the decompressed document', most });
    throw metadataErrors['content-encoding']({ encoding: shown, problem: `is broken: ${message}` }, error);
  }
}

/**
 * Reads a document: a JSON object, in UTF-8.
 *
 * @throws metadata/not-utf8, metadata/not-json
 */
export function readDocument(bytes: Uint8Array): MetadataDocument {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch (error) {
    throw metadataErrors['not-utf8']({}, error);
  }
  if (isDeeper(text, MAX_DEPTH)) throw metadataErrors['not-json']({ problem: `it is nested deeper than ${MAX_DEPTH}` });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw metadataErrors['not-json']({ problem: (error as Error).message.slice(0, 200) }, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    throw metadataErrors['not-json']({ problem: `it is ${found}` });
  }
  return value as MetadataDocument;
}

/** Throws a TypeError; takes a byte order mark off. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether brackets outside of strings are nested deeper. */
function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) isText = !isText;
    else if (isText && char === BACKSLASH) i++;
    else if (isText) continue;
    else if (char === OPEN || char === OPEN_BRACE) depth++;
    else if (char === CLOSE || char === CLOSE_BRACE) depth--;
    if (depth > most) return true;
  }
  return false;
}
