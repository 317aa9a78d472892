import { BodyCursor } from '#domain/bodies/body-cursor.js';
import { bodySchema } from '#domain/bodies/body-schema.js';
import type { RawValue } from '#domain/bodies/decoding.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import type { Reader } from '#domain/bodies/reader.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** Bodies inside bodies are decoded so deep; below they stay bags of cells. */
const MAX_NESTED = 10;

/** Requests to wallets that have an opcode; what the schema says of these opcodes is only taken when these do not fit. */
const REQUESTS: ReadonlyMap<number, string> = new Map([
  [0x7369676e, 'W5MsgBody'],
  [0x73696e74, 'W5MsgBody'],
  [0x6578746e, 'W5MsgBody'],
  [0xae42e5a4, 'HighloadV3InternalRequest'],
]);

/** Requests that begin with a signature, in the order in which they are tried. */
const SIGNED_REQUESTS = [
  'PreprocessedWalletV2MsgBody',
  'HighloadV3MsgBody',
  'HighloadV2MsgBody',
  'HighloadV1MsgBody',
  'W4MsgBody',
  'W3MsgBody',
  'W1W2MsgBody',
];

/** Bits of a signature, with which these begin. */
const SIGNATURE_BITS = 512;

/**
 * Decodes what is left under a cursor as a body, with the bodies inside it. `null` when nothing fits or the allowance of
 * the decoding is used up.
 */
export function decodeAll(from: BodyCursor): JsonObject | null {
  const { decoding } = from;
  const root: { body?: JsonObject } & JsonObject = {};
  if (!readBody(from, root, 'body')) return null;
  let open: readonly RawValue[] = decoding.raws;
  for (let nested = 1; open.length > 0; nested++) {
    const next: RawValue[] = [];
    for (const { into, field, cell, bits, refs } of open) {
      decoding.raws = [];
      const content = ordinary(cell);
      const start = BodyCursor.open(content, decoding, 0)?.at(bits, refs);
      if (start === undefined) return null;
      if (nested <= MAX_NESTED && readBody(start, into, field)) {
        next.push(...decoding.raws);
      } else {
        const boc = serializeBoc(restOf(content, bits, refs));
        if (!from.spend((boc.length * 4) / 3)) return null;
        into[field] = toBase64(boc);
      }
    }
    open = next;
  }
  return root.body ?? null;
}

/** Tries the layouts that a body may have; the cursor does not move. */
function readBody(from: BodyCursor, into: JsonObject, field: string): boolean {
  if (from.isEmpty) {
    into[field] = { '@type': 'empty_cell' };
    return true;
  }
  const opcode = from.peek(32);
  if (opcode < 0) return false;
  const schema = bodySchema();
  const request = REQUESTS.get(opcode);
  if (request !== undefined && fits(schema.type(request), true, from, into, field)) return true;
  const layouts = schema.layouts(opcode);
  if (layouts !== null) {
    for (const reader of layouts) if (fits(reader, false, from, into, field)) return true;
    return false;
  }
  if (from.remainingBits < SIGNATURE_BITS) return false;
  for (const type of SIGNED_REQUESTS) if (fits(schema.type(type), true, from, into, field)) return true;
  return false;
}

function fits(reader: Reader, whole: boolean, from: BodyCursor, into: JsonObject, field: string): boolean {
  from.decoding.raws.length = 0;
  const at = from.copy();
  return reader(at, into, field) && (!whole || at.isEmpty);
}

/** What is left of a cell after bits and references were read. */
function restOf(cell: Cell, bits: number, refs: number): Cell {
  if (bits === 0 && refs === 0) return cell;
  const rest = new Slice(cell);
  rest.take(bits, refs);
  return new Builder().storeSlice(rest).endCell();
}

/**
 * The content of an exotic cell as an ordinary one. So the reference service writes them: a library reference in a
 * decoded body is an ordinary cell with the same bits.
 */
function ordinary(cell: Cell): Cell {
  return cell.type === CellType.ordinary ? cell : new Builder().storeSlice(new Slice(cell)).endCell();
}
