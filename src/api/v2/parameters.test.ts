import { describe, expect, it } from 'vitest';
import type { V2Context } from '#api/v2/context.js';
import {
  blockAt,
  decodeBase64,
  decodeNonEmptyBase64,
  parseAccountId,
  parseBoolean,
  parseHash256,
  parseInt64,
  parseShard,
} from '#api/v2/parameters.js';
import { toHex } from '#kernel/bytes.js';
import { replayedChain } from '#test/support/replayed-chain.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';

const HEX = 'cfcad526d73d39bb2628ae9175a6490300402aa012f5b9a01910bee64eb15332';
const BASE64 = 'z8rVJtc9ObsmKK6RdaZJAwBAKqAS9bmgGRC+5k6xUzI=';

describe('a hash', () => {
  const urlSafe = BASE64.replace('+', '-');
  it.each([HEX, HEX.toUpperCase(), BASE64, urlSafe, urlSafe.slice(0, 43)])('is read from %s', (text) => {
    expect(toHex(parseHash256(text))).toBe(HEX);
  });

  it.each([
    '',
    'zz',
    HEX.slice(1),
    `${HEX}00`,
    `0x${HEX.slice(2)}`,
    BASE64.slice(0, 43),
    `${BASE64.slice(0, 43)}A`,
    `${BASE64.slice(0, 42)}==`,
    `${BASE64.slice(0, 42)}J=`,
    ` ${HEX.slice(1)}`,
  ])('is not %j', (text) => {
    expect(() => parseHash256(text)).toThrow(expect.objectContaining({ code: 'v2/parameter-value' }));
  });

  it('may stand in an address where an account id is wanted', () => {
    expect(toHex(parseAccountId(`0:${HEX}`))).toBe(HEX);
    expect(toHex(parseAccountId('EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N'))).toBe(
      '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8',
    );
    expect(toHex(parseAccountId(BASE64))).toBe(HEX);
    expect(() => parseAccountId('EQ')).toThrow(expect.objectContaining({ class: 'caller' }));
  });
});

describe('a shard', () => {
  it.each([
    ['-9223372036854775808', 1n << 63n],
    ['9223372036854775808', 1n << 63n],
    ['0x8000000000000000', 1n << 63n],
    ['0XC000000000000000', 3n << 62n],
    ['-4611686018427387904', 3n << 62n],
    ['+4611686018427387904', 1n << 62n],
    ['18446744073709551615', (1n << 64n) - 1n],
    ['0', 1n],
  ])('is read from %s', (text, shard) => {
    expect(parseShard(text)).toBe(shard);
  });

  it.each([
    '',
    '-',
    '8000000000000000g',
    '0x',
    '0x18000000000000000',
    '18446744073709551616',
    '-9223372036854775809',
    '1.0',
    ' 1',
  ])('is not %j', (text) => {
    expect(() => parseShard(text)).toThrow(expect.objectContaining({ code: 'v2/parameter-value' }));
  });
});

describe('a 64-bit number', () => {
  it('is decimal, and in its range', () => {
    expect(parseInt64('0', 0n)).toBe(0n);
    expect(parseInt64('+9223372036854775807', 0n)).toBe(2n ** 63n - 1n);
    expect(parseInt64('-9223372036854775808', -(2n ** 63n))).toBe(-(2n ** 63n));
    for (const text of ['', '-1', '9223372036854775808', '1e3', '0x1', '1 ', '１']) {
      expect(() => parseInt64(text, 0n)).toThrow(expect.objectContaining({ code: 'v2/parameter-value' }));
    }
  });
});

describe('base64', () => {
  it('is strict, and says what is wrong', () => {
    expect(toHex(decodeBase64('3q2+7w=='))).toBe('deadbeef');
    expect(decodeBase64('')).toHaveLength(0);
    expect(() => decodeBase64('3q2-7w==')).toThrow('"-" at offset 3; this is base64url');
    expect(() => decodeBase64('3q2+7w')).toThrow('6 characters, expected is a multiple of 4');
    expect(() => decodeBase64('3q2+7x==')).toThrow('the last bits are wrong');
    expect(() => decodeBase64('3q=+7w==')).toThrow('the padding');
    expect(() => decodeBase64('3q2+ 7w==')).toThrow('" " at offset 4');
    expect(() => decodeNonEmptyBase64('')).toThrow('it is empty');
  });
});

describe('a block', () => {
  it('may be said by a prefix of its shard, with its hashes or without', async () => {
    const { chain } = replayedChain(DEV_CHAIN);
    const context = { network: { chain }, read: {} } as unknown as V2Context;
    const id = await chain.blockId({ workchain: 0, shard: 2n ** 63n, seqno: 5 });
    const { root_hash, file_hash } = id;
    const position = { workchain: 0, shard: 0x123n, seqno: 5 };
    for (const hashes of [{}, { root_hash }, { file_hash }, { root_hash, file_hash }]) {
      const { header } = await chain.header({ at: await blockAt({ ...position, ...hashes }, context) });
      expect(header.id).toEqual(id);
    }
    const wrong = await blockAt({ ...position, root_hash, file_hash: root_hash }, context);
    await expect(chain.header({ at: wrong })).rejects.toMatchObject({ code: 'chain/block-not-in-chain' });
  });
});

describe('a boolean', () => {
  it('may be a number or a word', () => {
    for (const yes of [true, 1, 'true', 'YES', 'on', 't', '1']) expect(parseBoolean(yes)).toBe(true);
    for (const no of [false, 0, 'false', 'No', 'off', 'f', '0']) expect(parseBoolean(no)).toBe(false);
    expect(parseBoolean('')).toBeUndefined();
    expect(() => parseBoolean('maybe')).toThrow(expect.objectContaining({ code: 'v2/parameter-value' }));
  });
});
