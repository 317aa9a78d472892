import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '#test/support/built-program.js';
import { FULL } from '#test/support/full-depth.js';
import { type HuntingGround, huntingGround } from './staleness.js';

let ground: HuntingGround;
beforeAll(async () => {
  ground = await huntingGround(await builtProgram(), 'test');
});
afterAll(() => ground?.close());

it('no answer through the caches differs from the same one around them', async () => {
  const { pairs, fromCache, meanwhile, differences, unasked } = await ground.hunt('none', 40_000);
  expect(differences).toEqual([]);
  expect(unasked).toEqual([]);
  expect(pairs).toBeGreaterThan(300);
  expect(fromCache).toBeGreaterThan(100);
  expect(meanwhile).toBeGreaterThan(50);
});

it.each([
  [
    'of the parameters',
    FULL
      ? ['accountStates', 'jetton/transfers', 'jetton/wallets', 'messages', 'traces', 'transactions']
      : ['traces', 'transactions'],
  ],
  ['of the rows', ['traces']],
  ['of the address book', ['events', 'traces']],
] as const)('answers that are stale because a dependency %s is missing are found', async (broken, methods) => {
  const report = await ground.hunt(broken, 120_000, methods);
  expect(report.methods).toEqual(expect.arrayContaining([...methods]));
});
