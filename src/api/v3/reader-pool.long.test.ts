import { createServer, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountDependency } from '#api/v3/answer-keys.js';
import { defaultReaderSettings, ReaderPool, type ReaderSettings, UNHELPED } from '#api/v3/reader-pool.js';
import type { ReaderCall } from '#api/v3/reader-protocol.js';
import { v3IndexEndpoints } from '#api/v3/v3-api.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { indexReads } from '#drivers/store/read/index-port.js';
import { parseAddress } from '#formats/address/address.js';
import { type Clock, systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { copyOfIndex } from '#test/support/shared-index.js';
import { callV3 } from '#test/support/v3-method.js';

const QUERY_MS = 60_000;

let url: string;
let database: Database;
beforeAll(async () => {
  url = await copyOfIndex({ name: 'dev_chain_beginning', folder: DEV_CHAIN, to: 100 }, 'dev_chain_readers');
  database = await Database.open({ url }, { clock: systemClock });
});
afterAll(() => database?.close());

const pools: ReaderPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function poolOf(options: Partial<ReaderSettings> = {}, urls: string[] = [url], clock: Clock = systemClock): ReaderPool {
  const start = async () => ({
    url: urls.length > 1 ? urls.shift()! : urls[0]!,
    isTestnet: false,
    queryTimeoutMs: QUERY_MS,
    textBytes: 1 << 20,
    version: 0,
  });
  const pool = new ReaderPool(options, { start, clock, logger: silentLogger });
  pools.push(pool);
  return pool;
}

const call = (endpoint: string, raw: ReaderCall['raw'], changes: Partial<ReaderCall> = {}): ReaderCall => ({
  coverage: null,
  endpoint,
  raw,
  source: 'query',
  profile: 'spec',
  switches: { timeoutMs: null, noAddressBook: false, noMetadata: false, debug: false, actionsVersion: null },
  deadlineMs: QUERY_MS,
  ...changes,
});
const forEver = () => new AbortController().signal;
/** Of large calls. */
const caller = (signal = forEver(), client = '') => ({ signal, client, price: 100 });
const query = (raw: ReaderCall['raw']) => new URLSearchParams(raw as Record<string, string>).toString();

describe('reader threads', () => {
  it('take what the index answers, from a price on, until they are closed', async () => {
    const pool = poolOf({ fromPrice: 25 });
    for (const { name } of v3IndexEndpoints) expect(pool.takes(name, 25)).toBe(true);
    expect(pool.takes('transactions', 24)).toBe(false);
    for (const name of ['message', 'runGetMethod', 'estimateFee', 'addressInformation', 'walletInformation'])
      expect(pool.takes(name, 1_000)).toBe(false);
    await pool.close();
    expect(pool.takes('transactions', 25)).toBe(false);
  });

  it('help with smaller calls while they have room; one is started when some had none', async () => {
    const pool = poolOf({ fromPrice: 25, sharedFromPrice: 4, sharedCallsPerThread: 1 });
    expect(pool.helps('transactions', 3.9)).toBe(false);
    expect(pool.metrics().threads).toBe(0);
    for (let n = 0; n < UNHELPED - 1; n++) expect(pool.helps('transactions', 4)).toBe(false);
    await setImmediate();
    expect(pool.metrics().threads).toBe(0);
    await expect.poll(() => pool.helps('transactions', 4)).toBe(true);
    expect(pool.metrics().threads).toBe(1);
    expect(pool.helps('transactions', 3.9)).toBe(false);
    expect(pool.helps('runGetMethod', 4)).toBe(false);
    const answering = pool.answer(call('transactions', { limit: '7' }), caller());
    expect(pool.helps('transactions', 4)).toBe(false);
    await answering;
    expect(pool.helps('transactions', 4)).toBe(true);
    await pool.close();
    expect(pool.helps('transactions', 4)).toBe(false);
  });

  it('help with pages of ten transactions where there are several, for which calls wait', async () => {
    const pool = poolOf({ threads: 2 });
    expect(poolOf().helps('transactions', 4)).toBe(false);
    for (let n = 0; n < UNHELPED - 1; n++) expect(pool.helps('transactions', 4)).toBe(false);
    await expect.poll(() => pool.helps('transactions', 4)).toBe(true);
    const asManyAsHaveRoom = async () => {
      const answers: Promise<unknown>[] = [];
      while (pool.helps('transactions', 4)) answers.push(pool.answer(call('transactions', { limit: '10' }), caller()));
      const { running, waiting } = pool.metrics();
      await Promise.all(answers);
      return { running, waiting };
    };
    // The other one has begun to start; both together run four calls.
    expect(await asManyAsHaveRoom()).toEqual({ running: 4, waiting: 0 });
    expect(pool.metrics().threads).toBe(2);
    await expect.poll(asManyAsHaveRoom).toEqual({ running: 4, waiting: 4 });
    expect(pool.helps('transactions', 2.9)).toBe(false);
  });

  it('do not help while a call lasts long', async () => {
    const clock = new FakeClock();
    const pool = poolOf({ fromPrice: 25, sharedFromPrice: 4, largeCallsPerThread: 2 }, [url], clock);
    await pool.answer(call('transactions', { limit: '7' }), caller());
    await expect.poll(() => pool.helps('transactions', 4)).toBe(true);
    const answering = pool.answer(call('transactions', { limit: '7' }), caller());
    await Promise.resolve();
    expect(pool.helps('transactions', 4)).toBe(true);
    clock.advance(101);
    expect(pool.helps('transactions', 4)).toBe(false);
    await answering;
    expect(pool.helps('transactions', 4)).toBe(true);
  });

  it('tell what changed as it is, once they are told that it changed', async () => {
    const pool = poolOf();
    const bookOf = async () => {
      const { bytes } = await pool.answer(call('transactions', { limit: '1', sort: 'asc' }), caller());
      return (JSON.parse(new TextDecoder().decode(bytes)) as { address_book: Record<string, unknown> }).address_book;
    };
    const before = await bookOf();
    const [raw] = Object.keys(before);
    const { address } = parseAddress(raw!);
    const domain = 'of-a-reader.ton';
    await database.withWriter((client) =>
      client.query(
        `INSERT INTO dns_items (id, address, last_trans_lt, mc_seqno, owner, domain, dns_wallet) VALUES (1, '\\x01', 1, 1, $1, $2, $1)`,
        [addressBytes(address), domain],
      ),
    );
    try {
      expect(await bookOf()).toEqual(before);
      pool.noteChange(1, [accountDependency(address)]);
      expect(await bookOf()).toMatchObject({ [raw!]: { domain } });
    } finally {
      await database.withWriter((client) => client.query('DELETE FROM dns_items WHERE domain = $1', [domain]));
    }
  });

  it('start with the first call, and answer as the main thread does, with its headers', async () => {
    const pool = poolOf();
    expect(pool.metrics().threads).toBe(0);
    const network = { index: indexReads(database) };
    for (const profile of ['spec', 'toncenter'] as const) {
      for (const [name, raw] of [
        ['transactions', { limit: '7' }],
        ['traces', { limit: '3' }],
        ['messages', { limit: '20', sort: 'asc' }],
        ['blocks', { limit: '5', workchain: '-1' }],
      ] as const) {
        const expected = await callV3(name, query(raw), { network, profile });
        const { bytes, headers } = await pool.answer(call(name, raw, { profile }), caller());
        expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(expected.body);
        expect(Object.fromEntries(headers)).toEqual(expected.headers);
      }
    }
    expect(pool.metrics()).toMatchObject({ threads: 1, answers: 8, running: 0, replaced: 0 });
  });

  it('keep code, class and data of errors', async () => {
    const pool = poolOf();
    await expect(pool.answer(call('transactions', { mc_seqno: '2000000000' }), caller())).rejects.toMatchObject({
      code: 'v3/masterchain-block-not-found',
      class: 'not-found',
      data: { mc_seqno: 2_000_000_000 },
    });
    await expect(pool.answer(call('transactions', { limit: '0' }), caller())).rejects.toMatchObject({
      code: 'http/bad-parameter',
      data: { parameter: 'limit' },
    });
    await expect(pool.answer(call('blocks', { cursor: 'x' }), caller())).rejects.toMatchObject({
      code: 'store/cursor',
    });
  });
});

/** While the table is locked, reads of it wait. */
async function withLockedTable<T>(work: (blocked: () => Promise<number>) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE blocks');
    return await work(async () => {
      const [row] = await database.query<{ n: number }>({
        text: `SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'tern read'`,
      });
      return row!.n;
    });
  } finally {
    await client.end();
  }
}

