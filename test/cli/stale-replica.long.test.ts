import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { copyFolder } from '#test/support/database-server.js';
import { ServedTern } from '#test/support/served-tern.js';
import { runTern } from '#test/support/tern-process.js';
import { vectorPath } from '#test/support/vector-files.js';
import { type RecordedNetwork, recordedNetwork } from '../sim/recorded-network.js';

/** Where the replica stands. */
const STALE = 100;
/** Where the chain and its primary stand. */
const HEAD = 300;

const away = mkdtempSync(join(tmpdir(), 'tern-replica-'));
const closers: (() => Promise<unknown>)[] = [];
let network: RecordedNetwork;
let primary: EmbeddedServer;
let replica: EmbeddedServer;

const start = async (folder: string, settings: Readonly<Record<string, string>> = {}): Promise<EmbeddedServer> => {
  const all = { fsync: 'off', shared_buffers: '32MB', wal_level: 'replica', ...settings };
  const server = await startEmbeddedServer({ folder, sync: false, settings: all }, { clock: systemClock });
  closers.push(() => server.close());
  return server;
};

const index = (url: string, to: number) =>
  runTern([
    ...['index', '--network', network.config, '--database-url', url, '--data', join(away, 'data')],
    ...['--from', '1', '--to', String(to), '--log-level', 'silent'],
  ]);

beforeAll(async () => {
  chmodSync(away, 0o755);
  network = await recordedNetwork(vectorPath('dev-chain'), HEAD);
  closers.push(() => network.close());
  const before = await start(join(away, 'primary'));
  expect(await index(before.url, STALE)).toMatchObject({ status: 0 });
  await before.close();
  await copyFolder(join(away, 'primary'), join(away, 'replica'));
  // A standby that gets nothing from its primary any more.
  writeFileSync(join(away, 'replica', 'cluster', 'standby.signal'), '');
  replica = await start(join(away, 'replica'));
  primary = await start(join(away, 'primary'));
  expect(await index(primary.url, HEAD)).toMatchObject({ status: 0 });
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  rmSync(away, { recursive: true, force: true });
});

/** Answers have any form. */
type Answer = any;

/** A process that reads the replica. */
async function serve(more: readonly string[], isReady: boolean): Promise<{ url: string; close: () => Promise<void> }> {
  const flags = ['--network', `chain=${network.config}`, '--data', join(away, 'data'), '--listen', '127.0.0.1:0'];
  const databases = ['--database-url', primary.url, '--database-read-url', replica.url];
  const tern = await ServedTern.start(
    ['serve', '--role', 'api', ...flags, ...databases, ...more],
    undefined,
    {},
    isReady,
  );
  return { url: tern.url, close: () => tern.close() };
}

async function ask(url: string): Promise<{ status: number; headers: Headers; body: Answer }> {
  const answer = await fetch(url);
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

it('a replica that stays behind is read, and each answer says how far it is behind', async () => {
  const { url, close } = await serve([], true);
  try {
    await expect.poll(async () => (await ask(`${url}/api/v3/masterchainInfo`)).status).toBe(200);
    const ready = await ask(`${url}/readyz`);
    const { details } = ready.body.networks.chain;
    expect(ready.status).toBe(200);
    expect(details).toMatchObject({ index: 'readable', index_head_seqno: STALE, index_missing_blocks: 0 });
    expect(details.index_lag_seconds).toBeGreaterThan(60);
    const { headers, body } = await ask(`${url}/api/v3/transactions?limit=10&sort=desc`);
    expect(headers.get('x-tern-mc-seqno')).toBe(String(STALE));
    expect(Number(headers.get('x-tern-lag-ms'))).toBe(details.index_lag_seconds * 1000);
    for (const { mc_block_seqno } of body.transactions) expect(mc_block_seqno).toBeLessThanOrEqual(STALE);
    // API v2 reads the chain.
    expect((await ask(`${url}/api/v2/getMasterchainInfo`)).body.result.last.seqno).toBe(HEAD);
  } finally {
    await close();
  }
});

it('a process on such a replica is not ready when it may not be so far behind, and answers nevertheless', async () => {
  const { url, close } = await serve(['--max-index-lag', '60'], false);
  try {
    for (let triesLeft = 600; ; triesLeft--) {
      const { status, body } = await ask(`${url}/readyz`);
      const { problem } = body.networks.chain;
      if (status === 503 && /its newest block, 100, is \d+ s behind the chain, more than 60 s/.test(problem)) break;
      if (triesLeft === 0) throw new Error(`it does not say that it is behind: ${problem}`);
      await delay(100);
    }
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    expect((await ask(`${url}/api/v3/masterchainInfo`)).body.last.seqno).toBe(STALE);
  } finally {
    await close();
  }
});
