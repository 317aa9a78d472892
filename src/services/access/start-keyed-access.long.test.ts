import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { type IssuedKey, KeyAdministration } from '#services/access/keys.js';
import { keysIn, plansIn, type StartedAccess, startKeyedAccess } from '#services/access/start-keyed-access.js';
import { Random } from '#test/fuzz/random.js';
import { AccessClient } from '#test/support/access-client.js';

const chance = new Random('start-keyed-access');
const modules = {
  clock: systemClock,
  unixTimeMs: Date.now,
  randomBytes: (size: number) => chance.bytes(size),
  logger: silentLogger,
};

let folder: string;
let clients: AccessClient[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tern-access-'));
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.kill()));
  rmSync(folder, { recursive: true });
});

const options = (flushMs?: number) => ({ folder, plans: null, redisUrl: null, ...(flushMs && { flushMs }) });
const question = (key: string | null) => ({ key, clientAddress: '192.0.2.1', network: 'mainnet' });
const administration = (): KeyAdministration => new KeyAdministration({ ...modules, store: keysIn(folder, modules) });

async function issue(plan = 'free'): Promise<IssuedKey> {
  return administration().create({ label: '', owner: null, plan, networks: null }, plansIn(folder, null));
}

async function client(flushMs?: number): Promise<AccessClient> {
  const started = await AccessClient.start(options(flushMs));
  clients.push(started);
  return started;
}

/** A plan of so many requests a day in the data directory. */
function writeQuota(daily_quota: number): void {
  const plans = [{ name: 'few', requests_per_second: 1000, daily_quota }];
  writeFileSync(join(folder, 'plans.json'), JSON.stringify({ plans }));
}

async function allowed(access: StartedAccess | AccessClient, key: string, times: number): Promise<number> {
  let count = 0;
  for (let i = 0; i < times; i++) {
    const answer = await ('access' in access ? access.access.check(question(key)) : access.ask(question(key)));
    if (answer.kind === 'allowed') count++;
  }
  return count;
}

describe('access by keys', () => {
  it('knows keys that another process makes, and refuses them when they are revoked', async () => {
    const server = await client();
    const { key, record } = await issue();
    const kind = async (): Promise<string> => (await server.ask(question(key))).kind;
    await expect.poll(kind, { interval: 20 }).not.toBe('unknown-key');
    await administration().revoke(record.id);
    await expect.poll(kind, { interval: 20 }).toBe('unknown-key');
  });

  it('lets an old secret in for the grace of a rotation, and a new one at once', async () => {
    const server = await client();
    const first = await issue();
    const second = await administration().rotate(first.record.id, 1500);
    const promised = Date.parse(second.record.secrets[0]!.expires_at!);
    const kind = async (key: string): Promise<string> => (await server.ask(question(key))).kind;
    await expect.poll(() => kind(second.key), { interval: 20 }).not.toBe('unknown-key');
    expect(await kind(first.key)).not.toBe('unknown-key');
    await expect.poll(() => kind(first.key), { interval: 20 }).toBe('unknown-key');
    expect(Date.now()).toBeGreaterThanOrEqual(promised);
    const third = await administration().rotate(first.record.id, 0);
    expect(third.record.secrets).toHaveLength(1);
    await expect.poll(() => kind(second.key), { interval: 20 }).toBe('unknown-key');
    expect(await kind(third.key)).not.toBe('unknown-key');
  });

  it('keeps quotas over a restart', async () => {
    writeQuota(30);
    const { key } = await issue('few');
    const first = await startKeyedAccess(options(), modules);
    expect(await allowed(first, key, 20)).toBe(20);
    expect(first.metrics()).toMatchObject({ keys: 1, redis: null, plans: [{ plan: 'few', allowed: 20 }] });
    await first.close();
    const second = await startKeyedAccess(options(), modules);
    expect(await allowed(second, key, 20)).toBe(10);
    await second.close();
  });

  it('loses in a crash what was not stored yet, and no more', async () => {
    writeQuota(30);
    const { key } = await issue('few');
    const first = await client(200);
    expect(await allowed(first, key, 20)).toBe(20);
    await expect.poll(() => existsSync(join(folder, 'usage'))).toBe(true);
    await delay(400);
    expect(await allowed(first, key, 5)).toBe(5);
    await first.kill();
    const second = await startKeyedAccess(options(), modules);
    const left = await allowed(second, key, 50);
    await second.close();
    expect(left).toBeGreaterThanOrEqual(5);
    expect(left).toBeLessThanOrEqual(10);
  });

  it('shares a quota among processes, late by the time between two flushes', async () => {
    writeQuota(30);
    const { key } = await issue('few');
    const [one, two] = [await client(100), await client(100)];
    expect(await allowed(one, key, 20)).toBe(20);
    await delay(300);
    expect(await allowed(two, key, 1)).toBe(1);
    await delay(300);
    expect(await allowed(two, key, 20)).toBe(9);
    await Promise.all([one.close(), two.close()]);
  });

  it('does not start with files that are wrong, and leaves nothing running', async () => {
    writeFileSync(join(folder, 'keys.json'), '{}');
    await expect(startKeyedAccess(options(), modules)).rejects.toMatchObject({ code: 'access/field' });
    rmSync(join(folder, 'keys.json'));
    const missing = { ...options(), plans: join(folder, 'none.json') };
    await expect(startKeyedAccess(missing, modules)).rejects.toMatchObject({ code: 'access/file' });
    const url = { ...options(), redisUrl: 'nowhere' };
    await expect(startKeyedAccess(url, modules)).rejects.toMatchObject({ code: 'access/redis-url' });
  });
});

describe('making keys', () => {
  it('needs a plan that is there and networks of it', async () => {
    const networks = { name: 'own', requests_per_second: 5, networks: ['mainnet', 'testnet'] };
    writeFileSync(join(folder, 'plans.json'), JSON.stringify({ plans: [networks] }));
    const wanted = { label: '', owner: null, plan: 'own', networks: ['mainnet', 'other'] };
    const create = (more: object) => administration().create({ ...wanted, ...more }, plansIn(folder, null));
    await expect(create({})).rejects.toMatchObject({ code: 'access/not-in-plan', data: { network: 'other' } });
    await expect(create({ plan: 'none' })).rejects.toMatchObject({ code: 'access/no-such-plan' });
    await expect(create({ plan: 'anonymous' })).rejects.toMatchObject({ code: 'access/no-such-plan' });
    expect((await create({ networks: ['mainnet'] })).record.networks).toEqual(['mainnet']);
  });

  it('finds the key that a secret belongs to, the old secret of a rotation too', async () => {
    const { key, record } = await issue();
    await administration().rotate(record.id, 60_000);
    expect(await administration().idOf(key)).toBe(record.id);
    const other = `tern_${'A'.repeat(43)}`;
    await expect(administration().idOf(other)).rejects.toMatchObject({ code: 'access/no-such-key' });
    expect(
      String(
        await administration()
          .idOf(other)
          .catch((error) => error.message),
      ),
    ).not.toContain(other);
  });

  it('revokes once and for all', async () => {
    const { record } = await issue();
    const first = await administration().revoke(record.id);
    await delay(5);
    expect(await administration().revoke(record.id)).toEqual(first);
    await expect(administration().rotate(record.id, 0)).rejects.toMatchObject({ code: 'access/key-revoked' });
    expect(await administration().find(record.id)).toEqual(first);
    await expect(administration().find('key_0000000000')).rejects.toMatchObject({ code: 'access/no-such-key' });
  });
});
