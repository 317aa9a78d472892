import { hostOf, type TargetPolicy } from '#drivers/web/target-policy.js';
import { decompressBody, type WebClient, type WebLimits } from '#drivers/web/web-client.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';
import { type MetadataLink, ofWebError, requireReadableType } from '#services/metadata/metadata-link.js';

/** A metadata document of a token as it was fetched: a JSON object (TEP-64). */
export type MetadataDocument = Readonly<Record<string, unknown>>;

export interface FetchModules {
  /** Its policy decides where connections may go, for links of tokens and for every redirect. */
  readonly web: WebClient;
  /** For connections to the IPFS gateway itself. */
  readonly gatewayPolicy: TargetPolicy;
}

/** Bounds of one fetch; `bytes` also bounds the decompressed document. */
export const FETCH_LIMITS: WebLimits = {
  totalMs: 20_000,
  firstByteMs: 12_000,
  stallMs: 5_000,
  bytes: 2 ** 19,
  headerBytes: 16_384,
  redirects: 3,
};

const HEADERS = {
  accept: 'application/json, text/plain;q=0.9, */*;q=0.1',
  'user-agent': 'tern (metadata of TON tokens)',
};

/** Deeper documents are refused before they are parsed. */
const MAX_DEPTH = 64;

/**
 * Fetches the document that a link leads to.
 *
 * @throws metadata/*, and the reason of `signal`
 */
export async function fetchDocument(
  link: MetadataLink,
  { web, gatewayPolicy }: FetchModules,
  signal: AbortSignal,
): Promise<MetadataDocument> {
  if (link.kind === 'data') return readDocument(link.bytes);
  const { url, isGateway } = link;
  try {
    const request = { url, method: 'GET', headers: HEADERS, ...(isGateway ? { policy: gatewayPolicy } : {}) } as const;
    const response = await web.send(request, signal);
    const { status, headers } = response;
    if (status < 200 || status > 299) throw metadataErrors.status({ host: hostOf(response.url), status });
    requireReadableType(headers['content-type']);
    return readDocument(await decompressBody(response, FETCH_LIMITS.bytes));
  } catch (error) {
    throw signal.aborted ? error : metadataError(error);
  }
}

/** A failure of a fetch as an error of this module. */
export function metadataError(error: unknown): TernError {
  if (isTernError(error)) return ofWebError(error);
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return metadataErrors.unexpected({ problem }, error);
}

/**
 * Reads a document: a JSON object in UTF-8.
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

/** Throws a TypeError; drops a byte order mark. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether brackets outside of strings are nested deeper than `most`. */
function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) isString = !isString;
    else if (isString && char === BACKSLASH) i++;
    else if (isString) continue;
    else if (char === OPEN || char === OPEN_BRACE) depth++;
    else if (char === CLOSE || char === CLOSE_BRACE) depth--;
    if (depth > most) return true;
  }
  return false;
}
