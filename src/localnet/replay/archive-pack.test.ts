import { describe, expect, it } from 'vitest';
import { isTernError } from '#kernel/tern-error.js';
import { readArchivePack } from '#localnet/replay/archive-pack.js';
import { writeArchivePack } from '#test/support/archive-pack.js';

const entries = [
  { name: 'block_(0,8000000000000000,1)', data: Uint8Array.of(1, 2, 3) },
  { name: 'ünïcode', data: new Uint8Array() },
  { name: '', data: new Uint8Array(300).fill(7) },
];
const pack = writeArchivePack(entries);

function problem(bytes: Uint8Array): string {
  try {
    return `${[...readArchivePack(bytes, 'a.pack')].length} entries`;
  } catch (error) {
    if (!isTernError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

describe('an archive pack', () => {
  it('gives its entries and where they begin', () => {
    const read = [...readArchivePack(pack, 'a.pack')];
    expect(read.map(({ name, data }) => ({ name, data }))).toEqual(entries);
    expect(read.map(({ offset }) => offset)).toEqual([4, 4 + 8 + 28 + 3, 4 + 8 + 28 + 3 + 8 + 9]);
    expect(problem(writeArchivePack([]))).toBe('0 entries');
  });

  it('that is torn anywhere is refused with the offset of the torn entry', () => {
    const begins = [4, 43, 60];
    for (let length = 4; length < pack.length; length++) {
      const offset = begins.findLast((begin) => begin <= length)!;
      const expected = begins.includes(length)
        ? ' entries'
        : `replay/torn-pack: a.pack is truncated: the entry at byte ${offset} needs`;
      expect(problem(pack.subarray(0, length)), `${length} bytes`).toContain(expected);
    }
  });

  it('that is something else, or damaged, is refused', () => {
    expect(problem(new Uint8Array())).toBe(
      'replay/not-a-pack: a.pack is not an archive pack: it starts with nothing, not 01dd8fae',
    );
    expect(problem(Uint8Array.of(1, 2, 3, 4, 5))).toMatch(/starts with 01020304/);
    const damaged = pack.slice();
    damaged[43] = 0;
    expect(problem(damaged)).toBe(
      'replay/damaged-pack: a.pack is damaged: the entry at byte 43 starts with 001e, not 8b1e',
    );
  });
});
