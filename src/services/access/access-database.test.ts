import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import { KeyAdministration } from '#services/access/keys.js';
import { dayOf } from '#services/access/limits.js';
import { Plans } from '#services/access/plans.js';
import {
  accessDatabase,
  keysIn,
  type StartedAccess,
  startKeyedAccess,
  usageIn,
} from '#services/access/start-keyed-access.js';
import { testDatabase } from '#test/support/test-database.js';

const modules = { clock: systemClock, unixTimeMs: Date.now, randomBytes, logger: silentLogger };
const database = await testDatabase();
const folders: string[] = [];
const running: StartedAccess[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await database.close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tern-access-'));
  folders.push(folder);
  return folder;
}

/** The code of the error that a promise is rejected with. */
const rejectionCode = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error) => (isTernError(error) ? error.code : String(error)),
  );

/** A server with a data folder of its own. */
async function server(folder = newFolder(), url: string | null = database.url): Promise<StartedAccess> {
  const started = await startKeyedAccess({ folder, plans: null, redisUrl: null, databaseUrl: url }, modules);
  running.push(started);
  return started;
}

const wanted = { label: '', owner: null, plan: 'free', networks: null };
const ask = async ({ access }: StartedAccess, key: string) =>
  await access.check({ key, clientAddress: '192.0.2.1', network: 'mainnet' });

describe('keys in a database', () => {
  it('are valid at once in each process, and are refused everywhere after they were revoked', async () => {
    const [one, other] = [await server(), await server()];
    const { key, record } = await one.administration.keys.create(wanted, one.administration.plans());
    // The next request, with nothing in between, at a process that has not heard of it.
    expect(await ask(other, key)).toMatchObject({ kind: 'allowed', key: record.id, plan: 'free' });
    await other.administration.keys.revoke(record.id);
    await expect.poll(async () => (await ask(one, key)).kind).toBe('unknown-key');
  });

  it('come from the data folder at the first start, with usage, and nothing reads the folder for them any more', async () => {
    const folder = newFolder();
    const before = new KeyAdministration({ ...modules, store: keysIn(folder, modules) });
    const { key, record } = await before.create(wanted, new Plans());
    const day = dayOf(Date.now());
    const counts = { allowed: 7, limited: 1, work: 30, last_used: null };
    await usageIn(folder, modules).add(day, new Map([[record.id, new Map([['mainnet', counts]])]]));
    const moved = await server(folder);
    expect((await ask(moved, key)).kind).toBe('allowed');
    expect((await moved.administration.usage.read(day)).get(record.id)?.get('mainnet')).toMatchObject(counts);
    expect([existsSync(join(folder, 'keys.json')), existsSync(join(folder, 'usage'))]).toEqual([false, false]);
    expect(await rejectionCode(server(folder, null))).toBe('access/in-database');
    await server(folder);
    // A process that was started before has counted on.
    await usageIn(folder, modules).add(day, new Map([[record.id, new Map([['mainnet', counts]])]]));
    const again = await server(folder);
    const sum = { allowed: 14, limited: 2, work: 60 };
    expect((await again.administration.usage.read(day)).get(record.id)?.get('mainnet')).toMatchObject(sum);
  });

  it('need no data folder', async () => {
    const folder = join(newFolder(), 'missing');
    await server(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it('have usage that all processes add to, and quotas that count it', async () => {
    const [one, other] = [await server(), await server()];
    const { key, record } = await one.administration.keys.create(wanted, one.administration.plans());
    for (const each of [one, other, one]) expect((await ask(each, key)).kind).toBe('allowed');
    await Promise.all(running.splice(0).map((each) => each.close()));
    const store = accessDatabase(newFolder(), database.url, modules);
    const usage = (await store.usage.read(dayOf(Date.now()))).get(record.id)?.get('mainnet');
    await store.close();
    expect(usage).toMatchObject({ allowed: 3, limited: 0 });
    expect(usage!.last_used).toMatch(/^\d{4}-.*Z$/);
  });

  it('have plans there, which are in force in all processes', async () => {
    const [one, other] = [await server(), await server()];
    await one.administration.putPlan({ name: 'partner', requests_per_second: 50, daily_quota: 2 });
    await expect.poll(() => other.administration.plans().find('partner')?.requests_per_second).toBe(50);
    const { key } = await other.administration.keys.create(
      { ...wanted, plan: 'partner' },
      other.administration.plans(),
    );
    const decisions = [await ask(one, key), await ask(one, key), await ask(one, key)];
    expect(decisions.map(({ kind }) => kind)).toEqual(['allowed', 'allowed', 'limited']);
    expect(decisions.map((each) => (each as { rate?: { remaining: number } }).rate?.remaining)).toEqual([1, 0, 0]);
    expect(await rejectionCode(one.administration.putPlan({ name: 'x' }))).toBe('access/field');
    await one.administration.deletePlan('partner');
    await expect.poll(() => other.administration.plans().find('partner')).toBeNull();
    expect(await rejectionCode(one.administration.deletePlan('partner'))).toBe('access/no-such-plan');
  });

  it('stop nobody without a key while the database is out of reach', async () => {
    const started = await server(newFolder(), 'postgresql://nobody@127.0.0.1:1/nothing');
    expect((await ask(started, 'tern_unknown')).kind).toBe('keys-unavailable');
    const { kind } = await started.access.check({ key: null, clientAddress: '192.0.2.1', network: 'mainnet' });
    expect(kind).toBe('allowed');
  });
});

describe('keys in files', () => {
  it('are valid at once, too, and plans are changed in the file only', async () => {
    const folder = newFolder();
    const [one, other] = [await server(folder, null), await server(folder, null)];
    const { key } = await one.administration.keys.create({ ...wanted, admin: true }, one.administration.plans());
    expect(await ask(other, key)).toMatchObject({ kind: 'allowed', isAdmin: true });
    expect(await rejectionCode(one.administration.putPlan({ name: 'x', requests_per_second: 1 }))).toBe(
      'access/not-in-files',
    );
  });

  it('are refused when the note that they are in a database is damaged', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'keys-database.json'), '{');
    expect(await rejectionCode(server(folder, null))).toBe('access/file');
  });
});
