import type pg from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import {
  decodeTouched,
  EVENTS_RETAINED,
  encodeTouched,
  eventsAfter,
  type IndexEvent,
  IndexEventFeed,
  NO_KEYS,
  recordContractChange,
  type TouchedKeys,
  touchedKeys,
} from '#drivers/store/event-log.js';
import { claimRange, openIndex } from '#drivers/store/index-state.js';
import { createStagingTables } from '#drivers/store/write/accounts.js';
import { pruneBelow } from '#drivers/store/write/partitions.js';
import { type BatchParts, writeBatch } from '#drivers/store/write/write-batch.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };
const EXCLUSIVE = { exclusive: true, awaitPrevious: async () => {} };
const BESIDE = { exclusive: false, awaitPrevious: async () => {} };

let test: TestDatabase;
let database: Database;
const opened: { close(): Promise<unknown> }[] = [];

beforeEach(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  await database.transaction((client) => openIndex(client, IDENTITY, 64));
  opened.push({ close: () => database.close() }, test);
  const [mine, its] = [database, test];
  return async () => {
    await mine.close();
    await its.close();
  };
});

afterAll(() => {
  opened.length = 0;
});

function partsOf(from: number, to: number): BatchParts {
  return {
    range: { from, to },
    plainCodes: [],
    requireContinuity: async () => {},
    rows: async () => [],
    staged: async () => [],
    traces: async () => {},
    touched: () =>
      Array.from({ length: to - from + 1 }, (_, i) => ({
        mc_seqno: from + i,
        touched: { ...NO_KEYS, accounts: [BigInt(from + i)] },
      })),
  };
}

async function commit(from: number, to = from, order = EXCLUSIVE): Promise<void> {
  await database.transaction(async (client) => {
    await createStagingTables(client);
    await writeBatch(client, partsOf(from, to), order);
  });
}

const brief = ({ id, kind, range }: IndexEvent) => `${id} ${kind}${range === null ? '' : ` ${range.from}-${range.to}`}`;

async function readAll(cursor: bigint, limit = 1000): Promise<string[]> {
  return (await eventsAfter(database, cursor, limit)).events.map(brief);
}

function feedOf(options: { fallbackMs?: number } = {}): IndexEventFeed {
  const feed = new IndexEventFeed(
    { fallbackMs: 60_000, pollMs: 60_000, ...options },
    {
      database: () => database,
      clock: systemClock,
      logger: silentLogger,
    },
  );
  feed.start();
  return feed;
}

/** Gathers what a subscription yields until it has so many events. */
async function gather(
  feed: IndexEventFeed,
  cursor: bigint | 'now',
  wanted: number,
  limit = 100,
): Promise<IndexEvent[]> {
  const stop = new AbortController();
  const events: IndexEvent[] = [];
  for await (const page of feed.subscribe(cursor, stop.signal, limit)) {
    events.push(...page);
    if (events.length >= wanted) stop.abort();
  }
  return events;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('the event log', () => {
  it('has an event for each masterchain block at the head, one for each batch elsewhere', async () => {
    await commit(10);
    await commit(11, 13);
    await commit(5, 8, BESIDE);
    await commit(14, 20, BESIDE);
    await commit(21);
    expect(await readAll(0n)).toEqual([
      '1 reset',
      '2 committed 10-10',
      ...['3 committed 11-11', '4 committed 12-12', '5 committed 13-13'],
      '6 backfilled 5-8',
      '7 backfilled 14-20',
      '8 committed 21-21',
    ]);
    const { events, last } = await eventsAfter(database, 6n, 1);
    expect([events, last]).toEqual([[{ id: 7n, kind: 'backfilled', range: { from: 14, to: 20 }, touched: null }], 8n]);
    expect((await eventsAfter(database, 7n, 1)).events[0]!.touched).toEqual({ ...NO_KEYS, accounts: [21n] });
    expect(await readAll(8n)).toEqual([]);
  });

  it('never has a committed event out of the order of seqnos', async () => {
    await commit(10);
    await commit(5);
    expect(await readAll(1n)).toEqual(['2 committed 10-10', '3 backfilled 5-5']);
  });

  it('leaves no gap and no double where transactions fail or wait for each other', async () => {
    const failed = database.transaction(async (client) => {
      await claimRange(client, { from: 1, to: 1 }, 1);
      await recordContractChange(client, [1n]);
      throw new Error('the process dies here');
    });
    await expect(failed).rejects.toThrow('dies');
    const writers = Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0
        ? commit(100 + i, 100 + i, BESIDE)
        : database.transaction((client) => recordContractChange(client, null)),
    );
    await Promise.all(writers);
    const { events } = await eventsAfter(database, 0n, 100);
    expect(events.map(({ id }) => id)).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n]);
    expect(events.filter(({ kind }) => kind === 'derived')).toHaveLength(3);
  });

  it('has nothing of a writer that is killed', async () => {
    const client = await test.connect();
    await client.query('BEGIN');
    await claimRange(client, { from: 1, to: 1 }, 1);
    await recordContractChange(client, [1n]);
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    const killer = await test.connect();
    await killer.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await commit(1);
    expect(await readAll(1n)).toEqual(['2 committed 1-1']);
  });

  it('reports pruning as a reset of the range', async () => {
    await commit(1, 200, BESIDE);
    await database.withWriter((client) => pruneBelow(client, 130));
    expect(await readAll(2n)).toEqual(['3 reset 0-127']);
  });

  it('retains a bounded number of events, and sends a reset to a reader whose events are gone', async () => {
    const client = await test.connect();
    // The next event is a multiple of 256: then old ones are deleted.
    const last = EVENTS_RETAINED + 479;
    await client.query('UPDATE index_state SET last_event = $1', [last]);
    await client.query('INSERT INTO index_events SELECT n, NULL, NULL, 3, NULL FROM generate_series(2, $1) n', [last]);
    await commit(1);
    const { rows } = await client.query<{ first: bigint; count: bigint }>(
      'SELECT min(id) AS first, count(*) FROM index_events',
    );
    expect(rows[0]).toEqual({ first: 481n, count: BigInt(EVENTS_RETAINED) });
    expect(await readAll(100n)).toEqual([`${last + 1} reset`]);
    expect((await readAll(480n, 1))[0]).toBe('481 derived');
  });

  it('sends a reset to a reader with a cursor of another index', async () => {
    expect(await readAll(77n)).toEqual(['1 reset']);
  });
});

