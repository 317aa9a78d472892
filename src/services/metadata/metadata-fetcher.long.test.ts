import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { claimMetadata } from '#drivers/store/write/token-metadata.js';
import { webErrors } from '#drivers/web/errors.js';
import { type TargetPolicy, targetPolicy } from '#drivers/web/target-policy.js';
import { WebClient } from '#drivers/web/web-client.js';
import { type Clock, systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { FETCH_LIMITS } from '#services/metadata/fetch-document.js';
import {
  type FetcherModules,
  type FetcherOptions,
  LEASE_SECONDS,
  MetadataFetcher,
} from '#services/metadata/metadata-fetcher.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const BEGIN = 1_800_000_000;
const WEEK = 7 * 86_400;

let testing: TestDatabase;
let client: pg.Client;
let database: Database;
let server: Server;
let port: number;
/** What the server answers: a body, or a status. */
let answer: (path: string) => string | number | Promise<string> = () => '{}';
let asked: string[] = [];
let [atOnce, mostAtOnce] = [0, 0];
const running: MetadataFetcher[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked.push(request.url!);
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    const body = await answer(request.url!);
    atOnce--;
    if (typeof body === 'number') response.writeHead(body).end();
    else response.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((done) => server.close(done)));

beforeEach(async () => {
  testing = await testDatabase();
  client = await testing.connect();
  database = await Database.open({ url: testing.url }, { clock: systemClock });
  const hash = new Uint8Array(32);
  await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 1000);
  [asked, atOnce, mostAtOnce] = [[], 0, 0];
  answer = (path) => JSON.stringify({ name: `item ${path}`, _image_small: 'x' });
});
afterEach(async () => {
  for (const fetcher of running.splice(0)) await fetcher.close();
  server.closeAllConnections();
  await database.close();
  await testing.close();
});

/** Everything goes to the server of this test. */
const toServer: TargetPolicy = { addressesOf: async () => [{ address: '127.0.0.1', family: 4 }] };

interface Faked extends Partial<FetcherModules> {
  readonly policy?: TargetPolicy;
}

function fetcherWith({ policy = toServer, ...modules }: Faked = {}, options: Partial<FetcherOptions> = {}) {
  const clock: Clock = modules.clock ?? systemClock;
  const began = clock.now();
  const fetcher = new MetadataFetcher(
    { gateway: 'https://gateway.example.com', atOnce: 8, ...options },
    {
      ...{ database, clock, web: new WebClient(FETCH_LIMITS, { policy, clock }), gatewayPolicy: toServer },
      ...{ unixTimeMs: () => BEGIN * 1000 + clock.now() - began, random: () => 0.5, logger: silentLogger },
      onChange: () => {},
      ...modules,
    },
  );
  running.push(fetcher);
  return fetcher;
}

const linkTo = (path: string | number, host = 'items.example.com') => `http://${host}:${port}/${path}`;

async function addLinks(links: readonly string[], kind = 'nft_items'): Promise<void> {
  await client.query(
    `INSERT INTO token_metadata (address, kind, uri, due_at)
     SELECT decode(lpad(to_hex(i), 66, '0'), 'hex'), $1, uri, $3 FROM unnest($2::text[]) WITH ORDINALITY AS l(uri, i)`,
    [kind, links, BEGIN - 10],
  );
}

