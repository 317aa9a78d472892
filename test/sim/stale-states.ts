import { readFile } from 'node:fs/promises';
import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { v2Api } from '#app/service/apis.js';
import { withClosers } from '#app/service/environment.js';
import { openNetwork } from '#app/service/network.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { pause, systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { ChangedAccounts } from '#services/chain/changed-accounts.js';
import { KeptAccounts } from '#services/chain/kept-accounts.js';
import { Random } from '#test/fuzz/random.js';
import { type ChainFacts, chainFacts } from '#test/support/chain-facts.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { vectorPath } from '#test/support/vector-files.js';
import { KeepAliveClient } from '../../bench/v2/keep-alive-client.js';
import { type RecordedNetwork, recordedNetwork } from './recorded-network.js';

/** What is broken on purpose: the hunt has to find the answers that are stale because of it. */
type BrokenRule = 'none' | 'changes of accounts' | 'the fields of the head';

interface StateHuntReport {
  /** Answers through kept states and around them, at the same masterchain block. */
  readonly pairs: number;
  /** Of the reads of account states through them, the share for which no liteserver was asked. */
  readonly kept: number;
  /** Method and parameters, each once. */
  readonly differences: readonly string[];
  /** The methods whose answers differed. */
  readonly methods: readonly string[];
}

interface StateHuntOptions {
  readonly seed: string;
  readonly ms: number;
  readonly broken: BrokenRule;
  /** Ends the hunt when answers of all these methods differed. */
  readonly wanted?: readonly string[];
}

