import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { claimRange, openIndex } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { STAGED_ACCOUNTS, STAGED_CODES } from '#drivers/store/tables.js';
import { PARTITIONED_TABLES, partitionName } from '#drivers/store/write/partitions.js';
import { sha256 } from '#formats/cells/digests.js';
import { systemClock } from '#kernel/clock.js';
import { soundTemplates, timeOf } from './bundle-generator.js';
import { classifyIndex } from './classify-index.js';
import type { GenerateJob } from './generate.js';
import { Population, randomNumbers, TraceMix } from './population.js';
import { addContracts } from './synthetic-contracts.js';
import { readTemplates, type Templates } from './templates.js';

/** How dense the recorded network of the reference figures is: transactions for each masterchain block. */
const PER_BUNDLE = 25;
const PARTITIONS = 4;
const PROCESSES = 2;
const ACCOUNTS_AT_ONCE = 5_000;
/** Statements are counted. */
const SETTINGS = { shared_preload_libraries: 'pg_stat_statements' };
/** In the folder of a database that is whole. */
const DONE = 'synthetic-index.json';

/** A database server with a synthetic index. */
export interface SyntheticIndex {
  readonly server: EmbeddedServer;
  readonly transactions: number;
  /** The last masterchain block. */
  readonly mcBlocks: number;
}

/**
 * The index of a made-up chain of so many transactions, in a server of its own with the settings of production. It is made
 * once for each folder, in about a minute for each million transactions, and takes about 2 kB for each.
 *
 * @param hasActions whether traces are classified, which takes five times as long as all else
 */
export async function openSyntheticIndex(
  folder: string,
  transactions: number,
  chain: string,
  hasActions = true,
): Promise<SyntheticIndex> {
  mkdirSync(folder, { recursive: true });
  const done = join(folder, DONE);
  if (!existsSync(done)) rmSync(join(folder, 'server'), { recursive: true, force: true });
  const server = await startEmbeddedServer(
    { folder: join(folder, 'server'), settings: SETTINGS },
    { clock: systemClock },
  );
  try {
    const mcBlocks = Math.ceil(transactions / PER_BUNDLE);
    if (!existsSync(done)) {
      await make(server, folder, { transactions, mcBlocks, chain, hasActions });
      writeFileSync(done, JSON.stringify({ transactions, mcBlocks }));
    }
    return { server, ...(JSON.parse(readFileSync(done, 'utf8')) as { transactions: number; mcBlocks: number }) };
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface Plan {
  readonly transactions: number;
  readonly mcBlocks: number;
  readonly chain: string;
  readonly hasActions: boolean;
}

async function make(
  server: EmbeddedServer,
  folder: string,
  { transactions, mcBlocks, chain, hasActions }: Plan,
): Promise<void> {
  const templates = soundTemplates(readTemplates(chain));
  const templatesFile = join(folder, 'templates.bin');
  writeFileSync(templatesFile, serialize(templates));
  const partitionMcBlocks = Math.ceil((mcBlocks + 1) / PARTITIONS);
  const client = new pg.Client(connectionConfig(server.url));
  await client.connect();
  try {
    await migrate(client, await readMigrations());
    await client.query(`SET maintenance_work_mem = '512MB'`);
    const identity = {
      zerostate_root_hash: templates.zerostate.root_hash,
      zerostate_file_hash: templates.zerostate.file_hash,
      selection: {},
    };
    await openIndex(client, identity, partitionMcBlocks);
    const perProcess = PARTITIONS / PROCESSES;
    const jobs = Array.from({ length: PROCESSES }, (_, n): GenerateJob => {
      const partitions = Array.from({ length: perProcess }, (__, i) => n * perProcess + i);
      const lastFile = join(folder, `last-${n}.bin`);
      const common = { url: server.url, templates: templatesFile, transactions, mcBlocks, partitionMcBlocks };
      return { ...common, perRound: PER_BUNDLE, partitions, lastFile };
    });
    await Promise.all(jobs.map(generate));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      for (const table of PARTITIONED_TABLES) {
        const bounds = `FROM (${firstIdOf(partition * partitionMcBlocks)}) TO (${firstIdOf((partition + 1) * partitionMcBlocks)})`;
        await client.query(
          `ALTER TABLE ${table} ATTACH PARTITION ${partitionName(table, partition)} FOR VALUES ${bounds}`,
        );
      }
    }
    await copyCodes(client, templates);
    await copyAccounts(
      client,
      templates,
      transactions,
      mcBlocks,
      jobs.map(({ lastFile }) => lastFile),
    );
    await addContracts(client, templates);
    await claimRange(client, { from: 1, to: mcBlocks }, 0);
    await client.query('ANALYZE');
    if (hasActions) {
      const { transactions: classified, seconds } = await classifyIndex(server.url, partitionMcBlocks);
      process.stderr.write(
        `bench: v3: classified ${classified} transactions, ${Math.round(classified / seconds)} a second with reads and writes\n`,
      );
    }
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
    for (const { lastFile } of jobs) rmSync(lastFile);
  } finally {
    await client.end();
  }
}

/** Runs the process that makes some of the partitions. */
function generate(job: GenerateJob): Promise<void> {
  const entry = fileURLToPath(new URL('./generate.ts', import.meta.url));
  const args = ['--conditions=source', '--import', 'tsx', entry, JSON.stringify(job)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the process that makes partitions ${job.partitions.join(', ')} ended with ${code}`));
    });
  });
}

async function copyCodes(client: pg.Client, { codes }: Templates): Promise<void> {
  const rows = new CopyRows();
  for (const code of codes) STAGED_CODES.write(rows, code);
  await copyBinary(client, 'codes', STAGED_CODES.columns, [rows.finish()]);
}

/** The accounts that have a transaction, like recorded ones of their kind. */
async function copyAccounts(
  client: pg.Client,
  templates: Templates,
  transactions: number,
  mcBlocks: number,
  lastFiles: readonly string[],
): Promise<void> {
  const population = populationOf(templates, transactions);
  const lasts = lastFiles.map((file) => {
    const bytes = Uint8Array.from(readFileSync(file));
    const lts = new BigInt64Array(bytes.buffer, 0, population.size);
    return { lts, hashes: bytes.subarray(population.size * 8) };
  });
  const rows = new CopyRows();
  const flush = async () => {
    if (rows.rows > 0) await copyBinary(client, 'accounts', STAGED_ACCOUNTS.columns, [rows.finish()]);
    rows.reset();
  };
  for (let account = 0; account < population.size; account++) {
    const newest = lasts.reduce((a, b) => (b.lts[account]! > a.lts[account]! ? b : a));
    const last_trans_lt = newest.lts[account]!;
    if (last_trans_lt === 0n) continue;
    const { like } = templates.kinds[population.kindOf(account)]!;
    const address = population.address(account);
    const mc_seqno = Math.min(mcBlocks, Number(last_trans_lt / 1_000_000n));
    STAGED_ACCOUNTS.write(rows, {
      ...like,
      address,
      state_hash: sha256(address),
      balance: like.balance + BigInt(account) * 1_000_003n,
      last_trans_lt,
      last_trans_hash: newest.hashes.subarray(account * 32, account * 32 + 32),
      mc_seqno,
      gen_utime: timeOf(mc_seqno),
      incomplete: false,
    });
    if (rows.rows === ACCOUNTS_AT_ONCE) await flush();
  }
  await flush();
}

/** The accounts of a synthetic index. */
function populationOf(templates: Templates, transactions: number): Population {
  const random = randomNumbers(0);
  const mix = new TraceMix(templates, random);
  return new Population(mix, templates.kinds.length, transactions, random);
}
