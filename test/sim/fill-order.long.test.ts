import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { fillInAnyOrder } from './fill-order.js';

const size = FULL ? { last: 160, ranges: 6 } : { last: 90, ranges: 4 };
const folder = join(import.meta.dirname, '../../vectors/dev-chain');

it('an index is the same in whatever order it is filled', async () => {
  expect(await fillInAnyOrder({ folder, ...size, seed: 'order', say: () => {} })).toEqual([]);
});
