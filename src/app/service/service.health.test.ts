import { expect, it } from 'vitest';
import { withIndex } from '#app/service/service.js';

const ready = { ready: true, problem: null, headSeqno: 900, headAgeMs: 1_000 };

const coverage = { history: [{ from: 1, to: 700 }], selected: false, state_seqno: null };

/** An index of a process that only reads. @param lag seconds behind the chain; null: not known */
const indexBehind = (lag: number | null, over: object = {}) => ({
  role: 'api' as const,
  figures: () => ({
    ...{ readable: true, other_branch: false, head_seqno: 700, head_age_seconds: lag, lag_seconds: lag },
    ...{ missing_blocks: 0, coverage },
  }),
  coverage: () => coverage,
  problem: () => null,
  emptiness: () => null,
  contradiction: () => null,
  writing: () => null,
  ...over,
});

it('a network whose index is further behind than it may be is not ready, and says so', () => {
  expect(withIndex(ready, indexBehind(3_600), 0)).toMatchObject({
    ready: true,
    details: { index_lag_seconds: 3_600, index_head_seqno: 700 },
  });
  expect(withIndex(ready, indexBehind(60), 60_000).ready).toBe(true);
  expect(withIndex(ready, indexBehind(3_600), 60_000)).toMatchObject({
    ready: false,
    problem: 'the index: its newest block, 700, is 3600 s behind the chain, more than 60 s',
  });
  expect(withIndex(ready, indexBehind(null), 60_000).ready).toBe(false);
});

it('a network of whose index nothing is there yet is not ready', () => {
  const emptiness = () => 'no masterchain block is indexed yet';
  expect(withIndex(ready, indexBehind(null, { emptiness }), 0)).toMatchObject({
    ready: false,
    problem: 'the index: no masterchain block is indexed yet',
  });
});
