import type pg from 'pg';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { TraceAssembler, type TraceBatch } from '#domain/traces/trace-assembler.js';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Block, type Block as BlockValue } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { buildBundleRows } from '#services/indexer/rows/build-rows.js';
import type { BundleRows, BundleTransaction } from '#services/indexer/rows/bundle-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { traceRow } from '#services/indexer/write/batch-writer.js';
import { type ExpectedTransaction, expectedTransactions } from '#test/support/expected-rows.js';
import { type RecordedBundle, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

/** A transaction that is indexed, and all that is known of it otherwise. */
export interface IndexedFact {
  readonly id: bigint;
  readonly mc_seqno: number;
  readonly row: BundleTransaction;
  readonly expected: ExpectedTransaction;
  readonly trace_root: bigint;
}

/** A block that is indexed. */
export interface BlockFact {
  readonly id: bigint;
  readonly mc_seqno: number;
  readonly workchain: number;
  /** Unsigned. */
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
  readonly info: BlockValue['info']['value'];
}

/** A part of a recorded chain in a database, and the same decoded by other means. */
export interface IndexedChain {
  readonly reader: IndexPort;
  readonly database: Database;
  readonly client: pg.Client;
  readonly bundles: readonly RecordedBundle[];
  readonly blocks: readonly BlockFact[];
  readonly transactions: readonly IndexedFact[];
  readonly traces: TraceBatch['started'];
  close(): Promise<void>;
}

/**
 * Indexes rounds of a recorded chain with plain SQL. What was sent before the first round is unknown to the index.
 *
 * @param partition_rounds small, so that there are several partitions
 */
export async function indexedChain(
  folder: string,
  from: number,
  to: number,
  partition_rounds: number,
): Promise<IndexedChain> {
  const chain = recordedBundles(folder, to);
  const bundles = chain.bundles.filter(({ mc_seqno }) => mc_seqno >= from);
  const writer = new TransactionWriter();
  const rows = bundles.map((bundle) => buildBundleRows(bundle, { globalVersion: chain.globalVersion, writer }));
  const assembler = new TraceAssembler();
  const transactions: IndexedFact[] = [];
  for (const [i, { mc_seqno, transactions: found }] of rows.entries()) {
    const expected = expectedTransactions(bundles[i]!);
    for (const [n, row] of found.entries()) {
      transactions.push({ id: row.id, mc_seqno, row, expected: expected[n]!, trace_root: assembler.add(row) });
    }
  }
  const traces = assembler.finish();
  const test = await testDatabase();
  const client = await test.connect();
  await ensurePartitions(client, { from, to }, partition_rounds);
  await insertRows(client, rows, transactions, traces, writer);
  await client.query(
    `INSERT INTO index_state (zerostate_root_hash, zerostate_file_hash, partition_rounds, rounds)
     VALUES ('', '', $1, int4multirange(int4range($2, $3)))`,
    [partition_rounds, from, to + 1],
  );
  await client.query('ANALYZE');
  const database = await Database.open({ url: test.url }, { clock: systemClock });
  return {
    reader: indexReads(database),
    database,
    client,
    bundles,
    blocks: blockFacts(bundles),
    transactions,
    traces: traces.started,
    close: () => closeAll(database, test),
  };
}

async function closeAll(database: Database, test: TestDatabase): Promise<void> {
  await database.close();
  await test.close();
}

async function insertRows(
  client: pg.Client,
  rows: readonly BundleRows[],
  transactions: readonly IndexedFact[],
  traces: TraceBatch,
  writer: TransactionWriter,
): Promise<void> {
  const orphans = new Set(traces.orphans.map(({ root }) => root));
  await insert(
    client,
    'blocks',
    rows.flatMap(({ blocks }) => blocks),
  );
  await insert(
    client,
    'transactions',
    transactions.map(({ row, trace_root }) => ({
      ...{ id: row.id, lt: row.lt, now: row.now, account_key: row.account_key, hash_key: row.hash_key, trace_root },
      ...{ in_msg_key: row.in_msg_key, shard: row.shard, workchain: row.workchain, block_seqno: row.block_seqno },
      ...{ global_version: row.global_version, state_after: row.state_after, boc: row.boc },
    })),
  );
  const ofOrphans = transactions
    .filter(({ id, row }) => row.in_msg?.kind === 'internal' && orphans.has(id))
    .map(({ row }) => receivedMessage(row)!);
  await insert(client, 'messages', [...rows.flatMap(({ messages }) => messages), ...ofOrphans]);
  const traceRows = traces.started.map(({ accounts: _, ...trace }) => traceRow(trace));
  await insert(client, 'traces', traceRows);
  await insert(
    client,
    'trace_accounts',
    traces.started.flatMap(({ root, end_lt, end_utime, accounts }) =>
      accounts.map((account_key) => ({ root, account_key, end_lt, end_utime })),
    ),
  );
  await insert(client, 'codes', writer.codes);
  const accounts = new Map(rows.flatMap((bundle) => bundle.accounts).map((row) => [toHex(row.address), row]));
  await insert(
    client,
    'accounts',
    [...accounts.values()].map((row) => ({
      ...{ address: row.address, state_hash: row.state_hash, status: row.status, balance: row.balance },
      extra_currencies: row.extra_currencies && Object.fromEntries(row.extra_currencies),
      ...{ last_trans_lt: row.last_trans_lt, last_trans_hash: row.last_trans_hash, mc_seqno: row.mc_seqno },
      ...{ gen_utime: row.gen_utime, code_hash: row.code_hash, data_hash: row.data_hash, frozen_hash: row.frozen_hash },
      incomplete: row.data.kind === 'unchanged' || row.data.kind === 'partial',
    })),
  );
}

const CONTRACT_TABLES: ReadonlySet<string> = new Set(CONTRACT_INTERFACES.map((each) => each.table.name));

/** Inserts rows whose names are columns; contracts without an id get ids in the order of the rows. */
export async function insert(client: pg.ClientBase, table: string, given: readonly object[]): Promise<void> {
  if (given.length === 0) return;
  const rows = CONTRACT_TABLES.has(table) ? given.map((row, at) => ({ id: BigInt(at + 1), ...row })) : given;
  const names = Object.keys(rows[0]!);
  for (let at = 0; at < rows.length; at += 2000) {
    const json = JSON.stringify(rows.slice(at, at + 2000), plain);
    await client.query(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1)`,
      [json],
    );
  }
}

function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const given = this[key];
  if (given instanceof Uint8Array) return `\\x${toHex(given)}`;
  return typeof value === 'bigint' ? value.toString() : value;
}

function blockFacts(bundles: readonly RecordedBundle[]): BlockFact[] {
  return bundles.flatMap(({ mc_seqno, blocks }) =>
    blocks.map(({ id, data }, ordinal) => ({
      ...{ id: (BigInt(mc_seqno) << 24n) | BigInt(ordinal), mc_seqno, workchain: id.workchain, shard: id.shard },
      ...{ seqno: id.seqno, root_hash: id.root_hash, file_hash: id.file_hash },
      info: decodeCell(Block, parseBocRoot(data)).info.value,
    })),
  );
}
