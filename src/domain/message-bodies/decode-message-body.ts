import {
  BodyCursor,
  type DecodedObject,
  type DecodedValue,
  DecodingBudget,
  type FieldReader,
  type RawValue,
} from '#domain/message-bodies/body-cursor.js';
import { messageBodySchema } from '#domain/message-bodies/body-schema.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { restAsCell } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { fromHex, toBase64, withoutPadding } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** A decoded message body. */
export interface DecodedMessageBody {
  /** Name of the opcode, even if what follows fits no layout; `null` if it is unknown. */
  readonly opcodeName: string | null;
  /** As JSON, `@type` first and then the fields in the order of the schema; `null` if no layout fits. */
  readonly decoded: DecodedObject | null;
}

/**
 * Name of message bodies with an opcode, such as `jetton_transfer`; `null` if it is unknown. Several names, separated by commas, if
 * contracts share the opcode.
 * @param opcode unsigned 32 bits
 */
export function opcodeName(opcode: number): string | null {
  return messageBodySchema().opcodeName(opcode);
}

/**
 * Decodes a message body, or a payload inside one, by its opcode. Nested bodies are decoded in place; cells of unknown content are
 * BoCs in base64. Takes any cell and never throws: exotic cells, and bodies that are deeper or larger than real ones, are not
 * decoded.
 */
export function decodeMessageBody(body: Cell): DecodedMessageBody {
  const from = BodyCursor.open(body, new DecodingBudget(body), 0);
  if (from === undefined) return { opcodeName: null, decoded: null };
  const opcode = from.peek(32);
  return { opcodeName: opcode < 0 ? null : opcodeName(opcode), decoded: withCommentForm(decodeWithNested(from)) };
}

/** A comment that is the whole body has another form than a nested one. */
function withCommentForm(decoded: DecodedObject | null): DecodedObject | null {
  if (decoded?.['@type'] !== 'text_comment') return decoded;
  return { '@type': 'text_comment', comment: decoded.text ?? '', type: 'text_comment' };
}

/** Maximal depth of nested bodies; deeper ones stay BoCs. */
const MAX_NESTED = 10;

/** Wallet requests with an opcode; the other layouts of these opcodes are tried only if these do not fit. */
const WALLET_REQUESTS: ReadonlyMap<number, string> = new Map([
  [0x7369676e, 'W5MsgBody'],
  [0x73696e74, 'W5MsgBody'],
  [0x6578746e, 'W5MsgBody'],
  [0xae42e5a4, 'HighloadV3InternalRequest'],
]);

/** Wallet requests that start with a signature, in the order in which they are tried. */
const SIGNED_WALLET_REQUESTS = [
  'PreprocessedWalletV2MsgBody',
  'HighloadV3MsgBody',
  'HighloadV2MsgBody',
  'HighloadV1MsgBody',
  'W4MsgBody',
  'W3MsgBody',
  'W1W2MsgBody',
];

/** Bits of a signature. */
const SIGNATURE_BITS = 512;

/**
 * Decodes the rest of a cell as a body, with its nested bodies. `null` if nothing fits or the budget is used up.
 */
function decodeWithNested(from: BodyCursor): DecodedObject | null {
  const { budget } = from;
  const root: { body?: DecodedObject } & DecodedObject = {};
  if (!decodeOne(from, root, 'body')) return null;
  let open: readonly RawValue[] = budget.raws;
  for (let nested = 1; open.length > 0; nested++) {
    const next: RawValue[] = [];
    for (const { into, field, cell, bits, refs } of open) {
      budget.raws = [];
      const content = asOrdinaryCell(cell);
      const start = BodyCursor.open(content, budget, 0)?.at(bits, refs);
      if (start === undefined) return null;
      if (nested <= MAX_NESTED && decodeOne(start, into, field)) {
        next.push(...budget.raws);
      } else {
        const boc = serializeBoc(remainingCell(content, bits, refs));
        if (!from.spend((boc.length * 4) / 3)) return null;
        into[field] = toBase64(boc);
      }
    }
    open = next;
  }
  return root.body ?? null;
}

/** Tries the layouts that a body may have; the cursor does not advance. */
function decodeOne(from: BodyCursor, into: DecodedObject, field: string): boolean {
  if (from.isEmpty) {
    into[field] = { '@type': 'empty_cell' };
    return true;
  }
  const opcode = from.peek(32);
  if (opcode < 0) return false;
  const schema = messageBodySchema();
  const request = WALLET_REQUESTS.get(opcode);
  if (request !== undefined && layoutFits(schema.type(request), true, from, into, field)) return true;
  const layouts = schema.layouts(opcode);
  if (layouts !== null) {
    for (const reader of layouts) if (layoutFits(reader, false, from, into, field)) return true;
    return false;
  }
  if (from.remainingBits < SIGNATURE_BITS) return false;
  for (const type of SIGNED_WALLET_REQUESTS) if (layoutFits(schema.type(type), true, from, into, field)) return true;
  return false;
}

