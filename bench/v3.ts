import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { processTreeMs } from '../test/support/process-times.js';
import { ReplayProcess } from '../test/support/replay-process.js';
import { ServedTern } from '../test/support/served-tern.js';
import { BUILT_TERN } from '../test/support/tern-process.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';
import { type LoadResult, measureLoad } from './v3/load.js';
import { type LoadCase, loadCases } from './v3/requests.js';
import { openSyntheticIndex, type SyntheticIndex } from './v3/synthetic-index.js';

const CONNECTIONS = [1, 16, 64] as const;
/** How many transactions the indexes hold; another list by this variable, with commas. */
const SIZES_VARIABLE = 'TERN_BENCH_TRANSACTIONS';
const SIZES = '1000000,10000000';
/** Where the indexes are kept from one run to the next. */
const FOLDER_VARIABLE = 'TERN_BENCH_FOLDER';
/** Names of the cases, with commas; all of them when it is not there. */
const CASES_VARIABLE = 'TERN_BENCH_CASES';
/** `off`: traces are not classified, and lists of actions not measured. At 10,000,000 transactions that saves an hour. */
const ACTIONS_VARIABLE = 'TERN_BENCH_ACTIONS';
const P99_TARGET_MS = 25;
const WARM_UP_MS = 1500;
const MEASURE_MS = 4000;

const MODES = [
  { name: 'uncached', flags: ['--cache-mb', '0', '--node-cache-mb', '0'] },
  { name: 'as in production', flags: [] },
] as const;

/** What is measured of one case: in the order of the connections. */
interface Measured {
  readonly bench: LoadCase;
  readonly results: readonly LoadResult[];
  /** Statements for each request; of the middle one. */
  readonly statements: number;
  readonly statementMs: number;
}

export const suite: BenchSuite = {
  name: 'v3',
  cases: () => [],
  async tables() {
    const recorded = vectorPath('collection/recorded-net');
    const sizes = (process.env[SIZES_VARIABLE] ?? SIZES).split(',').map(Number);
    const folder = process.env[FOLDER_VARIABLE] ?? join(tmpdir(), 'tern-bench-v3');
    const hasActions = process.env[ACTIONS_VARIABLE] !== 'off';
    const tables: ReportTable[] = [];
    for (const size of sizes) {
      process.stderr.write(`bench: v3: an index of ${size} transactions …\n`);
      const name = hasActions ? String(size) : `${size}-without-actions`;
      const index = await openSyntheticIndex(join(folder, name), size, join(recorded, 'chain'), hasActions);
      try {
        tables.push(...(await measureIndex(index, join(recorded, 'chain'), hasActions)));
      } finally {
        await index.server.close();
      }
    }
    return tables;
  },
};

