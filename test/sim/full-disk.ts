import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ServedTern } from '#test/support/served-tern.js';
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

/** What is asked while the disk is full: API v2 does not need it. */
const READS = {
  v2: '/api/v2/getMasterchainInfo',
  v3: '/api/v3/transactions?limit=100&sort=desc',
  'large v3': '/api/v3/messages?limit=1000',
} as const;

/** The disk of the database, a small one of its own, becomes full several times while the index is written and read, and free again. */
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
      let readers: DiskReaders | null = null;
      try {
        const until = Date.now() + PATIENCE_MS;
        while (!tern.leads && Date.now() < until) await delay(20);
        readers = await DiskReaders.start(network.config, url, join(network.folder, 'data-reader'), program);
        for (let n = 0; n < TIMES; n++) {
          await delay(1500 + n * 700);
          const said = tern.log.split('store/').length;
          const filler = join(disk, 'filler');
          // As much as there is; the error is what is wanted.
          await writeFile(filler, new Uint8Array(DISK_MB * 2 ** 20)).catch(() => {});
          readers.isFull = true;
          await delay(FULL_MS);
          readers.isFull = false;
          await rm(filler);
          if (tern.log.split('store/').length === said) found.push(`it does not say that the disk is full, ${n}`);
        }
        const end = Date.now() + PATIENCE_MS;
        while ((await onDatabase(url, (client) => isWhole(client, network.last))) !== true && Date.now() < end) {
          if (tern.hasEnded) break;
          await delay(200);
        }
        found.push(...(await readers.end()));
        say(`full disk, reading: ${readers.summary}`);
      } finally {
        await readers?.close();
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

/** Asks a process that only reads, again and again. */
class DiskReaders {
  readonly #tern: ServedTern;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[];
  /** By what was asked and status. */
  readonly #whileFull = new Map<string, number>();
  readonly #otherwise = new Map<string, number>();
  readonly #wrong = new Set<string>();
  isFull = false;

  private constructor(tern: ServedTern) {
    this.#tern = tern;
    this.#running = Object.entries(READS).map(([name, path]) => this.#read(name, path));
  }

  static async start(config: string, url: string, data: string, program: string): Promise<DiskReaders> {
    const flags = ['--network', config, '--database-url', url, '--data', data, '--listen', '127.0.0.1:0'];
    return new DiskReaders(await ServedTern.start(['serve', '--role', 'api', ...flags], program));
  }

  get summary(): string {
    const text = (of: ReadonlyMap<string, number>) =>
      [...of].map(([what, times]) => `${what} ${times} times`).join(', ');
    return `while it was full: ${text(this.#whileFull)}; otherwise: ${text(this.#otherwise)}`;
  }

  /** What was not as it should be: other answers than 200 and 503, and reads that do not recover. */
  async end(): Promise<string[]> {
    this.#stop.abort();
    await Promise.all(this.#running);
    for (const [name, path] of Object.entries(READS)) {
      const { status } = await fetch(this.#tern.url + path);
      if (status !== 200) this.#wrong.add(`${name} gets ${status} after the disk is free`);
    }
    return [...this.#wrong];
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#tern.close();
  }

  async #read(name: string, path: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const answer = await fetch(this.#tern.url + path);
      const text = await answer.text();
      const { status } = answer;
      const counts = this.isFull ? this.#whileFull : this.#otherwise;
      counts.set(`${name} ${status}`, (counts.get(`${name} ${status}`) ?? 0) + 1);
      if (status !== 200 && (name === 'v2' || status !== 503))
        this.#wrong.add(`${name}: ${status} ${text.slice(0, 200)}`);
      JSON.parse(text);
      await delay(100);
    }
  }
}
