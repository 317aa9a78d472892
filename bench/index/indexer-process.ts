// A process that indexes, with what `tern index` and `tern serve` index with. Its argument is an IndexerJob as JSON; what it
// measures goes to the standard output, an IndexerResult on each line.
import process from 'node:process';
import { systemEnvironment } from '#app/cli/environment.js';
import { download, loadNetworks } from '#app/config/networks.js';
import { type IndexTools, openIndexTools } from '#app/service/index-tools.js';
import { openIndexer } from '#app/service/network-index.js';
import { openIndex } from '#drivers/store/index-state.js';
import { silentLogger } from '#kernel/logger.js';
import { ChainFacts } from '#services/indexer/chain-facts.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Filler } from '#services/indexer/fill.js';
import { WriteProgress, type WrittenBatch } from '#services/indexer/index-progress.js';
import { indexerSettings } from '#services/indexer/options.js';
import { Retries } from '#services/indexer/retries.js';
import { WritePool } from '#services/indexer/write/write-pool.js';
import { processMs, residentBytes, threadMs } from '../../test/support/process-times.js';
import { percentile } from '../latency.js';

export type IndexerJob = {
  /** Of the liteserver. */
  readonly config: string;
  readonly url: string;
  readonly dataFolder: string;
} & (
  | {
      readonly kind: 'fill';
      /** Of masterchain seqnos; each range is written to an emptied index so many times. */
      readonly ranges: readonly { readonly from: number; readonly to: number; readonly passes: number }[];
    }
  | { readonly kind: 'follow'; readonly seconds: number }
);

/** One range that was filled. Milliseconds. */
export interface FillResult {
  readonly from: number;
  readonly to: number;
  readonly pass: number;
  readonly ms: number;
  readonly blocks: number;
  readonly transactions: number;
  /** CPU time: of the thread that fetches and proves, of all others. */
  readonly mainMs: number;
  readonly threadsMs: number;
  readonly residentBytes: number;
}

/**
 * What following was like. Milliseconds from the moment when a masterchain block was known to exist to its commit, of the
 * blocks after the first ones.
 */
export interface FollowResult {
  readonly mcBlocks: number;
  readonly transactions: number;
  /** The longest of the first blocks, whose code is not compiled yet. */
  readonly coldMax: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly residentBytes: number;
}

const COLD_MC_BLOCKS = 10;

const EMPTY = `TRUNCATE blocks, transactions, messages, traces, trace_accounts, open_messages, orphan_messages, accounts, codes,
    token_events, contract_queue, derivations;
  UPDATE index_state SET rounds = '{}'`;

const job = JSON.parse(process.argv[2]!) as IndexerJob;
const surroundings = systemEnvironment(silentLogger);
const [network] = await loadNetworks([{ name: null, source: job.config }], { download });
const { config } = network!;
const options = { network: network!, url: job.url, dataFolder: job.dataFolder, writes: true };
const tools = await openIndexTools(options, surroundings);
if (job.kind === 'fill') await fill(tools, job.ranges);
else await follow(tools, job.seconds);
await tools.close();
process.exit(0);

function say(result: FillResult | FollowResult): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

async function fill(
  { database, source }: IndexTools,
  ranges: (IndexerJob & { kind: 'fill' })['ranges'],
): Promise<void> {
  const { clock, unixTimeMs, logger } = surroundings;
  const { chain } = source;
  const zerostate = config.zeroState;
  const settings = indexerSettings({ zerostate, databaseUrl: job.url });
  const identity = {
    zerostate_root_hash: zerostate.root_hash,
    zerostate_file_hash: zerostate.file_hash,
    selection: {},
  };
  await database.transaction((client) => openIndex(client, identity, settings.partitionMcBlocks));
  const facts = new ChainFacts(zerostate, { chain, clock, logger });
  const stop = new AbortController();
  const globalVersion = (key_block: number) => facts.globalVersion(key_block, stop.signal);
  const mcBlockId = (mc_seqno: number) => facts.mcBlockId(mc_seqno, stop.signal);
  const start = { url: job.url, partition_rounds: settings.partitionMcBlocks, accounts: null };
  const threads = new WritePool(settings.workers, start, { clock, globalVersion, mcBlockId });
  const written = new WriteProgress(() => clock.now());
  let [blocks, transactions] = [0, 0];
  const onWritten = (batch: WrittenBatch) => {
    blocks += batch.blocks;
    transactions += batch.transactions;
  };
  const bundles = new BundleSource({}, { chain, clock, logger });
  const retries = new Retries(clock, logger);
  const work = { settings, bundles, facts, database, clock, unixTimeMs, logger, retries, onWritten };
  const filler = new Filler(work, threads, written);
  await facts.waitForHead(1, stop.signal);
  for (const { from, to, passes } of ranges) {
    for (let pass = 1; pass <= passes; pass++) {
      await database.withWriter((client) => client.query(EMPTY));
      [blocks, transactions] = [0, 0];
      const all = processMs(process.pid);
      const main = threadMs(process.pid, process.pid);
      const began = performance.now();
      await filler.run({ from, to }, stop.signal);
      const ms = performance.now() - began;
      const mainMs = threadMs(process.pid, process.pid) - main;
      const threadsMs = processMs(process.pid) - all - mainMs;
      say({ from, to, pass, ms, blocks, transactions, mainMs, threadsMs, residentBytes: residentBytes(process.pid) });
    }
  }
  // Whoever started this one reads times of processes that must not be gone by then.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await threads.close();
}

async function follow({ database, source }: IndexTools, seconds: number): Promise<void> {
  const indexer = await openIndexer(
    {
      ...{ config, database: { url: job.url, readUrl: null }, role: 'indexer', from: null, keepMs: null },
      ...{ accounts: null, dnsRoots: [], workers: null, connections: 1, queryTimeoutMs: 10_000 },
    },
    { ...surroundings, source, database, url: job.url },
    { to: null, follow: true },
  );
  const delays: number[] = [];
  let transactions = 0;
  indexer.onWritten(({ mode, delayMs, range, transactions: count }) => {
    if (mode !== 'follow' || delayMs === null) return;
    // Until the last one of a batch is committed, all of it is late; only the first ones that are caught up with are several.
    if (range.from === range.to) delays.push(delayMs);
    if (delays.length > COLD_MC_BLOCKS) transactions += count;
  });
  void indexer.run();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const warm = delays.slice(COLD_MC_BLOCKS);
  say({
    mcBlocks: warm.length,
    transactions,
    coldMax: Math.max(...delays.slice(0, COLD_MC_BLOCKS)),
    p50: percentile(warm, 0.5),
    p99: percentile(warm, 0.99),
    max: Math.max(...warm),
    residentBytes: residentBytes(process.pid),
  });
  await indexer.close();
}
