// Makes some partitions of a synthetic index and copies them into tables without indexes: a process of its own, so that each
// processor has one. Its argument is a GenerateJob as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { deserialize } from 'node:v8';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { copyBinary } from '#drivers/store/copy.js';
import { PARTITIONED_TABLES, partitionName } from '#drivers/store/write/partitions.js';
import { BatchEncoder } from '#drivers/store/write/write-batch.js';
import { BundleGenerator } from './bundle-generator.js';
import { Population, randomNumbers, TraceMix } from './population.js';
import type { Templates } from './templates.js';

export interface GenerateJob {
  readonly url: string;
  /** Of templates, written by `v8.serialize`. */
  readonly templates: string;
  readonly transactions: number;
  readonly partitions: readonly number[];
  readonly partitionMcBlocks: number;
  readonly mcBlocks: number;
  readonly perRound: number;
  /** Where lt and hash of the newest transaction of each account go. */
  readonly lastFile: string;
}

const FLUSH_BYTES = 6 * 2 ** 20;
/** Tokens of a partition are none of another. */
const TOKENS_PER_PARTITION = 20_000_000;

const job = JSON.parse(process.argv[2]!) as GenerateJob;
const templates = deserialize(readFileSync(job.templates)) as Templates;
const random = randomNumbers(job.partitions[0]! + 1);
const mix = new TraceMix(templates, random);
const population = new Population(mix, templates.kinds.length, job.transactions, random);
const last = { lts: new BigInt64Array(population.size), hashes: new Uint8Array(population.size * 32) };
const client = new pg.Client(connectionConfig(job.url));
await client.connect();
for (const partition of job.partitions) {
  const from = Math.max(1, partition * job.partitionMcBlocks);
  const to = Math.min(job.mcBlocks, (partition + 1) * job.partitionMcBlocks - 1);
  await fill(partition, from, to);
}
await client.end();
const bytes = new Uint8Array(last.lts.buffer);
writeFileSync(job.lastFile, Buffer.concat([bytes, last.hashes]));

async function fill(partition: number, from: number, to: number): Promise<void> {
  const firstToken = 1 + partition * TOKENS_PER_PARTITION;
  const limits = { perRound: job.perRound, last: to, firstToken };
  const generator = new BundleGenerator(templates, { mix, population, random }, limits, last);
  const encoder = new BatchEncoder();
  // Rows copied into a table that the same transaction has made need no log.
  await client.query('BEGIN');
  for (const table of PARTITIONED_TABLES) {
    await client.query(`CREATE TABLE ${partitionName(table, partition)} (LIKE ${table} INCLUDING STORAGE)`);
  }
  let bytes = 0;
  for (let mc_seqno = from; mc_seqno <= to; mc_seqno++) {
    const bundle = generator.bundle(mc_seqno);
    encoder.addAll('blocks', bundle.blocks);
    encoder.addAll('transactions', bundle.transactions);
    encoder.addAll('messages', bundle.messages);
    encoder.addAll('traces', bundle.traces);
    encoder.addAll('trace_accounts', bundle.trace_accounts);
    for (const { boc } of bundle.transactions) bytes += boc.length;
    if (bytes < FLUSH_BYTES && mc_seqno < to) continue;
    bytes = 0;
    for (const { table, columns, bytes: rows, rows: count } of encoder.finish()) {
      if (count > 0) await copyBinary(client, partitionName(table, partition), columns, [rows]);
    }
    encoder.reset();
  }
  await client.query('COMMIT');
}
