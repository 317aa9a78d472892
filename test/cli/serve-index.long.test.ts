import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { type RecordedNetwork, serveRecording } from '#test/support/recorded-network.js';
import { runTern, TernProcess } from '#test/support/tern-process.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const away = mkdtempSync(join(tmpdir(), 'tern-serve-index-'));
const network = join(away, 'recorded.config.json');
const other = join(away, 'other.config.json');
const served: RecordedNetwork[] = [];

beforeAll(async () => {
  chmodSync(away, 0o755);
  served.push(await serveRecording(vectorPath('recorded-chain'), null, network));
  served.push(await serveRecording(vectorPath('mainnet-genesis'), 9, other));
});
afterAll(async () => {
  for (const each of served) await each.close();
  rmSync(away, { recursive: true });
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function database(content: 'schema' | 'empty'): Promise<TestDatabase> {
  const made = await testDatabase(content);
  open.push(() => made.close());
  return made;
}

/** Starts `tern serve`, and gives the URLs where it listens. */
async function start(args: readonly string[]): Promise<{ readonly serve: TernProcess; readonly urls: string[] }> {
  const all = [
    'serve',
    '--data',
    join(away, 'data'),
    '--listen',
    '127.0.0.1:0',
    '--tvm-workers',
    '1',
    '--metadata',
    'off',
  ];
  const serve = await TernProcess.start([...all, ...args], ({ err }) => err.includes('ready for requests'));
  open.push(() => serve.kill());
  return { serve, urls: [...serve.err.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url!) };
}

async function get(url: string) {
  const response = await fetch(url);
  const text = await response.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : null;
  return { status: response.status, headers: response.headers, body, text };
}

/** Asks until the answer is as wanted. */
async function until(url: string, wanted: (answer: Awaited<ReturnType<typeof get>>) => boolean) {
  for (const end = Date.now() + 240_000; ; await delay(100)) {
    const answer = await get(url);
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`${url} does not answer as wanted: ${answer.status} ${answer.text}`);
  }
}
const hasStatus = (wanted: number) => (answer: { readonly status: number }) => answer.status === wanted;
const last = () => served[0]!.lastSeqno;
type Health = { readonly body: Record<string, any> | null };
/** As who only reads sees it. */
const isComplete = ({ body }: Health) =>
  body?.networks.recorded.details.index_head_seqno === last() &&
  body.networks.recorded.details.index_missing_blocks === 0;
/** As who writes sees it. */
const isWhole = (health: Health) =>
  isComplete(health) && health.body?.networks.recorded.details.index_fill_missing_blocks === 0;

describe('tern serve with an index', () => {
  it('serves v2 alone without a database, and says so', async () => {
    const { serve, urls } = await start(['--network', network]);
    expect((await until(`${urls[0]}/readyz`, hasStatus(200))).body).toMatchObject({
      networks: { recorded: { details: { index: 'none: no database is configured' } } },
    });
    expect(serve.err).toMatch(/"reason":"no database is configured","message":"API v3 is not served without an index"/);
    expect((await get(`${urls[0]}/api/v3/masterchainInfo`)).status).toBe(404);
    expect((await get(`${urls[0]}/metrics`)).text).not.toContain('tern_index_');
  });

  it('has an indexer and API nodes as processes of their own, which share a database', async () => {
    const { url, connect } = await database('empty');
    const shared = ['--network', network, '--database-url', url];
    const api = await start([...shared, '--role', 'api']);
    // Nothing is there yet, and an API node makes nothing.
    const none = await get(`${api.urls[0]}/api/v3/masterchainInfo`);
    expect(none).toMatchObject({
      status: 503,
      body: { error: expect.stringMatching(/^the index is unavailable/) },
    });
    expect(none.headers.get('retry-after')).toBe('1');
    expect((await until(`${api.urls[0]}/api/v2/getMasterchainInfo`, hasStatus(200))).status).toBe(200);
    const tables = await (await connect()).query('SELECT FROM pg_tables WHERE schemaname = current_schema()');
    expect(tables.rowCount).toBe(0);

    const indexer = await start([...shared, '--role', 'indexer']);
    const ready = await until(`${indexer.urls[0]}/readyz`, isWhole);
    expect(ready.body!.networks.recorded).toMatchObject({
      ready: true,
      details: { index_role: 'indexer', index_writer: 'leader', index_problem: null },
    });
    for (const path of ['/api/v2/getMasterchainInfo', '/api/v3/masterchainInfo']) {
      expect((await get(`${indexer.urls[0]}${path}`)).status, path).toBe(404);
    }
    const { text } = await get(`${indexer.urls[0]}/metrics`);
    expect(text).toContain('tern_index_leader{network="recorded"} 1\n');
    expect(text).toContain(`tern_index_head_seqno{network="recorded"} ${last()}\n`);
    expect(text).toContain(`tern_index_written_masterchain_blocks_total{network="recorded"} ${last()}\n`);
    expect(text).toMatch(/^tern_database_connections\{network="recorded",pool="write"\} [1-9]/m);

    const info = await until(
      `${api.urls[0]}/api/v3/masterchainInfo`,
      ({ headers }) => headers.get('x-tern-mc-seqno') === String(last()),
    );
    expect(info.body).toMatchObject({ last: { seqno: last() }, first: { seqno: 1 } });
    expect(info.headers.get('x-tern-lag-ms')).toBe('0');
    const readable = await until(`${api.urls[0]}/readyz`, isComplete);
    expect(readable.body!.networks.recorded.details).toMatchObject({ index: 'readable', index_role: 'api' });
    const ofApi = (await get(`${api.urls[0]}/metrics`)).text;
    expect(ofApi).toContain('tern_index_readable{network="recorded"} 1\n');
    expect(ofApi).not.toMatch(/^tern_index_leader\{/m);

    // A second indexer stands by.
    const second = await start([...shared, '--role', 'indexer']);
    const waits = await until(`${second.urls[0]}/readyz`, isWhole);
    expect(waits.body!.networks.recorded.details).toMatchObject({ index_writer: 'stand-by' });
    expect(await indexer.serve.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    await until(`${second.urls[0]}/readyz`, ({ body }) => body!.networks.recorded.details.index_writer === 'leader');
  });

  it('goes on without its database, at the start and later, and with it again by itself', async () => {
    const options = { folder: join(away, 'postgres'), sync: false };
    const modules = { clock: systemClock };
    let postgres = await startEmbeddedServer(options, modules);
    open.push(() => postgres.close());
    const { url } = postgres;
    await postgres.close();

    const { serve, urls } = await start(['--network', network, '--database-url', url]);
    const v3 = `${urls[0]}/api/v3/masterchainInfo`;
    // Another seqno each time: an answer that is kept would tell nothing.
    let seqno = 0;
    const v2 = () => `${urls[0]}/api/v2/getBlockHeader?workchain=-1&shard=-9223372036854775808&seqno=${++seqno}`;
    const expectDown = async () => {
      const down = await until(`${urls[0]}/api/v3/blocks?seqno=${seqno}`, hasStatus(503));
      expect(down).toMatchObject({
        status: 503,
        body: { error: expect.stringMatching(/^the index is unavailable: the database does not answer: /) },
      });
      expect((await until(v2(), hasStatus(200))).status).toBe(200);
      const ready = await until(`${urls[0]}/readyz`, (answer) => answer.text.includes('"index":"unreadable"'));
      expect(ready.body!.networks.recorded).toMatchObject({
        ready: true,
        details: { index: 'unreadable', index_problem: expect.stringMatching(/^the database does not answer: /) },
      });
      const metrics = await until(`${urls[0]}/metrics`, ({ text }) => text.includes('tern_index_readable'));
      expect(metrics.text).toContain('tern_index_readable{network="recorded"} 0\n');
    };
    await expectDown();
    postgres = await startEmbeddedServer(options, modules);
    expect((await until(v3, hasStatus(200))).body).toMatchObject({ last: { workchain: -1 } });
    await until(`${urls[0]}/readyz`, isWhole);

    await postgres.close();
    await expectDown();
    postgres = await startEmbeddedServer(options, modules);
    expect((await until(v3, hasStatus(200))).body).toMatchObject({ last: { seqno: last() }, first: { seqno: 1 } });
    const isWell = ({ body }: Health) => body?.networks.recorded.details.index_problem === null;
    const well = await until(`${urls[0]}/readyz`, (answer) => isWell(answer) && isWhole(answer));
    expect(well.body!.networks.recorded.details).toMatchObject({ index: 'readable', index_problem: null });
    expect(serve.err).not.toContain('fault');
    expect(await serve.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('gives each of several networks its own index', async () => {
    const [one, two] = [await database('empty'), await database('empty')];
    const networks = ['--network', `recorded=${network}`, '--network', `other=${other}`];
    const { urls } = await start([
      ...[...networks, '--host-of', 'other=other.example.org'],
      ...['--listen', 'recorded=127.0.0.1:0', '--listen', 'other=127.0.0.1:0'],
      ...['--database-url', `recorded=${one.url}`, '--database-url', `other=${two.url}`],
    ]);
    const lastOf = (url: string, seqno: number) =>
      until(`${url}/api/v3/masterchainInfo`, ({ body }) => body?.last?.seqno === seqno);
    const [, ofRecorded, ofOther] = urls as [string, string, string];
    expect((await lastOf(ofRecorded, last())).body).toMatchObject({ last: { seqno: last() } });
    expect((await lastOf(ofOther, 9)).body).toMatchObject({ last: { seqno: 9 } });
    const { text } = await get(`${ofOther}/metrics`);
    expect(text).toContain('tern_index_head_seqno{network="other"} 9\n');
    expect(text).not.toContain('network="recorded"');
  });

  it('refuses what is wrong in one line, and touches nothing', async () => {
    const { url } = await database('empty');
    const foreign = await database('empty');
    const client = await foreign.connect();
    await client.query('CREATE TABLE theirs (a integer)');
    const filled = await database('schema');
    const data = ['--data', join(away, 'wrong'), '--log-level', 'silent'];
    const fill = ['index', '--network', network, '--database-url', filled.url, '--to', '1', ...data];
    expect(await runTern(fill)).toMatchObject({ status: 0 });
    const served = ['serve', '--listen', '127.0.0.1:0', ...data];
    for (const [args, line] of [
      [['--network', network, '--database-url', foreign.url], /^tern: store\/schema-foreign: .*nothing was changed/],
      [['--network', other, '--database-url', filled.url], /^tern: store\/other-network: .*nothing was changed/],
      [['--network', other, '--database-url', filled.url, '--role', 'api'], /^tern: store\/other-network: /],
      [
        ['--network', network, '--role', 'indexer'],
        /^tern: config\/setting-conflict: --role indexer requires a database/,
      ],
      [['--network', network, '--database-url', url, '--accounts', '/no/such'], /^tern: config\/account-list: /],
      [
        ['--network', network, '--database-url', url, '--metadata-overrides', '/no/such'],
        /^tern: metadata\/overrides: /,
      ],
      [['--network', network, '--database-url', 'postgresql://'], /^tern: store\/bad-url|^tern: config\/bad-setting/],
    ] as const) {
      const { status, stdout, stderr } = await runTern([...served, ...args]);
      expect({ status, stdout }, args.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr, args.join(' ')).toMatch(line);
      expect(stderr.trim().split('\n'), args.join(' ')).toHaveLength(1);
    }
    expect((await client.query('SELECT FROM pg_tables WHERE schemaname = current_schema()')).rowCount).toBe(1);
  });
});
