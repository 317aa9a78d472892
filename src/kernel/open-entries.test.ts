import { describe, expect, it } from 'vitest';
import { OpenEntries } from '#kernel/open-entries.js';

describe('open entries', () => {
  it('are found by their keys until they are deleted', () => {
    const entries = new OpenEntries<string, { n: number }>();
    entries.set('a', { n: 1 });
    entries.set('b', { n: 2 });
    entries.set('a', { n: 3 });
    expect([entries.size, entries.get('a'), entries.get('c')]).toEqual([2, { n: 3 }, undefined]);
    expect([entries.delete('a'), entries.delete('a'), entries.get('a')]).toEqual([{ n: 3 }, undefined, undefined]);
    entries.set('c', { n: 4 });
    expect(entries.clear()).toEqual([{ n: 2 }, { n: 4 }]);
    expect([entries.size, entries.get('b')]).toEqual([0, undefined]);
  });
});
