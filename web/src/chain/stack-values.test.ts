import { describe, expect, it } from 'vitest';
import { poolKindOf } from '../pages/pool/pool-kinds.js';
import { methodId } from './method-id.js';
import { accountOfId, stackAddress, stackEntries, stackInteger } from './stack-values.js';

const RAW = '0:8C397F10FE7F6D09659B5D0A3082B1A93AF7CC63E5F5C0C4F25A9DC1EA5A3A10';

describe('a value of a stack', () => {
  it.each([
    ['num', '0x16345785d8a0000', 100_000_000_000_000_000n],
    ['num', '-0x1', -1n],
    ['num', '42', 42n],
    ['num', `-0x1${'0'.repeat(64)}`, -(2n ** 256n)],
    ['num', `0x${'0'.repeat(66)}`, null],
    ['num', 'nan', null],
    ['num', null, null],
    ['cell', '0x1', null],
  ])('%s %s is the integer %s', (type, value, integer) => {
    expect(stackInteger({ type, value })).toBe(integer);
  });

  it('is an address in a cell or slice', async () => {
    const { Address, beginCell } = await import('@ton/core');
    const boc = beginCell().storeAddress(Address.parse(RAW)).endCell().toBoc().toString('base64');
    const none = beginCell().storeAddress(null).endCell().toBoc().toString('base64');
    for (const type of ['cell', 'slice']) expect(stackAddress({ type, value: boc }), type).toBe(RAW);
    for (const entry of [
      undefined,
      { type: 'num', value: boc },
      { type: 'cell', value: none },
      { type: 'cell', value: 'te6cc' },
      { type: 'cell', value: '' },
      { type: 'list', value: [] },
    ]) {
      expect(stackAddress(entry), JSON.stringify(entry)).toBe(null);
    }
  });

  it('may be an account id, or a list', () => {
    expect(accountOfId(-1, 0x11n)).toBe(`-1:${'0'.repeat(62)}11`);
    for (const id of [null, -1n, 2n ** 256n]) expect(accountOfId(0, id), `${id}`).toBe(null);
    expect(stackEntries({ type: 'list', value: [{ type: 'num', value: '0x1' }] })).toHaveLength(1);
    for (const value of ['te6cc', null, 1]) expect(stackEntries({ type: 'list', value }), `${value}`).toEqual([]);
  });
});

it.each([
  [['get_pool_data', 'list_nominators', 'get_nominator_data'], 'Nominator pool'],
  [['get_pool_data', 'get_roles'], 'Single nominator'],
  [['get_pool_full_data', 'get_controller_address'], 'Liquid staking pool'],
  [['get_pool_status', 'get_params', 'get_staking_status'], 'Nominator pool (Whales)'],
  // Exchanges have these.
  [['get_pool_data', 'get_expected_outputs'], undefined],
  [['seqno'], undefined],
])('a contract with %j is a pool: %s', (methods, name) => {
  expect(poolKindOf(methods.map(methodId))?.name).toBe(name);
  expect(poolKindOf(null)).toBe(null);
});
