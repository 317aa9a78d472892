// npm run -s sim -- [NAME…] [--kills N] [--seed TEXT]: writing the index while things go wrong, and all transactions of
// recorded chains again, on this machine only. With [--blocks N], localnet makes and checks a long chain of its own; with
// [--minutes N], stale compares for so long answers of API v2 from kept account states with those of states proven anew, then those
// of API v3 through its caches with those around them, and webhooks has receivers that are out of order for so long, while the process
// is killed. With [--messages N], followed sends messages to a local network and compares what was emulated with what came. With
// [--traces N], emulate emulates traces of each recorded chain again and compares them. With [--pairs N], fresh writes to a local
// network and reads that in a lagging replica.
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithChildren } from '#test/support/end-with-children.js';
import { BUILT_TERN } from '#test/support/tern-process.js';
import { stopTestServer } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';
import { emulateRecordedTraces } from './emulated-traces.js';
import { fillInAnyOrder } from './fill-order.js';
import { followMessages } from './followed.js';
import { readOwnWrites } from './fresh-reads.js';
import { fullDisk } from './full-disk.js';
import { emptyIndex } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import { killAgainAndAgain } from './kills.js';
import { liteserverOutages } from './liteserver-outages.js';
import { longChain } from './long-chain.js';
import { lossyLines } from './lossy-lines.js';
import { databaseOutages } from './outages.js';
import { recordedNetwork } from './recorded-network.js';
import type { Scenario, Trial } from './scenario.js';
import { staleStates } from './stale-states.js';
import { staleAnswers } from './staleness.js';
import { killStateImports } from './state-kills.js';
import { repeatTransactions } from './transactions.js';
import { twoIndexers } from './two-indexers.js';
import { webhookOutages } from './webhooks.js';

const DEV_CHAIN = join(import.meta.dirname, '../../vectors/dev-chain');

endWithChildren();

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '200' },
    blocks: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '10' },
    messages: { type: 'string', default: '1000' },
    traces: { type: 'string', default: '1000' },
    pairs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: 'sim' },
  },
});

/** Half of the kills while the index is filled, half while the chain is followed. */
const kills: Scenario = async (trial) => {
  const found: string[] = [];
  for (const work of ['fill', 'follow'] as const) {
    const report = await killAgainAndAgain({ ...trial, work, kills: Math.ceil(Number(values.kills) / 2) });
    const moments = [...report.moments].sort(([, a], [, b]) => b - a).map(([moment, times]) => `${times} × ${moment}`);
    trial.say(
      `${work}: ${report.kills} kills, ${report.lives} indexes, ${report.seconds} s; in each tenth of the work ${report.tenths.join(' ')}\n  ${moments.join('\n  ')}`,
    );
    found.push(...report.differences);
  }
  return found;
};

const order: Scenario = async ({ seed, say }) => {
  const folder = vectorPath('collection/recorded-net/chain');
  return fillInAnyOrder({ folder, last: null, ranges: 24, seed, say });
};

/** Imports of persistent states; each kill takes about a second. */
const state: Scenario = async (trial) => {
  const report = await killStateImports({ ...trial, kills: Math.ceil(Number(values.kills) / 4) });
  trial.say(`state: ${report.kills} kills, ${report.before} before the first account was written`);
  return report.differences;
};

const scenarios: Readonly<Record<string, Scenario>> = {
  kills,
  state,
  database: databaseOutages,
  disk: fullDisk,
  liteserver: liteserverOutages,
  lossy: lossyLines,
  two: twoIndexers,
  order,
};

/** These need no index. */
const alone: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  transactions: () => repeatTransactions(say),
  localnet: () => longChain(Number(values.blocks), values.seed, say),
  emulate: () => emulateRecordedTraces(Number(values.traces), say),
  followed: () => followMessages(BUILT_TERN, { messages: Number(values.messages), say }),
  fresh: () => readOwnWrites(BUILT_TERN, { pairs: Number(values.pairs), say }),
  stale: async () => {
    const hunted = { minutes: Number(values.minutes), seed: values.seed, say };
    return [...(await staleStates(hunted)), ...(await staleAnswers(BUILT_TERN, hunted))];
  },
  webhooks: () => webhookOutages(BUILT_TERN, { minutes: Number(values.minutes), say }),
};

async function main(): Promise<void> {
  const known = [...Object.keys(scenarios), ...Object.keys(alone)];
  const wanted = positionals.length === 0 ? known : positionals;
  for (const name of wanted) if (!known.includes(name)) throw new TypeError(`wanted is one of ${known.join(', ')}`);
  for (const name of wanted) if (name in alone) await run(name, alone[name]!);
  const names = wanted.filter((name) => name in scenarios);
  if (names.length > 0) await breakIndexes(names);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function run(name: string, scenario: () => Promise<readonly string[]>): Promise<void> {
  const startedAt = performance.now();
  const found = await scenario();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  say(`${name}: ${found.length === 0 ? 'as it should be' : found.join('\n')} (${seconds} s)`);
  if (found.length > 0) process.exitCode = 1;
}

async function breakIndexes(names: readonly string[]): Promise<void> {
  const program = BUILT_TERN;
  const network = await recordedNetwork(DEV_CHAIN);
  const whole = await emptyIndex(network);
  const args = { config: network.config, databaseUrl: whole.url, data: whole.data, workers: 1 };
  const code = await new IndexerProcess(program, { command: 'index', ...args }).ended;
  if (code !== 0 || !(await whole.isWhole())) throw new Error('the index does not become whole');
  const trial: Trial = { network, reference: whole.client, program, seed: values.seed, say };
  for (const name of names) await run(name, () => scenarios[name]!(trial));
  await whole.close();
  await network.close();
}

// A database that still runs keeps this process from ending.
await main().finally(stopTestServer);
