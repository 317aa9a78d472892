import { describe, expect, it } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { chain, fan, fuzzingProblems, OPCODES, tooComplexWith } from '#test/support/hostile-traces.js';

describe('many traces that nobody would send', () => {
  // `npm run fuzz -- --target hostile-traces` goes on with others.
  it('are classified without a defect, and show no verified token that did not move', () => {
    expect(fuzzingProblems(501, FULL ? 12_000 : 2_000)).toEqual([]);
  });

  it.each([
    ['fans', fan],
    ['chains', chain],
  ])('take bounded work: %s of 10,000 transactions', (_, make) => {
    const some = OPCODES.filter((__, i) => i % (FULL ? 6 : 48) === 0);
    expect(tooComplexWith((opcode) => make(10_000, opcode), some)).toEqual([]);
  });
});
