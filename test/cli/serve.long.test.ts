import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyPairFromSeed } from '#drivers/adnl/keys.js';
import { globalConfig } from '#localnet/liteserver/server.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { type RecordedNetwork, serveRecording } from '#test/support/recorded-network.js';
import { runTern, TernProcess } from '#test/support/tern-process.js';
import { vectorPath } from '#test/support/vector-files.js';

const away = mkdtempSync(join(tmpdir(), 'tern-serve-'));
const recorded = join(away, 'recorded.config.json');
const genesis = join(away, 'genesis.config.json');
const gone = join(away, 'gone.config.json');
const networks: RecordedNetwork[] = [];
/** A port on which nobody listens. */
let deadPort = 0;

beforeAll(async () => {
  networks.push(await serveRecording(vectorPath('recorded-chain'), 10, recorded));
  networks.push(await serveRecording(vectorPath('mainnet-genesis'), 9, genesis));
  const free = createServer();
  deadPort = await new Promise<number>((resolve) => {
    free.listen(0, '127.0.0.1', () => resolve((free.address() as { port: number }).port));
  });
  await new Promise((resolve) => free.close(resolve));
  const ledger = openReplay(vectorPath('recorded-chain'), { to: 1, head: null });
  const { publicKey } = keyPairFromSeed(randomBytes(32));
  const nobody = { host: '127.0.0.1', port: deadPort, publicKey };
  writeFileSync(gone, globalConfig(nobody, ledger.zerostate));
});

let running: TernProcess | null = null;
afterEach(async () => {
  await running?.kill();
  running = null;
});
afterAll(async () => {
  for (const network of networks) await network.close();
  rmSync(away, { recursive: true });
});

interface LogLine {
  readonly message: string;
  readonly url?: string;
  readonly networks?: string;
}

const logOf = ({ err }: TernProcess): LogLine[] =>
  err
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);

/** Starts it; the URLs are by the networks that are served there. */
async function start(data: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const serve = await TernProcess.start(
    ['serve', '--max-head-age', '0', '--data', join(away, data), ...args],
    (each) => each.err.includes('ready for requests'),
    environment,
  );
  running = serve;
  const listening = logOf(serve).filter(({ message }) => message === 'listening');
  return { serve, urls: Object.fromEntries(listening.map(({ url, networks }) => [networks!, url!])) };
}

/** GET with a host name. */
function get(url: string, host?: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: any; text: string }>(
    (resolve, reject) => {
      const asked = request(url, { headers: { ...headers, ...(host === undefined ? {} : { host }) } }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const body = text.startsWith('{') ? JSON.parse(text) : null;
          resolve({ status: response.statusCode!, headers: response.headers, body, text });
        });
      });
      asked.on('error', reject);
      asked.end();
    },
  );
}

/** Seqno of the head, as API v2 says. */
const head = async (url: string, host?: string) =>
  (await get(`${url}/api/v2/getMasterchainInfo`, host)).body.result.last.seqno;

const anyPort = ['--listen', '127.0.0.1:0'];