describe('reader threads with more than they can do', () => {
  it('work on several calls; of those that wait, only so many', async () => {
    const pool = poolOf({ largeCallsPerThread: 2, maxWaiting: 1 });
    await withLockedTable(async (blocked) => {
      const leaving = new AbortController();
      const answers = [forEver(), forEver(), leaving.signal].map((signal) =>
        pool.answer(call('blocks', { limit: '1' }), caller(signal)),
      );
      await expect.poll(blocked).toBe(2);
      expect(pool.metrics()).toMatchObject({ running: 2, waiting: 1, threads: 1 });
      await expect(pool.answer(call('blocks', { limit: '1' }), caller())).rejects.toMatchObject({
        code: 'v3/readers-busy',
        class: 'overloaded',
      });
      leaving.abort();
      await expect(answers[2]).rejects.toThrow();
      expect(pool.metrics().waiting).toBe(0);
      const open = Promise.allSettled(answers.slice(0, 2));
      await pool.close();
      for (const each of await open)
        expect(each).toMatchObject({ reason: { code: expect.stringMatching(/v3\/reader-closed|store\/cancelled/) } });
    });
  });

  it('take calls of clients by turns', async () => {
    const pool = poolOf({ largeCallsPerThread: 1 });
    const order: string[] = [];
    await withLockedTable(async (blocked) => {
      const ask = (client: string) =>
        void pool.answer(call('blocks', { limit: '1' }), caller(forEver(), client)).then(() => order.push(client));
      for (const client of ['greedy', 'greedy', 'greedy', 'other']) ask(client);
      await expect.poll(blocked).toBe(1);
    });
    await expect.poll(() => order).toEqual(['greedy', 'other', 'greedy', 'greedy']);
  });

  it('have room for smaller calls beside large ones', async () => {
    const pool = poolOf({ largeCallsPerThread: 1 });
    const answered: string[] = [];
    await withLockedTable(async (blocked) => {
      const ask = (method: string, name: string, price: number) =>
        void pool.answer(call(method, { limit: '1' }), { ...caller(), price }).then(() => answered.push(name));
      ask('blocks', 'large', 51);
      ask('blocks', 'large, too', 51);
      await expect.poll(blocked).toBe(1);
      ask('topAccountsByBalance', 'smaller', 50);
      ask('topAccountsByBalance', 'smaller, too', 50);
      await expect.poll(() => answered).toEqual(['smaller', 'smaller, too']);
      expect(pool.metrics()).toMatchObject({ running: 1, waiting: 1 });
    });
    await expect.poll(() => answered.slice(2)).toEqual(['large', 'large, too']);
  });

  it('cancel the query of a call that nobody waits for', async () => {
    const pool = poolOf();
    await withLockedTable(async (blocked) => {
      const leaving = new AbortController();
      const answer = pool.answer(call('blocks', { limit: '1' }), caller(leaving.signal));
      await expect.poll(blocked).toBe(1);
      leaving.abort();
      await expect(answer).rejects.toMatchObject({ code: 'store/cancelled' });
      expect(await blocked()).toBe(0);
      expect(pool.metrics()).toMatchObject({ running: 0, replaced: 0 });
    });
  });

  it('cancel the query of a call that is late, and are not taken for stuck', async () => {
    const clock = new FakeClock();
    const pool = poolOf({}, [url], clock);
    await withLockedTable(async (blocked) => {
      const late = new AbortController();
      const answer = pool.answer(call('blocks', { limit: '1' }), { ...caller(), late: late.signal });
      await expect.poll(blocked).toBe(1);
      late.abort();
      expect(clock.pending).toBe(0);
      await expect(answer).rejects.toMatchObject({ code: 'store/cancelled' });
      expect(await blocked()).toBe(0);
      expect(pool.metrics()).toMatchObject({ running: 0, replaced: 0 });
    });
  });

  it('do not begin a call that waited until it was late', async () => {
    const pool = poolOf({ largeCallsPerThread: 1 });
    await withLockedTable(async (blocked) => {
      const late = new AbortController();
      const first = pool.answer(call('blocks', { limit: '1' }), caller());
      await expect.poll(blocked).toBe(1);
      const second = pool.answer(call('blocks', { limit: '1' }), { ...caller(), late: late.signal });
      expect(pool.metrics()).toMatchObject({ running: 1, waiting: 1 });
      late.abort();
      await expect(second).rejects.toMatchObject({ code: 'v3/reader-cancelled' });
      expect(pool.metrics()).toMatchObject({ running: 1, waiting: 0 });
      first.catch(() => {});
    });
    await expect.poll(() => pool.metrics()).toMatchObject({ running: 0, answers: 1 });
  });

  it('are replaced when they are stuck', async () => {
    const silent = await silentServer();
    const clock = new FakeClock();
    const { port } = silent.server.address() as { port: number };
    const pool = poolOf({}, [`postgresql://tern@127.0.0.1:${port}/tern`, url], clock);
    const leaving = new AbortController();
    const stuck = pool.answer(call('blocks', { limit: '1' }), caller(leaving.signal));
    await silent.asked;
    leaving.abort();
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(defaultReaderSettings.stuckMs);
    await expect(stuck).rejects.toMatchObject({ code: 'v3/reader-lost', class: 'overloaded' });
    const { bytes } = await pool.answer(call('blocks', { limit: '1' }), caller());
    expect(JSON.parse(new TextDecoder().decode(bytes)).blocks.length).toBe(1);
    expect(pool.metrics()).toMatchObject({ threads: 1, replaced: 1, answers: 1 });
    silent.server.close();
  });
});

