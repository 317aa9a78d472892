import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { accountOf, applyAnycast, formatMsgAddress, type MsgAddress } from '#formats/tlb/msg-address.js';
import { BitString, toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const hash = new Uint8Array(32).fill(0x83);
const raw = '83'.repeat(32);

function bits(text: string): BitString {
  const bytes = new Uint8Array((text.length + 7) >> 3);
  for (let i = 0; i < text.length; i++) if (text[i] === '1') bytes[i >> 3]! |= 0x80 >> (i & 7);
  return new BitString(bytes, text.length);
}
const anycast = (prefix: string) => ({ depth: prefix.length, rewrite_pfx: bits(prefix) });

describe('message addresses', () => {
  const rows: readonly [string, MsgAddress, string | null][] = [
    ['addr_none', null, null],
    [`0:${raw}`, Address.ofParts(0, hash), `0:${raw}`],
    [
      'addr_extern:C0FFEE',
      { kind: 'addr_extern', external_address: new BitString(Buffer.from('c0ffee', 'hex'), 24) },
      null,
    ],
    ['addr_extern:', { kind: 'addr_extern', external_address: bits('') }, null],
    [
      `0:${raw} anycast:4C_`,
      { kind: 'addr_std', anycast: anycast('01001'), workchain_id: 0, address: hash },
      `0:4b${raw.slice(2)}`,
    ],
    [
      `addr_var:-5:${raw.toUpperCase()}`,
      { kind: 'addr_var', anycast: null, workchain_id: -5, address: new BitString(hash, 256) },
      `-5:${raw}`,
    ],
    [
      `addr_var:70000:${raw.toUpperCase()} anycast:01`,
      { kind: 'addr_var', anycast: anycast('00000001'), workchain_id: 70000, address: new BitString(hash, 256) },
      `70000:01${raw.slice(2)}`,
    ],
    [
      'addr_var:0:A_ anycast:F',
      { kind: 'addr_var', anycast: anycast('1111'), workchain_id: 0, address: bits('10') },
      null,
    ],
  ];
  it.each(rows)('%s', (text, value, account) => {
    expect(formatMsgAddress(value)).toBe(text);
    expect(accountOf(value)?.toRaw() ?? null).toBe(account);
  });
});

describe('applyAnycast', () => {
  it('replaces the first bits and nothing else', () => {
    const any = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const prefixes = fc.array(fc.constantFrom('0', '1'), { minLength: 1, maxLength: 30 }).map((all) => all.join(''));
    fc.assert(
      fc.property(any, prefixes, (address, prefix) => {
        const before = toHex(address);
        const binary = BigInt(`0x${before}`).toString(2).padStart(256, '0');
        const expected = BigInt(`0b${prefix}${binary.slice(prefix.length)}`)
          .toString(16)
          .padStart(64, '0');
        expect(toHex(applyAnycast(anycast(prefix), address))).toBe(expected);
        expect(toHex(address)).toBe(before);
      }),
    );
  });

  it('refuses a prefix that is longer than the address', () => {
    expect(errorCode(() => applyAnycast(anycast('111'), Uint8Array.of(0x80), 2))).toBe('address/anycast-depth');
    expect(toHex(applyAnycast(anycast('11'), Uint8Array.of(0x80), 2))).toBe('c0');
  });
});