async function measureIndex(
  index: SyntheticIndex,
  chain: string,
  hasActions: boolean,
): Promise<readonly ReportTable[]> {
  const { server, transactions, mcBlocks } = index;
  const scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  const config = join(scratch, 'global.config.json');
  const replay = await ReplayProcess.start(chain, config);
  const client = new pg.Client(connectionConfig(server.url));
  await client.connect();
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const only = process.env[CASES_VARIABLE]?.split(',');
    const cases = (await loadCases(client, mcBlocks)).filter(
      ({ name }) => (only?.includes(name) ?? true) && (hasActions || !name.startsWith('actions')),
    );
    const tables: ReportTable[] = [await sizesOf(client, transactions)];
    for (const { name, flags } of MODES) {
      const data = join(scratch, name.replaceAll(' ', '-'));
      const args = ['serve', '--network', config, '--listen', '127.0.0.1:0', '--data', data, '--role', 'api'];
      const tern = await ServedTern.start([...args, '--database-url', server.url, ...flags], BUILT_TERN);
      try {
        const measured: Measured[] = [];
        const scans = await sequentialScans(client);
        for (const bench of cases) {
          process.stderr.write(`bench: v3: ${transactions} transactions, ${name}: ${bench.name} …\n`);
          measured.push(await measureCase(bench, { client, tern, server: index.server.pid! }));
        }
        tables.push(tableOf(`${transactions} transactions, ${name}`, measured));
        await refuseNewScans(client, scans);
      } finally {
        await tern.close();
      }
    }
    return tables;
  } finally {
    await client.end();
    await replay.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Surroundings {
  readonly client: pg.Client;
  readonly tern: ServedTern;
  /** The process number of the database. */
  readonly server: number;
}

async function measureCase(bench: LoadCase, { client, tern, server }: Surroundings): Promise<Measured> {
  const cpuMs = () => ({ api: processTreeMs(tern.pid), database: processTreeMs(server) });
  const results: LoadResult[] = [];
  let statements = 0;
  let statementMs = 0;
  for (const connections of CONNECTIONS) {
    await client.query('SELECT pg_stat_statements_reset()');
    const load = { url: tern.url, paths: bench.paths, connections, warmUpMs: WARM_UP_MS, ms: MEASURE_MS, cpuMs };
    const result = await measureLoad(load);
    results.push(result);
    if (connections !== CONNECTIONS[1]) continue;
    const { rows } = await client.query<{ calls: number; ms: number }>(
      `SELECT sum(calls)::float8 AS calls, sum(total_exec_time)::float8 AS ms FROM pg_stat_statements s
       JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()`,
    );
    const requests = (result.rps * (WARM_UP_MS + MEASURE_MS)) / 1000;
    statements = rows[0]!.calls / requests;
    statementMs = rows[0]!.ms / requests;
  }
  const summary = results.map(
    ({ connections, rps, p99 }) => `c=${connections} ${rps.toFixed(0)} rps p99 ${p99.toFixed(1)} ms`,
  );
  process.stderr.write(`bench: v3: ${bench.name}: ${summary.join(', ')}\n`);
  return { bench, results, statements, statementMs };
}

/** How often each table that has rows was read from its first to its last row. */
async function sequentialScans(client: pg.Client): Promise<ReadonlyMap<string, number>> {
  await client.query('SELECT pg_sleep(2), pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ name: string; scans: number }>(
    `SELECT relname AS name, seq_scan::float8 AS scans FROM pg_stat_user_tables
     WHERE n_live_tup > 0
       AND (relname ~ '_p[0-9]+$' OR relname IN ('accounts', 'codes', 'open_messages', 'orphan_messages'))`,
  );
  return new Map(rows.map(({ name, scans }) => [name, scans]));
}

/** @throws when a table that grows was read as a whole meanwhile */
async function refuseNewScans(client: pg.Client, before: ReadonlyMap<string, number>): Promise<void> {
  const after = await sequentialScans(client);
  const scanned = [...after].filter(([name, scans]) => scans > (before.get(name) ?? 0)).map(([name]) => name);
  if (scanned.length > 0) throw new Error(`read from the first to the last row: ${scanned.join(', ')}`);
}

const HEAD = [
  ...['endpoint', 'bytes', ...CONNECTIONS.flatMap((c) => [`rps c=${c}`, 'p50', 'p99'])],
  ...['API ms', 'database ms', 'statements', 'in them ms', 'reference rps', 'ratio', 'target', 'p99 at 16'],
];

/** What the tables take on disk, indexes included; those of actions together. */
async function sizesOf(client: pg.Client, transactions: number): Promise<ReportTable> {
  const { rows } = await client.query<{ name: string; bytes: number }>(
    `SELECT CASE WHEN name IN ('actions', 'action_accounts', 'classified_traces') THEN 'actions' ELSE name END AS name,
       sum(bytes)::float8 AS bytes
     FROM (
       SELECT split_part(relname, '_p', 1) AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
       WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
     ) AS t GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
  );
  return {
    title: `bytes for each of ${transactions} transactions`,
    head: ['tables', 'bytes'],
    rows: rows.map(({ name, bytes }) => [name, (bytes / transactions).toFixed(0)]),
  };
}

function tableOf(title: string, measured: readonly Measured[]): ReportTable {
  return {
    title: `${title}; CPU and statements for each request, at ${CONNECTIONS[1]} connections`,
    head: HEAD,
    rows: measured.map(({ bench, results, statements, statementMs }) => {
      const middle = results[1]!;
      const ratio = bench.reference === null ? null : middle.rps / bench.reference;
      const isSmall = middle.p99 <= P99_TARGET_MS;
      return [
        bench.name,
        bench.referenceBytes === null
          ? middle.bytes.toFixed(0)
          : `${middle.bytes.toFixed(0)} (${bench.referenceBytes})`,
        ...results.flatMap(({ rps, p50, p99 }) => [rps.toFixed(0), p50.toFixed(2), p99.toFixed(1)]),
        ...[middle.cpu.api!, middle.cpu.database!].map((ms) => ms.toFixed(3)),
        statements.toFixed(1),
        statementMs.toFixed(2),
        bench.reference === null ? '-' : String(bench.reference),
        ratio === null ? '-' : `${ratio.toFixed(2)}x`,
        ratio === null ? '-' : `${bench.target}x ${ratio >= bench.target ? 'met' : 'missed'}`,
        `${P99_TARGET_MS} ms ${isSmall ? 'met' : 'missed'}`,
      ];
    }),
  };
}
