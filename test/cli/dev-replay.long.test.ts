import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { endSoon, type ReplayedDev, startReplayedDev, untilIndexed } from '#test/support/replayed-dev.js';

const away = mkdtempSync(join(tmpdir(), 'tern-dev-'));
// A database that root starts runs as another user, who has to get there.
chmodSync(away, 0o755);
const data = join(away, 'data');
afterAll(() => rmSync(away, { recursive: true }));

const running: ReplayedDev[] = [];
afterEach(async () => {
  for (const { dev } of running.splice(0)) await dev.kill();
});

async function start(args: readonly string[] = []): Promise<ReplayedDev> {
  const started = await startReplayedDev(data, args);
  running.push(started);
  return started;
}

const text = async (url: string): Promise<string> => (await fetch(url)).text();

it('tern dev of a recorded chain goes on with the index that it has made, also when it was killed, and leaves no process', async () => {
  const { dev, url } = await start(['--log-level', 'info']);
  await untilIndexed(url);
  const written = async (at: string) =>
    Number(
      /^tern_index_written_masterchain_blocks_total\{network="dev"\} (\d+)/m.exec(await text(`${at}/metrics`))![1],
    );
  const answer = (at: string) => text(`${at}/api/v3/transactions?mc_seqno=100&limit=50`);
  const before = await answer(url);
  expect(JSON.parse(before).transactions.length).toBeGreaterThan(0);
  expect(await dev.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });

  const second = await start();
  expect(await text(`${second.url}/api/v3/masterchainInfo`)).toContain('"seqno":380');
  expect(await answer(second.url)).toBe(before);
  expect(await written(second.url)).toBe(0);
  await endSoon(second, 'SIGINT');
  // What a process names in its arguments: the folder of the database is one of them. The shell that watches over
  // PostgreSQL ends just after the process that started it.
  const left = () =>
    spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.includes(data));
  await expect.poll(left).toEqual([]);
});
