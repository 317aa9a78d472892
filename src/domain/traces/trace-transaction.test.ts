import { expect, it } from 'vitest';
import { inboundKind } from '#domain/traces/trace-transaction.js';
import { Address } from '#formats/address/address.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';

const zero = new Uint8Array(32);
const one = new Uint8Array(32).fill(1, 31);

const start_lt = 5_000_000n;

function internal(src: Address | object, created_lt = start_lt): CommonMsgInfo {
  return { kind: 'int_msg_info', src, created_lt } as CommonMsgInfo;
}

it.each([
  ['external', { kind: 'ext_in_msg_info', src: null } as CommonMsgInfo],
  ['system', internal(Address.ofParts(-1, zero))],
  ['internal', internal(Address.ofParts(-1, zero), start_lt + 2n)],
  ['internal', internal(Address.ofParts(-1, zero), start_lt - 2n)],
  ['internal', internal(Address.ofParts(0, zero))],
  ['internal', internal(Address.ofParts(-1, one))],
  ['internal', internal({ kind: 'addr_std', anycast: {}, workchain_id: -1, address: zero })],
] as const)('tells that a message is %s', (kind, info) => {
  expect(inboundKind(info, start_lt)).toBe(kind);
});
