import { readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { StateImport } from '#services/indexer/import/state-import.js';
import { removeExportedStates, stateFolder, type TestStates, testStates } from '#test/support/exported-states.js';
import { FULL } from '#test/support/full-depth.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const HEAD = RECORDED_NET.to!;
const CONTRACT_TABLES = [...new Set(CONTRACT_INTERFACES.map(({ table }) => table.name))];

let replay: LiveReplay;
let whole: pg.Client;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  replay = liveReplay(RECORDED_NET.folder, HEAD, HEAD);
  whole = new pg.Client(connectionConfig(await sharedIndex(RECORDED_NET)));
  await whole.connect();
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  removeExportedStates();
});

afterAll(async () => {
  await whole.end();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  closers.push(() => database.close());
  return database;
}

async function indexerOf(test: TestDatabase, options: Parameters<typeof replayedIndexer>[2]): Promise<ReplayedIndexer> {
  const indexer = await replayedIndexer(replay, test.url, options);
  closers.push(() => indexer.close());
  return indexer;
}

async function importStates(
  test: TestDatabase,
  { files }: Pick<TestStates, 'files'>,
  {
    signal = new AbortController().signal,
    chain = replay.chain,
    logger = silentLogger,
  }: { readonly signal?: AbortSignal; readonly chain?: ChainReads; readonly logger?: Logger } = {},
) {
  const database = await Database.open({ url: test.url, writeConnections: 3 }, { clock: systemClock });
  try {
    const { zerostate } = replay.ledger;
    const stateImport = new StateImport(
      {
        files,
        folder: stateFolder(),
        threads: 2,
        verifyBytes: 64 * 2 ** 20,
        zerostate,
        dnsRoots: [],
        databaseUrl: test.url,
      },
      { database, chain, clock: systemClock, logger },
    );
    return await stateImport.run(signal);
  } finally {
    await database.close();
  }
}

/** The definitions of all indexes, but for those of partitions. */
async function indexesOf(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ indexdef: string }>(
    `SELECT i.indexdef FROM pg_indexes i JOIN pg_class c ON c.relname = i.tablename
     WHERE i.schemaname = current_schema() AND NOT c.relispartition ORDER BY 1`,
  );
  return rows.map(({ indexdef }) => indexdef);
}

type Row = Readonly<Record<string, unknown>>;

