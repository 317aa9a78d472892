/**
 * Two layouts of the index on the same transactions, those of the recorded network: `raw`, as Tern stores them (keys and a bag
 * of cells), and `columns`, the tables of the reference indexer with binary hashes and addresses. Prints bytes, the time that
 * COPY takes, and the time from a page of 100 transactions to values that JSON can hold.
 *
 *     node --conditions=source --import tsx bench/index/layouts.ts
 */
import type pg from 'pg';
import { copyBinary } from '#drivers/store/copy.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import { createStagingTables, mergeAccounts } from '#drivers/store/write/accounts.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { BatchEncoder } from '#drivers/store/write/write-batch.js';
import { buildBundleRows } from '#services/indexer/rows/build-rows.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';
import { recordedBundles } from '../../test/support/recorded-bundles.js';
import { testDatabase } from '../../test/support/test-database.js';
import { vectorPath } from '../../test/support/vector-files.js';
import { columnTables, createColumnTables, readColumns } from './column-layout.js';
import { readRaw } from './raw-layout.js';

const PAGE = 100;
const READS = 60;
/** The fastest of so many counts: other work on the machine makes times longer, never shorter. */
const LOADS = 3;

interface Layout {
  readonly tables: readonly string[];
  load(client: pg.Client): Promise<number>;
  read(client: pg.Client, below: bigint): Promise<readonly object[]>;
}

function rawLayout(bundles: readonly BundleRows[], writer: TransactionWriter): Layout {
  return {
    tables: ['transactions_p0', 'messages_p0', 'codes'],
    async load(client) {
      await ensurePartitions(client, { from: 0, to: bundles.length }, 100_000);
      await createStagingTables(client);
      const encoder = new BatchEncoder();
      for (const { transactions, messages } of bundles) {
        // The trace is a number as good as any other here: the transaction itself.
        for (const row of transactions) encoder.add('transactions', { ...row, trace_root: row.id });
        encoder.addAll('messages', messages);
      }
      encoder.addAll('codes', writer.codes);
      const tables = encoder.finish();
      const start = performance.now();
      await client.query('BEGIN');
      for (const { table, columns, bytes, rows } of tables) {
        if (rows > 0) await copyBinary(client, table, columns, [bytes]);
      }
      await mergeAccounts(client, []);
      await client.query('COMMIT');
      return performance.now() - start;
    },
    read: (client, below) => readRaw(client, below, PAGE),
  };
}

function columnLayout(folder: string, bundles: readonly BundleRows[], writer: TransactionWriter): Layout {
  const tables = columnTables(folder, bundles, writer.codes);
  return {
    tables: tables.map(({ name }) => name),
    async load(client) {
      await createColumnTables(client, tables);
      const encoded = tables.map(({ name, columns, encode }) => ({ name, columns, bytes: encode() }));
      const start = performance.now();
      await client.query('BEGIN');
      for (const { name, columns, bytes } of encoded) await copyBinary(client, name, columns, [bytes]);
      await client.query('COMMIT');
      return performance.now() - start;
    },
    read: (client, below) => readColumns(client, below, PAGE),
  };
}

async function measure(name: string, layout: Layout, lts: readonly bigint[]): Promise<void> {
  const database = await testDatabase(name === 'raw' ? 'schema' : 'empty');
  const client = await database.connect();
  try {
    let copyMs = Number.POSITIVE_INFINITY;
    for (let load = 0; load < LOADS; load++) {
      if (load > 0) await client.query(`TRUNCATE ${layout.tables.join(', ')}`);
      copyMs = Math.min(copyMs, await layout.load(client));
    }
    await client.query('VACUUM ANALYZE');
    const { rows } = await client.query<{ table: string; heap: string; indexes: string }>(
      `SELECT t AS table, pg_table_size(t::regclass)::text AS heap, pg_indexes_size(t::regclass)::text AS indexes
       FROM unnest($1::text[]) t`,
      [layout.tables],
    );
    const count = lts.length;
    let total = 0;
    for (const { table, heap, indexes } of rows) {
      total += Number(heap) + Number(indexes);
      const [own, keys] = [heap, indexes].map((bytes) => (Number(bytes) / count).toFixed(0));
      console.log(`${name.padEnd(8)} ${table.padEnd(20)} ${own} bytes/tx, indexes ${keys}`);
    }
    const times: number[] = [];
    let values = 0;
    for (let read = 0; read < READS; read++) {
      const below = lts[Math.floor(((read + 0.5) / READS) * count)]!;
      const start = performance.now();
      const page = await layout.read(client, below);
      JSON.stringify(page);
      times.push(performance.now() - start);
      values += page.length;
    }
    times.sort((a, b) => a - b);
    const [fastest, median] = [times[0]!, times[READS >> 1]!].map((ms) => ms.toFixed(1));
    console.log(
      `${name.padEnd(8)} in all ${(total / count).toFixed(0)} bytes/tx; COPY ${((copyMs / count) * 1000).toFixed(1)} us/tx; ` +
        `a page of ${PAGE} in ${median} ms (median; fastest ${fastest}; ${values} transactions read)`,
    );
  } finally {
    await database.close();
  }
}

const folder = vectorPath('collection/recorded-net');
const chain = recordedBundles(`${folder}/chain`);
const head = 1060;
const writer = new TransactionWriter();
const bundles = chain.bundles
  .filter(({ mc_seqno }) => mc_seqno <= head)
  .map((bundle) => buildBundleRows(bundle, { globalVersion: chain.globalVersion, writer }));
const lts = bundles.flatMap(({ transactions }) => transactions.map(({ lt }) => lt)).sort((a, b) => (a < b ? -1 : 1));
console.log(`${lts.length} transactions`);
await measure('raw', rawLayout(bundles, writer), lts);
await measure('columns', columnLayout(folder, bundles, writer), lts);
process.exit(0);
