import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { runTern, TernProcess } from '#test/support/tern-process.js';

const away = mkdtempSync(join(tmpdir(), 'tern-local-'));
// A database that root starts runs as another user, who has to get there.
chmodSync(away, 0o755);
const data = join(away, 'data');
afterAll(() => rmSync(away, { recursive: true, force: true }));

let running: TernProcess | null = null;
afterEach(async () => {
  await running?.kill();
  running = null;
});

/** Starts it, and gives the URL that it prints. */
async function start(args: readonly string[] = []) {
  const dev = await TernProcess.start(
    ['dev', '--data', data, ...args],
    ({ out }) => out.includes('Press Ctrl-C to stop'),
    {
      TERN_PORT: '0',
    },
  );
  running = dev;
  return { dev, url: /health +(http:\/\/\S+)\/readyz/.exec(dev.out)![1]! };
}

/** Answers have any form. */
type Answer = any;

async function get(url: string): Promise<Answer> {
  return (await fetch(url)).json();
}

async function post(url: string, body: object = {}): Promise<{ status: number; answer: Answer }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

async function until<T>(what: string, look: () => Promise<T | null | false>): Promise<T> {
  for (const end = Date.now() + 240_000; ; await delay(50)) {
    const found = await look().catch(() => null);
    if (found !== null && found !== false) return found;
    if (Date.now() > end) throw new Error(`in vain: ${what}`);
  }
}

const wallet = fundedWallets().findLast(({ version }) => version === 'v5r1')!;
const address = wallet.address.toFriendly({ bounceable: false });
const balanceOf = async (url: string) =>
  BigInt((await get(`${url}/api/v2/getAddressBalance?address=${address}`)).result);

/** The same but for what the account pays for its storage. */
const near = (balance: bigint, expected: bigint) => balance <= expected && balance > expected - 1_000_000n;

