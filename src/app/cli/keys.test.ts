import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommandLine } from '#app/cli/command-line.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tern-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const all = ['keys', ...args, '--data', join(folder, 'data')];
  const code = await runCommandLine(all, { out: (text) => (out += text), err: (text) => (err += text) });
  return { code, out, err };
}

/** What a command prints with --json. */
async function json(...args: string[]): Promise<any> {
  const { code, out, err } = await run(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const KEY = /tern_[\w-]{43}/;

describe('tern keys', () => {
  it('makes a key, shows it once, and stores only its hash', async () => {
    const { code, out, err } = await run('create', '--label', 'for tests', '--owner', 'acme', '--network', 'mainnet');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [key = ''] = KEY.exec(out) ?? [];
    expect(out).toMatch(/^id {8}key_[0-9a-f]{10}$/m);
    expect(out).toMatch(/^plan {6}free \(10 requests per second, 200 work units per second\)$/m);
    expect(key).toHaveLength(48);
    expect(readFileSync(join(folder, 'data', 'keys.json'), 'utf8')).not.toContain(key.slice(5));
    const list = await run('list');
    expect(list.out).toMatch(/^key_\w{10} {2}active {2}free {2}mainnet {3}acme {3}\S+ \S+ {2}- {10}for tests$/m);
    expect(list.out).not.toMatch(KEY);
  });

  it('prints JSON on demand, never the hashes', async () => {
    const made = await json('create', '--plan', 'plus', '--network', 'b', '--network', 'a', '--network', 'b');
    expect(made).toMatchObject({ plan: 'plus', owner: null, label: '', networks: ['b', 'a'], revoked_at: null });
    expect(made.key).toMatch(KEY);
    const [listed] = await json('list');
    expect(listed).toMatchObject({ id: made.id, last_used: null, secrets: [{ expires_at: null }] });
    expect(JSON.stringify(listed)).not.toMatch(/[0-9a-f]{64}/);
  });

  it('rotates and revokes', async () => {
    const { id, key } = await json('create');
    const before = Date.now();
    const rotated = await json('rotate', id, '--grace', '1h');
    expect(rotated.key).not.toBe(key);
    expect(rotated.secrets).toHaveLength(2);
    const ends = Date.parse(rotated.secrets[0].expires_at) - before;
    expect(ends).toBeGreaterThanOrEqual(3_600_000);
    expect(ends).toBeLessThan(3_660_000);
    expect((await run('rotate', id, '--grace', '2h')).out).toMatch(/^old key {3}valid until \S+Z$/m);
    expect((await json('rotate', id)).secrets).toHaveLength(1);
    expect((await run('revoke', id)).out).toMatch(new RegExp(`^${id} was revoked at \\S+Z\n$`));
    expect((await run('list')).out).toMatch(/ revoked \d{4}-\d\d-\d\d \d\d:\d\d /);
  });

  it('revokes a key that was found somewhere, without saying it again', async () => {
    const { id, key } = await json('create');
    await json('create');
    const { out } = await run('revoke', key);
    expect(out).toContain(id);
    expect(out).not.toContain(key);
    const states = (await json('list')).map((each: any) => [each.id === id, each.revoked_at !== null]);
    expect(states).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  it('shows usage', async () => {
    const { id } = await json('create');
    expect((await run('usage')).out).toBe('No requests in this period.\n');
    const day = new Date().toISOString().slice(0, 10);
    const counts = { allowed: 12, limited: 3, work: 40, last_used: `${day}T00:00:00.000Z` };
    const usage = { format: 'tern-usage-1', keys: { [id]: { mainnet: counts }, anonymous: { testnet: counts } } };
    const old = { ...usage, keys: { [id]: { mainnet: { ...counts, last_used: '2025-01-01T00:00:00.000Z' } } } };
    mkdirSync(join(folder, 'data', 'usage'));
    writeFileSync(join(folder, 'data', 'usage', `${day}.json`), JSON.stringify(usage));
    writeFileSync(join(folder, 'data', 'usage', '2025-01-01.json'), JSON.stringify(old));
    expect((await run('usage')).out.split('\n')).toHaveLength(4);
    expect(await json('usage', id)).toEqual([{ day, key: id, network: 'mainnet', ...counts }]);
    expect((await json('list'))[0].last_used).toBe(counts.last_used);
  });

  it('takes the data directory from the environment, too', async () => {
    const { id } = await json('create');
    vi.stubEnv('TERN_DATA', join(folder, 'data'));
    let out = '';
    const code = await runCommandLine(['keys', 'list'], { out: (text) => (out += text), err: () => {} });
    vi.unstubAllEnvs();
    expect([code, out]).toEqual([0, expect.stringContaining(id)]);
  });

  it('knows the plans of a file', async () => {
    const file = join(folder, 'more.json');
    writeFileSync(file, '{"plans":[{"name":"team","requests_per_second":0.5,"daily_quota":9,"networks":["mainnet"]}]}');
    const { out } = await run('create', '--plan', 'team', '--plans', file);
    expect(out).toMatch(
      /^plan {6}team \(1 request per 2 seconds, 9 requests per day \(UTC\), 10 work units per second\)$/m,
    );
    const wrong = await run('create', '--plan', 'team', '--plans', file, '--network', 'testnet');
    expect(wrong.err).toMatch(/^tern: access\/not-in-plan: /);
  });
});

describe('what is wrong', () => {
  it.each<[string[], RegExp]>([
    [[], /^tern: cli\/usage: tern keys requires a subcommand; available: create, list/],
    [['nope'], /^tern: cli\/usage: unknown command "keys nope"/],
    [['create', '--plan', 'gold'], /^tern: access\/no-such-plan: there is no plan "gold"; known are free, plus/],
    [['create', '--plan', 'anonymous'], /^tern: access\/no-such-plan: /],
    [['create', '--plans', '/nowhere/plans.json'], /^tern: access\/file: \/nowhere\/plans\.json: it cannot be read/],
    [['create', '--network', 'a b'], /^tern: cli\/usage: --network is "a b"/],
    [['create', '--owner', ''], /^tern: cli\/usage: --owner is ""/],
    [['create', '--label', 'a\nb'], /^tern: cli\/usage: --label must be one line/],
    [['revoke'], /^tern: cli\/usage: missing required argument 'id'/],
    [['revoke', '7'], /^tern: cli\/usage: "7" is not a key id/],
    [['revoke', 'key_0123456789'], /^tern: access\/no-such-key: there is no key key_0123456789 in /],
    [['revoke', `tern_${'A'.repeat(43)}`], /^tern: access\/no-such-key: there is no key with this secret in /],
    [
      ['rotate', 'key_0123456789', '--grace', 'soon'],
      /^tern: cli\/usage: --grace is "soon"; it must be a time such as 90s/,
    ],
    [['rotate', 'key_0123456789', '--grace', '400d'], /^tern: cli\/usage: --grace is "400d"/],
    [['usage', '--days', '0'], /^tern: cli\/usage: --days is "0"; it must be a number from 1 to 90/],
    [['usage', 'key_0123456789'], /^tern: access\/no-such-key: /],
    [['list', '--bad'], /^tern: cli\/usage: unknown option '--bad'/],
  ])('is one line: %j', async (args, expected) => {
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(expected);
    expect(err.trimEnd()).not.toContain('\n');
  });
});
