import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { CallThreads, ChangeLog } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/parameters.js';
import { startHttpServer } from '#api/http/server.js';
import { AddressReadAhead } from '#api/v3/address-read-ahead.js';
import { ChangedKeys } from '#api/v3/answer-keys.js';
import { type V3ChainContext, type V3ChainNetwork, type V3Switches, v3Context } from '#api/v3/context.js';
import { AddressRowCache, FinalTexts } from '#api/v3/kept-texts.js';
import { writeAddressTail } from '#api/v3/page.js';
import { ReaderPool } from '#api/v3/reader-pool.js';
import { v3Description, v3IndexEndpoints } from '#api/v3/v3-api.js';
import { IndexWatch } from '#app/service/index-database.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { IndexEventFeed } from '#drivers/store/event-log.js';
import { indexReads } from '#drivers/store/read/index-port.js';
import { pause, systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { Random } from '#test/fuzz/random.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { callV3 } from '#test/support/v3-method.js';
import { vectorPath } from '#test/support/vector-files.js';
import { KeepAliveClient } from '../../bench/v2/keep-alive-client.js';
import { emptyIndex, isWhole } from './index-ground.js';
import { IndexerProcess, type Program } from './indexer-process.js';
import { recordedNetwork } from './recorded-network.js';

/** A dependency that is broken on purpose: the hunt has to find the answers that are stale because of it. */
type BrokenDependency = 'none' | 'of the parameters' | 'of the rows' | 'of the address book';

interface HuntOptions {
  /** Text of the global configuration of the network. */
  readonly config: string;
  /** The database of the index, which another process writes. */
  readonly databaseUrl: string;
  /** Continues the chain; false: at its end. */
  readonly advance: () => boolean;
  /** Whether the index has all of the chain, and nothing to derive from it. */
  readonly isSettled: () => Promise<boolean>;
  readonly ms: number;
  readonly seed: string;
  readonly broken: BrokenDependency;
  readonly wanted: readonly string[];
}

interface HuntReport {
  /** Answers that were asked for through the caches and around them while the index stayed as it was. */
  readonly pairs: number;
  /** Answers that were asked for through the caches while the index was written. */
  readonly meanwhile: number;
  /** Of the answers through the caches, those that were not made anew as a whole. */
  readonly fromCache: number;
  /** Pairs during which the index changed. */
  readonly disturbed: number;
  /** What differed: method and query, each once. */
  readonly differences: readonly string[];
  /** The methods whose answers differed. */
  readonly methods: readonly string[];
  /** The methods of the index of which no answer was compared. */
  readonly unasked: readonly string[];
}

interface Question {
  readonly method: string;
  readonly query: string;
  readonly profile: 'spec' | 'toncenter';
}

/** A recorded network that goes on block by block, and its index, which a process of its own writes. */
export interface HuntingGround {
  /** @param wanted ends the hunt when answers of all these methods differed */
  hunt(broken: BrokenDependency, ms: number, wanted?: readonly string[]): Promise<HuntReport>;
  close(): Promise<void>;
}

/** Blocks that are indexed before the hunt begins: tokens come after them. */
const FIRST_BLOCKS = 320;
/** Blocks by which the chain then goes on at once. */
const STEP = 3;

/** @param program the indexer */
export async function huntingGround(program: Program, seed: string): Promise<HuntingGround> {
  const network = await recordedNetwork(vectorPath('collection/recorded-net/chain'));
  const index = await emptyIndex(network);
  await network.restart(FIRST_BLOCKS);
  const args = { config: network.config, databaseUrl: index.url, data: index.data, workers: 1 };
  const indexer = new IndexerProcess(program, { command: 'serve', ...args });
  while ((await index.rounds()) < FIRST_BLOCKS && !indexer.hasEnded) await pause(100, systemClock);
  const config = await readFile(network.config, 'utf8');
  const advance = () => {
    if (network.head >= network.last) return false;
    network.ledger.advanceTo(Math.min(network.last, network.head + STEP));
    return true;
  };
  const isSettled = () => isWhole(index.client, network.head);
  return {
    hunt: (broken, ms, wanted = []) =>
      huntStaleAnswers({ config, databaseUrl: index.url, advance, isSettled, ms, seed, broken, wanted }),
    close: async () => {
      await indexer.kill();
      await index.close();
      await network.close();
    },
  };
}

/** Hunts on fresh indexes of the network until the time is over. @returns what differed */
export async function staleAnswers(
  program: Program,
  { minutes, seed, say }: { readonly minutes: number; readonly seed: string; readonly say: (line: string) => void },
): Promise<readonly string[]> {
  const until = performance.now() + minutes * 60_000;
  const found: string[] = [];
  let pairs = 0;
  for (let run = 0; performance.now() < until; run++) {
    const ground = await huntingGround(program, `${seed} ${run}`);
    try {
      const report = await ground.hunt('none', until - performance.now());
      pairs += report.pairs;
      found.push(...report.differences);
      if (run === 0) found.push(...report.unasked.map((method) => `${method} was not asked for`));
      say(
        `${report.pairs} pairs, ${report.fromCache} of ${report.pairs + report.meanwhile} answers from the cache, ` +
          `${report.differences.length} differences; ${pairs} pairs so far`,
      );
    } finally {
      await ground.close();
    }
  }
  return found;
}

/** Questions that are asked again and again, while some are replaced by others. */
const POOL = 600;
const TOGETHER = 20;
const LONGEST_QUERY_MS = 20_000;

/** Asks every method of the index for random accounts, through the caches and around them, while the index is written. */
async function huntStaleAnswers(options: HuntOptions): Promise<HuntReport> {
  const { databaseUrl: url, config, broken } = options;
  const clock = systemClock;
  const logger = silentLogger;
  const database = await Database.open({ url }, { clock });
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  const changes = new ChangedKeys();
  const feed = new IndexEventFeed({}, { database: () => database, clock, logger });
  const network = parseGlobalConfig(config, 'the recorded network').zeroState;
  let ahead: AddressReadAhead | null = null;
  const version = (): number => watch.version;
  const readers = new ReaderPool(
    {},
    {
      start: async () => ({
        ...{ url, isTestnet: false, queryTimeoutMs: LONGEST_QUERY_MS, textBytes: 1 << 24, version: version() },
      }),
      ...{ clock, logger },
    },
  );
  const onChange = () => {
    ahead?.noteChange(changes.newest);
    if (broken !== 'of the address book') readers.noteChange(version(), changes.newest);
  };
  const modules = { database: () => database, feed, listener: changes, onChange, clock, logger };
  const watch = new IndexWatch({ network }, modules);
  await watch.read(database);
  feed.start();
  watch.start();
  const index = indexReads(database);
  const addressRows = new AddressRowCache(1 << 23, broken === 'of the address book' ? deaf : changes, version);
  const facts = { index, isTestnet: false, texts: new FinalTexts(1 << 25), addressRows };
  const served = facts as unknown as V3ChainNetwork;
  ahead = new AddressReadAhead(facts, addressRows);
  const mcSeqno = () => watch.progress?.last ?? 0;
  const server = await startHttpServer(
    // Little room, so that answers are compressed and expanded again.
    { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none', cacheBytes: 1 << 22 },
    {
      ...{ access: openAccess, clock, unixTimeMs: Date.now, randomBytes: (size) => new Uint8Array(size), logger },
      metrics: new Registry(),
      networks: [
        {
          ...{ name: 'hunted', hosts: [], headSeqno: mcSeqno },
          apis: [
            {
              ...v3Description,
              endpoints: v3IndexEndpoints.map((endpoint) =>
                breakParameters(endpoint, broken),
              ) as AnyEndpoint<V3ChainContext>[],
              headSeqno: version,
              changes,
              writeTail: writeAddressTail,
              threads: everyOther(readers, broken),
              freshness: () => ({ mcSeqno: mcSeqno(), lagMs: null }),
              context: (request) =>
                v3Context(served, broken === 'of the rows' ? { ...request, dependsOn: () => {} } : request),
            },
          ],
          health: () => ({ ready: true, problem: null, headSeqno: mcSeqno(), headAgeMs: 0 }),
        },
      ],
    },
  );
  const asking = new KeepAliveClient(server.url, TOGETHER);
  try {
    return await hunt(options, {
      through: (question) => askThrough(asking, question),
      around: async ({ method, query, profile }) =>
        (await callV3(method, query, { network: { index }, profile, switches: { timeoutMs: LONGEST_QUERY_MS } })).body,
      known: async () => {
        await watch.read(database);
        return watch.progress?.last_event ?? 0n;
      },
      current: async () => BigInt((await client.query('SELECT last_event FROM index_state')).rows[0].last_event),
      kept: () => cacheHits(server.url),
    });
  } finally {
    asking.close();
    await server.close();
    await readers.close();
    await watch.close();
    await ahead.close();
    await feed.close();
    await client.end();
    await database.close();
  }
}

/** Every other call is answered by a reader thread, which keeps texts and what is told of addresses on its own. */
function everyOther(readers: ReaderPool, broken: BrokenDependency): CallThreads<SwitchValues<V3Switches>> {
  let turn = 0;
  return {
    takes: () => turn++ % 2 === 0,
    helps: () => false,
    answer: async (call, caller) => {
      const answer = await readers.answer(call, caller);
      return broken === 'of the rows' ? { ...answer, keys: [] } : answer;
    },
  };
}

/** Does not hear of any change. */
const deaf: ChangeLog = { confirmedAt: Number.POSITIVE_INFINITY, isUnchanged: () => true };

// biome-ignore lint/suspicious/noExplicitAny: endpoints of all parameters
function breakParameters(endpoint: AnyEndpoint<any>, broken: BrokenDependency): AnyEndpoint<any> {
  const { depends } = endpoint;
  if (broken !== 'of the parameters' || depends === undefined) return endpoint;
  return { ...endpoint, depends: (params) => depends(params) && [] };
}

async function cacheHits(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^tern_http_cache_hits_total(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? 0);
}

interface Hunted {
  through(question: Question): Promise<unknown>;
  around(question: Question): Promise<unknown>;
  /** The newest event that the caches have heard of, which are told now. */
  known(): Promise<bigint>;
  /** The newest event of the log. */
  current(): Promise<bigint>;
  kept(): Promise<number>;
}

async function hunt(
  { ms, seed, broken, wanted, advance, isSettled }: HuntOptions,
  hunted: Hunted,
): Promise<HuntReport> {
  const random = new Random(`${seed} ${broken}`);
  const differences = new Set<string>();
  const methods = new Set<string>();
  const unasked = new Set(v3IndexEndpoints.map(({ name }) => name));
  let pairs = 0;
  let disturbed = 0;
  let meanwhile = 0;
  let pool: readonly Question[] = [];
  const before = await hunted.kept();
  const until = performance.now() + ms;
  const hasFound = () => wanted.length > 0 && wanted.every((method) => methods.has(method));
  while (performance.now() < until && !hasFound() && advance()) {
    // Answers that are made while a block is written may tell what was before it, and are kept.
    do {
      await Promise.all(Array.from({ length: TOGETHER }, () => pool.length > 0 && hunted.through(random.pick(pool))));
      meanwhile += Math.min(pool.length, TOGETHER);
    } while (!(await isSettled()) && performance.now() < until);
    // Most questions stay, so that they are asked before and after what they tell has changed.
    const staying = pool.filter(() => random.below(100) < 85);
    pool = [...staying, ...(await newQuestions(hunted, random)).slice(0, POOL - staying.length)];
    for (let from = 0; from < pool.length && performance.now() < until; from += TOGETHER) {
      const asked = pool.slice(from, from + TOGETHER);
      const known = await hunted.known();
      const through = await Promise.all(asked.map((question) => hunted.through(question)));
      const around = await Promise.all(asked.map((question) => hunted.around(question)));
      if ((await hunted.current()) !== known) {
        disturbed += asked.length;
        continue;
      }
      for (const [i, question] of asked.entries()) {
        pairs++;
        // That both refuse it compares no answer.
        if (around[i] !== undefined) unasked.delete(question.method);
        if (isDeepStrictEqual(through[i], around[i])) continue;
        differences.add(`${question.profile} ${question.method}?${question.query}`);
        methods.add(question.method);
      }
    }
  }
  const fromCache = (await hunted.kept()) - before;
  return {
    ...{ pairs, meanwhile, fromCache, disturbed, differences: [...differences] },
    ...{ methods: [...methods].sort(), unasked: [...unasked] },
  };
}

async function askThrough(client: KeepAliveClient, { method, query, profile }: Question): Promise<unknown> {
  const prefix = profile === 'spec' ? '/api/v3' : '/toncenter/api/v3';
  const { status, text } = await client.ask({ path: `${prefix}/${method}?${query}` });
  return status === 200 ? JSON.parse(text) : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
type Json = any;

/** Questions about what was indexed last, and about anything else. */
async function newQuestions(hunted: Hunted, random: Random): Promise<Question[]> {
  const ask = async (method: string, query: string): Promise<Json> =>
    (await hunted.around({ method, query, profile: 'spec' })) ?? {};
  const [newest, older, wallets, items, jettons, nfts] = await Promise.all([
    ask('transactions', 'limit=40&sort=desc'),
    ask('transactions', `limit=20&sort=asc&offset=${random.below(2_000)}`),
    ask('jetton/wallets', `limit=10&offset=${random.below(50)}`),
    ask('nft/items', `limit=10&offset=${random.below(20)}`),
    ask('jetton/transfers', `limit=20&offset=${random.below(20)}`),
    ask('nft/transfers', `limit=20&offset=${random.below(20)}`),
  ]);
  const questions: Question[] = [];
  const add = ([method, query]: readonly [string, string]) =>
    void questions.push({ method, query, profile: random.below(2) === 0 ? 'spec' : 'toncenter' });
  const text = encodeURIComponent;
  for (const { account, hash, in_msg, out_msgs, trace_id, mc_block_seqno } of [
    ...(newest.transactions ?? []),
    ...(older.transactions ?? []),
  ] as Json[]) {
    const messages = [in_msg, ...(out_msgs ?? [])].filter((one) => one != null);
    const { hash: message, source, destination } = random.pick(messages.length > 0 ? messages : [{}]);
    const whole: readonly (readonly [string, string])[] = [
      ['transactions', `account=${account}&limit=5`],
      ['transactions', `account=${account}&limit=5&sort=asc`],
      ['transactions', `hash=${text(hash)}`],
      ['transactions', `mc_seqno=${mc_block_seqno}&limit=5`],
      ['transactions', 'limit=5'],
      ['transactionsByMasterchainBlock', `seqno=${mc_block_seqno}&limit=5`],
      ['adjacentTransactions', `hash=${text(hash)}`],
      ['traces', `account=${account}&limit=3`],
      ['traces', `account=${account}&limit=3&sort=asc`],
      ['traces', `tx_hash=${text(hash)}`],
      ['traces', `trace_id=${text(trace_id ?? hash)}`],
      ['traces', `mc_seqno=${mc_block_seqno}&limit=3`],
      ['events', `account=${account}&limit=3`],
      ['actions', `account=${account}&limit=5`],
      ['actions', `account=${account}&limit=5&include_accounts=true`],
      ['actions', `tx_hash=${text(hash)}`],
      ['actions', `trace_id=${text(trace_id ?? hash)}`],
      ['actions', `mc_seqno=${mc_block_seqno}&limit=5`],
      ['messages', `source=${account}&limit=5`],
      ['messages', `source=${account}&limit=5&direction=out`],
      ['messages', `destination=${account}&limit=5`],
      ['messages', `destination=${account}&limit=5&direction=in`],
      ['messages', `source=${account}&limit=5&direction=in`],
      ['accountStates', `address=${account}`],
      ['walletStates', `address=${account}`],
      ['addressBook', `address=${account}`],
      ['metadata', `address=${account}`],
      ['jetton/wallets', `owner_address=${account}&limit=5`],
      ['jetton/wallets', `address=${account}`],
      ['jetton/transfers', `owner_address=${account}&limit=5`],
      ['jetton/burns', `owner_address=${account}&limit=5`],
      ['nft/items', `owner_address=${account}&limit=5`],
      ['nft/transfers', `owner_address=${account}&limit=5`],
      ['nft/collections', `owner_address=${account}&limit=5`],
      ['nft/sales', `address=${account}`],
      ['dns/records', `wallet=${account}`],
      ['multisig/wallets', `wallet_address=${account}&limit=5`],
      ['multisig/orders', `multisig_address=${account}&limit=5`],
      ['vesting', `wallet_address=${account}&limit=5`],
      ['vesting', `contract_address=${account}`],
      ['topAccountsByBalance', 'limit=5'],
      ['blocks', 'workchain=-1&limit=3'],
      ['masterchainBlockShardState', `seqno=${mc_block_seqno}`],
      ['masterchainBlockShards', `seqno=${mc_block_seqno}&limit=3`],
      ['masterchainInfo', ''],
      ['decode', 'opcodes=0x0f8a7ea5'],
    ];
    add(random.pick(whole));
    add(random.pick(whole));
    add(random.pick(whole));
    // Some traces and transactions of these are as long as a thousand other answers.
    if (message === undefined || !random.chance(1, 5)) continue;
    add(
      random.pick<readonly [string, string]>([
        ['messages', `msg_hash=${text(message)}`],
        ['traces', `msg_hash=${text(message)}`],
        ['transactionsByMessage', `msg_hash=${text(message)}`],
        ...(source == null ? [] : [['transactionsByMessage', `msg_hash=${text(message)}&direction=out`] as const]),
        ...(destination == null ? [] : [['addressBook', `address=${destination}`] as const]),
      ]),
    );
  }
  const anyOf = (...some: readonly (readonly [string, string])[]) => add(random.pick(some));
  for (const { address, owner, jetton } of (wallets.jetton_wallets ?? []) as Json[]) {
    add(['metadata', `address=${address}`]);
    anyOf(['accountStates', `address=${address}&address=${jetton}`], ['jetton/masters', `address=${jetton}`]);
    anyOf(...ofJettonOwner(owner), ['jetton/transfers', `jetton_wallet=${address}&limit=5`]);
    anyOf(
      ['jetton/wallets', `jetton_address=${jetton}&limit=5`],
      ['jetton/wallets', `jetton_address=${jetton}&sort=desc&limit=5`],
      ['jetton/transfers', `jetton_master=${jetton}&limit=5`],
      ['jetton/burns', `jetton_master=${jetton}&limit=5`],
    );
  }
  for (const { source, destination } of (jettons.jetton_transfers ?? []) as Json[]) {
    anyOf(...ofJettonOwner(source), ...(destination == null ? [] : ofJettonOwner(destination)));
  }
  for (const { address, owner_address: owner, collection_address: collection } of (items.nft_items ?? []) as Json[]) {
    anyOf(['metadata', `address=${address}`], ['nft/items', `address=${address}`]);
    anyOf(
      ...ofNftOwner(owner),
      ['nft/transfers', `item_address=${address}&limit=5`],
      ['nft/sales', `address=${owner}`],
    );
    if (collection == null) continue;
    anyOf(
      ['nft/collections', `collection_address=${collection}`],
      ['nft/items', `collection_address=${collection}&limit=5`],
      ['nft/transfers', `collection_address=${collection}&limit=5`],
    );
  }
  for (const { old_owner, new_owner } of (nfts.nft_transfers ?? []) as Json[]) {
    anyOf(...ofNftOwner(old_owner), ...(new_owner == null ? [] : ofNftOwner(new_owner)));
  }
  // In any order.
  return questions
    .map((question) => ({ question, at: random.below(1 << 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ question }) => question);
}

function ofJettonOwner(owner: string): readonly (readonly [string, string])[] {
  return [
    ['jetton/wallets', `owner_address=${owner}&limit=5`],
    ['jetton/transfers', `owner_address=${owner}&limit=5`],
    ['jetton/transfers', `owner_address=${owner}&direction=in&limit=5`],
    ['jetton/burns', `owner_address=${owner}&limit=5`],
  ];
}

function ofNftOwner(owner: string): readonly (readonly [string, string])[] {
  return [
    ['nft/items', `owner_address=${owner}&limit=5`],
    ['nft/items', `owner_address=${owner}&include_on_sale=true&limit=5`],
    ['nft/transfers', `owner_address=${owner}&limit=5`],
  ];
}
