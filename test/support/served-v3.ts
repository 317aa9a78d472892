import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { coverageOfFailure } from '#api/v3/coverage.js';
import { FinalTexts } from '#api/v3/kept-texts.js';
import { ReaderPool, type ReaderSettings } from '#api/v3/reader-pool.js';
import { v3Description } from '#api/v3/v3-api.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { withClosers } from '#app/service/environment.js';
import { openNetwork } from '#app/service/network.js';
import { startLedgerNetwork } from '#app/service/replayed-network.js';
import { Database } from '#drivers/store/database.js';
import type { IndexCoverage } from '#drivers/store/index-state.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import type { TernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { AccountLookUps } from '#services/lookups/account-look-ups.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { type IndexedChainOptions, sharedIndex } from '#test/support/shared-index.js';

/** API v3 over HTTP, in this process. */
export interface ServedV3 {
  /** `http://127.0.0.1:40000` */
  readonly url: string;
  readonly database: Database;
  readonly reader: IndexPort;
  /** Null: none. */
  readonly readers: ReaderPool | null;
  readonly lookUps: AccountLookUps | null;
  close(): Promise<void>;
}

const NO_TIME_LIMIT = 60_000;

/** How an index that does not have all of its chain is served. */
export interface PartialIndex {
  /** Wakes contract detection; null: nothing is looked up. */
  readonly wakeDetection: (() => void) | null;
  readonly mostPerRequest?: number;
  /** In place of the chain that is served. */
  readonly chain?: Pick<ChainReads, 'account' | 'configParams'>;
}

/**
 * Serves v3 over the index of a recorded chain; reads of the chain itself go to a liteserver of the same recording.
 *
 * @param indexUrl of a database with that index in place of the shared one
 * @param readers reader threads; undefined: the main thread answers all calls
 * @param partial undefined: the index has all of the chain
 */
export function serveV3(
  indexed: IndexedChainOptions,
  indexUrl?: string,
  readers?: Partial<ReaderSettings>,
  partial?: PartialIndex,
): Promise<ServedV3> {
  const { name, folder } = indexed;
  return withClosers(async (closers) => {
    const environment = systemEnvironment(silentLogger);
    const url = indexUrl ?? (await sharedIndex(indexed));
    const database = await Database.open({ url }, { clock: systemClock });
    closers.add(() => database.close());
    const replayed = await startLedgerNetwork(
      keptReplay(folder, { to: null, head: null }),
      { name, folder },
      environment,
    );
    closers.add(() => replayed.close());
    const open = await openNetwork(
      {
        network: replayed.network,
        groups: [],
        dataFolder: null,
        getMethods: 'local',
        tvm: { workers: 1, slowWorkers: 1, rememberMs: 0, endedCpuMs: 0, cpuMs: 60_000, keyCpuMs: 60_000 },
        cacheBytes: 1 << 24,
        deadlineMs: NO_TIME_LIMIT,
        maxHeadAgeMs: 0,
      },
      environment,
    );
    closers.add(() => open.close());
    const reader = indexReads(database);
    const options = { signal: new AbortController().signal, timeoutMs: NO_TIME_LIMIT };
    const mcSeqno = (await reader.extent(options))!.last.seqno;
    const { chain, contracts } = open.poolOf(null).v2;
    const progress = await database.query<{ rounds: string; state_seqno: number | null }>({
      text: 'SELECT rounds::text AS rounds, state_seqno FROM index_state',
    });
    const coverage: IndexCoverage = {
      history: [...progress[0]!.rounds.matchAll(/(\d+),(\d+)/g)].map(([, a, b]) => ({
        from: Number(a),
        to: Number(b) - 1,
      })),
      selected: false,
      state_seqno: progress[0]!.state_seqno,
    };
    const lookUps =
      partial === undefined || partial.wakeDetection === null
        ? null
        : new AccountLookUps(
            { mostPerRequest: partial.mostPerRequest ?? 1024, concurrency: 32, mostAbsent: 10_000, dnsRoots: [] },
            {
              chain: partial.chain ?? chain,
              contracts: open.pools.get('public')!.contracts,
              index: () => database,
              writer: async () => database,
              coverage: () => coverage,
              onQueued: partial.wakeDetection,
              clock: systemClock,
              logger: silentLogger,
            },
          );
    const covered = {
      ...(partial === undefined ? {} : { coverage: () => coverage }),
      ...(lookUps === null ? {} : { lookUps }),
    };
    const start = async () => ({
      url,
      isTestnet: false,
      queryTimeoutMs: NO_TIME_LIMIT,
      textBytes: 1 << 24,
      version: 0,
    });
    const threads =
      readers === undefined
        ? null
        : new ReaderPool(readers, { start, clock: systemClock, logger: silentLogger, ...covered });
    closers.add(() => threads?.close());
    const network = { index: reader, chain, contracts, isTestnet: false, texts: new FinalTexts(1 << 24), ...covered };
    const server = await startHttpServer(
      { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none', deadlineMs: NO_TIME_LIMIT },
      {
        ...environment,
        access: openAccess,
        metrics: new Registry(),
        networks: [
          {
            name,
            hosts: [],
            apis: [
              {
                ...v3Description,
                ...(threads === null ? {} : { threads }),
                headSeqno: () => mcSeqno,
                freshness: () => ({ mcSeqno, lagMs: null }),
                ...(partial === undefined
                  ? {}
                  : { failureHeaders: (error: TernError) => coverageOfFailure(error, coverage) }),
                context: (request) => v3Context(network, request),
              },
            ],
            health: () => open.health(),
            headSeqno: () => mcSeqno,
          },
        ],
      },
    );
    closers.add(() => server.close());
    await until(() => open.health().ready);
    return { url: server.url, database, reader, readers: threads, lookUps, close: () => closers.close() };
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
