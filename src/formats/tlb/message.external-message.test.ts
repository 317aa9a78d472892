import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { readExternalInMessage } from '#formats/tlb/message.js';
import { errorCode } from '#test/support/error-code.js';

describe('a external-in message', () => {
  /** `ext_in_msg_info$10 src:addr_none$00 dest:addr_std$10 import_fee:0`, no init, body in the same cell. */
  const external = new Builder()
    .storeUint(0b10_00_10_0, 7)
    .storeInt(-1, 8)
    .storeBytes(new Uint8Array(32).fill(7))
    .storeUint(0, 4 + 1 + 1)
    .endCell();

  it('is read with the bag that it came in, or one that is made of it', () => {
    const boc = serializeBoc(external, { crc32c: false });
    const read = readExternalInMessage(wholeCell(boc), boc);
    expect(read.boc).toBe(boc);
    expect(read.message.info).toMatchObject({ dest: Address.ofParts(-1, new Uint8Array(32).fill(7)), import_fee: 0n });
    expect(wholeCell(readExternalInMessage(external).boc).hash()).toEqual(external.hash());
  });

  it('is no other message, and nothing else', () => {
    const outgoing = new Builder()
      .storeUint(0b11_10_0, 5)
      .storeInt(-1, 8)
      .storeBytes(new Uint8Array(32).fill(7))
      .storeUint(0, 2 + 64 + 32 + 2)
      .endCell();
    expect(errorCode(() => readExternalInMessage(outgoing))).toBe('tlb/not-external');
    expect(errorCode(() => readExternalInMessage(EMPTY_CELL))).toBe('cells/slice-underflow');
  });
});
