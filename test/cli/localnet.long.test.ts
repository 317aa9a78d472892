import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Address, beginCell, Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';
import { ServedTern } from '#test/support/served-tern.js';

/** On a machine with other work. */
const STEP_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'tern-local-network-'));
let tern: ServedTern;

beforeAll(async () => {
  tern = await ServedTern.start(['dev', '--port', '0', '--data', join(folder, 'data'), '--index', 'off']);
});
afterAll(async () => {
  await tern?.close();
  rmSync(folder, { recursive: true });
});

/** What `tern localnet … --json` prints. */
async function run(...args: string[]): Promise<any> {
  const written = { out: '', err: '' };
  const output = {
    out: (text: string) => {
      written.out += text;
    },
    err: (text: string) => {
      written.err += text;
    },
  };
  const code = await runCommandLine(['localnet', ...args, '--json'], output, { TERN_URL: tern.url });
  expect([code, written.err], args.join(' ')).toEqual([0, '']);
  return JSON.parse(written.out);
}

async function ask(method: string, query: string): Promise<any> {
  const response = await fetch(`${tern.url}/api/v2/${method}?${query}`);
  const { ok, result, error } = (await response.json()) as { ok: boolean; result: any; error?: string };
  expect([ok, error], `${method} ${query}`).toEqual([true, undefined]);
  return result;
}

const account = (byte: number) => `0:${byte.toString(16).padStart(2, '0').repeat(32)}`;
/** Accounts pay rent for being there: a little less than what they were given. */
const wholeTon = (nanotons: string | bigint) => Math.round(Number(nanotons) / 1e9);
const balanceOf = async (address: string) => BigInt((await ask('getAddressInformation', `address=${address}`)).balance);
const lastOf = async (address: string) => (await ask('getTransactions', `address=${address}&limit=1`))[0];

