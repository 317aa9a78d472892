import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { FinalTexts } from '#api/v3/final-texts.js';
import { ReaderPool, type ReaderSettings } from '#api/v3/reader-pool.js';
import { v3Description } from '#api/v3/v3-api.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { withClosers } from '#app/service/environment.js';
import { openNetwork } from '#app/service/network.js';
import { startReplayedNetwork } from '#app/service/replayed-network.js';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { type IndexedChainOptions, sharedIndex } from '#test/support/shared-index.js';

/** API v3 over HTTP, in this process. */
export interface ServedV3 {
  /** `http://127.0.0.1:40000` */
  readonly url: string;
  readonly database: Database;
  readonly reader: IndexPort;
  /** Null: none. */
  readonly readers: ReaderPool | null;
  close(): Promise<void>;
}

const NO_TIME_LIMIT = 60_000;

/**
 * Serves v3 over the index of a recorded chain; reads of the chain itself go to a liteserver of the same recording.
 *
 * @param indexUrl of a database with that index in place of the shared one
 * @param readers reader threads; undefined: the main thread answers all calls
 */
export function serveV3(
  indexed: IndexedChainOptions,
  indexUrl?: string,
  readers?: Partial<ReaderSettings>,
): Promise<ServedV3> {
  const { name, folder } = indexed;
  return withClosers(async (closers) => {
    const surroundings = systemEnvironment(silentLogger);
    const url = indexUrl ?? (await sharedIndex(indexed));
    const database = await Database.open({ url }, { clock: systemClock });
    closers.add(() => database.close());
    const start = async () => ({ url, isTestnet: false, queryTimeoutMs: NO_TIME_LIMIT, textBytes: 1 << 24 });
    const threads =
      readers === undefined ? null : new ReaderPool(readers, { start, clock: systemClock, logger: silentLogger });
    closers.add(() => threads?.close());
    const replayed = await startReplayedNetwork({ name, folder }, surroundings);
    closers.add(() => replayed.close());
    const open = await openNetwork(
      {
        network: replayed.network,
        groups: [],
        dataFolder: null,
        getMethods: 'local',
        tvm: { workers: 1, slowWorkers: 1, rememberMs: 0, cpuMs: 60_000, keyCpuMs: 60_000 },
        cacheBytes: 1 << 24,
        deadlineMs: NO_TIME_LIMIT,
        maxHeadAgeMs: 0,
      },
      surroundings,
    );
    closers.add(() => open.close());
    const reader = indexReads(database);
    const options = { signal: new AbortController().signal, timeoutMs: NO_TIME_LIMIT };
    const mcSeqno = (await reader.extent(options))!.last.seqno;
    const { chain, contracts } = open.poolOf(null).v2;
    const network = { index: reader, chain, contracts, isTestnet: false, texts: new FinalTexts(1 << 24) };
    const server = await startHttpServer(
      { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none', deadlineMs: NO_TIME_LIMIT },
      {
        ...surroundings,
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
    return { url: server.url, database, reader, readers: threads, close: () => closers.close() };
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
