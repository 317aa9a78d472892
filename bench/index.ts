import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { processTreeMs, proportionalBytes } from '../test/support/process-times.js';
import { ReplayProcess } from '../test/support/replay-process.js';
import { vectorPath } from '../test/support/vector-files.js';
import { spreadOf } from './harness.js';
import type { FillResult, FollowResult, IndexerJob } from './index/indexer-process.js';
import { measureLargeBlocks } from './index/large-blocks.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';

/** The recorded network, and the part of it with as many transactions for each masterchain block as the reference was measured with (24.7). */
const WHOLE = { from: 1, to: 1219 };
const DENSE = { from: 293, to: 592 };
const PASSES = { whole: 6, dense: 14 };
/** The first passes are those of code that is not compiled yet. */
const WARM_UP_PASSES = 2;
/** What the reference indexer did on such a machine, from a database of a node on the same disk. */
const REFERENCE = { transactions: 4513, mcBlocks: 183 };
const TARGET = { transactions: 7000, mcBlocks: 300 };
const PACE = '2.5';
const FOLLOW_SECONDS = 60;
const LAG_TARGET_MS = 200;
const BYTES_TARGET = 2000;

export const suite: BenchSuite = {
  name: 'index',
  cases: () => [],
  async tables() {
    const chain = vectorPath('collection/recorded-net/chain');
    const scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
    // The database runs as another user, who may not enter the scratch folder.
    const folder = mkdtempSync(join(tmpdir(), 'tern-bench-postgres-'));
    const server = await startEmbeddedServer({ folder }, { clock: systemClock });
    try {
      const tables = [
        ...(await measureFilling(server, chain, scratch)),
        await measureFollowing(server, chain, scratch),
      ];
      const large = await measureLargeBlocks(await server.ensureDatabase('large'));
      return [...tables, large];
    } finally {
      await server.close();
      for (const each of [scratch, folder]) rmSync(each, { recursive: true, force: true });
    }
  },
};

/** A result, and the CPU time that others took meanwhile. */
type Measured = FillResult & { readonly serverMs: number; readonly databaseMs: number; readonly databaseBytes: number };

async function measureFilling(server: EmbeddedServer, chain: string, scratch: string): Promise<ReportTable[]> {
  const config = join(scratch, 'fill.config.json');
  const replay = await ReplayProcess.start(chain, config);
  const url = await server.ensureDatabase('fill');
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    // The dense part comes last: what is left of it is what bytes are counted of.
    const ranges = [
      { ...WHOLE, passes: PASSES.whole },
      { ...DENSE, passes: PASSES.dense },
    ];
    const dataFolder = join(scratch, 'fill');
    mkdirSync(dataFolder);
    const others = () => ({ serverMs: processTreeMs(replay.pid), databaseMs: processTreeMs(server.pid!) });
    let before = others();
    const results: Measured[] = [];
    await runIndexer<FillResult>({ kind: 'fill', config, url, dataFolder, ranges }, (result) => {
      const after = others();
      const serverMs = after.serverMs - before.serverMs;
      const databaseMs = after.databaseMs - before.databaseMs;
      results.push({ ...result, serverMs, databaseMs, databaseBytes: proportionalBytes(server.pid!) });
      before = others();
      const rate = ((result.transactions * 1000) / result.ms).toFixed(0);
      process.stderr.write(
        `bench: index: ${result.from} to ${result.to}, pass ${result.pass}: ${rate} transactions/s\n`,
      );
    });
    const { transactions } = results.at(-1)!;
    return [fillTable(results), await bytesTable(client, transactions)];
  } finally {
    await client.end();
    await replay.close();
  }
}

/** Runs an indexer to its end. */
async function runIndexer<Result>(job: IndexerJob, onResult: (result: Result) => void): Promise<void> {
  const entry = fileURLToPath(new URL('./index/indexer-process.ts', import.meta.url));
  const args = ['--import', 'tsx', entry, JSON.stringify(job)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  let rest = '';
  for await (const part of child.stdout) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop()!;
    for (const line of lines) onResult(JSON.parse(line) as Result);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`the process that indexes ended with ${code}`);
}

function fillTable(results: readonly Measured[]): ReportTable {
  const rows: string[][] = [];
  for (const range of [WHOLE, DENSE]) {
    const own = results.filter(({ from }) => from === range.from);
    for (const [name, passes] of [
      ['first pass', own.slice(0, 1)],
      ['warm', own.slice(WARM_UP_PASSES)],
    ] as const) {
      // In the first pass of the range that comes second nothing is cold any more.
      if (name === 'first pass' && range === DENSE) continue;
      rows.push(fillRow(`${range.from} to ${range.to}, ${name}`, passes));
    }
  }
  return {
    title: `Filling an empty index from a liteserver on the same machine; the reference: ${REFERENCE.transactions} transactions/s, ${REFERENCE.mcBlocks} masterchain blocks/s`,
    head: [
      ...['masterchain blocks', 'passes', 'tx per mc block', 'tx/s', 'min … max', 'mc blocks/s', 'blocks/s'],
      ...['us CPU per tx: liteserver', 'fetching', 'threads', 'database', 'all', 'RSS MB', 'database MB', 'target'],
    ],
    rows,
  };
}

