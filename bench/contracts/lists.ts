import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { v3Description } from '#api/v3/v3-api.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { indexReads } from '#drivers/store/read/index-port.js';
import type { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { openAccess } from '../../test/support/fake-http-api.js';
import { fillTokens, GREAT, tokenAddress } from '../../test/support/large-tokens.js';
import type { ReportTable } from '../report.js';
import { measureLoad } from '../v3/load.js';

/** Jetton wallets, and as many items. */
const COUNT_VARIABLE = 'TERN_BENCH_TOKENS';
const COUNT = 1_000_000;
/** Where the index is kept from one run to the next. */
const FOLDER_VARIABLE = 'TERN_BENCH_FOLDER';
/** In the folder of a database that is whole. */
const DONE = 'tokens.json';
const CONNECTIONS = [1, 16] as const;
const P99_TARGET_MS = 25;
const WARM_UP_MS = 500;
const MEASURE_MS = 2000;
const TIMEOUT_MS = 30_000;

/** What each list takes: its first page, the one behind a far cursor, and those of the great and the small. */
export async function contractListTables(): Promise<readonly ReportTable[]> {
  const count = Number(process.env[COUNT_VARIABLE] ?? COUNT);
  const folder = join(process.env[FOLDER_VARIABLE] ?? join(tmpdir(), 'tern-bench-tokens'), String(count));
  process.stderr.write(`bench: contracts: an index of ${count} jetton wallets and ${count} items …\n`);
  const server = await openTokens(folder, count);
  const database = await Database.open({ url: server.url }, { clock: systemClock });
  try {
    return [await measureLists(database, count)];
  } finally {
    await database.close();
    await server.close();
  }
}

async function openTokens(folder: string, count: number): Promise<EmbeddedServer> {
  mkdirSync(folder, { recursive: true });
  const done = join(folder, DONE);
  if (!existsSync(done)) rmSync(join(folder, 'server'), { recursive: true, force: true });
  const server = await startEmbeddedServer({ folder: join(folder, 'server') }, { clock: systemClock });
  if (existsSync(done)) return server;
  try {
    await make(server.url, count);
    writeFileSync(done, JSON.stringify({ count }));
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function make(url: string, count: number): Promise<void> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    await migrate(client, await readMigrations());
    await client.query(`SET maintenance_work_mem = '512MB'`);
    await fillTokens(client, count);
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

async function measureLists(database: Database, count: number): Promise<ReportTable> {
  const index = indexReads(database);
  // Nothing else is asked of the network.
  const network = { index, isTestnet: false } as unknown as Parameters<typeof v3Context>[0];
  const api = {
    ...v3Description,
    headSeqno: () => 1,
    freshness: () => ({ mcSeqno: 1, lagMs: null }),
    context: (request: Parameters<typeof v3Context>[1]) => v3Context(network, request),
  };
  const health = () => ({ ready: true }) as never;
  const http = await startHttpServer(
    { host: '127.0.0.1', port: 0, version: '0', requestLog: 'none', deadlineMs: TIMEOUT_MS, cacheBytes: 0 },
    {
      ...systemEnvironment(silentLogger),
      ...{ access: openAccess, metrics: new Registry() },
      networks: [{ name: 'tokens', hosts: [], apis: [api], health, headSeqno: () => 1 }],
    },
  );
  try {
    const measured: Measured[] = [];
    for (const [name, path] of await listCases(http.url, count)) {
      const results = [];
      for (const connections of CONNECTIONS) {
        const load = { url: http.url, paths: [path], connections, warmUpMs: WARM_UP_MS, ms: MEASURE_MS };
        results.push(await measureLoad({ ...load, cpuMs: () => ({ all: process.cpuUsage().user / 1000 }) }));
      }
      const [one, many] = [results[0]!, results[1]!];
      measured.push({ name, one: one.p50, rps: many.rps, p50: many.p50, p99: many.p99, bytes: one.bytes });
      process.stderr.write(`bench: contracts: ${name}: ${one.p50.toFixed(2)} ms\n`);
    }
    return tableOf(measured, count);
  } finally {
    await http.close();
  }
}

interface Measured {
  readonly name: string;
  /** Milliseconds of one request alone. */
  readonly one: number;
  readonly rps: number;
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
}

function tableOf(measured: readonly Measured[], count: number): ReportTable {
  const slowest = measured.toSorted((a, b) => b.p99 - a.p99);
  return {
    title: `lists of tokens over HTTP, ${count} jetton wallets and ${count} items, pages of 100, nothing kept; the slowest first`,
    head: ['list', 'bytes', 'p50 c=1', 'rps c=16', 'p50', 'p99', 'p99 at 16'],
    rows: slowest.map(({ name, bytes, one, rps, p50, p99 }) => [
      ...[name, bytes.toFixed(0), one.toFixed(2), rps.toFixed(0), p50.toFixed(2), p99.toFixed(1)],
      `${P99_TARGET_MS} ms ${p99 <= P99_TARGET_MS ? 'met' : 'missed'}`,
    ]),
  };
}

const raw = (address: Address) => address.toRaw();
const several = (name: string, addresses: readonly Address[]) =>
  addresses.map((one) => `${name}=${raw(one)}`).join('&');

/** Each list, and a page behind a far cursor of some. */
async function listCases(url: string, count: number): Promise<readonly (readonly [name: string, path: string])[]> {
  const small = tokenAddress('owner5');
  const many = Array.from({ length: 100 }, (_, n) => tokenAddress(`owner${n}`));
  const lists: Record<string, string> = {
    'jetton/masters': '',
    'jetton/masters of an admin of a third': `admin_address=${raw(GREAT.owner)}`,
    'jetton/wallets': '',
    'jetton/wallets by balance': 'sort=desc',
    'jetton/wallets of a small owner': `owner_address=${raw(small)}`,
    'jetton/wallets of the owner of a third': `owner_address=${raw(GREAT.owner)}`,
    '… that are not empty': `owner_address=${raw(GREAT.owner)}&exclude_zero_balance=true`,
    '… by balance': `owner_address=${raw(GREAT.owner)}&sort=desc`,
    'jetton/wallets of 100 owners and that one': several('owner_address', [...many, GREAT.owner]),
    'jetton/wallets of the jetton of a third': `jetton_address=${raw(GREAT.jetton)}`,
    '… by rising balance': `jetton_address=${raw(GREAT.jetton)}&sort=asc`,
    'jetton/wallets of both': `owner_address=${raw(GREAT.owner)}&jetton_address=${raw(GREAT.jetton)}`,
    'nft/collections': '',
    'nft/collections of the owner of a third': `owner_address=${raw(GREAT.owner)}`,
    'nft/items': '',
    'nft/items by lt': 'sort_by_last_transaction_lt=true',
    'nft/items of the owner of a third': `owner_address=${raw(GREAT.owner)}`,
    '… with those on sale': `owner_address=${raw(GREAT.seller)}&include_on_sale=true`,
    '… by lt': `owner_address=${raw(GREAT.owner)}&sort_by_last_transaction_lt=true`,
    'nft/items of 100 owners and that one': several('owner_address', [...many, GREAT.owner]),
    '… of them by lt': `${several('owner_address', [...many, GREAT.owner])}&sort_by_last_transaction_lt=true`,
    'nft/items of the collection of a third': `collection_address=${raw(GREAT.collection)}`,
    'nft/items of both': `owner_address=${raw(GREAT.owner)}&collection_address=${raw(GREAT.collection)}`,
    '… of both by lt': `owner_address=${raw(GREAT.owner)}&collection_address=${raw(GREAT.collection)}&sort_by_last_transaction_lt=true`,
    'nft/sales, 100 of them': several(
      'address',
      Array.from({ length: 100 }, (_, n) => tokenAddress(`sale${n}`)),
    ),
  };
  const cases: (readonly [string, string])[] = [];
  let method = '';
  for (const [name, query] of Object.entries(lists)) {
    method = /^[a-z]+\/[a-z]+/.exec(name)?.[0] ?? method;
    // Sales are asked for one by one.
    const path = `/api/v3/${method}?${method === 'nft/sales' ? '' : 'limit=100&'}${query}`;
    const full = name.startsWith('…') ? `${method} ${name}` : name;
    cases.push([full, path]);
    const far = await farCursor(url, path, count);
    if (far !== null) cases.push([`${full}, far behind`, `${path}&cursor=${far}`]);
  }
  return cases;
}

/** The cursor of a page behind some tens of thousands of rows; null: the list is not so long. */
async function farCursor(url: string, path: string, count: number): Promise<string | null> {
  const offset = Math.floor(count / 10);
  if (path.includes('nft/sales')) return null;
  const answer = await fetch(`${url}${path}&offset=${offset}`, { headers: { 'x-no-address-book': '1' } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  return answer.headers.get('x-tern-next');
}
