import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries, lookup } from '#formats/cells/dict-read.js';
import { sha256Into } from '#formats/cells/digests.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { concatBytes, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

const nameEncoder = new TextEncoder();

/** SHA-256 of a name: its key in dictionaries of contracts (TEP-64, TEP-81). 32 bytes. */
export function sha256KeyOf(name: string): Uint8Array {
  const bytes = nameEncoder.encode(name);
  const key = new Uint8Array(32);
  sha256Into(bytes, bytes.length, key, 0);
  return key;
}

/** Keys of on-chain content with a meaning (TEP-64). */
const TOKEN_CONTENT_KEYS = [
  'uri',
  'name',
  'description',
  'image',
  'image_data',
  'symbol',
  'decimals',
  'amount_style',
  'render_type',
] as const;
type TokenContentKey = (typeof TOKEN_CONTENT_KEYS)[number];

/**
 * Content of a token (TEP-64): on-chain values by key, or a link to off-chain content. On-chain content with a `uri` is both
 * (semi-chain). Text is UTF-8; `image_data` is base64.
 */
export type TokenContent =
  | { readonly type: 'onchain'; readonly data: Readonly<Partial<Record<TokenContentKey, string>>> }
  | { readonly type: 'offchain'; readonly data: string };

const PREFIX = { onchain: 0, offchain: 1 } as const;
const FORMAT = { snake: 0, chunks: 1 } as const;

/** Maximal size of a value in bytes; longer ones are cut after the last cell that fits. */
const MAX_VALUE = 8_192;
/** Maximal size of a link in bytes. */
const MAX_LINK = 2 ** 17;
/** Maximal number of cells of a value: a bound for shared empty cells. */
const MAX_CELLS = 4_096;

const KEYS = TOKEN_CONTENT_KEYS.map((name) => [name, sha256KeyOf(name)] as const);

/**
 * Reads content of a token.
 *
 * ```
 * onchain#00 data:(HashmapE 256 ^ContentData) = FullContent;
 * offchain#01 uri:Text = FullContent;
 * ```
 *
 * A value is read from a reference or, as some contracts store it, inline. Left out: unknown keys, values of an unknown format, with
 * incomplete bytes, or (except `image_data`) that are not UTF-8. In a link, bytes that are not UTF-8 become U+FFFD.
 *
 * @throws contract-data/content-prefix, cells/* if the cells have another form
 */
export function readTokenContent(cell: Cell): TokenContent {
  const slice = openCell(cell);
  const prefix = slice.remainingBits < 8 ? null : slice.loadUint(8);
  if (prefix === PREFIX.offchain) return { type: 'offchain', data: lossyUtf8.decode(readSnake(slice, MAX_LINK)) };
  if (prefix === PREFIX.onchain) {
    return { type: 'onchain', data: readValues(slice.loadBit() ? slice.loadRef() : null) };
  }
  const found = prefix === null ? `${slice.remainingBits} bits` : `0x${prefix.toString(16).padStart(2, '0')}`;
  throw contractDataErrors['content-prefix']({ found });
}

function readValues(root: Cell | null): Partial<Record<TokenContentKey, string>> {
  const data: Partial<Record<TokenContentKey, string>> = {};
  for (const [name, key] of KEYS) {
    const entry = lookup(root, 256, key);
    const value = entry === null ? null : readValue(entry, name === 'image_data');
    if (value !== null) data[name] = value;
  }
  return data;
}

function readValue(entry: Slice, binary: boolean): string | null {
  try {
    const slice = entry.remainingBits === 0 && entry.remainingRefs > 0 ? openCell(entry.loadRef()) : entry;
    const format = slice.loadUint(8);
    if (format !== FORMAT.snake && format !== FORMAT.chunks) return null;
    const bytes = format === FORMAT.snake ? readSnake(slice, MAX_VALUE) : readChunks(slice);
    return binary ? toBase64(bytes) : strictUtf8.decode(bytes);
  } catch (error) {
    if (isTernError(error) || error instanceof TypeError) return null;
    throw error;
  }
}

const lossyUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });
/** Throws a TypeError. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of a cell and of the cells along its first references, until the next cell would exceed the limit. */
function readSnake(from: Slice, limit: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let left = limit;
  let slice = from;
  for (let cells = 0; cells < MAX_CELLS; cells++) {
    const { remainingBits: bits } = slice;
    if ((bits & 7) !== 0) throw contractDataErrors['half-byte']({ bits });
    const length = bits >> 3;
    if (length > left) break;
    parts.push(slice.loadBytes(length));
    left -= length;
    if (slice.remainingRefs === 0) break;
    slice = openCell(slice.loadRef());
  }
  return concatBytes(...parts);
}

/** `chunked_data#_ data:(HashmapE 32 ^(SnakeData ~0)) = ChunkedData;` */
function readChunks(slice: Slice): Uint8Array {
  const parts: Uint8Array[] = [];
  let left = MAX_VALUE;
  const root = slice.loadBit() ? slice.loadRef() : null;
  for (const [, value] of iterateEntries(root, 32, { limit: MAX_CELLS })) {
    const bytes = readSnake(openCell(value.loadRef()), MAX_VALUE);
    if (bytes.length > left) break;
    parts.push(bytes);
    left -= bytes.length;
  }
  return concatBytes(...parts);
}