describe('tern dev', () => {
  it('is a network that lives, goes on where it was killed, and begins again when it is told to', async () => {
    const { dev, url } = await start();
    expect(dev.out).toContain(`v5r1  ${address}  1000000 TON\n        ${wallet.mnemonic!.join(' ')}\n`);
    expect(dev.out).toContain('This is a new chain; a block as soon as a message waits.');
    // The commands that it prints work at once.
    const lines = dev.out.split('\n').filter((line) => line.startsWith('  curl '));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const { status, stdout } = spawnSync('sh', [
        '-c',
        `${line.trim()} -s --fail -H 'content-type: application/json'`,
      ]);
      expect({ line, status }).toEqual({ line, status: 0 });
      JSON.parse(stdout.toString());
    }

    const seqno = async () => (await get(`${url}/api/v2/getMasterchainInfo`)).result.last.seqno as number;
    const first = await seqno();
    await until('the next heartbeat', async () => (await seqno()) > first);

    const before = await balanceOf(url);
    const funded = await post(`${url}/localnet/faucet`, { address, amount: '7000000000', comment: 'hello' });
    expect(funded.status).toBe(200);
    const hash = encodeURIComponent(funded.answer.message_hash);
    await until('the coins', async () => near(await balanceOf(url), before + 7_000_000_000n));
    const trace = await until('the trace', async () => {
      const { traces } = await get(`${url}/api/v3/traces?msg_hash=${hash}`);
      return traces.length > 0 && !traces[0].is_incomplete && traces[0];
    });
    expect(trace.trace_info).toMatchObject({ transactions: 2, pending_messages: 0 });
    const head = await seqno();
    expect(await dev.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });

    const second = await start();
    expect(second.dev.out).toMatch(/The chain continues from masterchain block \d+; /);
    expect((await get(`${second.url}/api/v2/getMasterchainInfo`)).result.last.seqno).toBeGreaterThanOrEqual(head);
    expect(near(await balanceOf(second.url), before + 7_000_000_000n)).toBe(true);
    // Just after the start, a busy machine may not answer within the deadline of requests.
    const again = await until('the trace after the kill', async () => {
      const answer = await get(`${second.url}/api/v3/traces?msg_hash=${hash}`);
      return answer.error === undefined && answer;
    });
    expect(again).toMatchObject({ traces: [{ trace_id: trace.trace_id }] });
    expect(await second.dev.end('SIGINT')).toEqual({ code: 0, signal: null });
    expect(second.dev.err).toBe('');
    const left = () => spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n');
    await expect.poll(() => left().filter((line) => line.includes(data))).toEqual([]);

    const third = await start(['--reset']);
    expect(third.dev.out).toContain('This is a new chain');
    expect(await balanceOf(third.url)).toBe(1_000_000_000_000_000n);
    const { traces } = await until('an index', async () => {
      const answer = await get(`${third.url}/api/v3/traces?msg_hash=${hash}`);
      return answer.traces !== undefined && answer;
    });
    expect(traces).toEqual([]);
  });

  it('goes back to a snapshot, and all that follows the chain goes with it', async () => {
    const { url } = await start(['--block-time', '0']);
    const control = `${url}/localnet`;
    const chain = async () => (await get(`${control}/status`)).chain as string;
    expect((await post(`${control}/snapshots/save`, { name: 'before' })).status).toBe(200);
    const [atSnapshot, name] = [await balanceOf(url), await chain()];
    const { answer } = await post(`${control}/faucet`, { address, amount: '1000000000' });
    const hash = encodeURIComponent(answer.message_hash);
    const traces = async () => (await get(`${url}/api/v3/traces?msg_hash=${hash}`)).traces;
    await until('the trace', async () => (await traces())[0]?.is_incomplete === false);
    await until('the balance', async () => near(await balanceOf(url), atSnapshot + 1_000_000_000n));
    expect((await post(`${control}/snapshots/load`, { name: 'before' })).status).toBeLessThan(300);
    await until('another chain', async () => (await chain()) !== name);
    await until('the balance of the snapshot', async () => (await balanceOf(url)) === atSnapshot);
    expect(await until('the index', async () => (await traces()) ?? false)).toEqual([]);

    const { seqno } = (await get(`${control}/status`)).head;
    await delay(1_000);
    expect((await get(`${control}/status`)).head.seqno).toBe(seqno);
    expect((await post(`${control}/mine`, { blocks: 3 })).answer.block.seqno).toBe(seqno + 3);
  });

  it('answers all that its user asks at once', async () => {
    const { url } = await start(['--index', 'off']);
    const asked = Array.from({ length: 1_200 }, async (_, number) => {
      const account = `0:${number.toString(16).padStart(64, '0')}`;
      if (number % 2 === 0) return fetch(`${url}/api/v2/getAddressInformation?address=${account}`);
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({
        id: number,
        jsonrpc: '2.0',
        method: 'getAddressState',
        params: { address: account },
      });
      return fetch(`${url}/api/v2/jsonRPC`, { method: 'POST', headers, body });
    });
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('says what is damaged in its chain, and touches nothing', async () => {
    const { dev, url } = await start(['--index', 'off']);
    expect((await post(`${url}/localnet/snapshots/save`, { name: 'whole' })).status).toBe(200);
    await dev.end('SIGTERM');
    running = null;
    const localnet = join(data, 'localnet');
    const chain = readdirSync(localnet, { recursive: true, encoding: 'utf8' });
    const pack = join(localnet, chain.find((name) => name.endsWith('.pack'))!);
    // Its snapshots share the file: this one gets a file of its own.
    const beginning = readFileSync(pack).subarray(0, 100);
    rmSync(pack);
    writeFileSync(pack, beginning);
    const { status, stderr } = await runTern(['dev', '--data', data, '--port', '0', '--index', 'off']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^tern: ledger\/damaged: [^\n]*\.pack[^\n]*--reset/);
    expect(readFileSync(pack)).toHaveLength(100);
    const { dev: restored } = await start(['--index', 'off', '--snapshot', 'whole']);
    expect(restored.out).toContain('The chain continues from masterchain block');
  });
});
