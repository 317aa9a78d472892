import { describe, expect, it } from 'vitest';
import {
  decodeAccount,
  decodeAccountOrNull,
  decodeHash256,
  decodeLt,
  decodeOpcode,
  decodeShardPrefix,
  decodeSort,
} from '#api/v3/parameters.js';
import { toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const HEX = '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
const FRIENDLY = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';

describe('accounts', () => {
  it.each([`0:${HEX}`, `0:${HEX.toUpperCase()}`, FRIENDLY, FRIENDLY.replaceAll('-', '+').replaceAll('_', '/')])(
    '%s',
    (text) => {
      expect(decodeAccount(text).toRaw()).toBe(`0:${HEX}`);
    },
  );

  it.each(['', 'abc', 'addr_none', `300:${HEX}`, `0:${HEX.slice(1)}`, `${FRIENDLY.slice(0, -1)}A`, ` ${FRIENDLY}`])(
    'refuses %j',
    (text) => {
      expect(errorCode(() => decodeAccount(text))).toMatch(/^(address|v3)\//);
    },
  );

  it('may be the word null where that is meant, in lower case', () => {
    expect(decodeAccountOrNull('null')).toBeNull();
    expect(decodeAccountOrNull(FRIENDLY)?.toRaw()).toBe(`0:${HEX}`);
    expect(errorCode(() => decodeAccountOrNull('NULL'))).toMatch(/^address\//);
  });
});

describe('hashes', () => {
  const base64 = Buffer.from(HEX, 'hex').toString('base64');
  const urlSafe = base64.replaceAll('+', '-').replaceAll('/', '_');
  it.each([HEX, HEX.toUpperCase(), `0x${HEX}`, base64, urlSafe])('%s', (text) => {
    expect(toHex(decodeHash256(text))).toBe(HEX);
  });

  it.each(['', HEX.slice(1), `0X${HEX}`, base64.slice(0, -1), `${base64}=`, base64.replace('=', ' '), 'q'.repeat(64)])(
    'refuses %j',
    (text) => {
      expect(errorCode(() => decodeHash256(text))).toBe('v3/parameter-value');
    },
  );
});

describe('shards', () => {
  const rows: [string, string][] = [
    ['8000000000000000', '8000000000000000'],
    ['0x8000000000000000', '8000000000000000'],
    ['-9223372036854775808', '8000000000000000'],
    ['4000000000000000', '4000000000000000'],
    ['4611686018427387904', '4000000000000000'],
    ['C000000000000000', 'c000000000000000'],
    ['c000000000000000', 'c000000000000000'],
    // A prefix of ten bits: as hexadecimal the decimal digits are no shard.
    ['9007199254740992', '20000000000000'],
    ['8', '8'],
  ];
  it.each(rows)('%s', (text, hex) => {
    expect(decodeShardPrefix(text).toString(16)).toBe(hex);
  });

  it.each([
    '',
    '0',
    '1',
    'zz',
    '0x18000000000000000',
    '18446744073709551616',
    '-9223372036854775809',
    '+8',
    '8000000000000004',
  ])('refuses %j', (text) => {
    expect(errorCode(() => decodeShardPrefix(text))).toBe('v3/parameter-value');
  });
});

describe('opcodes', () => {
  const rows: [string, number, number][] = [
    ['0x0f8a7ea5', 0x0f8a7ea5, 0x0f8a7ea5],
    ['0X0F8A7EA5', 0x0f8a7ea5, 0x0f8a7ea5],
    ['f8a7ea5', 0x0f8a7ea5, 0x0f8a7ea5],
    ['-1', 0xffffffff, 0xffffffff],
    ['260734629', 0x0f8a7ea5, 0x0f8a7ea5],
    ['10', 10, 0x10],
    ['0', 0, 0],
    ['-2147483648', 0x80000000, 0x80000000],
  ];
  it.each(rows)('%s', (text, spec, toncenter) => {
    expect(decodeOpcode(text)).toEqual({ spec, toncenter });
  });

  it.each(['', '0x', 'q', '-0x1', '123456789a', '-2147483649', '2147483648', '1.5', ' 1'])('refuses %j', (text) => {
    expect(errorCode(() => decodeOpcode(text))).toBe('v3/parameter-value');
  });
});

describe('logical times', () => {
  it('are any uint64, cut to what databases count', () => {
    expect(decodeLt('0')).toBe(0n);
    expect(decodeLt('9223372036854775807')).toBe(2n ** 63n - 1n);
    expect(decodeLt('18446744073709551615')).toBe(2n ** 63n - 1n);
  });

  it.each(['', '-1', '1e5', '18446744073709551616', '0x10', '1.0', ' 1'])('refuses %j', (text) => {
    expect(errorCode(() => decodeLt(text))).toBe('v3/parameter-value');
  });
});

it('sorts are two words, shortened or not, in any letter case', () => {
  for (const text of ['asc', 'ASC', 'a', 'A', 'Asc']) expect(decodeSort(text), text).toBe('asc');
  for (const text of ['desc', 'DESC', 'd', 'D']) expect(decodeSort(text), text).toBe('desc');
  for (const text of ['', 'as', 'up', 'descending'])
    expect(
      errorCode(() => decodeSort(text)),
      text,
    ).toBe('v3/parameter-value');
});
