import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';
import { type FetchPolicy, hostOf } from '#services/metadata/fetch-policy.js';
import { type FetchLimits, httpGet } from '#services/metadata/http-get.js';
import { type MetadataLink, readWebLink, requireReadableType } from '#services/metadata/metadata-link.js';

export interface FetchModules {
  /** For links of tokens, and for every redirect. */
  readonly policy: FetchPolicy;
  /** For the gateway to IPFS itself. */
  readonly gatewayPolicy: FetchPolicy;
  readonly limits: FetchLimits;
  readonly clock: Clock;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches the document that a link leads to. Where a connection goes is decided anew for each redirect.
 *
 * @throws metadata/*, and the reason of `signal`
 */
export async function fetchDocument(
  link: MetadataLink,
  modules: FetchModules,
  signal: AbortSignal,
): Promise<MetadataDocument> {
  const { limits, clock } = modules;
  if (link.kind === 'data') return readDocument(link.bytes);
  const { url } = link;
  const stop = new AbortController();
  const host = hostOf(url);
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const cancel = clock.schedule(limits.totalMs, () =>
    stop.abort(metadataErrors.time({ host, what: 'does not finish', afterMs: limits.totalMs })),
  );
  try {
    return await follow(url, link.isGateway ? modules.gatewayPolicy : modules.policy, modules, stop.signal);
  } catch (error) {
    if (signal.aborted || isTernError(error)) throw error;
    throw metadataErrors.unexpected({
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

async function follow(
  first: URL,
  policy: FetchPolicy,
  { limits, clock, policy: ofRedirects }: FetchModules,
  signal: AbortSignal,
): Promise<MetadataDocument> {
  let url = first;
  for (let hop = 0; ; hop++) {
    const addresses = await (hop === 0 ? policy : ofRedirects).addressesOf(url, signal);
    signal.throwIfAborted();
    const { status, headers, body } = await httpGet(url, addresses, limits, clock, signal);
    const host = hostOf(url);
    if (REDIRECTS.has(status)) {
      const { location } = headers;
      if (location === undefined) throw metadataErrors.redirects({ host, problem: 'redirects without saying where' });
      if (hop === limits.redirects) {
        throw metadataErrors.redirects({ host, problem: `redirects once more after ${limits.redirects} redirects` });
      }
      url = readWebLink(location, url);
      continue;
    }
    if (status < 200 || status > 299) throw metadataErrors.status({ host, status });
    requireReadableType(headers['content-type']);
    return readDocument(await decompressBody(body, headers['content-encoding'], limits.bytes));
  }
}

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
export async function decompressBody(
  body: Uint8Array,
  encoding: string | undefined,
  most: number,
): Promise<Uint8Array> {
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
