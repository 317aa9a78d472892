import { describe, expect, it } from 'vitest';
import { fillOf, isFrequent, NO_HISTORY, withBlock } from '#localnet/producer/block-context.js';

const limit = { underload: 100, soft_limit: 500, hard_limit: 1000 };
const limits = { kind: 'block_limits', bytes: limit, gas: limit, lt_delta: limit } as const;

describe('fillOf', () => {
  it.each([
    [{ bytes: 99, gas: 99n, lt_delta: 99n }, 'underload'],
    [{ bytes: 100, gas: 0n, lt_delta: 0n }, 'normal'],
    [{ bytes: 0, gas: 500n, lt_delta: 0n }, 'soft'],
    [{ bytes: 0, gas: 500n, lt_delta: 1000n }, 'hard'],
  ])('is the fill of the greatest measure: %o', (load, fill) => {
    expect(fillOf(load, limits)).toBe(fill);
  });

  it('is normal without limits', () => {
    expect(fillOf({ bytes: 1e9, gas: 10n ** 12n, lt_delta: 10n ** 9n }, null)).toBe('normal');
  });
});

describe('the history', () => {
  /** On a chain of the reference software without traffic, block 24 of a shard was the first that wanted a merge. */
  it('is frequent from the 24th block on', () => {
    let history = NO_HISTORY;
    const since: boolean[] = [];
    for (let block = 1; block <= 70; block++) {
      history = withBlock(history, 'underload');
      since.push(isFrequent(history.underload));
    }
    expect(since.indexOf(true)).toBe(23);
    expect(since.slice(23).every((each) => each)).toBe(true);
    expect(history).toEqual({ overload: 0n, underload: (1n << 64n) - 1n });
  });

  it('counts blocks at the soft limit as overloaded, normal ones as neither', () => {
    const history = ['soft', 'hard', 'normal', 'underload'] as const;
    expect(history.reduce(withBlock, NO_HISTORY)).toEqual({ overload: 0b1100n, underload: 0b0001n });
  });
});
