import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HashMap } from '#domain/traces/hash-map.js';
import { toHex } from '#kernel/bytes.js';

/** Few hashes, many of which have the same first 53 bits. */
const hash = fc
  .tuple(fc.constantFrom(0, 1, 7, 8, 255), fc.constantFrom(0, 1), fc.constantFrom(0, 128))
  .map(([at6, at7, first]) => {
    const bytes = new Uint8Array(32);
    bytes[0] = first;
    bytes[6] = at6;
    bytes[31] = at7;
    return bytes;
  });

it('does what a map of texts does, for hashes with the same beginning too', () => {
  const calls = fc.array(fc.tuple(fc.constantFrom('set', 'get', 'take'), hash, fc.nat()), { maxLength: 60 });
  fc.assert(
    fc.property(calls, (list) => {
      const map = new HashMap<number>();
      const model = new Map<string, number>();
      for (const [call, key, value] of list) {
        const text = toHex(key);
        expect(call === 'take' ? map.take(key) : map.get(key), `${call} ${text}`).toBe(model.get(text));
        if (call === 'take') model.delete(text);
        if (call === 'set') map.set(key, value);
        if (call === 'set') model.set(text, value);
        expect(map.size).toBe(model.size);
      }
      const found = new Map<string, number>();
      map.forEach((value, key) => void found.set(toHex(key), value));
      expect(found).toEqual(model);
    }),
    { numRuns: 500, seed: 6 },
  );
});