describe('touched keys', () => {
  it('are read as they were written', () => {
    const keys: TouchedKeys = {
      accounts: Array.from({ length: 300 }, (_, i) => BigInt(i) - 150n),
      transactions: [-(1n << 63n), (1n << 63n) - 1n],
      messages: Array.from({ length: 20_000 }, (_, i) => BigInt(i)),
      traces: [],
      tokens: [5n],
      receivers: [6n],
      owners: [7n, 8n],
    };
    const bytes = encodeTouched(keys);
    expect(decodeTouched(bytes)).toEqual(keys);
    expect(bytes.length).toBe(20_306 * 8 + 2 + 1 + 3 + 1 + 1 + 1 + 1);
    for (let length = 0; length < 50; length++)
      expect(() => decodeTouched(bytes.subarray(0, length))).toThrow('ends before');
    // Older versions wrote no owners, and no receivers.
    for (const less of [17, 17 + 9]) expect(decodeTouched(bytes.subarray(0, -less))).toBeNull();
  });

  it('are each account, message, trace and token once', () => {
    const transaction = { account_key: 1n, hash_key: 2n, in_msg_key: 3n, trace_root: 4n };
    expect(
      touchedKeys({
        transactions: [transaction, { ...transaction, hash_key: 5n, in_msg_key: null }],
        messages: [
          { msg_key: 3n, norm_key: null, destination_key: 1n },
          { msg_key: 6n, norm_key: 7n, destination_key: 10n },
          { msg_key: 11n, norm_key: null, destination_key: null },
        ],
        traces: [4n, 8n],
        senders: [14n, 1n],
        tokens: [9n, 9n],
        owners: [12n, 13n, 12n],
      }),
    ).toEqual({
      accounts: [14n, 1n],
      transactions: [2n, 5n],
      messages: [3n, 6n, 7n, 11n],
      traces: [4n, 8n],
      tokens: [9n],
      owners: [12n, 13n],
      receivers: [10n],
    });
  });
});

describe('a feed of events', () => {
  it('yields to each of several readers all events once, in their order, as they are announced', async () => {
    const feed = feedOf();
    await until(() => feed.isListening);
    const readers = [
      gather(feed, 0n, 21),
      gather(feed, 0n, 21, 3),
      gather(feed, 1n, 20, 1),
      gather(feed, 'now', 20, 2),
    ];
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let seqno = 1; seqno <= 20; seqno++) await commit(seqno);
    const [all, pages, later, now] = await Promise.all(readers);
    const expected = Array.from({ length: 20 }, (_, i) => `${i + 2} committed ${i + 1}-${i + 1}`);
    expect(all!.map(brief)).toEqual(['1 reset', ...expected]);
    expect(pages!.map(brief)).toEqual(['1 reset', ...expected]);
    expect(later!.map(brief)).toEqual(expected);
    expect(now!.map(brief)).toEqual(expected);
    await feed.close();
  });

  it('catches up when its connection was lost', async () => {
    const feed = feedOf();
    await until(() => feed.isListening);
    const reading = gather(feed, 1n, 30);
    const client = await test.connect();
    for (let seqno = 1; seqno <= 30; seqno++) {
      if (seqno % 10 === 5) {
        await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tern events'`,
        );
      }
      await commit(seqno);
    }
    expect((await reading).map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, i) => BigInt(i + 2)));
    await feed.close();
  });

  it('goes on from a cursor that another process has reached', async () => {
    const feed = feedOf();
    await commit(1);
    await commit(2);
    const first = await gather(feed, 1n, 1, 1);
    await commit(3);
    expect((await gather(feed, first.at(-1)!.id, 2)).map(brief)).toEqual(['3 committed 2-2', '4 committed 3-3']);
    await feed.close();
  });

  it('finds by itself what was not announced', async () => {
    const feed = feedOf({ fallbackMs: 50 });
    await until(() => feed.isListening);
    const reading = gather(feed, 1n, 1);
    const client: pg.Client = await test.connect();
    await client.query(`BEGIN; UPDATE index_state SET last_event = 2;
      INSERT INTO index_events (id, kind) VALUES (2, 3); COMMIT`);
    expect((await reading).map(brief)).toEqual(['2 derived']);
    await feed.close();
  });

  it('ends with its signal, and when it is closed', async () => {
    const feed = feedOf();
    const [stop, never] = [new AbortController(), new AbortController()];
    const ended = [stop, never].map(async ({ signal }) => {
      for await (const _ of feed.subscribe('now', signal)) throw new TypeError('there is no event');
    });
    stop.abort();
    await ended[0];
    await feed.close();
    await ended[1];
  });
});
