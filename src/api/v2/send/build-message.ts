import type { ParsedAddress } from '#formats/address/parse-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { Message } from '#formats/tlb/message.js';
import { SimpleLibs, StateInit } from '#formats/tlb/state-init.js';

/** A message from outside in its parts. */
export interface MessageParts {
  readonly address: ParsedAddress;
  readonly body: Cell;
  readonly init_code?: Cell | null | undefined;
  readonly init_data?: Cell | null | undefined;
}

/** The message; body and init have cells of their own, which all contracts take. */
export function messageTo({ address, body, init_code = null, init_data = null }: MessageParts): Cell {
  const deploys = init_code !== null || init_data !== null;
  const init: StateInit = {
    fixed_prefix_length: null,
    special: null,
    code: init_code,
    data: init_data,
    library: SimpleLibs.of([]),
  };
  return encodeCell(Message, {
    info: { kind: 'ext_in_msg_info', src: null, dest: address.address, import_fee: 0n },
    init: deploys ? { kind: 'right', value: Lazy.ofValue(StateInit, init) } : null,
    body: { kind: 'right', value: body },
  });
}
