import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEDUST_FACTORY, dexPool, dexPoolInterface } from '#domain/contracts/interfaces/dex-pool.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { otherAccounts } from '#test/support/contract-accounts.js';
import { addressOf, addressSlice, FakeView } from '#test/support/fake-view.js';
import { RunningView } from '#test/support/running-view.js';
import { startTvm } from '#test/support/tvm-pool.js';

let tvm: TvmPool;
beforeAll(async () => {
  tvm = await startTvm();
});
afterAll(() => tvm.close());

const factory = otherAccounts.find(({ kind }) => kind === 'dedust_factory')!;
const pools = otherAccounts.filter(({ kind }) => kind === 'dedust_pool');

describe('pools of DeDust', () => {
  it('are those that the factory of the network knows', async () => {
    const view = new RunningView(tvm, otherAccounts);
    const kind = dexPoolInterface(factory.address);
    const rows = [];
    for (const { address } of pools) rows.push(kind.row(await kind.read(view, await view.contract(address))));
    expect(rows).toMatchObject([
      { dex: 'dedust', pool_type: 'volatile', asset_1: null, reserve_1: 22_804_572_170n, reserve_2: 967_085_559_106n },
      { pool_type: 'volatile', reserve_1: 1_045_125_965_541n, fee_numerator: 25n, fee_denominator: 10_000n },
    ]);
    expect(rows[0]?.asset_2?.toRaw()).toMatch(/^0:0e1915dedbe945e9/);
    expect(rows[1]?.asset_1?.toRaw()).toBe(rows[0]?.asset_2?.toRaw());
  });

  it('are not those of a factory that is not there', async () => {
    const view = new RunningView(tvm, otherAccounts);
    await expect(dexPool.read(view, await view.contract(pools[0]!.address))).rejects.toMatchObject({
      code: 'contract-data/not-verified',
    });
  });

  it('are not those that the factory has at another address', async () => {
    const [pool] = pools;
    const methods = { get_pool_address: [addressSlice(addressOf(9))] };
    const view = new FakeView([pool!, { address: DEDUST_FACTORY, methods }]);
    await expect(dexPool.read(view, await view.contract(pool!.address))).rejects.toMatchObject({
      code: 'contract-data/not-verified',
    });
    expect(view.runs).toEqual([`${DEDUST_FACTORY.toRaw()} get_pool_address`]);
  });
});