interface Row {
  readonly uri: string;
  readonly document: unknown;
  readonly fetched_at: number | null;
  readonly due_at: number;
  readonly attempts: number;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

async function rows(): Promise<Row[]> {
  const found = await client.query<Row>(
    `SELECT uri, document, fetched_at::int, due_at::int, attempts::int, failure FROM token_metadata ORDER BY address`,
  );
  return found.rows;
}

async function changes(): Promise<number> {
  return Number((await client.query('SELECT contract_changes FROM index_state')).rows[0].contract_changes);
}

/** Waits for rows, in real time. @param meanwhile is done before each look */
async function rowsThat(test: (rows: Row[]) => boolean, meanwhile: () => void = () => {}): Promise<Row[]> {
  for (let i = 0; i < 1_000; i++) {
    meanwhile();
    const found = await rows();
    if (test(found)) return found;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new TypeError(`the rows do not come: ${JSON.stringify(await rows())}`);
}

describe('metadata that is due', () => {
  it('is fetched and kept, and read again after a week', async () => {
    await addLinks([linkTo('a'), 'data:application/json,{"name":"b","decimals":9}']);
    await client.query('INSERT INTO token_metadata (address, kind, uri, due_at) VALUES ($1, $2, $3, $4)', [
      ...[new Uint8Array(33).fill(9), 'nft_items', linkTo('later'), BEGIN + 3_600],
    ]);
    let reported = 0;
    const fetcher = fetcherWith({ onChange: () => reported++ });
    fetcher.start();
    const found = await rowsThat((all) => all.filter(({ document }) => document !== null).length === 2);
    expect(found.map(({ document, failure, attempts }) => ({ document, failure, attempts }))).toEqual([
      { document: { name: 'item /a' }, failure: null, attempts: 0 },
      { document: { name: 'b', decimals: '9' }, failure: null, attempts: 0 },
      { document: null, failure: null, attempts: 0 },
    ]);
    for (const { fetched_at, due_at } of found.slice(0, 2)) {
      expect(fetched_at! - BEGIN).toBeLessThan(30);
      expect(Math.abs(due_at - BEGIN - WEEK)).toBeLessThan(30);
    }
    expect(asked).toEqual(['/a']);
    const before = await changes();
    expect([before >= 1, before === reported]).toEqual([true, true]);
    expect(fetcher.metrics()).toMatchObject({ fetched: 2, put_off: 0, running: 0 });

    // The same again tells nobody.
    await client.query('UPDATE token_metadata SET due_at = $1, fetched_at = 1 WHERE document IS NOT NULL', [BEGIN]);
    await rowsThat((all) => all.slice(0, 2).every(({ fetched_at }) => fetched_at! > 1));
    expect(await changes()).toBe(before);
  });

  it('is kept when it cannot be read again', async () => {
    await addLinks([linkTo('a')]);
    await client.query(`UPDATE token_metadata SET document = '{"name":"old"}', fetched_at = 7`);
    answer = () => 'no JSON';
    fetcherWith().start();
    const [row] = await rowsThat(([first]) => first!.failure !== null);
    expect(row).toMatchObject({ document: { name: 'old' }, fetched_at: 7, attempts: 1 });
    expect(await changes()).toBe(0);
  });

  it('comes again after failures: 5 s, doubled up to 6 h, then weekly; and at once when it succeeds', async () => {
    await addLinks(['http://nowhere.example.com/']);
    const clock = new FakeClock();
    const unixTime = () => BEGIN + Math.floor(clock.now() / 1000);
    const policy: TargetPolicy = {
      addressesOf: async () => {
        throw webErrors.unresolved({ host: 'nowhere.example.com', problem: 'ENOTFOUND\0' });
      },
    };
    const hosts = { atOnce: 4, failures: 1_000, backoffMs: 1, maxBackoffMs: 1 };
    fetcherWith({ clock, policy }, { hosts }).start();
    const pauses: number[] = [];
    for (let attempts = 1; attempts <= 18; attempts++) {
      const [row] = await rowsThat(
        ([first]) => first!.failure !== null && first!.attempts === attempts,
        () => clock.advance(1_000),
      );
      pauses.push(row!.due_at - unixTime());
      expect(row!.failure).toMatchObject({ code: 'metadata/unresolved', message: expect.stringMatching(/ENOTFOUND$/) });
      await client.query('UPDATE token_metadata SET failure = NULL');
      clock.advance((row!.due_at - unixTime()) * 1000);
    }
    // The clock goes on by a second with each look of the test.
    const wanted = [...Array.from({ length: 16 }, (_, i) => Math.min(5 * 2 ** i, 21_600)), WEEK, WEEK];
    for (const [i, pause] of pauses.entries()) expect(Math.abs(pause - wanted[i]!), `pause ${i}`).toBeLessThan(200);
    expect(pauses.slice(0, 3).every((pause) => pause <= 20)).toBe(true);
  });

  it('has failed with its cause, of links that lead inside or nowhere', async () => {
    const links = [
      ...[
        'http://127.0.0.1/',
        'http://[::1]/',
        'http://localhost/',
        'http://user@example.com/',
        'http://example.com:25/',
      ],
      ...[
        'ftp://example.com/',
        'nonsense',
        'data:,[]',
        'data:image/png,x',
        'ipfs://x/',
        'data:,%ff',
        '\ud800',
        'x'.repeat(100_000),
      ],
    ];
    await addLinks(links);
    fetcherWith({ policy: targetPolicy({ resolve: async () => [] }) }).start();
    const found = await rowsThat((all) => all.every(({ failure }) => failure !== null));
    expect(found.map(({ failure }) => failure!.code.replace('metadata/', ''))).toEqual([
      ...[
        'address',
        'address',
        'host',
        'link',
        'port',
        'scheme',
        'link',
        'not-json',
        'content-type',
        'link',
        'not-utf8',
      ],
      ...['link', 'link'],
    ]);
    for (const { failure, due_at, fetched_at } of found) {
      expect([failure!.message.length > 10, failure!.message.length <= 1_000, fetched_at]).toEqual([true, true, null]);
      const isOfLink = !/not-json|not-utf8|content-type/.test(failure!.code);
      expect(due_at - BEGIN > 29 * 86_400, failure!.code).toBe(isOfLink);
    }
    expect(asked).toEqual([]);
    expect(await changes()).toBeGreaterThan(0);
  });

  it('is asked of one host four times at once, and all of it in the end', async () => {
    answer = async () => {
      await new Promise((done) => setTimeout(done, 20));
      return '{"name":"slow"}';
    };
    await addLinks(Array.from({ length: 60 }, (_, i) => linkTo(i)));
    const clock = { ...systemClock, now: () => systemClock.now() * 20 };
    const fetcher = fetcherWith({ clock }, { atOnce: 16 });
    fetcher.start();
    await rowsThat((all) => all.every(({ document }) => document !== null));
    expect([asked.length, mostAtOnce]).toEqual([60, 4]);
    expect(fetcher.metrics().put_off).toBeGreaterThan(0);
    expect((await rows()).every(({ attempts }) => attempts === 0)).toBe(true);
  });

  it('is not asked of a host that does not answer, for a while', async () => {
    let tries = 0;
    const policy: TargetPolicy = {
      addressesOf: async (url) => {
        if (url.hostname !== 'dead.example.com') return toServer.addressesOf(url, new AbortController().signal);
        tries++;
        throw webErrors.unresolved({ host: url.hostname, problem: 'SERVFAIL' });
      },
    };
    await addLinks([
      ...Array.from({ length: 40 }, (_, i) => `http://dead.example.com/${i}`),
      ...Array.from({ length: 5 }, (_, i) => linkTo(i)),
    ]);
    const fetcher = fetcherWith({ policy });
    fetcher.start();
    // Put off, failed or fetched: nothing is under way any more.
    const found = await rowsThat(
      (all) =>
        all.filter(({ document }) => document !== null).length === 5 &&
        all.every(({ due_at, attempts, failure }) => due_at > BEGIN + 4 && (attempts === 0 || failure !== null)),
    );
    expect(tries).toBeLessThan(12);
    expect(found.filter(({ failure }) => failure !== null)).toHaveLength(tries);
    expect(fetcher.metrics().resting_hosts).toBe(1);
  });
});

describe('metadata behind the IPFS gateway', () => {
  const CID = `Qm${'a'.repeat(44)}`;
  const clock = { ...systemClock, now: () => systemClock.now() * 20 };
  const start = (modules: Partial<FetcherModules> = {}): MetadataFetcher => {
    const fetcher = fetcherWith({ clock, ...modules }, { gateway: `http://gateway.example.com:${port}` });
    fetcher.start();
    return fetcher;
  };
  const links = (name: string, count: number) => Array.from({ length: count }, (_, i) => `ipfs://${CID}/${name}/${i}`);
  const isAlive = ({ uri }: Row) => uri.includes('/alive/');

  it.each([
    ['has no answer', () => new Promise<string>(() => {})],
    ['is answered with 504', () => 504],
  ])('is fetched while that of other tokens %s', async (_name, unpinned) => {
    answer = (path) => (path.includes('/dead/') ? unpinned() : '{"name":"a"}');
    await addLinks([...links('dead', 12), ...links('alive', 2)]);
    await client.query(`UPDATE token_metadata SET due_at = due_at + 20 WHERE uri LIKE '%alive%'`);
    const limits = { ...FETCH_LIMITS, firstByteMs: 100 };
    const fetcher = start({ web: new WebClient(limits, { policy: toServer, clock: systemClock }) });
    const found = await rowsThat((all) =>
      all.every((row) => (isAlive(row) ? row.document !== null : row.failure !== null)),
    );
    expect(found.filter(isAlive)).toHaveLength(2);
    expect(fetcher.metrics().resting_hosts).toBe(0);
  });

  it.each([429, 503])('is not fetched for a while when the gateway answers with %d', async (status) => {
    answer = () => status;
    await addLinks(links('any', 12));
    const fetcher = start();
    await expect.poll(() => fetcher.metrics().resting_hosts, { timeout: 10_000 }).toBe(1);
  });
});

describe('several that fetch', () => {
  it('share the work', async () => {
    await addLinks(Array.from({ length: 300 }, (_, i) => linkTo(i, `host-${i % 50}.example.com`)));
    answer = async (path) => {
      await new Promise((done) => setTimeout(done, 5));
      return JSON.stringify({ name: path });
    };
    const other = await Database.open({ url: testing.url }, { clock: systemClock });
    const fetchers = [fetcherWith(), fetcherWith({ database: other })];
    for (const fetcher of fetchers) fetcher.start();
    const found = await rowsThat((all) => all.every(({ document }) => document !== null));
    expect(found.map(({ uri, document }) => uri.endsWith((document as { name: string }).name))).not.toContain(false);
    expect(new Set(asked).size).toBe(300);
    expect(asked).toHaveLength(300);
    const shares = fetchers.map((fetcher) => fetcher.metrics().fetched);
    expect([shares[0]! + shares[1]!, shares.every((share) => share > 0)]).toEqual([300, true]);
    for (const fetcher of running.splice(0)) await fetcher.close();
    await other.close();
  });

  it('take over what one had taken that was killed, when its lease ends', async () => {
    await addLinks([linkTo('a'), linkTo('b')]);
    const lost = await claimMetadata(client, { now: BEGIN, limit: 1, leases: LEASE_SECONDS });
    expect(lost).toHaveLength(1);
    const clock = new FakeClock();
    fetcherWith({ clock }).start();
    await rowsThat((all) => all.some(({ document }) => document !== null));
    clock.advance(50_000);
    await new Promise((done) => setTimeout(done, 100));
    expect(asked).toHaveLength(1);
    const found = await rowsThat(
      (all) => all.every(({ document }) => document !== null),
      () => clock.advance(1_000),
    );
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(found.map(({ attempts }) => attempts)).toEqual([0, 0]);
    expect(asked.sort()).toEqual(['/a', '/b']);
  });

  it('leave what brings a process down alone for longer each time', async () => {
    await addLinks([linkTo('bad')]);
    let now = BEGIN;
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      const [claimed] = await claimMetadata(client, { now, limit: 1, leases: LEASE_SECONDS });
      waits.push(Number(claimed!.lease) - now);
      expect(await claimMetadata(client, { now: Number(claimed!.lease) - 1, limit: 1, leases: LEASE_SECONDS })).toEqual(
        [],
      );
      now = Number(claimed!.lease);
    }
    expect(waits).toEqual([60, 60, 60, 60, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240]);
  });

  it('give back what they have taken when they are closed', async () => {
    await addLinks([linkTo('a'), linkTo('b')]);
    answer = () => new Promise(() => {});
    const fetcher = fetcherWith();
    fetcher.start();
    for (let i = 0; i < 500 && asked.length < 2; i++) await new Promise((done) => setTimeout(done, 10));
    await fetcher.close();
    const found = await rows();
    expect(found.map(({ attempts, failure, document }) => ({ attempts, failure, document }))).toEqual([
      { attempts: 0, failure: null, document: null },
      { attempts: 0, failure: null, document: null },
    ]);
    expect(found.every(({ due_at }) => due_at <= BEGIN + 30)).toBe(true);
  });

  it('throw away what a link led to that the chain has changed meanwhile', async () => {
    await addLinks([linkTo('old')]);
    answer = async (path) => {
      if (path === '/old')
        await client.query('UPDATE token_metadata SET uri = $1, due_at = $2', [linkTo('new'), BEGIN]);
      return JSON.stringify({ name: path });
    };
    fetcherWith().start();
    const [row] = await rowsThat(([first]) => first!.document !== null);
    expect([row!.document, asked]).toEqual([{ name: '/new' }, ['/old', '/new']]);
  });

  it('go on when the database was away', async () => {
    await addLinks([linkTo('a')]);
    await client.query('ALTER TABLE token_metadata RENAME TO away');
    const warned: string[] = [];
    const logger = {
      info: (message: string) => void warned.push(message),
      warn: (message: string) => void warned.push(message),
    };
    const clock = { ...systemClock, schedule: (ms: number, run: () => void) => systemClock.schedule(ms / 20, run) };
    fetcherWith({ logger, clock }).start();
    for (let i = 0; i < 500 && warned.length === 0; i++) await new Promise((done) => setTimeout(done, 10));
    await new Promise((done) => setTimeout(done, 300));
    await client.query('ALTER TABLE away RENAME TO token_metadata');
    await rowsThat(([first]) => first!.document !== null);
    expect(warned).toEqual(['fetching of metadata is suspended', 'fetching of metadata continues']);
  });
});
