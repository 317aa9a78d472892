import { describe, expect, it } from 'vitest';
import { relativeTime } from './time.js';

const NOW = 1_700_000_000;

describe('an age', () => {
  it.each([
    [0, 'now'],
    [9, 'now'],
    [11, 'in 11 sec'],
    [-1, '1 sec ago'],
    [-59.9, '59 sec ago'],
    [-60, '1 min ago'],
    [-7_199, '1 hr ago'],
    [7_200, 'in 2 hr'],
    [-86_400, 'yesterday'],
  ])('of a moment %d s from now is %s', (distance, text) => {
    expect(
      relativeTime(NOW + distance, NOW, 'en-GB')
        .replaceAll('\u00a0', ' ')
        .replaceAll('.', ''),
    ).toBe(text);
  });
});