interface Question {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const FOLDER = vectorPath('collection/recorded-net/chain');
/** There the shard of the recorded network is split, and 63 blocks later its halves are merged, and so once more. */
const FIRST_BLOCK = 340;
/** Blocks by which the chain goes on at once: more than those that are caught up with are rare. */
const STEPS = [1, 1, 1, 2, 3, 12];
const POOL = 240;
const TOGETHER = 10;
/** Accounts of transactions of so many blocks before and after the head are asked for. */
const AROUND = 40;

/**
 * Asks methods of API v2 about accounts of a recorded network while it goes on: a server that keeps account states, and one that
 * keeps nothing. Neither keeps whole answers.
 */
export async function huntStaleStates(options: StateHuntOptions): Promise<StateHuntReport> {
  const network = await recordedNetwork(FOLDER);
  const mend = breakRule(options.broken);
  try {
    await network.restart(FIRST_BLOCK);
    return await hunt(options, network, chainFacts(FOLDER));
  } finally {
    mend();
    await network.close();
  }
}

/** Hunts until the time is over, through the chain again and again. @returns what differed */
export async function staleStates({
  minutes,
  seed,
  say,
}: {
  readonly minutes: number;
  readonly seed: string;
  readonly say: (line: string) => void;
}): Promise<readonly string[]> {
  const until = performance.now() + minutes * 60_000;
  const found: string[] = [];
  for (let run = 0; performance.now() < until; run++) {
    const ms = until - performance.now();
    const { pairs, kept, differences } = await huntStaleStates({ seed: `${seed} ${run}`, ms, broken: 'none' });
    say(
      `API v2: ${pairs} pairs, ${(kept * 100).toFixed(0)} % of account states kept, ${differences.length} differences`,
    );
    found.push(...differences);
  }
  return found;
}

/** @returns mends it */
function breakRule(broken: BrokenRule): () => void {
  const { isUnchanged } = ChangedAccounts.prototype;
  const { find } = KeptAccounts.prototype;
  if (broken === 'changes of accounts') ChangedAccounts.prototype.isUnchanged = () => true;
  if (broken === 'the fields of the head') {
    const first = new Map<string, object>();
    KeptAccounts.prototype.find = async function (address, ...rest) {
      const value = await find.call(this, address, ...rest);
      if (value === undefined) return undefined;
      const { shard_block, shard_utime, shard_lt } = value;
      const before = first.get(address.toRaw()) ?? { shard_block, shard_utime, shard_lt };
      first.set(address.toRaw(), before);
      return { ...value, ...before };
    };
  }
  return () => {
    ChangedAccounts.prototype.isUnchanged = isUnchanged;
    KeptAccounts.prototype.find = find;
  };
}

interface ServedV2 {
  readonly client: KeepAliveClient;
  /** Requests to the liteserver so far. */
  readonly requests: () => number;
  close(): Promise<void>;
}

function serveV2(configText: string, cacheBytes: number): Promise<ServedV2> {
  return withClosers(async (closers) => {
    const environment = systemEnvironment(silentLogger);
    const config = parseGlobalConfig(configText, 'the recorded network');
    const tvm = { workers: 1, slowWorkers: 1, rememberMs: 0, endedCpuMs: 0, cpuMs: 10_000, keyCpuMs: 10_000 };
    const open = await openNetwork(
      {
        ...{ network: { name: 'hunted', source: 'the recorded network', config }, groups: [], dataFolder: null },
        ...{ getMethods: 'local', tvm, cacheBytes, deadlineMs: 10_000, maxHeadAgeMs: 0 },
      },
      environment,
    );
    closers.add(() => open.close());
    const headSeqno = () => open.poolOf(null).lite.headSeqno;
    const server = await startHttpServer(
      { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none', cacheBytes: 0 },
      {
        ...{
          access: openAccess,
          clock: systemClock,
          unixTimeMs: Date.now,
          logger: silentLogger,
          metrics: new Registry(),
        },
        randomBytes: environment.randomBytes,
        networks: [{ name: 'hunted', hosts: [], apis: [v2Api(open, null)], health: () => open.health(), headSeqno }],
      },
    );
    closers.add(() => server.close());
    const client = new KeepAliveClient(server.url, TOGETHER);
    closers.add(() => client.close());
    const { lite } = open.poolOf(null);
    return { client, requests: () => lite.metrics().requests, close: () => closers.close() };
  });
}

async function hunt(
  { seed, ms, broken, wanted = [] }: StateHuntOptions,
  network: RecordedNetwork,
  facts: ChainFacts,
): Promise<StateHuntReport> {
  return withClosers(async (closers) => {
    const random = new Random(`${seed} ${broken}`);
    const config = await readFile(network.config, 'utf8');
    const through = await serveV2(config, 64 * 2 ** 20);
    closers.add(() => through.close());
    const around = await serveV2(config, 0);
    closers.add(() => around.close());
    const differences = new Set<string>();
    const methods = new Set<string>();
    const until = performance.now() + ms;
    const hasFound = () => wanted.length > 0 && wanted.every((method) => methods.has(method));
    let pairs = 0;
    let asked = 0;
    let pool: readonly Question[] = [];
    while (performance.now() < until && network.head < network.last && !hasFound()) {
      network.ledger.advanceTo(Math.min(network.last, network.head + random.pick(STEPS)));
      // Some come while the block is proven and its shard blocks are read.
      const early = Array.from({ length: pool.length > 0 ? TOGETHER : 0 }, () => random.pick(pool));
      await Promise.all(early.map((question) => ask(through, question)));
      await Promise.all([through, around].map((server) => untilHead(server, network.head)));
      const staying = pool.filter(() => random.below(100) < 90);
      pool = [...staying, ...questions(random, facts, network.head, POOL - staying.length)];
      const before = through.requests();
      for (let from = 0; from < pool.length; from += TOGETHER) {
        const some = pool.slice(from, from + TOGETHER);
        const told = await Promise.all(some.map((question) => ask(through, question)));
        const proven = await Promise.all(some.map((question) => ask(around, question)));
        for (const [i, question] of some.entries()) {
          pairs++;
          if (told[i] === proven[i]) continue;
          differences.add(`${question.method} ${JSON.stringify(question.params)} at ${network.head}`);
          methods.add(question.method);
        }
      }
      asked += through.requests() - before;
    }
    const kept = Math.max(0, 1 - asked / Math.max(pairs, 1));
    await closers.close();
    return { pairs, kept, differences: [...differences], methods: [...methods].sort() };
  });
}

async function untilHead(server: ServedV2, seqno: number): Promise<void> {
  for (;;) {
    const { result } = JSON.parse(await ask(server, { method: 'getMasterchainInfo', params: {} }));
    if (result?.last.seqno === seqno) return;
    await pause(20, systemClock);
  }
}

/** @returns the body, without what tells the time of the request */
async function ask({ client }: ServedV2, { method, params }: Question): Promise<string> {
  const { text } = await client.ask({ path: `/api/v2/${method}`, body: JSON.stringify(params) });
  return text.replace(/,"@extra":"[^"]*"/, '');
}

/** About accounts that have transactions shortly before or after the head, and others. */
function questions(random: Random, { shards, masterchain }: ChainFacts, head: number, count: number): Question[] {
  const time = (seqno: number): number => masterchain[Math.min(Math.max(seqno, 1), masterchain.length - 1)]!.gen_utime;
  const near = shards.filter(({ gen_utime, transactions }) => {
    return gen_utime >= time(head - AROUND) && gen_utime <= time(head + AROUND) && transactions.length > 0;
  });
  const before = shards.filter(({ gen_utime, transactions }) => gen_utime < time(head) && transactions.length > 0);
  return Array.from({ length: count }, () => {
    const block = random.pick(near.length === 0 || random.chance(1, 3) ? before : near);
    const { account: address } = random.pick(block.transactions);
    return random.pick<Question>([
      { method: 'getAddressInformation', params: { address } },
      { method: 'getExtendedAddressInformation', params: { address } },
      { method: 'getWalletInformation', params: { address } },
      { method: 'getAddressBalance', params: { address } },
      { method: 'getTransactions', params: { address, limit: 3 } },
      { method: 'runGetMethod', params: { address, method: 'seqno', stack: [] } },
      { method: 'getTokenData', params: { address } },
    ]);
  });
}
