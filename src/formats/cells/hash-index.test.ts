import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HashIndex } from '#formats/cells/hash-index.js';

const hashOf = (n: number) => new Uint8Array(createHash('sha256').update(String(n)).digest());

describe('a hash index', () => {
  it('numbers hashes in the order in which they come, and grows', () => {
    const index = new HashIndex(4);
    for (let n = 0; n < 5000; n++) expect(index.add(hashOf(n)), `hash ${n}`).toBe(n);
    for (let n = 0; n < 5000; n++) {
      expect(index.add(hashOf(n)), `hash ${n} again`).toBe(n);
      expect(index.find(hashOf(n)), `find ${n}`).toBe(n);
    }
    expect(index.size).toBe(5000);
    expect(index.hash(4711)).toEqual(hashOf(4711));
    expect(index.find(hashOf(5000))).toBe(-1);
    expect(index.has(hashOf(5000))).toBe(false);
    expect(index.has(hashOf(0))).toBe(true);
  });

  it('forgets everything when it is cleared, and numbers again', () => {
    const index = new HashIndex(4);
    for (let n = 0; n < 300; n++) index.add(hashOf(n));
    index.clear();
    expect(index.size).toBe(0);
    expect(index.has(hashOf(17))).toBe(false);
    for (let n = 299; n >= 0; n--) expect(index.add(hashOf(n))).toBe(299 - n);
  });

  it('reads the hash at an offset', () => {
    const bytes = new Uint8Array(100);
    bytes.set(hashOf(1), 7);
    bytes.set(hashOf(2), 60);
    const index = new HashIndex();
    expect([index.add(bytes, 7), index.add(bytes, 60), index.find(hashOf(1)), index.find(hashOf(2))]).toEqual([
      0, 1, 0, 1,
    ]);
  });

  it('distinguishes hashes that differ in a single byte, whichever', () => {
    const index = new HashIndex();
    index.add(new Uint8Array(32));
    for (let i = 0; i < 32; i++) {
      const other = new Uint8Array(32);
      other[i] = 1;
      expect(index.find(other), `byte ${i}`).toBe(-1);
      expect(index.add(other), `byte ${i}`).toBe(i + 1);
    }
  });

  it('makes room in advance', () => {
    const index = new HashIndex(100_000);
    for (let n = 0; n < 1000; n++) index.add(hashOf(n));
    expect(index.size).toBe(1000);
    expect(index.find(hashOf(999))).toBe(999);
  });
});
