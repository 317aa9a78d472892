import { describe, expect, it } from 'vitest';
import { cursorText, isBehind, parseCursor } from '#api/stream/cursor.js';
import { isTernError } from '#kernel/tern-error.js';

const codeOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (isTernError(error)) return error.code;
  }
  return null;
};

describe('a cursor', () => {
  const position = {
    blocks: { seqno: 2633, order: (1n << 64n) | 0xabcn },
    jettons: { seqno: 2632, order: null },
    actions: { seqno: 0, order: 0n },
  };

  it('is read as it was written', () => {
    const text = cursorText('3f0a91c2', position);
    expect(text).toBe('3f0a91c2.2633-10000000000000abc.2632.0-0');
    expect(parseCursor('3f0a91c2', text)).toEqual(position);
  });

  it.each([
    '',
    'x',
    '3f0a91c2.1.1',
    '3f0a91c2.1.1.1.1',
    '3f0a91c2.01.1.1',
    '3f0a91c2.1.1.-1',
    '3f0a91c2.1.1.1-',
    '3f0a91c2.1.1.1-x',
    '3f0a91c2.4294967296.1.1',
    'deadbeef.1.1.1',
    `3f0a91c2.1.1.1-${'1'.repeat(200)}`,
  ])('is refused: %s', (text) => {
    expect(codeOf(() => parseCursor('3f0a91c2', text))).toBe('stream/cursor');
  });

  it('lies before later blocks and later events of its block', () => {
    const at = { seqno: 5, order: 7n };
    expect(isBehind({ seqno: 6, order: 0n }, at)).toBe(true);
    expect(isBehind({ seqno: 5, order: 8n }, at)).toBe(true);
    expect(isBehind({ seqno: 5, order: 7n }, at)).toBe(false);
    expect(isBehind({ seqno: 4, order: 9n }, at)).toBe(false);
    expect(isBehind({ seqno: 5, order: 8n }, { seqno: 5, order: null })).toBe(false);
  });
});
