import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Random } from '#test/fuzz/random.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import { otherAccounts, runRecorded } from '#test/support/contract-accounts.js';
import { FULL } from '#test/support/full-depth.js';
import { nativeMethods, nativeShape, runShape } from '#test/support/native-comparison.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

const EACH = FULL ? 8 : 2;

it('native readers agree with the virtual machine wherever data is damaged, or leave it alone', async () => {
  const random = new Random('damaged data');
  let same = 0;
  let left = 0;
  for (const account of otherAccounts) {
    for (let i = 0; i < EACH; i++) {
      const damaged = { ...account, data: damageBelow(account.data, random) };
      for (const method of nativeMethods(damaged)) {
        const native = nativeShape(method);
        if (native === null) {
          left++;
          continue;
        }
        const run = await runRecorded(pool, damaged, method.method, method.stack);
        const name = `${account.kind} ${method.method}`;
        expect({ [name]: native }).toEqual({ [name]: runShape(method, run) });
        same++;
      }
    }
  }
  expect(same).toBeGreaterThan(60 * EACH);
  expect(left).toBeGreaterThan(35 * EACH);
});
