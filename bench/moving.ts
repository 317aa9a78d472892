import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { JsonText } from '#api/http/endpoint.js';
import { compileParameters, foldingGrammar } from '#api/http/parameters.js';
import { type V3Network, v3Context } from '#api/v3/context.js';
import { keptTexts } from '#api/v3/kept-texts.js';
import { v3IndexEndpoints } from '#api/v3/v3-api.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { parseAddress } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { processTreeMs, threadsMs } from '../test/support/process-times.js';
import { ReplayProcess } from '../test/support/replay-process.js';
import { ServedTern } from '../test/support/served-tern.js';
import { BUILT_TERN } from '../test/support/tern-process.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';
import { type LoadResult, measureLoad } from './v3/load.js';
import { MovingChain } from './v3/moving-chain.js';
import { randomNumbers } from './v3/population.js';
import { openSyntheticIndex } from './v3/synthetic-index.js';

const TRANSACTIONS = 200_000;
/** Where the index is kept from one run to the next. */
const FOLDER_VARIABLE = 'TERN_BENCH_FOLDER';
/** Seconds for each measurement; another number by this variable. */
const SECONDS_VARIABLE = 'TERN_BENCH_SECONDS';
const SECONDS = '1.5';
/** Names of methods with commas between them, where not all are to be measured. */
const METHODS_VARIABLE = 'TERN_BENCH_METHODS';
const WARM_UP_MS = 500;
/**
 * Before a method is measured, its answers are asked for at this many connections, until what is kept is kept and what the chain
 * changes is read again at an even rate: a service has run for longer than that.
 */
const FILL = { connections: 64 };
const FILL_SECONDS_VARIABLE = 'TERN_BENCH_FILL_SECONDS';
const FILL_SECONDS = '20';
/** Until V8 has compiled what is measured. */
const WARM_UP_ROUNDS = 8;
const CONNECTIONS = [1, 16, 64] as const;
const BLOCKS_PER_SECOND = 2.5;
/** Blocks of the index that are committed as one, so that a block touches about 1 % of the accounts that are read. */
const TOGETHER = 4;
const HELD_BACK = 4_000;
const READERS = 10_000;
/** Requests before they come again. */
const PATHS = 20_000;

const NO_CACHES = ['--cache-mb', '0', '--node-cache-mb', '0', '--text-cache-mb', '0'] as const;
const MODES = [
  { name: 'default settings', flags: [] },
  { name: 'no caches', flags: NO_CACHES },
] as const;

/**
 * Who makes the lists: one thread, or reader threads beside it, with two requests at a time for each of them. Processors are scarce
 * here, so what so many threads could do is told by the CPU time of the busiest one.
 */
const HELPERS = [
  { name: 'one thread', workers: 1, connections: 2 },
  { name: '--api-workers 1', workers: 1, connections: 4 },
  { name: '--api-workers 2', workers: 2, connections: 6 },
] as const;

/** What a method shows, and what the Go service did at 16 connections; its answers had 56 kB (transactions) and 272 kB (traces). */
const METHODS = [
  { name: 'transactions', query: (account: string) => `transactions?account=${account}&limit=10`, reference: 419 },
  { name: 'traces', query: (account: string) => `traces?account=${account}&limit=10`, reference: 125 },
  { name: 'messages', query: (account: string) => `messages?source=${account}&limit=10`, reference: 847 },
  { name: 'accountStates', query: (account: string) => `accountStates?address=${account}`, reference: 808 },
  {
    name: 'jetton/wallets',
    query: (account: string) => `jetton/wallets?owner_address=${account}&limit=10`,
    reference: 1_920,
  },
  { name: 'latest transactions', query: () => 'transactions?limit=10', reference: null },
] as const;

export const suite: BenchSuite = {
  name: 'moving',
  baseline: 'the Go service, as it was measured on a network of its own',
  cases: () => [],
  async tables() {
    const recorded = join(vectorPath('collection/recorded-net'), 'chain');
    const folder = process.env[FOLDER_VARIABLE] ?? join(tmpdir(), 'tern-bench-v3');
    process.stderr.write(`bench: moving: an index of ${TRANSACTIONS} transactions …\n`);
    const index = await openSyntheticIndex(join(folder, `moving-${TRANSACTIONS}`), TRANSACTIONS, recorded);
    const chain = await MovingChain.take(index.server.url, index.mcBlocks, HELD_BACK);
    try {
      const accounts = await readAccounts(index.server.url);
      const parts = await measureParts(index.server.url, accounts);
      return [parts, ...(await measureServed(index.server, chain, accounts, recorded))];
    } finally {
      await chain.close();
      await index.server.close();
    }
  },
};

