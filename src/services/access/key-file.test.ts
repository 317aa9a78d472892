import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { KeyFile } from '#services/access/key-file.js';
import type { KeyRecord } from '#services/access/keys.js';
import { withLock } from '#services/access/locked-files.js';
import { Random } from '#test/fuzz/random.js';
import { FakeClock } from '#test/support/fake-clock.js';

let folder: string;
let path: string;
let warnings: string[];
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tern-keys-'));
  path = join(folder, 'data', 'keys.json');
  warnings = [];
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const chance = new Random('key-file');
const modules = {
  clock: systemClock,
  unixTimeMs: Date.now,
  randomBytes: (size: number) => chance.bytes(size),
  logger: { info() {}, warn: (_: string, fields: object = {}) => void warnings.push(JSON.stringify(fields)) },
};
const open = (): KeyFile => new KeyFile({ path }, modules);

function record(n: number): KeyRecord {
  const created_at = new Date(n).toISOString();
  const hash = n.toString(16).padStart(64, '0');
  return {
    id: `key_${n.toString(16).padStart(10, '0')}`,
    label: `key ${n}`,
    owner: n % 2 === 0 ? 'acme' : null,
    plan: 'free',
    networks: n % 3 === 0 ? ['mainnet'] : null,
    created_at,
    revoked_at: null,
    secrets: [{ hash, created_at, expires_at: null }],
  };
}

