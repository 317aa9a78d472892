import { expect, it } from 'vitest';
import { accountKeys, selectionIdentity } from '#services/indexer/rows/bundle-rows.js';

const account = (last: number) => Uint8Array.from({ length: 33 }, (_, i) => (i === 32 ? last : 0));

it('a selection is the same in whatever order and however often accounts are named', () => {
  expect(selectionIdentity(null)).toEqual({});
  const one = selectionIdentity([account(1), account(2)]);
  expect(one).toEqual(selectionIdentity([account(2), account(1), account(2)]));
  expect(one.accounts).toMatch(/^2 \([0-9a-f]{16}\)$/);
  expect(one).not.toEqual(selectionIdentity([account(1), account(3)]));
  expect(accountKeys([account(1), account(1), account(2)])).toHaveLength(2);
  expect(accountKeys(null)).toBeNull();
});
