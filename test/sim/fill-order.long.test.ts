import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fillInAnyOrder } from './fill-order.js';

const folder = join(import.meta.dirname, '../../vectors/dev-chain');

it('an index is the same in whatever order it is filled', async () => {
  expect(await fillInAnyOrder({ folder, last: 160, ranges: 6, seed: 'order', say: () => {} })).toEqual([]);
});
