import { expect, it } from 'vitest';
import { durationText } from '#kernel/duration-text.js';

it.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [90, '1 min 30 s'],
  [3_600, '1 h'],
  [30 * 86_400, '30 d'],
  [366 * 86_400 + 5, '1 y 1 d'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
