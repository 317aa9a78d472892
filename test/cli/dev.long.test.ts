import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  endSoon,
  REPLAY_DEV_CHAIN,
  type ReplayedDev,
  startReplayedDev,
  untilIndexed,
} from '#test/support/replayed-dev.js';
import { runTern, type TernProcess } from '#test/support/tern-process.js';
import { vectorPath } from '#test/support/vector-files.js';

const away = mkdtempSync(join(tmpdir(), 'tern-dev-'));
// A database that root starts runs as another user, who has to get there.
chmodSync(away, 0o755);
const data = join(away, 'data');
afterAll(() => rmSync(away, { recursive: true }));

let running: TernProcess | null = null;
afterEach(async () => {
  await running?.kill();
  running = null;
});

async function start(args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): Promise<ReplayedDev> {
  const started = await startReplayedDev(data, args, environment);
  running = started.dev;
  return started;
}

async function get(url: string) {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

const json = async (response: Response) => (await response.json()) as Record<string, any>;

describe('tern dev of a recorded chain', () => {
  it('serves it until it is ended', async () => {
    const started = await start();
    const { dev, url } = started;
    // Not ready before the first masterchain block is indexed.
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await json(await fetch(`${url}/readyz`))).toMatchObject({
      ready: true,
      networks: { dev: { head_seqno: 380 } },
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    const api = `${url}/api/v2`;
    const body = (value: object) => ({ method: 'POST', body: JSON.stringify(value) });
    const answers = [
      await fetch(`${api}/getMasterchainInfo`),
      await fetch(`${api}/getMasterchainInfo`, body({})),
      await fetch(`${api}/jsonRPC`, body({ jsonrpc: '2.0', id: 'x', method: 'getMasterchainInfo', params: {} })),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-api-version')).toMatch(/^v2\.2\.\d+$/);
      expect(await json(answer)).toMatchObject({ ok: true, result: { last: { seqno: 380 } } });
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('tern_network_ready{network="dev"} 1\n');
    expect(metrics).toContain('tern_network_head_seqno{network="dev"} 380\n');
    expect(metrics).toMatch(/^tern_lite_requests_total\{network="dev",group="public"\} \d+$/m);
    expect(metrics).toMatch(/^tern_http_request_duration_seconds_count\{.*getMasterchainInfo.*\} 3$/m);
    expect(metrics).toMatch(/^process_cpu_seconds_total /m);

    await untilIndexed(url);
    // The requests that it prints.
    const lines = dev.out.split('\n').filter((line) => line.startsWith('  curl '));
    const urls = lines.map((line) => /http:[^\s']+/.exec(line)![0]);
    expect(urls.map((each) => each.startsWith(`${api}/`))).toEqual([true, true, true, false, false]);
    const results = await Promise.all(
      urls.map(async (each, i) => {
        const printed = / -d '(.+)'$/.exec(lines[i]!)?.[1];
        return json(await fetch(each, printed === undefined ? {} : { method: 'POST', body: printed }));
      }),
    );
    expect(results).toMatchObject([
      { ok: true, result: { last: { seqno: 380 } } },
      { ok: true, result: { state: 'active' } },
      { ok: true, result: { '@type': 'fullAccountState' } },
      { last: { seqno: 380 }, first: { seqno: 1 } },
      { transactions: Array(3).fill({ account: `-1:${'5'.repeat(64)}` }) },
    ]);
    expect(metrics).toContain('tern_database_open{network="dev"} 1\n');

    await endSoon(started, 'SIGTERM');
    expect(dev.err).toBe('');
  });

  it('serves another recorded chain, and with v2 alone when no index is wanted', async () => {
    const { dev, url } = await start([
      '--replay',
      vectorPath('recorded-chain'),
      '--index',
      'off',
      '--log-level',
      'info',
    ]);
    expect(dev.out).toContain('  API v3     off: --index off\n');
    expect(dev.out).not.toContain('/api/v3');
    expect((await get(`${url}/api/v2/getMasterchainInfo`)).status).toBe(200);
    expect((await get(`${url}/api/v3/masterchainInfo`)).status).toBe(404);
    const { networks } = JSON.parse((await get(`${url}/readyz`)).text);
    expect(networks.dev.details.index).toBe('none: --index off');
    expect(await json(await fetch(`${url}/api/v2/getMasterchainInfo`))).toMatchObject({
      result: { last: { seqno: 10 } },
    });
    const log = dev.err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string; url?: string });
    expect(log.find(({ message }) => message === 'listening')?.url).toBe(url);
    expect(await dev.end('SIGINT')).toEqual({ code: 0, signal: null });
  });

  it('says in one sentence that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = await runTern([
      'dev',
      '--data',
      data,
      ...REPLAY_DEV_CHAIN,
      '--port',
      String(port),
    ]);
    other.close();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(
        `^tern: http/cannot-listen: cannot listen on 127\\.0\\.0\\.1:${port}: another program listens there\\. Choose another port [^\\n]+\\n$`,
      ),
    );
  });

  it.each([
    ['a folder that is not there', ['--replay', '/no/such'], /^tern: replay\/unreadable-folder: \/no\/such cannot/],
    ['a wrong port', ['--port', '65536'], /^tern: config\/bad-setting: --port is "65536"; accepted: a whole number/],
    ['a wrong host', ['--host', 'a b'], /^tern: config\/bad-setting: --host is "a b"/],
    ['an unknown flag', ['--ports', '1'], /^tern: cli\/usage: unknown option '--ports'/],
  ])('says in one line what is wrong: %s', async (_, args, line) => {
    const { status, stdout, stderr } = await runTern(['dev', '--data', data, ...REPLAY_DEV_CHAIN, ...args]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('says so when the data folder cannot be one', async () => {
    const file = join(away, 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'below')]) {
      const { status, stderr } = await runTern(['dev'], { TERN_DATA: folder });
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^tern: config\/data-folder: the data folder \S+ cannot be used: the folder \S+ cannot be created[^:]*: it is a file/,
      );
    }
  });
});