/** A process that adds keys. */
function writer(count: number): ChildProcess {
  const script = fileURLToPath(new URL('../../../test/support/key-writer.ts', import.meta.url));
  const args = ['--conditions=source', '--import', 'tsx', script, path, String(count)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

describe('the file of keys', () => {
  it('keeps what was added and changed, for its owner only', async () => {
    expect(await open().list()).toEqual([]);
    for (const n of [1, 2, 3]) await open().add(record(n));
    const revoked = { ...record(2), revoked_at: new Date(9).toISOString() };
    expect(await open().change(record(2).id, () => revoked)).toEqual(revoked);
    expect(await open().list()).toEqual([record(1), revoked, record(3)]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('stays as it was when there is no such key, or the change fails', async () => {
    await open().add(record(1));
    const before = readFileSync(path, 'utf8');
    await expect(open().change('key_ffffffffff', (each) => each)).rejects.toMatchObject({ code: 'access/no-such-key' });
    await expect(open().add(record(1))).rejects.toMatchObject({ code: 'access/key-exists' });
    const fail = () => {
      throw new RangeError('no');
    };
    await expect(open().change(record(1).id, fail)).rejects.toThrow('no');
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it.each<[string, string]>([
    ['{', 'it is no JSON'],
    ['{"format":"tern-keys-2","keys":[]}', 'format is "tern-keys-2"; allowed is "tern-keys-1"'],
    ['{"format":"tern-keys-1","keys":[{"id":"key_1"}]}', 'keys[0].id is "key_1"; allowed is "key_" and 10'],
    ['{"format":"tern-keys-1","keys":{}}', 'keys is an object; allowed is a list'],
  ])('is refused, and not written over, when it holds %s', async (text, problem) => {
    await open().add(record(1));
    writeFileSync(path, text);
    await expect(open().list()).rejects.toThrow(problem);
    await expect(open().add(record(2))).rejects.toThrow(problem);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each<[(written: Record<string, unknown>) => object, string]>([
    [(key) => ({ ...key, label: 'two\nlines' }), 'keys[0].label'],
    [(key) => ({ ...key, plan: 7 }), 'keys[0].plan is 7'],
    [(key) => ({ ...key, networks: 'mainnet' }), 'keys[0].networks is "mainnet"; allowed is a list'],
    [(key) => ({ ...key, created_at: 'yesterday' }), 'keys[0].created_at is "yesterday"; allowed is a moment'],
    [(key) => ({ ...key, secrets: [{ hash: 'ff' }] }), 'keys[0].secrets[0].hash is "ff"'],
    [(key) => ({ ...key, secret: 'x' }), 'keys[0].secret is "x"; allowed is nothing'],
  ])('names the field that is wrong (%#)', async (damage, problem) => {
    await open().add(record(1));
    const { format, keys } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ format, keys: [damage(keys[0])] }));
    await expect(open().list()).rejects.toThrow(problem);
  });

  it('says which file the system refuses', async () => {
    writeFileSync(join(folder, 'data'), 'a file');
    await expect(open().list()).rejects.toMatchObject({ code: 'access/file', message: expect.stringContaining(path) });
    await expect(open().add(record(1))).rejects.toMatchObject({ code: 'files/no-folder' });
  });
});

describe('a watch', () => {
  it('reports all keys at once and after each change, and nothing once it is closed', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    const file = new KeyFile({ path }, { ...modules, clock });
    const watch = await file.watch(({ keys }) => seen.push(keys.length));
    const poll = async (): Promise<void> => {
      clock.advance(250);
      await expect.poll(() => clock.pending).toBe(1);
    };
    await poll();
    expect(seen).toEqual([0]);
    await open().add(record(1));
    await poll();
    expect(seen).toEqual([0, 1]);
    await poll();
    rmSync(path);
    await poll();
    expect(seen).toEqual([0, 1, 0]);
    watch.close();
    expect(clock.pending).toBe(0);
  });

  it('keeps the keys, says so once, and goes on when the file can be read again', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    await open().add(record(1));
    const sound = readFileSync(path, 'utf8');
    const watch = await new KeyFile({ path }, { ...modules, clock }).watch(({ keys }) => seen.push(keys.length));
    writeFileSync(path, '{"format":"tern-keys-1","keys":[{}]}');
    for (let i = 0; i < 3; i++) {
      clock.advance(250);
      await expect.poll(() => clock.pending).toBe(1);
    }
    expect([seen, warnings.length]).toEqual([[1], 1]);
    writeFileSync(path, sound);
    clock.advance(250);
    await expect.poll(() => seen).toEqual([1, 1]);
    watch.close();
  });

  it('does not begin with a file that cannot be read', async () => {
    await open().add(record(1));
    writeFileSync(path, 'x');
    await expect(open().watch(() => {})).rejects.toMatchObject({ code: 'access/file' });
  });
});

describe('several processes', () => {
  it('that add keys at the same time lose none', async () => {
    const writers = [writer(25), writer(25)];
    const own = Array.from({ length: 10 }, (_, n) => record(n + 1));
    for (const each of own) await open().add(each);
    const codes = await Promise.all(writers.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0]);
    const keys = await open().list();
    expect([keys.length, new Set(keys.map(({ id }) => id)).size]).toEqual([60, 60]);
  });

  it('leave a whole file behind whenever they are killed, with every key that they said was added', async () => {
    const added: string[] = [];
    for (let bundle = 0; bundle < 6; bundle++) {
      const child = writer(1_000_000);
      const ended = once(child, 'exit');
      const ids: string[] = [];
      const lines = createInterface({ input: child.stdout! });
      lines.on('line', (line) => void ids.push(line));
      await once(lines, 'line');
      await delay(chance.below(40));
      child.kill('SIGKILL');
      await ended;
      added.push(...ids);
      const keys = new Set((await open().list()).map(({ id }) => id));
      expect(
        [...added].filter((id) => !keys.has(id)),
        `round ${bundle}`,
      ).toEqual([]);
      // For it no lock grows old: what counts is that the process is gone.
      await new KeyFile({ path }, { ...modules, unixTimeMs: () => 0 }).add(record(bundle + 1));
    }
  });

  it('that were killed in the middle of writing left the old file, and do not stop others', async () => {
    await open().add(record(1));
    writeFileSync(`${path}.new`, readFileSync(path, 'utf8').slice(0, 100));
    writeFileSync(`${path}.lock`, `4194305 0011223344556677 ${hostname()}`);
    expect(await open().list()).toEqual([record(1)]);
    await open().add(record(2));
    expect(await open().list()).toEqual([record(1), record(2)]);
  });
});

describe('a lock', () => {
  const lock = () => `${path}.lock`;
  const free = async (): Promise<string> => withLock(lock(), modules, async () => 'done');
  beforeEach(async () => open().add(record(1)));

  it('of a process of another host is taken over when it is old', async () => {
    writeFileSync(lock(), '1 00 elsewhere');
    utimesSync(lock(), new Date(), new Date(Date.now() - 11_000));
    expect(await free()).toBe('done');
    writeFileSync(lock(), '');
    writeFileSync(`${lock()}.break`, '');
    for (const file of [lock(), `${lock()}.break`]) utimesSync(file, new Date(), new Date(Date.now() - 11_000));
    expect(await free()).toBe('done');
  });

  it('that is held is waited for, and in the end its holder is named', async () => {
    writeFileSync(lock(), '77 00 elsewhere');
    const clock = new FakeClock();
    const waiting = withLock(lock(), { ...modules, clock }, async () => 'done').catch((error) => error);
    for (let i = 0; i < 500; i++) {
      await expect.poll(() => clock.pending, { interval: 1 }).toBe(1);
      clock.advance(40);
      if (clock.now() > 15_000) break;
    }
    expect(await waiting).toMatchObject({ code: 'access/locked', data: { holder: 'process 77 on elsewhere' } });
    expect(readFileSync(lock(), 'utf8')).toBe('77 00 elsewhere');
  });

  it('that another process took over stops the write', async () => {
    const lost = withLock(lock(), modules, async (held) => {
      await held.check();
      writeFileSync(lock(), '77 00 elsewhere');
      await held.check();
    });
    await expect(lost).rejects.toMatchObject({ code: 'access/lock-lost' });
    expect(readFileSync(lock(), 'utf8')).toBe('77 00 elsewhere');
  });
});
