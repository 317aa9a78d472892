import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { addressBytes } from '#drivers/store/keys.js';
import { parseAddress } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { type MetadataOptions, type MetadataService, startMetadata } from '#services/metadata/metadata.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const DUST = `0:${'65AAC9B5E380EAE928DB3C8E238D9BC0D61A9320FDC2BC7A2F6C87D6FEDF9208'}`;
const OTHER = `0:${'11'.repeat(32)}`;
const BEGIN = 1_800_000_000;
const LINK = 'data:application/json,{"name":"of the token"}';

let testing: TestDatabase;
let client: pg.Client;
let database: Database;
let folder: string;
let file: string;
let clock: FakeClock;
let reported: string[];
let changes: number;
let metadata: MetadataService | null = null;

beforeEach(async () => {
  testing = await testDatabase();
  client = await testing.connect();
  database = await Database.open({ url: testing.url }, { clock: systemClock });
  const hash = new Uint8Array(32);
  await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 1000);
  folder = await mkdtemp(join(tmpdir(), 'tern-metadata-'));
  file = join(folder, 'overrides.json');
  [clock, reported, changes] = [new FakeClock(), [], 0];
});
afterEach(async () => {
  await metadata?.close();
  metadata = null;
  await database.close();
  await testing.close();
  await rm(folder, { recursive: true });
});

async function start(options: Partial<MetadataOptions> = {}): Promise<void> {
  await metadata?.close();
  metadata = null;
  const log = (message: string, fields?: object) => void reported.push(`${message} ${JSON.stringify(fields)}`);
  metadata = await startMetadata(
    { fetches: false, gateway: null, atOnce: 4, overrides: file, ...options },
    {
      ...{ database, clock, unixTimeMs: () => BEGIN * 1000 + clock.now(), random: () => 0.5 },
      ...{ logger: { info: log, warn: log }, onChange: () => changes++ },
    },
  );
}

const write = (content: unknown) => writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));

async function rows(): Promise<unknown[]> {
  const found = await client.query(
    `SELECT kind, uri IS NOT NULL AS linked, override, document, due_at IS NOT NULL AND due_at <= ${BEGIN} + 100000 AS due
     FROM token_metadata ORDER BY address, kind`,
  );
  return found.rows;
}

async function addLink(address: string): Promise<void> {
  await client.query(`INSERT INTO token_metadata (address, kind, uri, due_at) VALUES ($1, 'jetton_masters', $2, $3)`, [
    ...[addressBytes(parseAddress(address).address), LINK, BEGIN - 1],
  ]);
}

/** Waits, in real time, while time goes on for the service. */
async function until(test: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await test()) return;
    clock.advance(1_000);
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new TypeError(`it does not come: ${JSON.stringify(await rows())} ${reported.join('\n')}`);
}

describe('overrides', () => {
  it('are those of the file: at the start, and when it is changed', async () => {
    await write({ jetton_masters: { [DUST]: { content: { symbol: 'DUST' } }, [OTHER]: { is_scam: true } } });
    await start();
    const scam = { kind: 'jetton_masters', linked: false, override: { is_scam: true }, document: null, due: false };
    const dust = {
      kind: 'jetton_masters',
      linked: false,
      override: { content: { symbol: 'DUST' } },
      document: null,
      due: false,
    };
    expect(await rows()).toEqual([scam, dust]);
    expect([changes, metadata!.metrics().overrides]).toEqual([1, 2]);

    // The same again is no change.
    await start();
    expect(changes).toBe(1);

    await write({ jetton_masters: { [DUST]: { content: { symbol: 'DUST' }, is_nsfw: true } } });
    await until(() => changes === 2);
    expect(await rows()).toEqual([{ ...dust, override: { content: { symbol: 'DUST' }, is_nsfw: true } }]);
    await start({ overrides: null });
    expect([await rows(), changes]).toEqual([[], 3]);
    const counted = await client.query('SELECT contract_changes FROM index_state');
    expect(Number(counted.rows[0].contract_changes)).toBe(3);
  });

  it('stay as they were when the changed file is of no use', async () => {
    await write({ nft_items: { [DUST]: { is_scam: true } } });
    await start();
    const before = await rows();
    await write({ nft_items: { [DUST]: { is_scam: 1 } } });
    await until(() => reported.length > 0);
    expect(reported[0]).toContain('the overrides of metadata stay as they were');
    expect(reported[0]).toContain('is_scam is neither true nor false');
    await rm(file);
    await until(() => reported.length > 1);
    expect(reported[1]).toContain('there is no such file');
    clock.advance(60_000);
    await new Promise((done) => setTimeout(done, 100));
    expect([reported.length, await rows()]).toEqual([2, before]);
    await write({});
    await until(async () => (await rows()).length === 0);
  });

  it('that are of no use keep the service from starting', async () => {
    await write({ nft_items: { [DUST]: {} } });
    await expect(start()).rejects.toMatchObject({ code: 'metadata/overrides' });
    await rm(file);
    await expect(start()).rejects.toMatchObject({ code: 'metadata/overrides' });
  });

  it('with content keep the link from being followed, for as long as they are there; flags do not', async () => {
    await addLink(DUST);
    await addLink(OTHER);
    await write({ jetton_masters: { [DUST]: { content: { symbol: 'DUST' } }, [OTHER]: { is_scam: true } } });
    await start({ fetches: true });
    const found = { name: 'of the token' };
    const documents = async () => (await rows()).map((row) => (row as { document: unknown }).document);
    await until(async () => (await documents())[0] !== null);
    clock.advance(10_000);
    await new Promise((done) => setTimeout(done, 100));
    expect(await documents()).toEqual([found, null]);
    expect(metadata!.metrics()).toMatchObject({ fetched: 1, overrides: 2 });
    await write({});
    await until(async () => (await documents())[1] !== null);
    expect(await documents()).toEqual([found, found]);
  });
});

describe('metadata', () => {
  it('is not fetched when that is switched off', async () => {
    await addLink(DUST);
    await start({ fetches: false, overrides: null });
    for (let i = 0; i < 10; i++) {
      clock.advance(5_000);
      await new Promise((done) => setTimeout(done, 10));
    }
    expect(await rows()).toEqual([{ kind: 'jetton_masters', linked: true, override: null, document: null, due: true }]);
    expect(metadata!.metrics()).toEqual({
      ...{ running: 0, fetched: 0, failed: new Map(), put_off: 0, fetch_seconds: 0, behind_seconds: 0 },
      ...{ resting_hosts: 0, overrides: 0 },
    });
  });
});
