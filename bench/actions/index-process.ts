// A process that indexes a chain while its actions are measured. Its argument is an ActionsJob as JSON; it writes its result as JSON.
import process from 'node:process';
import { systemEnvironment } from '#app/cli/environment.js';
import { download, loadNetworks } from '#app/config/networks.js';
import { type IndexTools, openIndexTools } from '#app/service/index-tools.js';
import type { Database } from '#drivers/store/database.js';
import { silentLogger } from '#kernel/logger.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Indexer } from '#services/indexer/indexer.js';
import { percentile } from '../latency.js';

export interface ActionsJob {
  /** Of the liteserver. */
  readonly config: string;
  readonly url: string;
  readonly dataFolder: string;
  /** Seconds to follow; null: the chain is filled to its end. */
  readonly followSeconds: number | null;
  readonly withActions: boolean;
}

/** What was measured. Milliseconds. */
export interface ActionsResult {
  readonly transactions: number;
  readonly actions: number;
  /** Until all blocks were written, and, with actions, until all traces were classified. */
  readonly ms: number;
  /** From the commit of a followed masterchain block until all traces that end in it have their actions. */
  readonly delays: {
    readonly blocks: number;
    readonly p50: number;
    readonly p99: number;
    readonly max: number;
    /** The longest of {@link START_MS}, not among the others. */
    readonly start: number;
  } | null;
}

const POLL_MS = 5;
/** The process and its threads load their code and the contracts of the first blocks meanwhile. */
const START_MS = 3_000;

const job = JSON.parse(process.argv[2]!) as ActionsJob;
const surroundings = systemEnvironment(silentLogger);
const [network] = await loadNetworks([{ name: null, source: job.config }], { download });
const options = { network: network!, url: job.url, dataFolder: job.dataFolder, writes: true };
const tools = await openIndexTools(options, surroundings);
process.stdout.write(`${JSON.stringify(await measure(tools))}\n`);
await tools.close();
process.exit(0);

async function measure({ database, source }: IndexTools): Promise<ActionsResult> {
  const { chain } = source;
  const { clock, unixTimeMs, logger } = surroundings;
  const follow = job.followSeconds !== null;
  const indexer = await Indexer.open(
    {
      ...{ zerostate: network!.config.zeroState, databaseUrl: job.url, from: null, keepMs: null, to: null, follow },
      ...{ accounts: null, dnsRoots: [], actions: job.withActions },
    },
    { bundles: new BundleSource({}, { chain, clock, logger }), chain, database, clock, unixTimeMs, logger },
  );
  let transactions = 0;
  const waiting: { readonly seqno: number; readonly at: number }[] = [];
  indexer.onWritten(({ mode, range, transactions: count }) => {
    transactions += count;
    if (mode === 'follow') waiting.push({ seqno: range.to, at: performance.now() });
  });
  const began = performance.now();
  const running = indexer.run();
  const delays: Delay[] = [];
  if (job.followSeconds === null) await running;
  else await watch(database, waiting, delays, began + job.followSeconds * 1000);
  const ms = performance.now() - began;
  const { actions } = indexer.metrics().actions;
  await indexer.close();
  return { transactions, actions, ms, delays: follow ? delaysOf(delays, began + START_MS) : null };
}

/** When a block was written, and how long its traces had no actions after that. */
interface Delay {
  readonly at: number;
  readonly ms: number;
}

function delaysOf(delays: readonly Delay[], started: number): ActionsResult['delays'] {
  const [start, all] = [true, false].map((isStart) =>
    delays.filter(({ at }) => at < started === isStart).map(({ ms }) => ms),
  ) as [number[], number[]];
  return {
    ...{ blocks: all.length, p50: percentile(all, 0.5), p99: percentile(all, 0.99), max: Math.max(...all) },
    start: Math.max(...start),
  };
}

/** Notes when the traces of written blocks have their actions. */
async function watch(
  database: Database,
  waiting: { readonly seqno: number; readonly at: number }[],
  delays: Delay[],
  until: number,
): Promise<void> {
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const first = waiting[0];
    if (first === undefined) continue;
    const open = await database.withWriter((client) =>
      client.query<{ seqno: number | null }>({
        name: 'first-unclassified-block',
        text: `SELECT min(x.mc_seqno_end) AS seqno FROM traces x WHERE x.state = 0 AND x.mc_seqno_end >= $1
               AND NOT EXISTS (SELECT FROM classified_traces c WHERE c.root = x.root)`,
        values: [first.seqno],
      }),
    );
    const seqno = open.rows[0]?.seqno ?? Number.POSITIVE_INFINITY;
    const now = performance.now();
    while (waiting.length > 0 && waiting[0]!.seqno < seqno) {
      const { at } = waiting.shift()!;
      delays.push({ at, ms: now - at });
    }
  }
}
