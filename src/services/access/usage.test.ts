import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { lastUses, type UsageByKey, UsageFiles, UsageRecorder, usageReport } from '#services/access/usage.js';
import { Random } from '#test/fuzz/random.js';
import { FakeClock } from '#test/support/fake-clock.js';

const START = Date.UTC(2025, 0, 31, 12);

let folder: string;
let clock: FakeClock;
let said: string[];
let reported: [string, Record<string, number>][];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'tern-usage-')), 'usage');
  clock = new FakeClock();
  said = [];
  reported = [];
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const chance = new Random('usage');
const unixTimeMs = (): number => START + clock.now();
const logger = { info: (text: string) => void said.push(text), warn: (text: string) => void said.push(text) };
const files = (): UsageFiles =>
  new UsageFiles({ folder }, { clock: systemClock, unixTimeMs: Date.now, randomBytes: (n) => chance.bytes(n), logger });

function onUsage(day: string, usage: UsageByKey): void {
  const allowed = [...usage].flatMap(([key, networks]) =>
    [...networks].map(([network, counts]): [string, number] => [`${key} ${network}`, counts.allowed]),
  );
  reported.push([day, Object.fromEntries(allowed)]);
}

const recorder = (store = files(), keepDays = 90): UsageRecorder =>
  new UsageRecorder({ flushMs: 5000, keepDays }, { store, clock, unixTimeMs, logger, onUsage });

describe('usage', () => {
  it('is stored every five seconds, and at the end', async () => {
    const usage = recorder();
    await usage.start();
    usage.count('key_a', 'mainnet', 'allowed');
    usage.count('key_a', 'mainnet', 'limited');
    usage.addWork('key_a', 'mainnet', 12.3);
    usage.addWork('key_a', 'mainnet', 0.4);
    clock.advance(4999);
    expect(existsSync(folder)).toBe(false);
    clock.advance(1);
    await expect.poll(() => reported.length).toBe(2);
    usage.count('key_a', 'testnet', 'allowed');
    usage.count('anonymous', 'mainnet', 'limited');
    await usage.close();
    expect(clock.pending).toBe(0);
    expect(await usageReport(files(), 7, unixTimeMs())).toEqual([
      { day: '2025-01-31', key: 'anonymous', network: 'mainnet', allowed: 0, limited: 1, work: 0, last_used: null },
      {
        day: '2025-01-31',
        key: 'key_a',
        network: 'mainnet',
        allowed: 1,
        limited: 1,
        work: 13,
        last_used: '2025-01-31T12:00:00.000Z',
      },
      {
        day: '2025-01-31',
        key: 'key_a',
        network: 'testnet',
        allowed: 1,
        limited: 0,
        work: 0,
        last_used: '2025-01-31T12:00:05.000Z',
      },
    ]);
    const uses = lastUses(await usageReport(files(), 7, unixTimeMs()));
    expect([...uses]).toEqual([['key_a', '2025-01-31T12:00:05.000Z']]);
  });

  it('goes on after a restart, adds up among processes, and reports each of them all of it', async () => {
    const [one, two] = [recorder(), recorder()];
    await one.start();
    await two.start();
    for (let i = 0; i < 3; i++) one.count('key_a', 'mainnet', 'allowed');
    for (let i = 0; i < 4; i++) two.count('key_a', 'mainnet', 'allowed');
    await Promise.all([one.flush(), two.flush()]);
    one.count('key_a', 'mainnet', 'allowed');
    await one.close();
    expect(reported.at(-1)).toEqual(['2025-01-31', { 'key_a mainnet': 8 }]);
    await recorder().start();
    expect(reported.at(-1)).toEqual(['2025-01-31', { 'key_a mainnet': 8 }]);
    await two.close();
  });

  it('reports what was counted while it was stored', async () => {
    const store = files();
    const usage = recorder(store);
    const add = store.add.bind(store);
    store.add = async (day, more) => {
      usage.count('key_a', 'mainnet', 'allowed');
      return add(day, more);
    };
    usage.count('key_a', 'mainnet', 'allowed');
    await usage.flush();
    expect(reported).toEqual([['2025-01-31', { 'key_a mainnet': 2 }]]);
  });

  it('is of the day in which it was counted', async () => {
    const usage = recorder();
    usage.count('key_a', 'mainnet', 'allowed');
    clock.advance(12 * 3_600_000);
    usage.count('key_a', 'mainnet', 'allowed');
    await usage.flush();
    expect(reported.map(([day]) => day)).toEqual(['2025-01-31', '2025-02-01']);
    expect(await files().days()).toEqual(['2025-01-31', '2025-02-01']);
    expect(await usageReport(files(), 1, unixTimeMs())).toHaveLength(1);
  });

  it('is kept for some days', async () => {
    const usage = recorder(files(), 2);
    for (let day = 0; day < 5; day++) {
      usage.count('key_a', 'mainnet', 'allowed');
      await usage.flush();
      clock.advance(86_400_000);
    }
    expect(await files().days()).toEqual(['2025-02-02', '2025-02-03', '2025-02-04']);
  });

  it('that cannot be stored is kept for the next time; the log says so once', async () => {
    const usage = recorder();
    usage.count('key_a', 'mainnet', 'allowed');
    writeFileSync(folder, 'not a folder');
    await usage.flush();
    usage.count('key_a', 'mainnet', 'allowed');
    await usage.flush();
    expect(usage.failures).toBeGreaterThanOrEqual(2);
    rmSync(folder);
    await usage.flush();
    expect(reported.at(-1)).toEqual(['2025-01-31', { 'key_a mainnet': 2 }]);
    expect(said).toEqual([
      'the usage of keys cannot be stored; it is kept in memory and tried again',
      'the usage of keys is stored again',
    ]);
  });

  it.each(['{', '{"format":"tern-usage-1","keys":{"key_a":{"mainnet":{"allowed":-1,"limited":0}}}}'])(
    'of a damaged file (%s) is put aside',
    async (text) => {
      await files().add('2025-01-31', new Map());
      const file = join(folder, '2025-01-31.json');
      writeFileSync(file, text);
      await expect(files().read('2025-01-31')).rejects.toMatchObject({ code: expect.stringMatching(/^access\/fi/) });
      const usage = recorder();
      usage.count('key_a', 'mainnet', 'allowed');
      await usage.flush();
      expect(reported).toEqual([['2025-01-31', { 'key_a mainnet': 1 }]]);
      expect(readFileSync(`${file}.damaged`, 'utf8')).toBe(text);
      expect(said).toEqual(['a file of usage was damaged; it was renamed, and counting starts again']);
    },
  );
});
