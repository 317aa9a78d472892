import { expect, it } from 'vitest';
import { mutate } from './mutate.js';
import { Random } from './random.js';

const draw = (label: string) => {
  const random = new Random(label);
  return Array.from({ length: 8 }, () => random.uint32());
};

it('gives the same values for the same label, others for another one', () => {
  expect(draw('seed/target/1')).toEqual(draw('seed/target/1'));
  expect(draw('seed/target/1')).not.toEqual(draw('seed/target/2'));
  expect(new Set(Array.from({ length: 1000 }, (_, i) => draw(`s/${i}`)[0])).size).toBeGreaterThan(990);
});

it('spreads evenly and keeps its bounds', () => {
  const random = new Random('evenly');
  const counts = new Array(10).fill(0);
  for (let i = 0; i < 10_000; i++) counts[random.below(10)]++;
  for (const count of counts) expect(count).toBeGreaterThan(850);
  for (let i = 0; i < 1000; i++) expect([3, 4, 5]).toContain(random.between(3, 5));
});

it('mutates a copy, differently each time, and copes with nothing to change', () => {
  const random = new Random('mutate');
  const original = Uint8Array.from({ length: 64 }, (_, i) => i);
  const seen = new Set(Array.from({ length: 200 }, () => mutate(original, random).join()));
  expect(original).toEqual(Uint8Array.from({ length: 64 }, (_, i) => i));
  expect(seen.size).toBeGreaterThan(150);
  expect(mutate(new Uint8Array(), random).length).toBeGreaterThanOrEqual(0);
});
