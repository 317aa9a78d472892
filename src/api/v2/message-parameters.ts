import { Type } from '@sinclair/typebox';
import { v2Errors } from '#api/v2/errors.js';
import { decodeBase64 } from '#api/v2/parameter-forms.js';
import { cellOfTree, treeOfCell } from '#api/v2/stack/legacy-cell.js';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A message from outside, to be sent. */
export interface ExternalMessage {
  /** Bag of cells as it was given. */
  readonly boc: Uint8Array;
  readonly cell: Cell;
  readonly message: Message;
}

/** `boc`: a message from outside. */
export const boc = Type.Transform(
  Type.String({
    description:
      'The message, with its header: a bag of cells with one root, which begins with `ext_in_msg_info$10`. Standard base64.',
    contentEncoding: 'base64',
  }),
)
  .Decode((text): ExternalMessage => {
    const bytes = bytesOf(text);
    return externalMessage(rootOf(bytes), bytes);
  })
  .Encode(({ boc: bytes }) => toBase64(bytes));

/** A cell in a bag of cells. */
export function cellParameter(description: string) {
  return Type.Transform(Type.String({ description, contentEncoding: 'base64' }))
    .Decode((text) => rootOf(bytesOf(text)))
    .Encode(cellText);
}

/** As {@link cellParameter}; an empty text is the same as none. */
export function optionalCellParameter(description: string) {
  return Type.Optional(
    Type.Transform(Type.String({ description, contentEncoding: 'base64', default: '' }))
      .Decode((text) => (text === '' ? undefined : rootOf(decodeBase64(text))))
      .Encode((cell) => (cell === undefined ? '' : cellText(cell))),
  );
}

/** A cell as a tree of objects: `{data: {b64, len}, refs, special}`. */
export function cellTreeParameter(description: string) {
  return Type.Transform(Type.Any({ description })).Decode(cellOfTree).Encode(treeOfCell);
}

/** `cell`: a message from outside as a tree of objects. */
export const messageTree = Type.Transform(Type.Any({ description: 'The message.' }))
  .Decode((tree) => externalMessage(cellOfTree(tree)))
  .Encode(({ cell }) => treeOfCell(cell));

/** @throws v2/parameter-value: the cell is no message from outside */
export function externalMessage(cell: Cell, boc: Uint8Array = serializeBoc(cell)): ExternalMessage {
  let message: Message;
  try {
    message = decodeCell(Message, cell);
  } catch (error) {
    throw isTernError(error) ? badValue(`it is a cell, but no message: ${error.message}`, error) : error;
  }
  const { kind } = message.info;
  if (kind === 'ext_in_msg_info') return { boc, cell, message };
  throw badValue(`it is not an external message (ext_in_msg_info$10), but a message of kind ${kind}`);
}

function bytesOf(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  return decodeBase64(text);
}

function rootOf(bytes: Uint8Array): Cell {
  try {
    const { roots } = parseBoc(bytes);
    if (roots.length !== 1) throw badValue(`the bag of cells has ${roots.length} roots, wanted is one`);
    const root = roots[0]!;
    if (root.levelMask !== 0) throw badValue('parts of the cell are pruned');
    root.hash();
    return root;
  } catch (error) {
    if (!isTernError(error) || error.code === v2Errors['parameter-value'].code) throw error;
    throw badValue(`it is base64, but not a bag of cells: ${error.message}`, error);
  }
}

function badValue(problem: string, cause?: unknown): Error {
  return v2Errors['parameter-value']({ problem }, cause);
}

function cellText(cell: Cell): string {
  return toBase64(serializeBoc(cell));
}
