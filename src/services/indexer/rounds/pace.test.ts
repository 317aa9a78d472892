import { expect, it } from 'vitest';
import { Pace } from '#services/indexer/rounds/pace.js';

it('follows what was seen lately', () => {
  const pace = new Pace();
  const { answerMs, roundBytes } = pace;
  for (let i = 0; i < 100; i++) pace.answered(4);
  pace.answered(20);
  expect(answerMs).toBeGreaterThan(20);
  expect(pace.answerMs).toBeGreaterThan(4);
  expect(pace.answerMs).toBeLessThan(6);
  for (let i = 0; i < 20; i++) pace.came(32, 320_000);
  expect(roundBytes).toBeGreaterThan(50_000);
  expect(pace.roundBytes).toBeCloseTo(10_000, -1);
});
