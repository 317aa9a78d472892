import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { Message } from '#formats/tlb/message.js';

/** A message from outside, whole: what a node takes to be sent. */
export interface ExternalMessage {
  /** The bag of cells that it came in, or one that was made of it. */
  readonly boc: Uint8Array;
  readonly cell: Cell;
  readonly message: Message;
}

/**
 * Reads a message that begins with `ext_in_msg_info$10`.
 *
 * @param boc the bag of cells that it came in; made of the cell where there is none
 * @throws tlb/not-external for another message; tlb/*, cells/* when it is none
 */
export function externalMessage(cell: Cell, boc: Uint8Array = serializeBoc(cell)): ExternalMessage {
  const message = decodeCell(Message, cell);
  const { kind } = message.info;
  if (kind !== 'ext_in_msg_info') throw tlbErrors['not-external']({ kind });
  return { boc, cell, message };
}