describe('tern serve', () => {
  it('serves two networks on one address by host name, named by file and by zerostate', async () => {
    const networks = ['--network', recorded, '--network', genesis];
    const { serve, urls } = await start('hosts', [...networks, ...anyPort, '--host-of', 'mainnet=main.example.org']);
    expect(Object.keys(urls)).toEqual(['recorded,mainnet']);
    const url = urls['recorded,mainnet']!;
    expect([await head(url), await head(url, 'main.example.org'), await head(url, 'other.example.org')]).toEqual([
      10, 9, 10,
    ]);
    const ready = await get(`${url}/readyz`);
    expect(ready.body).toMatchObject({
      ready: true,
      networks: { recorded: { head_seqno: 10 }, mainnet: { head_seqno: 9 } },
    });
    const { text } = await get(`${url}/metrics`);
    expect(text).toContain('tern_network_head_seqno{network="recorded"} 10\n');
    expect(text).toContain('tern_network_head_seqno{network="mainnet"} 9\n');
    expect(text).toMatch(/tern_tvm_workers\{network="mainnet"\} [1-9]/);
    expect(await serve.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(logOf(serve).at(-1)?.message).toBe('ended');
    expect(readdirSync(join(away, 'hosts', 'key-blocks')).map((name) => name.split('-')[0])).toEqual([
      'mainnet',
      'recorded',
    ]);
  });

  it('serves two networks on an address each, as the environment says', async () => {
    const args = ['--listen', '127.0.0.1:0', '--listen', 'two=127.0.0.1:0', '--liteserver-group', `own=${genesis}`];
    const { urls } = await start('ports', args, { TERN_NETWORK: `one=${recorded}, two=${genesis}` });
    expect(await head(urls.one!)).toBe(10);
    expect(await head(urls.two!)).toBe(9);
    expect((await get(`${urls.one}/metrics`)).text).not.toContain('network="two"');
    const { text } = await get(`${urls.two}/metrics`);
    expect(text).not.toContain('network="one"');
    // The private group of liteservers is of the network that its zerostate names.
    expect(text).toMatch(/tern_lite_server_requests_total\{network="two",group="own",/);
  });

  it('starts without a network that can be reached, and says what it tried and why it failed', async () => {
    const { serve, urls } = await start('gone', ['--network', gone, ...anyPort, '--request-timeout', '2']);
    const url = urls.gone!;
    const answer = await get(`${url}/api/v2/getMasterchainInfo`);
    expect(answer.status).toBe(503);
    // Clients get no addresses of liteservers; whoever watches over the service does.
    expect(answer.body).toMatchObject({
      ok: false,
      code: 503,
      error: expect.stringMatching(/^no liteserver answered /),
    });
    expect(answer.text).not.toContain('127.0.0.1');
    const ready = await get(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({
      ready: false,
      problem: expect.stringMatching(/no liteserver of 1 .*ECONNREFUSED/),
    });
    await expect.poll(() => serve.err).toMatch(new RegExp(`127\\.0\\.0\\.1:${deadPort}.*ECONNREFUSED`));
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect((await get(`${url}/metrics`)).text).toContain('tern_network_ready{network="gone"} 0\n');
    expect(await serve.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('lets in by key, to the liteservers that the plan opens, and without one once a second', async () => {
    const folder = join(away, 'keys');
    const plans = join(away, 'plans.json');
    writeFileSync(plans, '{"plans": [{"name": "team", "requests_per_second": 50, "group": "own"}]}');
    const create = ['keys', 'create', '--data', folder, '--json', '--plans', plans, '--plan', 'team'];
    const { key } = JSON.parse((await runTern(create)).stdout) as { key: string };
    const access = ['--access', 'keys', '--plans', plans];
    const group = ['--liteserver-group', `own=${recorded}`];
    const { urls } = await start('keys', ['--network', recorded, ...anyPort, ...access, ...group]);
    const url = urls.recorded!;
    const readsOf = async (name: string) => {
      // Metrics are up to a second old.
      await delay(1_100);
      const { text } = await get(`${url}/metrics`);
      return Number(
        new RegExp(`tern_lite_requests_total\\{network="recorded",group="${name}"\\} (\\d+)`).exec(text)![1],
      );
    };
    while ((await get(`${url}/readyz`)).status !== 200) await delay(50);
    const [own, all] = [await readsOf('own'), await readsOf('public')];
    const block = `${url}/api/v2/getBlockHeader?workchain=-1&shard=-9223372036854775808&seqno=`;
    expect((await get(`${block}5`, undefined, { 'x-api-key': key })).status).toBe(200);
    await expect.poll(() => readsOf('own')).toBeGreaterThan(own);
    expect((await readsOf('public')) - all).toBe(0);
    expect((await get(`${block}5`, undefined, { 'x-api-key': 'wrong' })).status).toBe(401);
    const without = await Promise.all([get(`${block}6`), get(`${block}7`)]);
    expect(without.map(({ status }) => status).sort()).toEqual([200, 429]);
    await expect.poll(() => readsOf('public')).toBeGreaterThan(all);
    expect((await get(`${url}/metrics`)).text).toMatch(/^tern_access_unknown_keys_total 1$/m);
  });

  it('ends at once at a second signal', async () => {
    const { serve } = await start('twice', ['--network', recorded, ...anyPort, '--drain-delay', '60']);
    serve.send('SIGTERM');
    const early = await Promise.race([serve.ended, new Promise((resolve) => setTimeout(resolve, 500, 'drains'))]);
    expect(early).toBe('drains');
    expect(await serve.end('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('says in one line what is wrong, and starts nothing', async () => {
    const broken = join(away, 'broken.config.json');
    writeFileSync(broken, '{"liteservers": [{"ip": "x"}], "validator": {}}');
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /^tern: config\/missing-setting: --network \(or TERN_NETWORK\) is missing: a network to serve/],
      [
        ['--network', '/no/such'],
        /^tern: config\/network-list: the network config \/no\/such cannot be read: the file does not exist/,
      ],
      [['--network', broken], /^tern: lite\/bad-config: \S+broken\.config\.json: validator\.zero_state/],
      [
        ['--network', `http://127.0.0.1:${deadPort}/x.json`],
        /^tern: config\/network-list: the network config http:\/\/127\.0\.0\.1:\d+\/x\.json cannot be read: .*ECONNREFUSED/,
      ],
      [
        ['--network', recorded, '--network', genesis],
        /^tern: config\/setting-conflict: mainnet cannot be distinguished from recorded/,
      ],
      [
        ['--network', recorded, '--network', recorded],
        /^tern: config\/setting-conflict: \S+ and \S+ both have the name "recorded"/,
      ],
      [['--network', recorded, '--data', recorded], /^tern: config\/data-folder: the data folder \S+ cannot be used/],
      [['--network', recorded, '--redis-url', 'hunter2'], /^tern: config\/bad-setting: --redis-url is invalid/],
      [
        ['--network', genesis, '--liteserver-group', `public=${genesis}`],
        /^tern: config\/setting-conflict: a liteserver group \(\S+\) cannot have the name "public"/,
      ],
      [
        ['--network', recorded, '--liteserver-group', `own=${genesis}`],
        /^tern: config\/setting-conflict: the liteserver group own \(\S+\) does not match the zerostate of any served network/,
      ],
      [
        ['--network', recorded, '--access', 'keys', '--plans', broken],
        /^tern: access\/field: \S+broken\.config\.json: /,
      ],
    ];
    for (const [args, line] of rows) {
      const withData = args.includes('--data') ? args : [...args, '--data', join(away, 'wrong')];
      const { status, stdout, stderr } = await runTern([
        'serve',
        '--log-level',
        'silent',
        ...withData,
        ...(args.includes('--listen') ? [] : anyPort),
      ]);
      expect({ status, stdout }, args.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr, args.join(' ')).toMatch(line);
      expect(stderr.trim().split('\n'), args.join(' ')).toHaveLength(1);
    }
  });
});

describe('tern config --print', () => {
  it('shows each setting of tern serve, and where it comes from, but no secrets', async () => {
    const args = ['config', '--print', '--listen', 'a=[::1]:1', '--listen', '127.0.0.1:2'];
    const { status, stdout, stderr } = await runTern(args, {
      TERN_REDIS_URL: 'redis://:hunter2@localhost',
      TERN_CACHE_MB: '5',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toContain('hunter2');
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows).toContainEqual(['--listen', 'a=[::1]:1', 'flag']);
    expect(rows).toContainEqual(['--listen', '127.0.0.1:2', 'flag']);
    expect(rows).toContainEqual(['--redis-url', '(secret)', 'environment']);
    expect(rows).toContainEqual(['--cache-mb', '5', 'environment']);
    expect(rows).toContainEqual(['--network', '-', 'default']);
    expect(rows).toContainEqual(['--profile', 'spec', 'default']);
  });

  it('refuses what tern serve would refuse', async () => {
    const { status, stderr } = await runTern(['config', '--print'], { TERN_LISTEN: 'nowhere' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^tern: config\/bad-setting: TERN_LISTEN is "nowhere"; accepted: HOST:PORT/);
  });
});
