import { requireReadableType } from '#services/metadata/content-type.js';
import { metadataErrors } from '#services/metadata/errors.js';

/** `[<type>][;<parameter>]*[;base64],` after `data:` (RFC 2397). */
const HEAD = /^data:([^,]{0,300}),/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes in a data URI, percent-encoded or base64 (its URL-safe form too).
 *
 * @throws metadata/data-uri, metadata/content-type when it says that it is something else than JSON or text
 */
export function readDataUri(link: string): Uint8Array {
  const [head, meta = ''] = HEAD.exec(link) ?? [];
  if (head === undefined) throw metadataErrors['data-uri']({ problem: 'has no comma before its data' });
  const isBase64 = /;\s*base64\s*$/i.test(meta);
  const type = isBase64 ? meta.slice(0, meta.lastIndexOf(';')) : meta;
  requireReadableType(decodeURIComponentOrNothing(type));
  const bytes = percentDecoded(link.slice(head.length));
  return isBase64 ? base64Decoded(bytes) : bytes;
}

function base64Decoded(bytes: Buffer): Uint8Array {
  const text = bytes
    .toString('latin1')
    .replace(/[\t\n\f\r ]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const unpadded = text.replace(/=+$/, '');
  if (!BASE64.test(text) || unpadded.length % 4 === 1) throw metadataErrors['data-uri']({ problem: 'is not base64' });
  return Buffer.from(unpadded, 'base64');
}

function percentDecoded(text: string): Buffer {
  const given = Buffer.from(text, 'utf8');
  const bytes = Buffer.allocUnsafe(given.length);
  let length = 0;
  for (let i = 0; i < given.length; i++) {
    const isEscape = given[i] === 0x25;
    const pair = isEscape ? given.toString('latin1', i + 1, i + 3) : '';
    if (isEscape && !/^[0-9a-f]{2}$/i.test(pair)) {
      throw metadataErrors['data-uri']({ problem: 'has a % that is not one of an encoded byte' });
    }
    bytes[length++] = isEscape ? Number.parseInt(pair, 16) : given[i]!;
    if (isEscape) i += 2;
  }
  return bytes.subarray(0, length);
}

function decodeURIComponentOrNothing(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
