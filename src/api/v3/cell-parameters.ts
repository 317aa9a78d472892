import { Type } from '@sinclair/typebox';
import { badValue } from '#api/v3/parameter-forms.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { wholeCell } from '#formats/cells/whole-cell.js';
import { type ExternalMessage, externalMessage } from '#formats/tlb/external-message.js';
import { fromBase64, toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

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
    return refusing('it is a cell, but no message that can be sent', () => externalMessage(cell, boc));
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