/** Accepts connections and says nothing. */
async function silentServer(): Promise<{ readonly server: Server; readonly asked: Promise<void> }> {
  let connected = (): void => {};
  const asked = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const server = createServer(() => connected());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return { server, asked };
}

describe('a reader thread that runs out of memory', () => {
  it('is replaced, and only its calls fail', async () => {
    const pool = poolOf({ threads: 2, largeCallsPerThread: 2, heapMb: 64 });
    let open: Promise<unknown>[] = [];
    await withLockedTable(async (blocked) => {
      // One call for each thread; both wait.
      open = [forEver(), forEver()].map((signal) => pool.answer(call('blocks', { limit: '1' }), caller(signal)));
      for (const each of open) each.catch(() => {});
      await expect.poll(blocked).toBe(2);
      const hash = Array.from({ length: 1_500_000 }, (_, number) => `no hash: ${number}`);
      const greedy = pool.answer(call('transactions', { hash }), caller());
      await expect(greedy).rejects.toMatchObject({ code: 'v3/reader-lost', class: 'overloaded' });
      expect(pool.metrics()).toMatchObject({ threads: 1, replaced: 1, running: 1 });
    });
    const outcomes = await Promise.allSettled(open);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'v3/reader-lost' } });
    const again = await Promise.all([1, 2].map(() => pool.answer(call('blocks', { limit: '1' }), caller())));
    expect(again.length).toBe(2);
    expect(pool.metrics()).toMatchObject({ threads: 2, replaced: 1, running: 0 });
  });
});
