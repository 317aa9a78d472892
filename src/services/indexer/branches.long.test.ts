import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Indexer } from '#services/indexer/indexer.js';
import type { IndexerOptions } from '#services/indexer/options.js';
import { type BranchedChain, branchedChain } from '#test/support/branched-chain.js';
import { type DirectServer, DirectSource } from '#test/support/direct-source.js';
import { dumpIndex } from '#test/support/dump-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let net: BranchedChain;
const databases: TestDatabase[] = [];
const running: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  net = await branchedChain(3);
  await net.first.growTo(8);
  await net.second.growTo(5);
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

afterAll(async () => {
  for (const database of databases) await database.close();
  await net.close();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  databases.push(database);
  return database;
}

/** An indexer in a process of its own, as it were: it remembers nothing of the chain. */
async function start(
  server: DirectServer,
  { url }: TestDatabase,
  options: Partial<IndexerOptions>,
  logger: Logger = silentLogger,
) {
  const source = new DirectSource((query) => server(query));
  const modules = { source, clock: systemClock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  const chain = new Chain({ zero_state: net.zerostate, headMaxAgeMs: 20 }, modules);
  const clock = systemClock;
  const database = await Database.open({ url, writeConnections: 4 }, { clock });
  const bundles = new BundleSource({ deadlineMs: 2000, retryMaxMs: 200 }, { chain, clock, logger });
  const indexer = await Indexer.open(
    { zerostate: net.zerostate, databaseUrl: url, partitionMcBlocks: 100, contracts: false, ...options },
    { bundles, chain, database, clock, unixTimeMs: Date.now, logger },
  );
  const close = async (): Promise<void> => {
    await indexer.close();
    await database.close();
  };
  running.push({ close });
  return indexer;
}

async function indexed(database: TestDatabase): Promise<{ rounds: string; heads: number }> {
  const client = await database.connect();
  const { rows } = await client.query(
    'SELECT rounds::text, (SELECT count(*)::int FROM blocks) AS heads FROM index_state',
  );
  return rows[0];
}

function noting(lines: string[]): Logger {
  return { info() {}, warn: (message, fields) => void lines.push(`${message} ${fields?.code ?? ''}`) };
}

describe('an index whose chain is replaced by another branch', () => {
  it('writes nothing when the other branch has passed it, and says so once', async () => {
    const database = await newDatabase();
    await (await start(net.first.server, database, { from: 1, to: 4, follow: false })).run();
    const before = await indexed(database);
    const lines: string[] = [];
    const indexer = await start(net.second.server, database, {}, noting(lines));
    void indexer.run();
    await expect.poll(() => indexer.status.contradiction?.code).toBe('indexer/other-branch');
    await expect.poll(() => indexer.status.retries).toBeGreaterThan(1);
    expect(lines).toEqual(['indexing is waiting for a retry indexer/other-branch']);
    expect(await indexed(database)).toEqual(before);
  });

  it('writes nothing when the other branch is still behind it', async () => {
    const database = await newDatabase();
    await (await start(net.first.server, database, { from: 1, to: 8, follow: false })).run();
    const before = await indexed(database);
    const indexer = await start(net.second.server, database, {});
    void indexer.run();
    await expect.poll(() => indexer.status.contradiction?.code).toBe('indexer/other-branch');
    expect(await indexed(database)).toEqual(before);
  });

  it('leaves a gap open that only the other branch could fill, downwards and upwards', async () => {
    const database = await newDatabase();
    await (await start(net.first.server, database, { from: 7, to: 8, follow: false })).run();
    const before = await indexed(database);
    // The other branch does not reach the indexed blocks yet.
    const below = await start(net.second.server, database, { from: 1, to: 6, follow: false });
    void below.run();
    await expect.poll(() => below.status.problem?.code).toBe('indexer/chain-behind');
    await below.close();
    await net.second.growTo(9);
    const again = await start(net.second.server, database, { from: 1, to: 6, follow: false });
    void again.run();
    await expect.poll(() => again.status.contradiction?.code).toBe('indexer/other-branch');
    await again.close();
    expect(await indexed(database)).toEqual(before);
    const above = await start(net.second.server, database, { from: 9, to: 9, follow: false });
    void above.run();
    await expect.poll(() => above.status.contradiction?.code).toBe('indexer/other-branch');
    expect((await indexed(database)).rounds).toBe(before.rounds);
  });

  it('is created again on demand, and then follows the other branch; readers of events are notified', async () => {
    const database = await newDatabase();
    await (await start(net.first.server, database, { from: 1, to: 5, follow: false })).run();
    const client = await database.connect();
    const { rows: before } = await client.query('SELECT last_event FROM index_state');
    await running.pop()!.close();
    const indexer = await start(net.second.server, database, { from: 1, to: 5, follow: false, recreate: true });
    const { rows: events } = await client.query('SELECT id, kind FROM index_events');
    expect(events).toEqual([{ id: before[0].last_event + 1n, kind: 4 }]);
    await indexer.run();
    const { rows } = await client.query('SELECT root_hash FROM blocks WHERE workchain = -1 AND seqno = 5');
    expect(Buffer.from(net.second.id(5).root_hash).equals(rows[0].root_hash)).toBe(true);
    // Indexed again it is as if it had never been another.
    const fresh = await newDatabase();
    await (await start(net.second.server, fresh, { from: 1, to: 5, follow: false })).run();
    const [again, first] = [await dumpIndex(client), await dumpIndex(await fresh.connect())];
    expect({ ...again, index_state: '' }).toEqual({ ...first, index_state: '' });
  });

  it('begins again by itself when the local network announces another incarnation', async () => {
    const database = await newDatabase();
    const range = { from: 1, to: 5, follow: false } as const;
    await (await start(net.first.server, database, { ...range, chain: 'aa' })).run();
    await running.pop()!.close();
    const before = await indexed(database);
    await start(net.first.server, database, { ...range, chain: 'aa' });
    expect(await indexed(database)).toEqual(before);
    await running.pop()!.close();
    const indexer = await start(net.second.server, database, { ...range, chain: 'bb' });
    expect((await indexed(database)).rounds).toBe('{}');
    await indexer.run();
    expect(indexer.status).toMatchObject({ contradiction: null, problem: null });
    expect(await indexed(database)).toMatchObject({ rounds: '{[1,6)}' });
  });

  it('is not created again while another process writes it', async () => {
    const database = await newDatabase();
    const indexer = await start(net.first.server, database, {});
    void indexer.run();
    await expect.poll(() => indexer.status.head?.seqno).toBe(8);
    await expect(start(net.second.server, database, { recreate: true })).rejects.toMatchObject({
      code: 'store/index-in-use',
    });
  });

  it('goes on as soon as the liteservers are on its branch', async () => {
    const database = await newDatabase();
    await (await start(net.first.server, database, { from: 1, to: 5, follow: false })).run();
    let server = net.second.server;
    const indexer = await start((query) => server(query), database, {});
    void indexer.run();
    await expect.poll(() => indexer.status.contradiction?.code).toBe('indexer/other-branch');
    server = net.first.server;
    await indexer.close();
    const healed = await start(server, database, {});
    void healed.run();
    await expect.poll(() => healed.status.head?.seqno).toBe(8);
    expect(healed.status.contradiction).toBeNull();
  });
});
