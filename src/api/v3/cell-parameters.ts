import { Type } from '@sinclair/typebox';
import { badValue } from '#api/v3/parameter-forms.js';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { fromBase64, toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A message from outside, to be sent. */
export interface ExternalMessage {
  /** Bag of cells as it was given. */
  readonly boc: Uint8Array;
  readonly cell: Cell;
  readonly message: Message;
}

/** `boc`: a message from outside. */
export const externalMessageParameter = Type.Transform(
  Type.String({
    description: 'The message, with its header (`ext_in_msg_info$10`): a bag of cells with one root in base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalMessage => {
    const boc = decodeBase64(text);
    const cell = rootOf(boc);
    return { boc, cell, message: decodeExternal(cell) };
  })
  .Encode(({ boc }) => toBase64(boc));

/** A cell in a bag of cells; an empty text is none. */
export function optionalCellParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
      .Decode((text) => (text === '' ? undefined : rootOf(decodeBase64(text))))
      .Encode((cell) => (cell === undefined ? '' : toBase64(serializeBoc(cell)))),
  );
}

/** @throws v3/parameter-value */
export function decodeCellText(text: string): Cell {
  return rootOf(decodeBase64(text));
}

function decodeBase64(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  // Standard base64 only, with its padding: what follows a - or _ may mean something else.
  const bytes = text.length % 4 === 0 && !/[-_]/.test(text) ? fromBase64(text) : null;
  if (bytes !== null) return bytes;
  throw badValue('it is not base64 in the standard alphabet, with padding');
}

function rootOf(bytes: Uint8Array): Cell {
  try {
    const { roots } = parseBoc(bytes);
    const root = roots[0] as Cell;
    if (roots.length !== 1) throw badValue(`the bag of cells has ${roots.length} roots, wanted is one`);
    if (root.levelMask !== 0) throw badValue('parts of the cell are pruned');
    root.hash();
    return root;
  } catch (error) {
    if (!isTernError(error) || error.code.startsWith('v3/')) throw error;
    throw badValue(`it is base64, but not a bag of cells: ${error.message}`, error);
  }
}

function decodeExternal(cell: Cell): Message {
  let message: Message;
  try {
    message = decodeCell(Message, cell);
  } catch (error) {
    throw isTernError(error) ? badValue(`it is a cell, but no message: ${error.message}`, error) : error;
  }
  const { kind } = message.info;
  if (kind === 'ext_in_msg_info') return message;
  throw badValue(`it is not a message from outside (ext_in_msg_info$10), but one of kind ${kind}`);
}