/** The accounts that are read, the busiest first. */
async function readAccounts(url: string): Promise<readonly string[]> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  const { rows } = await client.query<{ workchain: number; boc: Uint8Array }>(
    `SELECT t.workchain, t.boc FROM (
       SELECT account_key, max(lt) AS lt, count(*) AS n FROM transactions GROUP BY 1 ORDER BY n DESC LIMIT ${READERS}
     ) AS a CROSS JOIN LATERAL (
       SELECT * FROM transactions t WHERE t.account_key = a.account_key AND t.lt = a.lt LIMIT 1
     ) AS t ORDER BY a.n DESC`,
  );
  await client.end();
  return rows.map(({ workchain, boc }) => {
    const { account_addr } = decodeCell(
      Transaction,
      loadTransaction(boc, () => null),
    );
    return `${workchain}:${toHex(account_addr)}`;
  });
}

/** The n-th of the accounts is asked for 1/n as often as the first. */
function zipf(accounts: readonly string[], count: number): readonly string[] {
  const random = randomNumbers(7);
  const sums: number[] = [];
  let sum = 0;
  for (let n = 1; n <= accounts.length; n++) {
    sum += 1 / n;
    sums.push(sum);
  }
  // Which accounts are read has nothing to do with how busy they are.
  const order = accounts.map((account) => ({ account, at: random() })).sort((a, b) => a.at - b.at);
  return Array.from({ length: count }, () => {
    const at = random() * sum;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return order[low]!.account;
  });
}

/** Of whose accounts the parts are measured: all alike, many of which have few transactions, and those that fill a page. */
const SAMPLES = [
  { name: 'every 25th account', of: (accounts: readonly string[]) => accounts.filter((_, i) => i % 25 === 0) },
  { name: 'the busiest accounts', of: (accounts: readonly string[]) => accounts },
] as const;
const SAMPLED = 300;

/** CPU time of this process for each transaction that is shown: the whole method, without HTTP. */
async function measureParts(url: string, accounts: readonly string[]): Promise<ReportTable> {
  const database = await Database.open({ url }, { clock: systemClock });
  const index = indexReads(database);
  const rows: string[][] = [];
  const isTestnet = false;
  for (const { name, of } of SAMPLES) {
    const some = of(accounts).slice(0, SAMPLED);
    for (const method of ['transactions', 'traces'] as const) {
      const kept = keptTexts(TEXT_BYTES, NOTHING_CHANGES, () => 1);
      const parts = {
        'for the first time, nothing kept': () => round(method, some, { index, isTestnet }),
        'from the text cache': () => round(method, some, { index, isTestnet, ...kept }),
        'the query alone': () => queryAlone(index, method, some),
      };
      for (const [what, part] of Object.entries(parts)) {
        for (let i = 0; i < WARM_UP_ROUNDS; i++) await part();
        const before = process.cpuUsage();
        const shown = await part();
        const { user, system } = process.cpuUsage(before);
        rows.push([method, name, what, (shown / some.length).toFixed(1), ((user + system) / shown).toFixed(1)]);
      }
    }
  }
  await database.close();
  return {
    title: 'CPU time for each transaction that is shown, without HTTP, one request at a time',
    head: ['method', '', '', 'transactions an answer', 'µs a transaction'],
    rows,
  };
}

const TEXT_BYTES = 512 * 2 ** 20;
const NOTHING_CHANGES = { confirmedAt: Number.POSITIVE_INFINITY, isUnchanged: () => true };
const NO_SWITCHES = { timeoutMs: null, noAddressBook: false, noMetadata: false, debug: false, actionsVersion: null };

