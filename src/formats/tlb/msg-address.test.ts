import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { MsgAddress as MsgAddressValue } from '#formats/tlb/msg-address.js';
import { MsgAddress, MsgAddressExt, MsgAddressInt } from '#formats/tlb/msg-address.js';
import { BitString } from '#kernel/bytes.js';
import { itReads, itRefuses } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const hex = '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const hash = bytes(hex);

/** A cell of these binary digits, hexadecimal digits after `x`. */
function bits(...parts: string[]): Cell {
  const builder = new Builder();
  for (const part of parts) {
    if (part.startsWith('x')) builder.storeBytes(bytes(part.slice(1)));
    else for (const digit of part) builder.storeBit(digit === '1');
  }
  return builder.endCell();
}

const none = bits('00');
const extern = bits('01', '000000011', '101');
const std = bits('10', '0', '11111111', `x${hex}`);
const anycast = bits('10', '1', '00011', '101', '00000000', `x${hex}`);
const variable = bits('11', '0', '000001000', '11111111111111111111111111111011', 'xa5');
const variableAnycast = bits('11', '1', '00001', '1', '000000010', '00000000000000000000000000000001', '01');

const values = {
  none: null,
  extern: { kind: 'addr_extern', external_address: new BitString(Uint8Array.of(0xa0), 3) },
  std: Address.ofParts(-1, hash),
  anycast: {
    kind: 'addr_std',
    anycast: { depth: 3, rewrite_pfx: new BitString(Uint8Array.of(0xa0), 3) },
    workchain_id: 0,
    address: hash,
  },
  variable: { kind: 'addr_var', anycast: null, workchain_id: -5, address: new BitString(Uint8Array.of(0xa5), 8) },
  variableAnycast: {
    kind: 'addr_var',
    anycast: { depth: 1, rewrite_pfx: new BitString(Uint8Array.of(0x80), 1) },
    workchain_id: 1,
    address: new BitString(Uint8Array.of(0x40), 2),
  },
} as const satisfies Record<string, MsgAddressValue>;

describe('message addresses', () => {
  itReads(MsgAddress, [
    { id: 'addr_none', cell: none, value: values.none },
    { id: 'addr_extern', cell: extern, value: values.extern },
    { id: 'addr_std', cell: std, value: values.std },
    { id: 'addr_std with anycast', cell: anycast, value: values.anycast },
    { id: 'addr_var', cell: variable, value: values.variable },
    { id: 'addr_var with anycast', cell: variableAnycast, value: values.variableAnycast },
  ]);
  itReads(MsgAddressInt, [
    { id: 'addr_std', cell: std, value: values.std },
    { id: 'addr_var', cell: variable, value: values.variable },
  ]);
  itReads(MsgAddressExt, [
    { id: 'addr_none', cell: none, value: null },
    { id: 'addr_extern', cell: extern, value: values.extern },
  ]);
  itRefuses(MsgAddressInt, [
    { id: 'addr_none', cell: none, code: 'tlb/constructor-tag', path: '' },
    { id: 'addr_extern', cell: extern, code: 'tlb/constructor-tag', path: '' },
    {
      id: 'an address that is cut off',
      cell: bits('10', '0', '00000000', 'xa5'),
      code: 'cells/slice-underflow',
      path: '',
    },
    { id: 'anycast of depth 0', cell: bits('10', '1', '00000'), code: 'tlb/constraint', path: '' },
    { id: 'anycast of depth 31', cell: bits('10', '1', '11111', 'xffffffff'), code: 'tlb/constraint', path: '' },
    {
      id: 'a prefix longer than the address',
      cell: bits('11', '1', '00011', '101', '000000010', '00000000000000000000000000000001', '01'),
      code: 'tlb/constraint',
      path: '',
    },
    { id: 'nothing', cell: bits(''), code: 'cells/slice-underflow', path: '' },
  ]);
  itRefuses(MsgAddressExt, [
    { id: 'addr_std', cell: std, code: 'tlb/constructor-tag', path: '' },
    { id: 'a short addr_extern', cell: bits('01', '000000011', '10'), code: 'cells/slice-underflow', path: '' },
  ]);

  it('does not write what the type does not allow', () => {
    const code = (value: MsgAddressValue) => errorCode(() => encodeCell(MsgAddress, value));
    expect(code(Address.ofParts(128, hash))).toBe('cells/value-range');
    const wrongDepth = { depth: 2, rewrite_pfx: values.anycast.anycast.rewrite_pfx };
    expect(code({ ...values.anycast, anycast: wrongDepth })).toBe('tlb/constraint');
    expect(code({ ...values.variable, anycast: { depth: 9, rewrite_pfx: new BitString(new Uint8Array(2), 9) } })).toBe(
      'tlb/constraint',
    );
    const long = new BitString(new Uint8Array(64), 512);
    expect(code({ kind: 'addr_extern', external_address: long })).toBe('tlb/constraint');
  });
});
