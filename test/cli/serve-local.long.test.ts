import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServedTern } from '#test/support/served-tern.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const folder = mkdtempSync(join(tmpdir(), 'tern-serve-local-'));
let database: TestDatabase;
let dev: ServedTern;
let serve: ServedTern;

beforeAll(async () => {
  database = await testDatabase('empty');
  const own = ['--data', join(folder, 'dev'), '--block-time', '200', '--port', '0'];
  dev = await ServedTern.start(['dev', '--index', 'off', ...own]);
  const config = join(folder, 'dev', 'localnet', 'global.config.json');
  const flags = ['--network', `local=${config}`, '--listen', '127.0.0.1:0', '--data', join(folder, 'serve')];
  const environment = { TERN_DATABASE_URL: database.url };
  serve = await ServedTern.start(['serve', ...flags, '--from', 'genesis'], undefined, environment);
});
afterAll(async () => {
  await serve?.close();
  await dev?.close();
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers have any form. */
type Answer = any;

async function control(method: string, parameters: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${dev.url}/localnet/${method}`, {
    ...{ method: 'POST', headers, body: JSON.stringify(parameters) },
  });
  expect(response.status, method).toBe(200);
  return response.json();
}

const hashOf = async (url: string, seqno: number): Promise<string | null> => {
  const query = `workchain=-1&shard=-9223372036854775808&seqno=${seqno}`;
  const { result } = (await (await fetch(`${url}/api/v2/lookupBlock?${query}`)).json()) as Answer;
  return result?.root_hash ?? null;
};

/** The indexed hash of a masterchain block. */
async function indexedHash(seqno: number): Promise<string | null> {
  const query = `workchain=-1&seqno=${seqno}`;
  const { blocks } = (await (await fetch(`${serve.url}/api/v3/blocks?${query}`)).json()) as Answer;
  return blocks?.[0]?.root_hash ?? null;
}

/** A masterchain block that is new on the chain that runs now, once it is indexed. */
async function expectFollowed(): Promise<void> {
  const headOf = async (): Promise<number> =>
    ((await (await fetch(`${dev.url}/localnet/status`)).json()) as Answer).head.seqno;
  const seqno = (await headOf()) + 2;
  await expect.poll(headOf).toBeGreaterThanOrEqual(seqno);
  await expect.poll(() => hashOf(dev.url, seqno)).not.toBeNull();
  const hash = await hashOf(dev.url, seqno);
  await expect.poll(() => indexedHash(seqno)).toBe(hash);
  await expect.poll(() => hashOf(serve.url, seqno)).toBe(hash);
  await expect.poll(async () => (await fetch(`${serve.url}/readyz`)).status).toBe(200);
}

it('a local network that is reset or loaded from a snapshot is followed, and its index begins anew', async () => {
  await expectFollowed();
  await control('snapshots/save', { name: 'one' });
  const before = await hashOf(serve.url, 1);
  await control('reset');
  await expectFollowed();
  expect(await hashOf(serve.url, 1)).not.toBe(before);
  expect(await indexedHash(1)).not.toBe(before);
  // The snapshot has another zerostate than the chain that was reset, and then the same one as the chain before.
  await control('snapshots/load', { name: 'one' });
  await expectFollowed();
  expect(await indexedHash(1)).toBe(before);
  await control('snapshots/load', { name: 'one' });
  await expectFollowed();
});
