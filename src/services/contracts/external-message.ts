import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import type { StateInit } from '#formats/tlb/state-init.js';

/**
 * The message from outside to an account, laid out as the reference does: all in one cell, and the body in a cell of its
 * own only where there is no room for it.
 */
export function externalMessage(dest: Address, init: StateInit | null, body: Cell): Cell {
  const info = { kind: 'ext_in_msg_info', src: null, dest, import_fee: 0n } as const;
  const inlineBody = body.type === CellType.ordinary ? ({ kind: 'left', value: openCell(body) } as const) : null;
  const ownBody = { kind: 'right', value: body } as const;
  const inlineInit = init === null ? null : ({ kind: 'left', value: init } as const);
  const room = roomBeside({ info, init: inlineInit, body: { kind: 'left', value: openCell(EMPTY_CELL) } });
  const fits = inlineBody !== null && body.bits <= room.bits && body.refCount <= room.refs;
  return encodeCell(Message, { info, init: inlineInit, body: fits ? inlineBody : ownBody });
}

function roomBeside(message: Message): { readonly bits: number; readonly refs: number } {
  const builder = new Builder();
  Message.store(message, builder);
  return { bits: builder.remainingBits, refs: builder.remainingRefs };
}