/** @returns the transactions that were shown */
async function round(method: string, accounts: readonly string[], network: V3Network): Promise<number> {
  const endpoint = v3IndexEndpoints.find(({ name }) => name === method)!;
  const reader = compileParameters(endpoint, foldingGrammar);
  const read = { signal: new AbortController().signal, deadlineMs: 30_000 };
  const nothing = () => {};
  let shown = 0;
  for (const account of accounts) {
    const params = reader.read({ account, limit: '10' }, 'query');
    const context = v3Context(network, {
      ...{ read, profile: 'toncenter', switches: NO_SWITCHES, group: null },
      ...{ header: nothing, worked: nothing, foresee: nothing, dependsOn: nothing, notKept: nothing },
    });
    const { json } = (await endpoint.handle(params, context)) as JsonText;
    const bytes = Buffer.from(json);
    for (let at = bytes.indexOf(SHOWN); at >= 0; at = bytes.indexOf(SHOWN, at + SHOWN.length)) shown++;
  }
  return shown;
}

/** In each transaction of an answer, once. */
const SHOWN = Buffer.from('"mc_block_seqno":');

/** The cells are read, and nothing is written. */
async function queryAlone(index: IndexPort, method: string, accounts: readonly string[]): Promise<number> {
  const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
  const page = { limit: 10, offset: 0, sort: 'desc', cursor: null } as const;
  let shown = 0;
  for (const text of accounts) {
    const { address } = parseAddress(text);
    if (method === 'transactions') {
      shown += (await index.transactions({ account: [address] }, page, options)).rows.length;
      continue;
    }
    const { rows } = await index.traces({ account: address }, page, options);
    const roots = rows.map(({ root }) => root);
    for (const [, all] of await index.transactionsOfTraces(roots, 4_000, options)) shown += all.length;
  }
  return shown;
}