function layoutFits(
  reader: FieldReader,
  whole: boolean,
  from: BodyCursor,
  into: DecodedObject,
  field: string,
): boolean {
  from.budget.raws.length = 0;
  const at = from.copy();
  return reader(at, into, field) && (!whole || at.isEmpty);
}

/** The rest of a cell after some bits and references. */
function remainingCell(cell: Cell, bits: number, refs: number): Cell {
  if (bits === 0 && refs === 0) return cell;
  const rest = new Slice(cell);
  rest.take(bits, refs);
  return restAsCell(rest);
}

/**
 * The content of an exotic cell as an ordinary one, as the live service writes it: a library reference in a decoded body is an
 * ordinary cell with the same bits.
 */
function asOrdinaryCell(cell: Cell): Cell {
  return cell.type === CellType.ordinary ? cell : restAsCell(new Slice(cell));
}

/** Minimal size of a BoC header. */
const MIN_BOC_BYTES = 10;

/**
 * Parses an opcode: hexadecimal with or without `0x`, else decimal, else negative decimal. Returns unsigned 32 bits, or `null`.
 */
export function parseOpcode(text: string): number | null {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (/^0*[0-9a-fA-F]{1,8}$/.test(digits)) return Number.parseInt(digits, 16);
  if (!/^[+-]?\d{1,20}$/.test(digits)) return null;
  const value = Number(digits);
  const least = /^\d/.test(digits) ? 0 : -(2 ** 31);
  const most = /^\d/.test(digits) ? 2 ** 32 - 1 : 2 ** 31 - 1;
  return value >= least && value <= most ? value >>> 0 : null;
}

/**
 * Decodes a body from a BoC, in base64 if it starts with `te6` and else in hexadecimal. Fields are sorted by name, and a comment has
 * its nested form. If it fails, the result is `{"error": "unknown: …"}` with the reason.
 */
export function decodeMessageBodyText(text: string): DecodedObject {
  const decoded = decodeText(text);
  return typeof decoded === 'string' ? { error: `unknown: ${decoded}` } : (sortedByName(decoded) as DecodedObject);
}

/** The decoded body, or the reason why it cannot be decoded. */
function decodeText(text: string): DecodedObject | string {
  const base64 = text.startsWith('te6');
  const bytes = base64 ? base64Bytes(text) : hexBytes(text);
  if (typeof bytes === 'string') return `failed to decode ${base64 ? 'base64' : 'hex'}: ${bytes}`;
  const body = parseBody(bytes);
  if (typeof body === 'string') return `failed to deserialize boc: ${body}`;
  const from = BodyCursor.open(body, new DecodingBudget(body), 0);
  if (from === undefined) return 'vm error - the body is an exotic cell';
  if (from.remainingBits < 32 && !from.isEmpty) return `boc is too small, size ${from.remainingBits}`;
  return decodeWithNested(from) ?? 'no parser succeeded';
}

function base64Bytes(text: string): Uint8Array | string {
  const bare = withoutPadding(text);
  const padding = text.length - bare.length;
  if (padding > 2) return 'Wrong string padding';
  if (text.length % 4 !== 0) return 'Wrong padding length';
  if (!/^[A-Za-z0-9+/]*$/.test(bare)) return 'Wrong character in the string';
  const bytes = Buffer.from(bare, 'base64');
  return bytes.toString('base64') === text ? new Uint8Array(bytes) : 'Wrong value in padding';
}

function hexBytes(text: string): Uint8Array | string {
  if (text.length % 2 !== 0) return 'Wrong hex string length';
  return fromHex(text) ?? 'Wrong hex string';
}

function parseBody(bytes: Uint8Array): Cell | string {
  if (bytes.length < MIN_BOC_BYTES) {
    return `cannot deserialize bag-of-cells: not enough bytes (${bytes.length} present, ${MIN_BOC_BYTES} required)`;
  }
  try {
    return parseBocRoot(bytes);
  } catch (error) {
    if (!isTernError(error)) throw error;
    return error.message;
  }
}

function sortedByName(value: DecodedValue): DecodedValue {
  if (typeof value !== 'object' || value === null) return value;
  const fields: DecodedObject = {};
  for (const name of Object.keys(value).sort()) fields[name] = sortedByName(value[name] ?? null);
  return fields;
}
