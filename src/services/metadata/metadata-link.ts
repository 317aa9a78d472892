import { parseWebUrl } from '#drivers/web/web-client.js';
import { withoutPadding } from '#kernel/bytes.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';

/** Where the off-chain metadata of a token is. */
export type MetadataLink =
  /** At a URL. `isGateway`: the IPFS gateway, which whoever operates the service has configured, and not the token. */
  | { readonly kind: 'web'; readonly url: URL; readonly isGateway: boolean }
  /** In the link itself. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array };

/** Characters of a link; a data URI may be as long as contracts store it. */
const MAX_LINK = 8_192;
const SHOWN = 100;

/** Content identifiers of IPFS: version 0; version 1 in base32, base58, base36 and base16. */
const CID =
  '(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,150}|B[A-Z2-7]{50,150}|z[1-9A-HJ-NP-Za-km-z]{45,150}|k[0-9a-z]{45,150}|f[0-9a-f]{60,200})';
const IPFS_LINK = new RegExp(`^ipfs:/{0,2}(?:ipfs/)?(${CID})((?:/[^?#]*)?)(?:[?#].*)?$`, 'is');
/** Without a scheme only identifiers that look like nothing else: SHA-256 in the two usual forms. */
const BARE_CID = /^(?:\/?ipfs\/)?(Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{56})((?:\/[^?#]*)?)(?:[?#].*)?$/s;

/**
 * Reads the metadata link of a token (TEP-64): http, https, ipfs (also a bare content identifier), and data URIs. Control
 * characters and spaces around it are ignored: some contracts store the prefix of an off-chain link as a part of it.
 *
 * @param gateway the URL of the IPFS gateway, without `/ipfs` and without a slash at its end
 * @throws metadata/link, metadata/scheme, metadata/data-uri, metadata/content-type
 */
export function readMetadataLink(text: string, gateway: string): MetadataLink {
  const link = trimmed(text);
  if (/^data:/i.test(link)) return { kind: 'data', bytes: readDataUri(link) };
  if (link.length > MAX_LINK) throw invalidLink(link, `has more than ${MAX_LINK} characters`);
  const [, cid, path = ''] = IPFS_LINK.exec(link) ?? BARE_CID.exec(link) ?? [];
  if (cid !== undefined) {
    return { kind: 'web', url: new URL(`${gateway}/ipfs/${cid}${safePath(path, link)}`), isGateway: true };
  }
  if (/^ipfs:/i.test(link)) throw invalidLink(link, 'has no content identifier');
  try {
    return { kind: 'web', url: parseWebUrl(link), isGateway: false };
  } catch (error) {
    throw isTernError(error) ? ofWebError(error) : error;
  }
}

/** An error of `drivers/web` with the code that this module has for it: `web/port` is `metadata/port`. */
export function ofWebError(error: TernError): TernError {
  const { code, data, cause } = error;
  if (!code.startsWith('web/')) return error;
  const name = code.slice('web/'.length);
  if (name === 'url') return metadataErrors.link({ link: String(data.url), problem: String(data.problem) }, cause);
  if (!Object.hasOwn(metadataErrors, name)) return metadataErrors.unexpected({ problem: error.message }, error);
  const make = metadataErrors[name as keyof typeof metadataErrors] as (data: unknown, cause?: unknown) => TernError;
  return make(data, cause);
}

/** A path below the content identifier; the gateway serves other things beside content. */
function safePath(path: string, link: string): string {
  const segments = path.split('/').map((segment) => {
    const name = percentDecoded(segment);
    if (name === null) throw invalidLink(link, 'has a % that does not begin an encoded character');
    if (name === '.' || name === '..' || /[/\\\0]/.test(name))
      throw invalidLink(link, 'has a path outside the content');
    return encodeURIComponent(name);
  });
  return segments.join('/');
}

function percentDecoded(segment: string): string | null {
  try {
    // encodeURIComponent fails on halves of surrogate pairs.
    return decodeURIComponent(segment).replace(/\p{Surrogate}/gu, '\ufffd');
  } catch {
    return null;
  }
}

/** Without control characters and spaces at both ends. */
function trimmed(text: string): string {
  const isCut = (at: number): boolean => text.charCodeAt(at) <= SPACE;
  let begin = 0;
  let end = text.length;
  while (begin < end && isCut(begin)) begin++;
  // A regular expression takes quadratic time for spaces that others follow.
  while (end > begin && isCut(end - 1)) end--;
  return text.slice(begin, end);
}

const SPACE = 0x20;

function invalidLink(link: string, problem: string): TernError {
  const shown = JSON.stringify(link.length > SHOWN ? `${link.slice(0, SHOWN)}…` : link);
  return metadataErrors.link({ link: shown, problem });
}

/** `[<type>][;<parameter>]*[;base64],` after `data:` (RFC 2397). */
const HEAD = /^data:([^,]{0,300}),/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes of a data URI, percent-encoded or base64 (also base64url).
 *
 * @throws metadata/data-uri, metadata/content-type for a type other than JSON or text
 */
function readDataUri(link: string): Uint8Array {
  const [head, meta = ''] = HEAD.exec(link) ?? [];
  if (head === undefined) throw metadataErrors['data-uri']({ problem: 'has no comma before its data' });
  const isBase64 = /;\s*base64\s*$/i.test(meta);
  const type = isBase64 ? meta.slice(0, meta.lastIndexOf(';')) : meta;
  requireReadableType(percentDecoded(type) ?? '');
  const bytes = percentDecodedBytes(link.slice(head.length));
  return isBase64 ? base64Decoded(bytes) : bytes;
}

function base64Decoded(bytes: Buffer): Uint8Array {
  const text = bytes
    .toString('latin1')
    .replace(/[\t\n\f\r ]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const unpadded = withoutPadding(text);
  if (!BASE64.test(text) || unpadded.length % 4 === 1) throw metadataErrors['data-uri']({ problem: 'is not base64' });
  return Buffer.from(unpadded, 'base64');
}

function percentDecodedBytes(text: string): Buffer {
  const given = Buffer.from(text, 'utf8');
  const bytes = Buffer.allocUnsafe(given.length);
  let length = 0;
  for (let i = 0; i < given.length; i++) {
    const isEscape = given[i] === 0x25;
    const pair = isEscape ? given.toString('latin1', i + 1, i + 3) : '';
    if (isEscape && !/^[0-9a-f]{2}$/i.test(pair)) {
      throw metadataErrors['data-uri']({ problem: 'has a % that does not begin an encoded byte' });
    }
    bytes[length++] = isEscape ? Number.parseInt(pair, 16) : given[i]!;
    if (isEscape) i += 2;
  }
  return bytes.subarray(0, length);
}

/** JSON by any of its names, text of any kind, and what servers send that do not know the type. */
const READABLE =
  /^(application\/([\w.-]+\+)?json|text\/[\w.+-]+|(application|binary)\/octet-stream|application\/(javascript|x-javascript))$/;

/**
 * Requires that a document may be JSON by its declared type; none is allowed, too. Its bytes decide in the end.
 *
 * @throws metadata/content-type
 */
export function requireReadableType(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== '' && !READABLE.test(type)) {
    throw metadataErrors['content-type']({ found: JSON.stringify(type.slice(0, 100)) });
  }
}
