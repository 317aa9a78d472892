import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { Random } from '#test/fuzz/random.js';
import { differences, isWhole, onDatabase } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import type { Scenario, Trial } from './scenario.js';

/** Of a test: a power cut is not what is tried. */
const SETTINGS = { fsync: 'off', shared_buffers: '64MB', max_wal_size: '256MB' };
const PATIENCE_MS = 240_000;
const BLOCKS_PER_SECOND = 12;

/** A PostgreSQL of our own, that may be killed. */
export async function ownServer(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedServer> {
  return startEmbeddedServer({ folder, sync: false, settings: { ...SETTINGS, ...settings } }, { clock: systemClock });
}

/** What is done to a database, each some times. */
const HURTS: Readonly<Record<string, (server: EmbeddedServer) => Promise<void>>> = {
  'a backend killed': async (server) => {
    const pids = await onDatabase(server.url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'tern' ORDER BY xact_start NULLS LAST`,
      );
      return rows.map(({ pid }) => pid);
    });
    sendSignal(pids?.[0] ?? null, 'SIGKILL');
  },
  'the server killed': async ({ pid }) => sendSignal(pid, 'SIGKILL'),
  'stopped fast': async ({ pid }) => sendSignal(pid, 'SIGINT'),
  'connections cut': async (server) => {
    await onDatabase(server.url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tern%' AND pid <> pg_backend_pid()`,
      ),
    );
  },
};

/** To a process that may have ended by itself. */
function sendSignal(pid: number | null, signal: NodeJS.Signals): void {
  try {
    if (pid !== null) process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL ends in several ways while the index is written, and is started again. */
export const databaseOutages: Scenario = async (trial) => {
  const folder = await mkdtemp(join(tmpdir(), 'tern-sim-postgres-'));
  const found: string[] = [];
  try {
    const server = await ownServer(folder);
    try {
      for (const work of ['follow', 'fill'] as const) found.push(...(await hurtWhile(trial, server, work)));
    } finally {
      await server.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return found;
};

async function hurtWhile(trial: Trial, server: EmbeddedServer, work: 'follow' | 'fill'): Promise<string[]> {
  const { network, program, reference, say, seed } = trial;
  const random = new Random(`${seed} ${work}`);
  const url = await server.ensureDatabase(work);
  const data = await mkdtemp(join(network.folder, 'data-'));
  await network.restart(work === 'follow' ? 1 : null);
  if (work === 'follow') network.follow(BLOCKS_PER_SECOND);
  const args = { config: network.config, databaseUrl: url, data, workers: 2 };
  const tern = new IndexerProcess(program, { command: work === 'fill' ? 'index' : 'serve', ...args });
  const counts = new Map<string, number>();
  const startedAt = performance.now();
  try {
    const until = Date.now() + PATIENCE_MS;
    while (!tern.leads && !tern.hasEnded && Date.now() < until) await delay(20);
    const names = Object.keys(HURTS);
    for (let n = 0; !(await whole(url, network.last)) && !tern.hasEnded && Date.now() < until; n++) {
      await delay(random.below(work === 'fill' ? 800 : 2500));
      const name = names[n % names.length]!;
      if (n > 40) continue;
      await HURTS[name]!(server);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (work === 'fill') await Promise.race([tern.ended, delay(60_000)]);
  } finally {
    await tern.kill();
  }
  const differing = (await onDatabase(url, (client) => differences(reference, client))) ?? ['no database'];
  const done = [...counts].map(([name, times]) => `${name} ${times} times`).join(', ');
  const retries = tern.log.split('indexing is waiting for a retry').length - 1;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(
    `database, ${work}: ${done}; said ${retries} times that it waits; ${seconds} s; ${differing.join('\n') || 'same rows'}`,
  );
  return differing.length === 0 ? [] : [...differing, tern.log];
}

async function whole(url: string, last: number): Promise<boolean> {
  return (await onDatabase(url, (client) => isWhole(client, last))) === true;
}