async function measureServed(
  server: { readonly url: string; readonly pid: number | null },
  chain: MovingChain,
  accounts: readonly string[],
  recorded: string,
): Promise<readonly ReportTable[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  const config = join(scratch, 'global.config.json');
  const replay = await ReplayProcess.start(recorded, config);
  const seconds = Number(process.env[SECONDS_VARIABLE] ?? SECONDS);
  const fillMs = Number(process.env[FILL_SECONDS_VARIABLE] ?? FILL_SECONDS) * 1000;
  const wanted = process.env[METHODS_VARIABLE]?.split(',');
  const methods = METHODS.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const asked = zipf(accounts, PATHS);
  const tables: ReportTable[] = [];
  try {
    const start = (...flags: readonly string[]) => {
      const args = [
        'serve',
        '--network',
        config,
        '--listen',
        '127.0.0.1:0',
        '--data',
        mkdtempSync(join(scratch, 'data-')),
      ];
      return ServedTern.start([...args, '--role', 'api', '--database-url', server.url, ...flags], BUILT_TERN);
    };
    for (const { name, flags } of MODES) {
      const tern = await start(...flags);
      const cpuMs = () => ({ api: processTreeMs(tern.pid), database: processTreeMs(server.pid!) });
      chain.start(BLOCKS_PER_SECOND, TOGETHER);
      const rows: string[][] = [];
      try {
        for (const method of methods) {
          process.stderr.write(`bench: moving: ${name}: ${method.name} …\n`);
          const paths = asked.map((account) => `/api/v3/${method.query(account)}`);
          const results: LoadResult[] = [];
          await measureLoad({ ...{ url: tern.url, paths, cpuMs, warmUpMs: 0, ms: fillMs }, ...FILL });
          for (const connections of CONNECTIONS) {
            const load = { url: tern.url, paths, connections, warmUpMs: WARM_UP_MS, ms: seconds * 1000, cpuMs };
            results.push(await measureLoad(load));
          }
          rows.push(rowOf(method, results, await floorOf(results[1]!.sizes, seconds)));
        }
      } finally {
        await chain.stop();
        await tern.close();
      }
      const touched = (chain.touchedAccounts / chain.commits.length).toFixed(0);
      const title = `${name}; ${BLOCKS_PER_SECOND} blocks a second, each touches ${touched} accounts; ${READERS} accounts are read; CPU for each request at ${CONNECTIONS[1]} connections`;
      tables.push({ title, head: HEAD, rows });
    }
    tables.push(await measureHelpers(start, chain, methods, asked, { seconds, fillMs }));
  } finally {
    await replay.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  return tables;
}

/** Lists whose calls reader threads help with, and how long they are asked for before they are measured. */
const HELPED: readonly string[] = ['transactions', 'traces', 'messages'];
const HELPED_FILL_MS = 6_000;

/** What each thread of an API without caches takes. @param start starts one with further options */
async function measureHelpers(
  start: (...flags: readonly string[]) => Promise<ServedTern>,
  chain: MovingChain,
  methods: readonly (typeof METHODS)[number][],
  asked: readonly string[],
  { seconds, fillMs }: { readonly seconds: number; readonly fillMs: number },
): Promise<ReportTable> {
  const rows: string[][] = [];
  for (const { name, workers, connections } of HELPERS) {
    const tern = await start('--api-workers', String(workers), ...NO_CACHES);
    chain.start(BLOCKS_PER_SECOND, TOGETHER);
    try {
      for (const method of methods.filter(({ name }) => HELPED.includes(name))) {
        process.stderr.write(`bench: moving: ${name}: ${method.name} …\n`);
        const paths = asked.map((account) => `/api/v3/${method.query(account)}`);
        const load = { url: tern.url, paths, connections, warmUpMs: 0, cpuMs: () => ({}) };
        await measureLoad({ ...load, ms: Math.min(fillMs, HELPED_FILL_MS) });
        const before = threadsMs(tern.pid);
        const { rps } = await measureLoad({ ...load, ms: seconds * 1000 });
        const requests = rps * seconds;
        const each = [...threadsMs(tern.pid)].map(([thread, ms]) => ({ thread, ms: ms - (before.get(thread) ?? 0) }));
        const main = each.find(({ thread }) => thread === tern.pid)!.ms / requests;
        const others = each.filter(({ thread }) => thread !== tern.pid).map(({ ms }) => ms / requests);
        const busiest = Math.max(main, ...others);
        const shown = [main, Math.max(...others), main + others.reduce((sum, ms) => sum + ms, 0)];
        rows.push([
          method.name,
          name,
          ...shown.map((ms) => ms.toFixed(3)),
          (1000 / busiest).toFixed(0),
          rps.toFixed(0),
        ]);
      }
    } finally {
      await chain.stop();
      await tern.close();
    }
  }
  return {
    title:
      'without caches: CPU time of threads for each request, and requests a second when the busiest thread has a processor',
    head: ['method', '', 'main thread ms', 'busiest other ms', 'all ms', 'accounted rps', 'rps here'],
    rows: rows.toSorted(([a = ''], [b = '']) => HELPED.indexOf(a) - HELPED.indexOf(b)),
  };
}

const HEAD = [
  ...['method', 'bytes', ...CONNECTIONS.flatMap((c) => [`rps c=${c}`, 'p50', 'p99'])],
  ...['API ms', 'database ms', 'floor rps', 'floor p99', 'floor ms', 'Go rps (56 and 272 kB)', 'ratio'],
];

function rowOf(method: (typeof METHODS)[number], results: readonly LoadResult[], floor: LoadResult): string[] {
  const { rps, bytes, cpu } = results[1]!;
  return [
    ...[method.name, bytes.toFixed(0)],
    ...results.flatMap((each) => [each.rps.toFixed(0), each.p50.toFixed(2), each.p99.toFixed(1)]),
    ...[cpu.api!.toFixed(3), cpu.database!.toFixed(3)],
    ...[floor.rps.toFixed(0), floor.p99.toFixed(1), floor.cpu.floor!.toFixed(3)],
    ...(method.reference === null ? ['-', '-'] : [String(method.reference), `${(rps / method.reference).toFixed(2)}x`]),
  ];
}

/** More of them would not fit into a command line. */
const MOST_SIZES = 10_000;

/** A process that answers with bytes of these sizes in turn, and does nothing else. */
async function floorOf(sizes: readonly number[], seconds: number): Promise<LoadResult> {
  const entry = fileURLToPath(new URL('./v3/floor-main.mjs', import.meta.url));
  const child = fork(entry, [sizes.slice(0, MOST_SIZES).join(',')], { execArgv: [] });
  try {
    const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(Number(message))));
    return await measureLoad({
      ...{ url: `http://127.0.0.1:${port}`, paths: ['/'], connections: CONNECTIONS[1], warmUpMs: WARM_UP_MS / 2 },
      ...{ ms: seconds * 500, cpuMs: () => ({ floor: processTreeMs(child.pid!) }) },
    });
  } finally {
    child.kill();
  }
}
