import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { CommonMsgInfo, CommonMsgInfoRelaxed } from '#formats/tlb/message.js';
import { StateInit } from '#formats/tlb/state-init.js';

/** The body that wallets show as a comment: 32 zero bits and the text in UTF-8. @throws cells/snake-too-long */
export function commentBody(text: string): Cell {
  return storeSnakeText(text, new Builder().storeUint(0, 32)).endCell();
}

/** A message that a contract is to send. */
export interface InternalMessage {
  readonly to: Address;
  /** Nanotons, or with other currencies. */
  readonly value: bigint | CurrencyCollection;
  /** Whether the value comes back when the receiver fails or is not there; `true` when not given. */
  readonly bounce?: boolean;
  /** Empty when not given. */
  readonly body?: Cell;
  /** The contract to deploy. */
  readonly init?: StateInit | null;
}

/** The `MessageRelaxed` of a message, laid out as wallet programs do: what fits into the root cell stands there. */
export function internalMessage({ to, value, bounce = true, body = EMPTY_CELL, init = null }: InternalMessage): Cell {
  const builder = new Builder();
  CommonMsgInfoRelaxed.store(
    {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce,
      bounced: false,
      src: null,
      dest: to,
      value: typeof value === 'bigint' ? onlyGrams(value) : value,
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: 0n,
      created_at: 0,
    },
    builder,
  );
  storeInit(init, 0, builder);
  return storeBody(body, builder).endCell();
}

/** A message from outside. */
export interface ExternalMessage {
  readonly to: Address;
  readonly body: Cell;
  /** The contract to deploy. */
  readonly init?: StateInit | null;
}

/** The `Message` of a message from outside, laid out as wallet programs do. */
export function externalMessage({ to, body, init = null }: ExternalMessage): Cell {
  const builder = new Builder();
  CommonMsgInfo.store({ kind: 'ext_in_msg_info', src: null, dest: to, import_fee: 0n }, builder);
  storeInit(init, body.bits, builder);
  return storeBody(body, builder).endCell();
}

/** @param reserved bits that must stay free behind it, or else it goes into a cell of its own */
function storeInit(init: StateInit | null, reserved: number, builder: Builder): void {
  builder.storeBit(init !== null);
  if (init === null) return;
  const cell = encodeCell(StateInit, init);
  const inline = builder.remainingBits - 2 >= cell.bits + reserved;
  builder.storeBit(!inline);
  if (inline) builder.storeSlice(openCell(cell));
  else builder.storeRef(cell);
}

function storeBody(body: Cell, builder: Builder): Builder {
  const fits = builder.remainingBits - 1 >= body.bits && builder.remainingRefs >= body.refCount;
  const inline = fits && body.type === CellType.ordinary;
  builder.storeBit(!inline);
  return inline ? builder.storeSlice(openCell(body)) : builder.storeRef(body);
}
