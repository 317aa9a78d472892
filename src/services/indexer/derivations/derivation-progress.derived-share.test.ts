import { describe, expect, it } from 'vitest';
import { type DerivationLeft, DerivedShare } from '#services/indexer/derivations/derivation-progress.js';

const left = (name: string, rest: Partial<DerivationLeft>): DerivationLeft => {
  const all = { mcBlocks: 0, unvisited: 0, queued: 0, ...rest };
  return { name, ...all, isDone: all.mcBlocks === 0 && all.unvisited === 0 && all.queued === 0 };
};

describe('the share of derivations that is done', () => {
  it('is unknown first, grows with blocks, addresses and queues, and is 1 only at the end', () => {
    const share = new DerivedShare();
    expect(share.done).toBeNull();
    share.look([left('actions', { mcBlocks: 200 }), left('jettons', { unvisited: 1 })]);
    expect(share.done).toBe(0);
    share.look([left('actions', { mcBlocks: 100 }), left('jettons', { unvisited: 0.5 })]);
    expect(share.done).toBeCloseTo(0.5);
    // All blocks are visited, but what they queued is not done.
    share.look([left('actions', { queued: 40 }), left('jettons', {})]);
    expect(share.done).toBeCloseTo(0.75);
    share.look([left('actions', { queued: 10 }), left('jettons', {})]);
    expect(share.done).toBeCloseTo((0.875 + 1) / 2);
    share.look([left('actions', {}), left('jettons', {})]);
    expect(share.done).toBe(1);
  });

  it('is not 1 while something is left', () => {
    const share = new DerivedShare();
    share.look([left('actions', { mcBlocks: 1_000_000 })]);
    share.look([left('actions', { mcBlocks: 1 })]);
    expect(share.done).toBeLessThan(1);
  });
});
