import { describe, expect, it } from 'vitest';
import { crc16 } from '#formats/address/address.js';

describe('crc16', () => {
  const rows: readonly [string, number][] = [
    ['', 0],
    ['A', 0x58e5],
    // The check value of the catalogue of CRC algorithms for CRC-16/XMODEM.
    ['123456789', 0x31c3],
    // Method ids of TON: crc16(name) & 0xffff | 0x10000.
    ['seqno', 85143 & 0xffff],
    ['get_wallet_data', 97026 & 0xffff],
  ];
  it.each(rows)('of %j', (text, crc) => {
    expect(crc16(Buffer.from(text))).toBe(crc);
  });

  it('stops at the given end', () => {
    expect(crc16(Buffer.from('123456789 and more'), 9)).toBe(0x31c3);
  });
});
