import { BodyCursor } from '#domain/bodies/body-cursor.js';
import { decodeAll } from '#domain/bodies/body-decoding.js';
import { bodySchema } from '#domain/bodies/body-schema.js';
import { Decoding } from '#domain/bodies/decoding.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import type { Cell } from '#formats/cells/cell.js';

/** What is known of a body. */
export interface DecodedBody {
  /** What the first 32 bits are called, also when what follows does not fit; `null` when that is unknown. */
  readonly opcodeName: string | null;
  /** As JSON, `@type` first and then the fields in the order of the schema; `null` when no layout fits. */
  readonly decoded: JsonObject | null;
}

/**
 * What bodies with an opcode are called, such as `jetton_transfer`; `null` when that is unknown. A name may be several with
 * commas, where contracts share an opcode.
 * @param opcode unsigned 32 bits
 */
export function opcodeName(opcode: number): string | null {
  return bodySchema().opcodeName(opcode);
}

/**
 * Decodes the body of a message, or a payload inside it, by its opcode. Bodies inside it are decoded in their places; cells
 * of unknown content are bags of cells in base64. Takes any cell and throws nothing: what is deeper or larger than real
 * bodies are, and exotic, is not decoded.
 */
export function decodeBody(body: Cell): DecodedBody {
  const from = BodyCursor.open(body, new Decoding(body), 0);
  if (from === undefined) return { opcodeName: null, decoded: null };
  const opcode = from.peek(32);
  return { opcodeName: opcode < 0 ? null : opcodeName(opcode), decoded: asMessageContent(decodeAll(from)) };
}

/** A comment that is the whole body has another form than one inside it. */
function asMessageContent(decoded: JsonObject | null): JsonObject | null {
  if (decoded?.['@type'] !== 'text_comment') return decoded;
  return { '@type': 'text_comment', comment: decoded.text ?? '', type: 'text_comment' };
}