describe('the local network', { timeout: STEP_MS }, () => {
  it('gives coins, which API v2 sees', async () => {
    const { block, message_hash } = await run('fund', account(1), '5.5', '--comment', 'for you');
    expect(block.workchain).toBe(-1);
    expect(Buffer.from(message_hash, 'base64')).toHaveLength(32);
    await expect.poll(() => balanceOf(account(1))).toBe(5_500_000_000n);
    expect((await lastOf(account(1))).in_msg.message).toBe('for you');
  });

  it('reports what its wallets have now', async () => {
    const { wallets } = await run('wallets');
    const wallet = wallets.find(({ version }: { version: string }) => version === 'v5r1');
    expect(wallet.mnemonic).toHaveLength(24);
    const { publicKey } = await (await import('@ton/crypto')).mnemonicToPrivateKey(wallet.mnemonic);
    expect(publicKey.toString('hex')).toBe(wallet.public_key);
    await run('fund', wallet.address, '1');
    const after = async () =>
      wholeTon((await run('wallets')).wallets.find(({ address }: any) => address === wallet.address).balance);
    await expect.poll(after).toBe(wholeTon(wallet.balance) + 1);
  });

  it('stops, makes blocks when it is told to, and goes on', async () => {
    expect((await run('pause')).paused).toBe(true);
    const { head } = await run('status');
    expect((await run('mine', '3')).block.seqno).toBe(head.seqno + 3);
    expect((await run('status')).head.seqno).toBe(head.seqno + 3);
    expect((await run('block-time', '100')).block_time).toBe(100);
    expect((await run('resume')).paused).toBe(false);
    await expect.poll(async () => (await run('status')).head.seqno).toBeGreaterThan(head.seqno + 6);
    expect((await run('mining', 'auto')).mining).toBe('auto');
  });

  it('moves its time', async () => {
    const { gen_utime } = await run('status');
    const { block } = await run('time', '+30d');
    const { gen_utime: later } = await ask(
      'getBlockHeader',
      `workchain=-1&shard=8000000000000000&seqno=${block.seqno}`,
    ).then(() => run('status'));
    expect(later - gen_utime).toBeGreaterThanOrEqual(30 * 86_400);
    expect((await run('status')).time_offset).toBeGreaterThanOrEqual(30 * 86_400);
  });

  it('changes accounts', async () => {
    const code = beginCell().storeUint(0xff00f4a413f4bcf2c80bn, 80).endCell();
    const data = beginCell().storeUint(5, 32).endCell();
    const hex = (cell: Cell) => cell.toBoc().toString('hex');
    await run('account', account(2), '--balance', '77', '--code', hex(code), '--data', hex(data));
    const state = await ask('getAddressInformation', `address=${account(2)}`);
    expect([state.balance, state.state]).toEqual(['77000000000', 'active']);
    expect(Cell.fromBase64(state.data).equals(data)).toBe(true);
    await run('account', account(2), '--balance', '0.5');
    const changed = await ask('getAddressInformation', `address=${account(2)}`);
    expect([changed.balance, changed.state, changed.code]).toEqual(['500000000', 'active', state.code]);
  });

  it('runs messages as any address', async () => {
    const body = beginCell().storeUint(0, 32).storeStringTail('from nowhere').endCell();
    const args = ['--no-bounce', '--body', body.toBoc().toString('base64')];
    const { message_hash } = await run('impersonate', `-1:${'33'.repeat(32)}`, account(3), '7', ...args);
    const { in_msg } = await lastOf(account(3));
    expect(in_msg).toMatchObject({ hash: message_hash, value: '7000000000', message: 'from nowhere' });
    expect(Address.parse(in_msg.source).toRawString()).toBe(`-1:${'33'.repeat(32)}`);
  });

  it('changes its configuration', async () => {
    const value = beginCell().storeUint(0xabcd, 16).endCell();
    await run('config', '-999', value.toBoc().toString('hex'));
    const { config } = await ask('getConfigParam', 'param=-999');
    expect(Cell.fromBase64(config.bytes).equals(value)).toBe(true);
  });

  it('splits and merges shards', async () => {
    await run('split');
    expect((await run('status')).shards.map(({ shard }: any) => shard)).toEqual([
      '4611686018427387904',
      '-4611686018427387904',
    ]);
    await run('merge');
    expect((await run('status')).shards.map(({ shard }: any) => shard)).toEqual(['-9223372036854775808']);
  });

  it('writes its chain into a folder, which is sound by the rules of a validator', async () => {
    const { blocks } = await run('export', join(folder, 'chain'));
    expect(blocks).toBeGreaterThan(20);
    expect(readdirSync(join(folder, 'chain')).some((name) => name.endsWith('.pack'))).toBe(true);
    const report = await run('check', join(folder, 'chain'));
    expect(report.blocks).toBe(blocks);
    const kinds = new Set(report.changed_by_hand.map(({ kind }: { kind: string }) => kind));
    expect([...kinds].sort()).toEqual(['account-set', 'message-injected']);
  });

  it('goes back to a snapshot, and begins again', async () => {
    const { head } = await run('snapshot', 'save', 'before');
    await run('fund', account(1), '1');
    await expect.poll(async () => wholeTon((await balanceOf(account(1))) + 500_000_000n)).toBe(7);
    const { chain } = await run('status');
    const loaded = await run('snapshot', 'load', 'before');
    expect(loaded.chain).not.toBe(chain);
    expect(loaded.head.seqno).toBeGreaterThanOrEqual(head.seqno);
    await expect.poll(async () => wholeTon((await balanceOf(account(1))) + 500_000_000n)).toBe(6);
    const startedAt = await run('reset');
    expect(startedAt.head.seqno).toBeLessThan(head.seqno);
    expect((await run('snapshot', 'list')).snapshots).toHaveLength(1);
    expect((await run('snapshot', 'delete', 'before')).snapshots).toEqual([]);
    expect(existsSync(join(folder, 'data'))).toBe(true);
  });
});
