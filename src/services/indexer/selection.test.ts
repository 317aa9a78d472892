import { expect, it } from 'vitest';
import { accountKeys, describeAccounts } from '#services/indexer/selection.js';

const account = (last: number) => Uint8Array.from({ length: 33 }, (_, i) => (i === 32 ? last : 0));

it('a selection is the same in whatever order and however often accounts are named', () => {
  expect(describeAccounts(null)).toEqual({});
  const one = describeAccounts([account(1), account(2)]);
  expect(one).toEqual(describeAccounts([account(2), account(1), account(2)]));
  expect(one.accounts).toMatch(/^2 \([0-9a-f]{16}\)$/);
  expect(one).not.toEqual(describeAccounts([account(1), account(3)]));
  expect(accountKeys([account(1), account(1), account(2)])).toHaveLength(2);
  expect(accountKeys(null)).toBeNull();
});
