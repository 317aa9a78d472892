import { badValue, refusing } from '#api/localnet/parameter-forms.js';
import { Address } from '#formats/address/address.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message, messageInit } from '#formats/tlb/message.js';
import { StateInit } from '#formats/tlb/state-init.js';

/** A message between accounts in its parts. */
export interface InternalParts {
  readonly from: Address;
  readonly to: Address;
  /** Nanotons. */
  readonly value: bigint;
  readonly bounce: boolean;
  readonly body: Cell | null;
  /** A `StateInit`. */
  readonly init: Cell | null;
}

/** The message; body and init have cells of their own. Fees are 0, times are filled in by the block. */
export function internalMessage({ from, to, value, bounce, body, init }: InternalParts): Cell {
  return encodeCell(Message, {
    info: {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce,
      bounced: false,
      src: from,
      dest: to,
      value: onlyGrams(value),
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: 0n,
      created_at: 0,
    },
    init: init === null ? null : { kind: 'right', value: Lazy.ofCell(StateInit, init) },
    body: body === null ? { kind: 'left', value: new Slice(EMPTY_CELL) } : { kind: 'right', value: body },
  });
}

/** A cell that is a `Message` between two accounts. @throws localnet-api/parameter-value when it is another */
export function requireInternal(cell: Cell): Cell {
  const { info } = refusing('it is a cell, but no message', () => {
    const message = decodeCell(Message, cell);
    messageInit(message);
    return message;
  });
  if (info.kind !== 'int_msg_info') throw badValue(`it is a message, but ${info.kind} and not int_msg_info`);
  for (const [name, address] of [
    ['src', info.src],
    ['dest', info.dest],
  ] as const) {
    const isPlain = address instanceof Address && (address.workchain === 0 || address.workchain === -1);
    if (!isPlain) throw badValue(`${name} of the message is no account of workchain -1 or 0 without anycast`);
  }
  return cell;
}

/** A cell that is a `StateInit`. @throws localnet-api/parameter-value */
export function requireStateInit(cell: Cell): Cell {
  const { library } = refusing('it is a cell, but no StateInit', () => decodeCell(StateInit, cell));
  refusing('its libraries cannot be read', () => [...library]);
  return cell;
}
