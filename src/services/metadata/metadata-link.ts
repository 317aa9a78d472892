import { metadataErrors } from '#services/metadata/errors.js';

/** Where what a token says of itself is. */
export type MetadataLink =
  /** To be fetched. From the `gateway`: it was named by whoever runs the service, not by a token. */
  | { readonly kind: 'web'; readonly url: URL; readonly isGateway: boolean }
  /** In the link itself. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array };

/** Longest link that leads elsewhere; one that holds the data itself may be as long as contracts store. */
const MAX_LINK = 8_192;
const SHOWN = 100;

/** Hashes of content: version 0; version 1 in base32, base58, base36 and base16. */
const CID =
  '(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,150}|B[A-Z2-7]{50,150}|z[1-9A-HJ-NP-Za-km-z]{45,150}|k[0-9a-z]{45,150}|f[0-9a-f]{60,200})';
const IPFS_LINK = new RegExp(`^ipfs:/{0,2}(?:ipfs/)?(${CID})((?:/[^?#]*)?)(?:[?#].*)?$`, 'is');
/** Without a scheme, only hashes that nothing else looks like: SHA-256 in the two usual forms. */
const BARE_CID = /^(?:\/?ipfs\/)?(Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{56})((?:\/[^?#]*)?)(?:[?#].*)?$/s;

/**
 * Reads the link of a token: http, https, ipfs (also a hash alone), and data URIs. Control characters and spaces around it
 * do not count: contracts that store the prefix of an off-chain link as a part of it exist.
 *
 * @param gateway where content of IPFS is fetched: its URL, without `/ipfs` and without a slash at its end
 * @throws metadata/link, metadata/scheme, metadata/data-uri, metadata/content-type
 */
export function readMetadataLink(text: string, gateway: string): MetadataLink {
  const link = trimmed(text);
  if (/^data:/i.test(link)) return { kind: 'data', bytes: readDataUri(link) };
  if (link.length > MAX_LINK) throw refuse(link, `has more than ${MAX_LINK} characters`);
  const [, cid, path = ''] = IPFS_LINK.exec(link) ?? BARE_CID.exec(link) ?? [];
  if (cid !== undefined) {
    return { kind: 'web', url: new URL(`${gateway}/ipfs/${cid}${safePath(path, link)}`), isGateway: true };
  }
  return { kind: 'web', url: readWebLink(link), isGateway: false };
}

/**
 * Reads a link to the web, of a token or of a redirect.
 *
 * @param base what it is relative to
 * @throws metadata/link, metadata/scheme
 */
export function readWebLink(link: string, base?: URL): URL {
  if (link.length > MAX_LINK) throw refuse(link, `has more than ${MAX_LINK} characters`);
  const url = parseUrl(link, base);
  if (url === null) throw refuse(link, 'is not well-formed');
  if (url.protocol === 'ipfs:') throw refuse(link, 'has no hash of content');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw metadataErrors.scheme({ scheme: url.protocol.slice(0, Math.min(url.protocol.length - 1, 20)) });
  }
  if (url.username !== '' || url.password !== '') throw refuse(link, 'has a user name or a password in it');
  url.hash = '';
  // A full name; in certificates and headers it stands without the dot.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url;
}

function parseUrl(link: string, base: URL | undefined): URL | null {
  try {
    return new URL(link, base);
  } catch {
    return null;
  }
}

/** A path below the hash, and not above it: the gateway has other things besides content. */
function safePath(path: string, link: string): string {
  const segments = path.split('/').map((segment) => {
    const name = decoded(segment);
    if (name === null) throw refuse(link, 'has a % that is not one of an encoded character');
    if (name === '.' || name === '..' || /[/\\\0]/.test(name)) throw refuse(link, 'has a path that leads elsewhere');
    return encodeURIComponent(name);
  });
  return segments.join('/');
}

function decoded(segment: string): string | null {
  try {
    // Encoding fails on halves of surrogate pairs.
    return decodeURIComponent(segment).replace(/\p{Surrogate}/gu, '\ufffd');
  } catch {
    return null;
  }
}

function trimmed(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut off
  return text.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '');
}

function refuse(link: string, problem: string) {
  const shown = JSON.stringify(link.length > SHOWN ? `${link.slice(0, SHOWN)}…` : link);
  return metadataErrors.link({ link: shown, problem });
}

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

/** JSON by any of its names, text of any kind, and what servers say that do not know. */
const READABLE =
  /^(application\/([\w.-]+\+)?json|text\/[\w.+-]+|(application|binary)\/octet-stream|application\/(javascript|x-javascript))$/;

/**
 * That a document may be JSON, by what is said of its type; nothing said is well, too. Whether it is, its bytes tell.
 *
 * @throws metadata/content-type
 */
export function requireReadableType(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== '' && !READABLE.test(type))
    throw metadataErrors['content-type']({ found: JSON.stringify(type.slice(0, 100)) });
}
