import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';

let base: string;
let sound: string;

const start = (folder: string) => startEmbeddedServer({ folder, sync: false }, { clock: systemClock });

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tern-damage-'));
  await chmod(base, 0o755);
  sound = join(base, 'sound');
  await (await start(sound)).close();
});

afterAll(() => rm(base, { recursive: true, force: true }));

async function damaged(name: string, damage: (cluster: string) => Promise<void>): Promise<string> {
  const folder = join(base, name);
  execFileSync('cp', ['-a', sound, folder]);
  await damage(join(folder, 'cluster'));
  return folder;
}

async function removeAll(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
}

describe('a damaged cluster is refused in one sentence with its folder and what to do', () => {
  it.each<[string, (cluster: string) => Promise<void>]>([
    ['pg_control is cut', (cluster) => truncate(join(cluster, 'global', 'pg_control'), 100)],
    ['pg_control is empty', (cluster) => truncate(join(cluster, 'global', 'pg_control'), 0)],
    ['pg_control is missing', (cluster) => rm(join(cluster, 'global', 'pg_control'))],
    ['the WAL is missing', (cluster) => removeAll(join(cluster, 'pg_wal'))],
    ['PG_VERSION is garbage', (cluster) => writeFile(join(cluster, 'PG_VERSION'), 'garbage\n')],
    ['PG_VERSION is missing', (cluster) => rm(join(cluster, 'PG_VERSION'))],
    ['the list of databases is missing', (cluster) => rm(join(cluster, 'global', 'pg_filenode.map'))],
  ])('%s', async (name, damage) => {
    const folder = await damaged(name.replaceAll(' ', '-'), damage);
    const error = await start(folder).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'store/embedded-damaged', class: 'caller' });
    expect(error.message).toContain(join(folder, 'cluster'));
    expect(error.message).not.toContain('\n');
    expect(error.remedy).toContain('delete it');
  });
});

it('a copy of a running cluster is refused, and the original is left alone', async () => {
  const original = await start(sound);
  try {
    const copy = join(base, 'copy');
    execFileSync('cp', ['-a', sound, copy]);
    await expect(start(copy)).rejects.toMatchObject({
      code: 'store/embedded-copied',
      data: { original: join(sound, 'cluster') },
    });
    expect(original.pid).not.toBeNull();
  } finally {
    await original.close();
  }
  // After the original has ended, too.
  await expect(start(join(base, 'copy'))).rejects.toMatchObject({ code: 'store/embedded-copied' });
});