function fillRow(name: string, passes: readonly Measured[]): string[] {
  const [{ from, to, transactions, blocks }] = passes as [Measured];
  const mcBlocks = to - from + 1;
  const seconds = spreadOf(passes.map(({ ms }) => ms / 1000));
  const each = (ms: (one: Measured) => number) => (spreadOf(passes.map(ms)).median * 1000) / transactions;
  const parts = [
    each(({ serverMs }) => serverMs),
    each(({ mainMs }) => mainMs),
    each(({ threadsMs }) => threadsMs),
    each(({ databaseMs }) => databaseMs),
  ];
  const perSecond = transactions / seconds.median;
  const mcBlocksPerSecond = mcBlocks / seconds.median;
  const isMet = perSecond >= TARGET.transactions && mcBlocksPerSecond >= TARGET.mcBlocks;
  const megabytes = (bytes: (one: Measured) => number) => (Math.max(...passes.map(bytes)) / 2 ** 20).toFixed(0);
  return [
    name,
    String(passes.length),
    (transactions / mcBlocks).toFixed(1),
    perSecond.toFixed(0),
    `${(transactions / seconds.max).toFixed(0)} … ${(transactions / seconds.min).toFixed(0)}`,
    mcBlocksPerSecond.toFixed(0),
    (blocks / seconds.median).toFixed(0),
    ...parts.map((us) => us.toFixed(0)),
    parts.reduce((sum, us) => sum + us, 0).toFixed(0),
    megabytes(({ residentBytes }) => residentBytes),
    megabytes(({ databaseBytes }) => databaseBytes),
    `${TARGET.transactions}, ${TARGET.mcBlocks} ${isMet ? 'met' : 'missed'}`,
  ];
}

/** Bytes for each transaction as the last filling has left them, and after VACUUM. */
async function bytesTable(client: pg.Client, transactions: number): Promise<ReportTable> {
  const before = await tableBytes(client);
  await client.query('VACUUM FULL');
  const after = await tableBytes(client);
  const perTransaction = (bytes: number) => (bytes / transactions).toFixed(0);
  const rows = [...before].map(([name, { heap, indexes, rows: count }]) => {
    const { heap: packed, indexes: packedIndexes } = after.get(name)!;
    return [name, (count / transactions).toFixed(2), ...[heap, indexes, packed, packedIndexes].map(perTransaction)];
  });
  const sum = (sizes: ReadonlyMap<string, TableBytes>, part: 'heap' | 'indexes') =>
    [...sizes.values()].reduce((total, size) => total + size[part], 0);
  const all = [sum(before, 'heap'), sum(before, 'indexes'), sum(after, 'heap'), sum(after, 'indexes')];
  const total = all[0]! + all[1]!;
  const isMet = total / transactions <= BYTES_TARGET;
  rows.push(['all', '', ...all.map(perTransaction)]);
  return {
    title: `Bytes for each of ${transactions} transactions: ${perTransaction(total)} as written, ${perTransaction(all[2]! + all[3]!)} after VACUUM FULL; target ${BYTES_TARGET} ${isMet ? 'met' : 'missed'}`,
    head: ['table', 'rows per tx', 'rows', 'indexes', 'rows, packed', 'indexes, packed'],
    rows,
  };
}

interface TableBytes {
  readonly heap: number;
  readonly indexes: number;
  readonly rows: number;
}

async function tableBytes(client: pg.Client): Promise<ReadonlyMap<string, TableBytes>> {
  await client.query('ANALYZE');
  const { rows } = await client.query<{ name: string; heap: number; indexes: number; rows: number }>(
    `SELECT regexp_replace(c.relname, '_p[0-9]+$', '') AS name, sum(pg_table_size(c.oid))::float8 AS heap,
       sum(pg_indexes_size(c.oid))::float8 AS indexes, sum(greatest(c.reltuples, 0))::float8 AS rows
     FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
       AND c.relname NOT IN ('index_state', 'schema_migrations')
     GROUP BY 1 ORDER BY sum(pg_total_relation_size(c.oid)) DESC`,
  );
  return new Map(rows.map(({ name, ...sizes }) => [name, sizes]));
}

async function measureFollowing(server: EmbeddedServer, chain: string, scratch: string): Promise<ReportTable> {
  const config = join(scratch, 'follow.config.json');
  const replay = await ReplayProcess.start(chain, config, ['--pace', PACE]);
  try {
    const dataFolder = join(scratch, 'follow');
    mkdirSync(dataFolder);
    const url = await server.ensureDatabase('follow');
    process.stderr.write(`bench: index: following at ${PACE} masterchain blocks a second for ${FOLLOW_SECONDS} s …\n`);
    const results: FollowResult[] = [];
    const job: IndexerJob = { kind: 'follow', config, url, dataFolder, seconds: FOLLOW_SECONDS };
    await runIndexer<FollowResult>(job, (result) => results.push(result));
    const { mcBlocks, transactions, coldMax, p50, p99, max, residentBytes } = results[0]!;
    return {
      title: `Following a liteserver at ${PACE} masterchain blocks a second: milliseconds from a block being known to its commit`,
      head: ['mc blocks', 'transactions', 'first blocks: max', 'p50', 'p99', 'max', 'RSS MB', 'database MB', 'target'],
      rows: [
        [
          ...[String(mcBlocks), String(transactions)],
          ...[coldMax, p50, p99, max].map((ms) => ms.toFixed(1)),
          (residentBytes / 2 ** 20).toFixed(0),
          (proportionalBytes(server.pid!) / 2 ** 20).toFixed(0),
          `p99 ${LAG_TARGET_MS} ms ${p99 <= LAG_TARGET_MS ? 'met' : 'missed'}`,
        ],
      ],
    };
  } finally {
    await replay.close();
  }
}