/** Rows as JSON by address. */
async function rowsOf(client: pg.ClientBase, table: string, where: string): Promise<Map<string, Row>> {
  const { rows } = await client.query<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${where} ORDER BY address`,
  );
  return new Map(rows.map(({ row }) => [String(row.address), row]));
}

/**
 * Compares all current states with those of the index from the zerostate on. What a state does not tell is left out: the first transaction
 * of an account, and for a state that is older than the imported one, since when the account has it.
 */
async function expectCurrentStates(test: TestDatabase, seqno: number): Promise<void> {
  const client = await test.connect();
  expect(await indexesOf(client)).toEqual(await indexesOf(whole));
  for (const table of ['accounts', 'contracts', ...CONTRACT_TABLES]) {
    const where =
      { accounts: 'true', contracts: `cardinality(kinds) > 0 OR refused IS NOT NULL` }[table] ?? 'lapsed IS NULL';
    const expected = await rowsOf(whole, table, where);
    const found = await rowsOf(client, table, where);
    const clean = (rows: Map<string, Row>) =>
      new Map(
        [...rows].flatMap(([address, { id: _, first_tx: __, ...row }]) => {
          const old = Number(row.mc_seqno) <= seqno;
          // An account that was deleted before is not in the state.
          if (old && row.status === 3) return [];
          return [[address, old ? { ...row, mc_seqno: 'before', gen_utime: 'before' } : row]];
        }),
      );
    expect(clean(found), table).toEqual(clean(expected));
  }
}

describe('an index that begins with imported states', () => {
  it.each(
    FULL
      ? [
          { seqno: 900, splitDepth: 0 },
          { seqno: 600, splitDepth: 2 },
          { seqno: 300, splitDepth: 4 },
        ]
      : [{ seqno: 900, splitDepth: 2 }],
  )(
    'has all current states at the head: states of block $seqno, split by $splitDepth bits',
    async ({ seqno, splitDepth }) => {
      const test = await newDatabase();
      const states = testStates(replay.ledger, seqno, splitDepth);
      const { indexer } = await indexerOf(test, { from: seqno + 1, follow: false, workers: 1 });
      const report = await importStates(test, states);
      expect(report.block.seqno).toBe(seqno);
      await indexer.run();
      await expectCurrentStates(test, seqno);
      const client = await test.connect();
      const { rows } = await client.query('SELECT state_seqno FROM index_state');
      expect(rows[0].state_seqno).toBe(HEAD);
      const tokens = await client.query(
        `SELECT (SELECT count(*) FROM jetton_wallets WHERE lapsed IS NULL) AS wallets,
           (SELECT count(*) FROM nft_items WHERE lapsed IS NULL) AS items`,
      );
      expect(Number(tokens.rows[0].wallets)).toBeGreaterThan(150);
      expect(Number(tokens.rows[0].items)).toBeGreaterThan(150);
    },
  );

  it.each(FULL ? ['after', 'meanwhile'] : ['meanwhile'])(
    'has the same rows when blocks are written and states imported %s',
    async (order) => {
      const seqno = FULL ? 600 : 1000;
      const states = testStates(replay.ledger, seqno, 1);
      const test = await newDatabase();
      const { indexer } = await indexerOf(test, { from: seqno + 1, follow: false, workers: 1, batchMcBlocks: 20 });
      const running = indexer.run();
      if (order === 'after') await running;
      await importStates(test, states);
      await running;
      const again = await indexerOf(test, { deriveOnly: true, follow: false });
      await again.indexer.run();
      await expectCurrentStates(test, seqno);
    },
  );

  it.each(['after a restart', 'while it follows'])(
    'has all blocks between the imported states and those that it has, %s',
    async (when) => {
      const test = await newDatabase();
      const client = await test.connect();
      const rounds = async () => (await client.query('SELECT rounds::text FROM index_state')).rows[0].rounds;
      const follow = when === 'while it follows';
      const { indexer } = await indexerOf(test, { from: 'now', follow });
      const running = indexer.run();
      await expect.poll(rounds).toBe(`{[${HEAD},${HEAD + 1})}`);
      if (!follow) await running;
      await importStates(test, testStates(replay.ledger, 1040, 1));
      if (!follow) await (await indexerOf(test, { follow })).indexer.run();
      await expect.poll(rounds).toBe(`{[1041,${HEAD + 1})}`);
    },
  );

  it('knows which accounts of older blocks were deleted in blocks that are not indexed', async () => {
    const [older, seqno] = [{ from: 520, to: 540 }, 620];
    const test = await newDatabase();
    await (await indexerOf(test, { ...older, follow: false, workers: 1 })).indexer.run();
    const client = await test.connect();
    const rowsIn = async (of: pg.ClientBase, addresses: readonly unknown[]) => [
      ...(await rowsOf(of, 'accounts', `address IN (${addresses.map((each) => `'${each}'`).join(', ')})`)).values(),
    ];
    const alive = [...(await rowsOf(client, 'accounts', 'status <> 3')).keys()];
    const deleted = (await rowsIn(whole, alive)).filter(
      ({ status, mc_seqno }) => status === 3 && Number(mc_seqno) <= seqno,
    );
    expect(deleted.length).toBeGreaterThan(0);
    const addresses = deleted.map(({ address }) => address);
    const before = await rowsIn(client, addresses);
    const { accounts } = await importStates(test, testStates(replay.ledger, seqno, 2));
    expect((await rowsOf(client, 'accounts', 'status <> 3')).size).toBe(accounts);
    const states = ({ last_trans_lt: _, last_trans_hash: __, first_tx: ___, gen_utime: ____, ...row }: Row) => row;
    const found = await rowsIn(client, addresses);
    expect(found.map(states)).toEqual(deleted.map((row) => states({ ...row, mc_seqno: seqno })));
    // Their last transactions are not known until the blocks between are.
    expect(found.map(({ last_trans_lt }) => last_trans_lt)).toEqual(before.map(({ last_trans_lt }) => last_trans_lt));
    // Nobody comes back meanwhile, nor does one who was there between those blocks only.
    for (const to of [552, seqno]) {
      await (await indexerOf(test, { from: older.to + 1, to, follow: false, workers: 1 })).indexer.run();
      expect((await rowsOf(client, 'accounts', 'status <> 3')).size).toBe(accounts);
    }
    const ended = `status = 3 AND mc_seqno BETWEEN ${older.to + 1} AND ${seqno}`;
    const rowsOfEnded = async (of: pg.ClientBase) =>
      [...(await rowsOf(of, 'accounts', ended)).values()].map(({ first_tx: _, ...row }) => row);
    const expected = await rowsOfEnded(whole);
    expect(expected.length).toBeGreaterThan(5);
    expect(await rowsOfEnded(client)).toEqual(expected);
  });

  it('brings no deleted account back while an import is not complete', async () => {
    const [older, seqno] = [{ from: 520, to: 552 }, 620];
    const states = testStates(replay.ledger, seqno, 2);
    const test = await newDatabase();
    const client = await test.connect();
    const stop = new AbortController();
    const logger = { ...silentLogger, info: () => stop.abort() };
    await expect(importStates(test, states, { signal: stop.signal, logger })).rejects.toMatchObject({
      code: 'indexer/stopped',
    });
    const all = (await rowsOf(client, 'accounts', 'true')).size;
    // As if it had been stopped earlier: one range is not begun, another one has come half of its way.
    const middle = Buffer.alloc(32);
    middle[0] = 0xa0;
    for (const [shard, position] of [
      ['a000000000000000', middle],
      ['e000000000000000', Buffer.alloc(0)],
    ] as const) {
      const { rowCount } = await client.query(
        'UPDATE state_imports SET finished = false, position = $2 WHERE workchain = 0 AND shard = $1',
        [BigInt.asIntN(64, BigInt(`0x${shard}`)), position],
      );
      expect(rowCount).toBe(1);
    }
    const known = `get_byte(address, 0) = 255 OR substr(address, 2) <= '\\x${middle.toString('hex')}'`;
    await client.query(`DELETE FROM accounts WHERE NOT (${known})`);
    const alive = async () => [...(await rowsOf(client, 'accounts', `status <> 3 AND (${known})`)).keys()];
    const imported = await alive();
    expect(imported.length).toBeLessThan(all);

    await (await indexerOf(test, { ...older, follow: false, workers: 1 })).indexer.run();
    expect(await alive()).toEqual(imported);
    expect((await rowsOf(client, 'accounts', `status = 3 AND mc_seqno = ${seqno}`)).size).toBeGreaterThan(0);
    await importStates(test, states);
    expect((await rowsOf(client, 'accounts', 'status <> 3')).size).toBe(all);
  });

  it('has the same rows after imports that were stopped at any moment', async () => {
    const seqno = FULL ? 300 : 1000;
    const states = testStates(replay.ledger, seqno, 4);
    const test = await newDatabase();
    const { indexer } = await indexerOf(test, { from: seqno + 1, follow: false, workers: 1 });
    for (let ms = 50, done = false; !done; ms += FULL ? 300 : ms) {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), ms);
      done = await importStates(test, states, { signal: stop.signal }).then(
        () => true,
        () => false,
      );
      clearTimeout(timer);
    }
    await indexer.run();
    await expectCurrentStates(test, seqno);
  });
});

describe('states that are refused', () => {
  /** Nothing is written. */
  async function expectRefused(
    files: readonly string[],
    code: string,
    text: RegExp,
    chain: ChainReads = replay.chain,
  ): Promise<void> {
    const test = await newDatabase();
    await indexerOf(test, { from: 901, follow: false });
    const error = await importStates(test, { files }, { chain }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code });
    expect((error as Error).message).toMatch(text);
    const client = await test.connect();
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM state_imports) AS files, state_seqno
       FROM index_state`,
    );
    expect(rows[0]).toEqual({ accounts: 0n, files: 0n, state_seqno: null });
  }

  it('are those that lack a part, a shard or the masterchain', async () => {
    const { files } = testStates(replay.ledger, 900, 2);
    expect(files.length).toBeGreaterThan(4);
    await expectRefused(files.slice(0, -1), 'state-files/missing-state', /part [0-9a-f]{16} is missing/);
    await expectRefused(files.slice(0, 1), 'state-files/missing-state', /\(0,8000000000000000\)/);
    await expectRefused(files.slice(1), 'state-files/no-masterchain', /masterchain/);
  });

  it('are those of other blocks and networks', async () => {
    const [first, second] = [testStates(replay.ledger, 900, 0), testStates(replay.ledger, 800, 0)];
    await expectRefused([first.files[0]!, second.files[1]!], 'state-files/other-state', /byte \d+/);
    await expectRefused([...first.files, second.files[0]!], 'state-files/two-states', /masterchain/);
    const part = testStates(replay.ledger, 600, 1).files.at(-1)!;
    await expectRefused([...first.files, part], 'state-files/other-state', /root hash/);
    // A network that has another state after the same block.
    const { chain } = replay;
    const other = {
      blockId: chain.blockId.bind(chain),
      shards: chain.shards.bind(chain),
      header: async (at: Parameters<typeof chain.header>[0]) => ({
        ...(await chain.header(at)),
        state_hash: new Uint8Array(32),
      }),
    } as unknown as ChainReads;
    await expectRefused(first.files, 'state-files/other-state', /state hash [0-9a-f]{64} instead of 0{64}/, other);
  });

  it('are damaged and torn ones', async () => {
    const { files } = testStates(replay.ledger, 900, 0);
    const file = files[1]!;
    const bytes = readFileSync(file);
    for (const at of [bytes.length - 2, bytes.length >> 1, 40]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 4;
      writeFileSync(file, changed);
      await expectRefused(files, 'state-files/damaged', /byte \d+/);
    }
    writeFileSync(file, bytes.subarray(0, bytes.length - 5000));
    await expectRefused(files, 'state-files/damaged', /bytes/);
  });
});
