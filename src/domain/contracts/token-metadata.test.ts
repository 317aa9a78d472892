import { describe, expect, it } from 'vitest';
import { sanitizeDocument, tokenMetadata } from '#domain/contracts/token-metadata.js';

const flags = { is_nsfw: false, is_scam: false };

describe('what is reported of a token', () => {
  it('is what the chain says, before what its link leads to', () => {
    const content = { uri: 'https://example.com/a.json', symbol: 'ON', decimals: '9' };
    const document = { symbol: 'OFF', name: 'Off', decimals: 6, image: 'https://example.com/a.png', social: ['x'] };
    expect(tokenMetadata('jetton_masters', content, document, null)).toEqual({
      ...{ valid: true, symbol: 'ON', name: 'Off', image: 'https://example.com/a.png', ...flags },
      extra: { uri: 'https://example.com/a.json', decimals: '9', social: ['x'] },
    });
  });

  it('is valid when there is what such a token must have', () => {
    const valid = (...[kind, content]: [Parameters<typeof tokenMetadata>[0], Record<string, string>]) =>
      tokenMetadata(kind, content, null, null).valid;
    expect(valid('jetton_masters', { symbol: 'S' })).toBe(true);
    expect(valid('jetton_masters', { name: 'N', image: 'i' })).toBe(false);
    expect(valid('nft_items', { name: 'N' })).toBe(true);
    expect(valid('nft_items', { domain: 'alice.ton' })).toBe(true);
    expect(valid('nft_items', { description: 'D', symbol: 'S' })).toBe(false);
    expect(valid('nft_collections', { image: 'i' })).toBe(true);
    expect(valid('nft_collections', { description: 'D' })).toBe(true);
    expect(valid('nft_collections', { uri: 'https://example.com' })).toBe(false);
    expect(tokenMetadata('nft_items', null, null, null)).toEqual({ valid: false, ...flags, extra: {} });
  });

  it('is what an override says, instead of both', () => {
    const override = { content: { symbol: 'MINE', websites: ['https://example.com'] }, is_scam: true };
    expect(tokenMetadata('jetton_masters', { name: 'On' }, { description: 'Off' }, override)).toEqual({
      ...{ valid: true, symbol: 'MINE', is_nsfw: false, is_scam: true },
      extra: { websites: ['https://example.com'] },
    });
    const flagged = tokenMetadata('jetton_masters', { symbol: 'On' }, null, { is_nsfw: true });
    expect(flagged).toEqual({ valid: true, symbol: 'On', is_nsfw: true, is_scam: false, extra: {} });
  });

  it('falls back to the document where the chain has nothing of use', () => {
    const { name, extra } = tokenMetadata(
      'nft_items',
      { name: '', decimals: 'many' },
      { name: 'N', decimals: 3 },
      null,
    );
    expect([name, extra.decimals]).toEqual(['N', '3']);
  });
});

describe('a document', () => {
  it('keeps texts only where texts belong', () => {
    const document = {
      name: 7,
      symbol: ['S'],
      description: null,
      image: { url: 'x' },
      amount_style: 'n',
      n: 1.5,
      no: false,
    };
    expect(sanitizeDocument(document)).toEqual({ amount_style: 'n', n: 1.5, no: false });
  });

  it('has decimals as digits', () => {
    const decimals = (value: unknown) => sanitizeDocument({ decimals: value }).decimals;
    expect([9, '9', ' 09 ', 0, 255].map(decimals)).toEqual(['9', '9', '9', '0', '255']);
    expect([256, -1, 1.5, 'x', '', true, null, [9], 1e21].map(decimals)).toEqual(Array(9).fill(undefined));
  });

  it('keeps nothing that the database has no place for, and no name of this API', () => {
    const tidy = sanitizeDocument({
      name: 'a\0b',
      'k\0': ['\ud800x', { 'l\0': '\0' }],
      _image_small: 'https://evil.example',
    });
    expect(tidy).toEqual({ name: 'ab', k: ['\ufffdx', { l: '' }] });
    expect(sanitizeDocument({ name: 'a\u{1f600}b' }).name).toBe('a\u{1f600}b');
    expect(sanitizeDocument({ name: `${'a'.repeat(511)}\u{1f600}` }).name).toBe('a'.repeat(511));
  });

  it('is within bounds', () => {
    const long = 'x'.repeat(100_000);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 'v'.repeat(1_000)]));
    const tidy = sanitizeDocument({
      name: long,
      symbol: long,
      description: long,
      image: long,
      a: long,
      [long]: 1,
      ...many,
    });
    expect([tidy.name, tidy.symbol, tidy.description].map((text) => (text as string).length)).toEqual([
      512, 128, 4_096,
    ]);
    expect(Object.hasOwn(tidy, 'image') || Object.hasOwn(tidy, 'a') || Object.hasOwn(tidy, long)).toBe(false);
    expect(JSON.stringify(tidy).length).toBeLessThan(60_000);
    expect(
      Object.keys(sanitizeDocument(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 1])))).length,
    ).toBe(128);
    let deep: unknown = 1;
    for (let i = 0; i < 5_000; i++) deep = [deep];
    expect(JSON.stringify(sanitizeDocument({ deep }).deep)).toBe('[[[[[[[[null]]]]]]]]');
  });

  it('has no key that is more than a key', () => {
    const tidy = sanitizeDocument(
      JSON.parse('{"__proto__":{"valid":true},"constructor":"c","name":"n","a":{"__proto__":1}}'),
    );
    expect(JSON.stringify(tidy)).toBe('{"constructor":"c","name":"n","a":{"__proto__":1}}');
    expect(Object.getPrototypeOf(tidy)).toBe(Object.prototype);
  });
});
