import { expect, it } from 'vitest';
import { huntStaleStates } from './stale-states.js';

it('no answer from account states that are kept differs from one that is proven anew', async () => {
  const { pairs, kept, differences } = await huntStaleStates({ seed: 'test', ms: 15_000, broken: 'none' });
  expect(differences).toEqual([]);
  expect(pairs).toBeGreaterThan(300);
  expect(kept).toBeGreaterThan(0.2);
});

it.each([
  ['changes of accounts', ['getAddressInformation', 'getTransactions', 'runGetMethod']],
  ['the fields of the head', ['getAddressInformation']],
] as const)('answers that are stale because %s are not heeded are found', async (broken, wanted) => {
  const { methods } = await huntStaleStates({ seed: 'test', ms: 60_000, broken, wanted });
  expect(methods).toEqual(expect.arrayContaining([...wanted]));
});
