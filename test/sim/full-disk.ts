import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { differences, isWhole, onDatabase } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import { ownServer } from './outages.js';
import type { Scenario } from './scenario.js';

const execute = promisify(execFile);

const DISK_MB = 160;
const TIMES = 3;
const FULL_MS = 6000;
const BLOCKS_PER_SECOND = 12;
const PATIENCE_MS = 240_000;

/** The disk of the database, a small one of its own, becomes full several times while the index is written, and free again. */
export const fullDisk: Scenario = async ({ network, reference, program, say }) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    say('full disk: SKIPPED, only root on Linux may mount a small disk');
    return [];
  }
  const disk = await mkdtemp(join(tmpdir(), 'tern-sim-disk-'));
  await execute('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=755`, 'tmpfs', disk]);
  try {
    const server = await ownServer(join(disk, 'postgres'), { max_wal_size: '64MB', min_wal_size: '32MB' });
    try {
      const url = server.url;
      const data = await mkdtemp(join(network.folder, 'data-'));
      await network.restart(1);
      network.follow(BLOCKS_PER_SECOND);
      const args = { config: network.config, databaseUrl: url, data, workers: 2 };
      const tern = new IndexerProcess(program, { command: 'serve', ...args });
      const found: string[] = [];
      try {
        const until = Date.now() + PATIENCE_MS;
        while (!tern.leads && Date.now() < until) await delay(20);
        for (let n = 0; n < TIMES; n++) {
          await delay(1500 + n * 700);
          const said = tern.log.split('store/').length;
          const filler = join(disk, 'filler');
          // As much as there is; the error is what is wanted.
          await writeFile(filler, new Uint8Array(DISK_MB * 2 ** 20)).catch(() => {});
          await delay(FULL_MS);
          await rm(filler);
          if (tern.log.split('store/').length === said) found.push(`it does not say that the disk is full, ${n}`);
        }
        const end = Date.now() + PATIENCE_MS;
        while ((await onDatabase(url, (client) => isWhole(client, network.last))) !== true && Date.now() < end) {
          if (tern.hasEnded) break;
          await delay(200);
        }
      } finally {
        await tern.kill();
      }
      const codes = new Set([...tern.log.matchAll(/"code":"(store\/[a-z-]+)"/g)].map(([, code]) => code));
      const differing = (await onDatabase(url, (client) => differences(reference, client))) ?? ['no database'];
      found.push(...differing);
      say(`full disk: ${TIMES} times, said ${[...codes].join(', ')}; ${found.join('\n') || 'same rows'}`);
      return found.length === 0 ? [] : [...found, tern.log];
    } finally {
      await server.close();
    }
  } finally {
    await execute('umount', ['-l', disk]);
    await rm(disk, { recursive: true, force: true });
  }
};
