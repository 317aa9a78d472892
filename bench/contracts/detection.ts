import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { systemClock } from '#kernel/clock.js';
import { liveReplay, replayedIndexer } from '../../test/support/replayed-indexer.js';
import { vectorPath } from '../../test/support/vector-files.js';
import type { ReportTable } from '../report.js';

/** Chains of tokens, wallets and contracts that send to one another. */
const FOLDER = vectorPath('collection/recorded-net/chain');
const PASSES = 3;

interface Pass {
  /** Transactions in a second until the last bundle is written. */
  readonly rate: number;
  /** Seconds from then until every contract has been looked at. */
  readonly after: number;
  readonly looked: number;
  readonly natively: number;
  readonly runs: number;
  /** Seconds in which contracts were looked at. */
  readonly seconds: number;
}

/** How fast a chain is filled in while its contracts are looked at, and while they are not; and how fast these are. */
export async function detectionTable(): Promise<ReportTable> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  const server = await startEmbeddedServer({ folder }, { clock: systemClock });
  try {
    const passes = { with: [] as Pass[], without: [] as Pass[] };
    for (let pass = 0; pass < PASSES; pass++) {
      for (const way of ['without', 'with'] as const) {
        process.stderr.write(`bench: contracts: filling ${way} contracts, ${pass + 1} of ${PASSES} …\n`);
        const url = await server.ensureDatabase(`${way}_${pass}`);
        await makeTables(url);
        passes[way].push(await fill(url, way === 'with'));
      }
    }
    return tableOf(passes.with, passes.without);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeTables(url: string): Promise<void> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    await migrate(client, await readMigrations());
  } finally {
    await client.end();
  }
}

async function fill(url: string, contracts: boolean): Promise<Pass> {
  const replay = liveReplay(FOLDER);
  const to = replay.ledger.lastSeqno;
  const { indexer, close } = await replayedIndexer(replay, url, { from: 1, to, follow: false, contracts });
  try {
    let mcBlocks = 0;
    let transactions = 0;
    let written = 0;
    indexer.onWritten(({ range, ...batch }) => {
      mcBlocks += range.to - range.from + 1;
      transactions += batch.transactions;
      if (mcBlocks === to) written = systemClock.now();
    });
    const startedAt = systemClock.now();
    await indexer.run();
    const { detected: looked, natively, runs, seconds } = indexer.metrics().contracts;
    return {
      rate: transactions / ((written - startedAt) / 1000),
      after: (systemClock.now() - written) / 1000,
      ...{ looked, natively, runs, seconds },
    };
  } finally {
    await close();
  }
}

function median(passes: readonly Pass[], of: (pass: Pass) => number): number {
  return passes.map(of).sort((a, b) => a - b)[passes.length >> 1]!;
}

function tableOf(on: readonly Pass[], off: readonly Pass[]): ReportTable {
  const [fast, slow] = [median(off, ({ rate }) => rate), median(on, ({ rate }) => rate)];
  return {
    title: `filling a chain with contracts looked at beside it, and without; the median of ${PASSES} passes each`,
    head: ['figure', 'value'],
    rows: [
      ['transactions/s without', fast.toFixed(0)],
      ['transactions/s with', slow.toFixed(0)],
      ['ratio', `${(slow / fast).toFixed(2)}x`],
      ['seconds from the last bundle to the last contract', median(on, ({ after }) => after).toFixed(2)],
      ['accounts looked at', median(on, ({ looked }) => looked).toFixed(0)],
      ['… in a second of looking', median(on, ({ looked, seconds }) => looked / seconds).toFixed(0)],
      ['get methods read natively', median(on, ({ natively }) => natively).toFixed(0)],
      ['get methods run', median(on, ({ runs }) => runs).toFixed(0)],
    ],
  };
}
