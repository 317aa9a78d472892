import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNetwork, type TestNetwork } from '#app/testing/create-network.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { toBase64 } from '#kernel/bytes.js';

const away = mkdtempSync(join(tmpdir(), 'tern-exported-'));
const exported = join(away, 'chain');
let network: TestNetwork;
beforeAll(async () => {
  network = await createNetwork();
});
afterAll(async () => {
  await network.stop();
  rmSync(away, { recursive: true });
});

/** Answers have any form. */
type Answer = any;

async function ask(method: string, query: string): Promise<Answer> {
  const { ok, result, error } = (await (await fetch(`${network.url}/api/v2/${method}?${query}`)).json()) as Answer;
  expect([ok, error], `${method} ${query}`).toEqual([true, undefined]);
  return result;
}

const balanceOf = async (address: string): Promise<bigint> =>
  BigInt(await ask('getAddressBalance', `address=${address}`));
const stateOf = (address: string): Promise<string> => ask('getAddressState', `address=${address}`);
const account = (byte: number) => `0:${byte.toString(16).padStart(2, '0').repeat(32)}`;

describe('a network inside a test', () => {
  it('gives coins, moves its time, and takes messages from any address', async () => {
    const before = await network.now();
    await network.advanceTime(86_400);
    expect((await network.now()) - before).toBeGreaterThanOrEqual(86_400);
    await network.faucet(account(1), 5n * 10n ** 9n, 'hello');
    expect(await balanceOf(account(1))).toBe(5_000_000_000n);
    await network.impersonate({ from: account(2), to: account(1), amount: '1000000000', bounce: false });
    expect(await balanceOf(account(1))).toBeGreaterThan(5_900_000_000n);
    await network.setAccount(account(1), { balance: 7 });
    expect(await balanceOf(account(1))).toBe(7n);
    expect((await network.wallets()).map(({ version }) => version)).toContain('v5r1');
  });

  it('returns to a snapshot, any number of times, and goes on from there', async () => {
    await network.faucet(account(3), 10n ** 9n);
    const id = await network.snapshot();
    const had = await balanceOf(account(3));
    const { head } = (await network.control('status')) as Answer;
    for (let round = 0; round < 3; round++) {
      await network.faucet(account(3), 10n ** 9n);
      await network.faucet(account(4), 10n ** 9n);
      await network.setAccount(account(5), { balance: 1, code: serializeBoc(EMPTY_CELL), data: null });
      expect(await balanceOf(account(3))).toBeGreaterThan(1_999_999_000n);
      expect(await stateOf(account(5))).toBe('active');
      await network.revert(id);
      expect([await balanceOf(account(3)), await balanceOf(account(4)), await balanceOf(account(5))]).toEqual([
        had,
        0n,
        0n,
      ]);
      expect(await stateOf(account(5))).toBe('uninitialized');
    }
    expect(((await network.control('status')) as Answer).head.seqno).toBeGreaterThan(head.seqno);
  });

  it('returns to the configuration of a snapshot', async () => {
    const param = async () => (await ask('getConfigParam', 'config_id=-999')).config.bytes;
    const id = await network.snapshot();
    const before = await param();
    await network.control('config', {
      param: -999,
      value: toBase64(serializeBoc(new Builder().storeUint(5, 8).endCell())),
    });
    expect(await param()).not.toBe(before);
    await network.revert(id);
    expect(await param()).toBe(before);
  });

  it('refuses a snapshot that there is not', async () => {
    await expect(network.revert('99')).rejects.toMatchObject({ code: 'cli/localnet-refused' });
  });

  it('makes blocks by which validators would not be surprised', async () => {
    const { folder } = (await network.control('export', { folder: exported })) as Answer;
    const { checkChain } = await import('#app/cli/localnet-check.js');
    const report = checkChain(folder);
    expect(report.changed_by_hand.length).toBeGreaterThan(0);
    expect(report.masterchain_blocks).toBeGreaterThan(10);
  });
});
