import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nominatorPool } from '#domain/contracts/interfaces/nominator-pool.js';
import { vesting } from '#domain/contracts/interfaces/vesting.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { otherAccounts } from '#test/support/contract-accounts.js';
import { addressOf, FakeView } from '#test/support/fake-view.js';
import { RunningView } from '#test/support/running-view.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

const recorded = (kind: string) => otherAccounts.find((account) => account.kind === kind)!;

describe('kinds that only the code identifies', () => {
  it.each([
    [vesting, 'wallet_vesting'],
    [nominatorPool, 'nominator_pool'],
  ] as const)('are not what answers as they do', async (kind, name) => {
    const account = recorded(name);
    const methods = { get_vesting_data: [], get_pool_data: [] };
    const view = new FakeView([account, { address: addressOf(1), code: EMPTY_CELL, data: account.data, methods }]);
    await expect(kind.read(view, await view.contract(addressOf(1)))).rejects.toMatchObject({
      code: 'contract-data/unknown-code',
    });
    await expect(kind.read(view, await view.contract(addressOf(2)))).rejects.toMatchObject({
      code: 'contract-data/unknown-code',
    });
    await kind.read(view, await view.contract(account.address));
    expect(view.runs).toEqual([]);
  });
});

describe('wallets with vesting', () => {
  it('have a whitelist', async () => {
    const { address } = recorded('wallet_vesting');
    const view = new RunningView(pool, otherAccounts);
    const { whitelist } = await vesting.read(view, await view.contract(address));
    // As the reference index has it.
    expect(whitelist?.map((one) => one.toRaw().toUpperCase())).toEqual([
      '0:650240038C13EC2F8A1BCFE664964F12A1DFC19A0B80C81F897C5AF6FB4CE1A9',
      '0:BA271E9E1F0D01753A1E3AE076855210D0C0AE6EE83CA59B9DAB3808987C234B',
    ]);
  });
});

describe('pools of nominators', () => {
  it('report each nominator', async () => {
    const { address } = recorded('mainnet_nominator_pool');
    const view = new RunningView(pool, otherAccounts);
    const row = nominatorPool.row(await nominatorPool.read(view, await view.contract(address)));
    // As tonkeeper/tongo has it.
    expect(row).toMatchObject({
      state: 2n,
      nominators_count: 1n,
      stake_amount_sent: 937530439658467n,
      validator_amount: 1002000000000n,
      validator_reward_share: 0n,
      max_nominators_count: 1n,
      min_validator_stake: 1001000000000n,
      min_nominator_stake: 300000000000000n,
    });
    expect(row.validator?.toRaw()).toBe('-1:ab03af32fa8cc1e2b500ec8d450baaea557d7cfd38f2d188cd1f67d1203e4b5d');
    const nominators = JSON.parse(row.nominators!);
    expect(Object.values(nominators)).toEqual([
      { amount: expect.stringMatching(/^\d{15}$/), pending_deposit_amount: '0', withdraw_requested: false },
    ]);
  });
});
