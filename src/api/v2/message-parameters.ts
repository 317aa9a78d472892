import { Type } from '@sinclair/typebox';
import { v2Errors } from '#api/v2/errors.js';
import { decodeBase64 } from '#api/v2/parameter-forms.js';
import { cellOfTree, treeOfCell } from '#api/v2/stack/legacy-cell.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { wholeCell } from '#formats/cells/whole-cell.js';
import { type ExternalMessage, externalMessage } from '#formats/tlb/external-message.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

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
    return externalOf(rootOf(bytes), bytes);
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
  .Decode((tree) => externalOf(cellOfTree(tree)))
  .Encode(({ cell }) => treeOfCell(cell));

/** @throws v2/parameter-value: the cell is no message from outside */
export function externalOf(cell: Cell, bytes?: Uint8Array): ExternalMessage {
  return refusing('it is a cell, but no message that can be sent', () => externalMessage(cell, bytes));
}

function bytesOf(text: string): Uint8Array {
  if (text === '') throw badValue('it is empty');
  return decodeBase64(text);
}

function rootOf(bytes: Uint8Array): Cell {
  return refusing('it is base64, but not a bag of cells', () => wholeCell(bytes));
}

/** What `read` gives; whatever is wrong with its input is wrong with the value. */
function refusing<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isTernError(error) ? badValue(`${problem}: ${error.message}`, error) : error;
  }
}

function badValue(problem: string, cause?: unknown): Error {
  return v2Errors['parameter-value']({ problem }, cause);
}

function cellText(cell: Cell): string {
  return toBase64(serializeBoc(cell));
}
