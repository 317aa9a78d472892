import type { ApiFreshness } from '#api/http/http-api.js';
import type { IndexRole, IndexStart, NetworkDatabase } from '#app/config/index-settings.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import { IndexDatabase, IndexWatch, interruptibleReads } from '#app/service/index-database.js';
import type { DatabaseFigures, IndexFigures } from '#app/service/metrics.js';
import type { ChainSource } from '#app/service/network.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { Database } from '#drivers/store/database.js';
import { IndexEventFeed } from '#drivers/store/event-log.js';
import { addressBytes } from '#drivers/store/keys.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Address } from '#formats/address/address.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Indexer } from '#services/indexer/indexer.js';
import type { WriterFigures } from '#services/indexer/metrics.js';
import { type MetadataOptions, startMetadata } from '#services/metadata/metadata.js';
import type { MetadataMetrics } from '#services/metadata/metadata-fetcher.js';
import { loadOverrides } from '#services/metadata/overrides-file.js';

/** The index of a network. */
export interface NetworkIndex {
  readonly role: IndexRole;
  /** They fail while the database does not answer. */
  readonly reads: IndexPort;
  /** How long a query may take where the request does not say. */
  readonly queryTimeoutMs: number;
  /** Another one when there is something else in the index; 0 before anything is. */
  readonly version: number;
  freshness(): ApiFreshness;
  figures(): IndexFigures;
  databaseFigures(): DatabaseFigures;
  /** `null` where nothing is written. */
  writing(): WriterFigures | null;
  /** `null` where nothing is written. */
  metadata(): MetadataMetrics | null;
  /** Resolves when its database has been opened or is known not to answer; rejects when that is of no use. */
  readonly opened: Promise<void>;
  /** Why it cannot be read, or why it is not written any further; `null` when all is well. */
  problem(): string | null;
  close(): Promise<void>;
}

/**
 * Opens the index of a network and begins to write it, as the role says. A database that does not answer is waited for in the
 * background.
 *
 * @throws store/*, metadata/overrides for what only a person can change
 */
export function openNetworkIndex(options: NetworkIndexOptions, modules: NetworkIndexModules): Promise<NetworkIndex> {
  return withClosers(async (closers) => {
    const { config, database, role, queryTimeoutMs, connections } = options;
    const { source, clock, logger, unixTimeMs } = modules;
    const writes = role !== 'api';
    // Told of before anything is written; used when the database is there.
    if (writes && options.metadata.overrides !== null) await loadOverrides(options.metadata.overrides);
    const store = new IndexDatabase(
      { network: config.zeroState, database, writes, connections, queryTimeoutMs },
      modules,
    );
    closers.add(() => store.close());
    const feed = new IndexEventFeed({}, { database: () => store.database, clock, logger });
    closers.add(() => feed.close());
    const watch = new IndexWatch(
      { network: config.zeroState },
      { database: () => store.database, feed, clock, logger },
    );
    closers.add(() => watch.close());
    let reader: IndexPort | null = null;
    let writer: IndexWriter | null = null;
    closers.add(() => writer?.close());
    const opened = store.start(async (database, { url }) => {
      if (writes) writer = await startIndexWriter(options, { ...modules, database, url });
      else await watch.read(database);
      reader = indexReads(database);
    });
    opened.then(
      () => feed.wake(),
      () => {},
    );
    if (database instanceof Promise) opened.catch(() => {});
    else await opened;
    feed.start();
    watch.start();

    const unreadable = () => store.problem ?? watch.problem;
    const freshness = (): ApiFreshness => {
      const { last = null, gen_utime = null } = watch.progress ?? {};
      const head = source.watch.head;
      if (last === null || head === null) return { mcSeqno: last ?? 0, lagMs: null };
      if (last >= head.seqno) return { mcSeqno: last, lagMs: 0 };
      const isKnown = gen_utime !== null && head.gen_utime !== null;
      return { mcSeqno: last, lagMs: isKnown ? Math.max(0, head.gen_utime - gen_utime) * 1000 : null };
    };
    return {
      role,
      opened,
      reads: interruptibleReads(() => reader ?? store.problem ?? 'the database is not open yet'),
      queryTimeoutMs,
      get version() {
        return watch.version;
      },
      freshness,
      figures: () => {
        const { mcSeqno, lagMs } = freshness();
        const { gen_utime = null, missing = 0 } = watch.progress ?? {};
        return {
          readable: unreadable() === null,
          head_seqno: mcSeqno,
          head_age_seconds: gen_utime === null ? null : Math.max(0, unixTimeMs() / 1000 - gen_utime),
          lag_seconds: lagMs === null ? null : lagMs / 1000,
          missing_blocks: missing,
        };
      },
      databaseFigures: () => store.database?.pools ?? null,
      writing: () => writer?.figures() ?? null,
      metadata: () => writer?.metadata() ?? null,
      problem: () => unreadable() ?? writer?.problem() ?? null,
      close: () => closers.close(),
    };
  });
}

/** How a network is indexed. */
export interface NetworkIndexOptions {
  readonly config: GlobalConfig;
  /** A promise for one that is still being started: then nothing waits for it but the index. */
  readonly database: NetworkDatabase | Promise<NetworkDatabase>;
  readonly role: IndexRole;
  /** Where an index begins; `null` for as far back as servers go. */
  readonly from: IndexStart | null;
  /** How much history is kept; `null` for all. */
  readonly keepMs: number | null;
  /** What is indexed; `null` for all. */
  readonly accounts: readonly Address[] | null;
  /** Whether it is a fork, where accounts come without a transaction. Default: no. */
  readonly isFork?: boolean;
  /** Besides those that everybody knows. */
  readonly dnsRoots: readonly DnsRoot[];
  readonly metadata: MetadataOptions;
  /** Threads that write; `null` for as many as is usual. */
  readonly workers: number | null;
  /** For reading. */
  readonly connections: number;
  readonly queryTimeoutMs: number;
}

export interface NetworkIndexModules extends Environment {
  /** Where what is indexed is read from. */
  readonly source: Pick<ChainSource, 'chain' | 'watch'>;
}

/** What writes an index, as long as it is not closed. */
export interface IndexWriter {
  figures(): WriterFigures;
  /** Of what looks after the metadata of tokens. */
  metadata(): MetadataMetrics;
  /** What stands in its way; `null` when nothing does. */
  problem(): string | null;
  close(): Promise<void>;
}

export interface IndexWriterModules extends NetworkIndexModules {
  readonly database: Database;
  /** Of the database, for threads. */
  readonly url: string;
}

/**
 * Begins to write the index of a network, or stands by until nobody else does; and to look after the metadata of tokens, either
 * way. What it lacks, database or liteservers, it waits for.
 *
 * @throws store/* when the database is of another network or selection, metadata/overrides
 */
export async function startIndexWriter(
  options: NetworkIndexOptions,
  modules: IndexWriterModules,
): Promise<IndexWriter> {
  const indexer = await openIndexer(options, modules, { to: null, follow: true });
  const metadata = await startMetadata(options.metadata, modules).catch(async (error) => {
    await indexer.close();
    throw error;
  });
  void indexer.run();
  const problem = () => indexer.status.problem?.message ?? null;
  return {
    figures: () => ({ ...indexer.metrics(), blocked: problem() !== null }),
    metadata: () => metadata.metrics(),
    problem,
    close: async () => void (await Promise.all([metadata.close(), indexer.close()])),
  };
}

/**
 * The indexer of a network, which does nothing yet.
 *
 * @param until the last masterchain block (`null`: the newest), and whether to go on with those that come
 * @throws as {@link startIndexWriter}
 */
export function openIndexer(
  {
    config,
    from,
    keepMs,
    accounts,
    isFork = false,
    dnsRoots,
    workers,
  }: Pick<NetworkIndexOptions, 'config' | 'from' | 'keepMs' | 'accounts' | 'isFork' | 'dnsRoots' | 'workers'>,
  { source, database, url, clock, unixTimeMs, logger }: IndexWriterModules,
  until: { readonly to: number | null; readonly follow: boolean; readonly deriveOnly?: boolean },
): Promise<Indexer> {
  const { chain } = source;
  const rounds = new BundleSource({}, { chain, clock, logger });
  return Indexer.open(
    {
      zerostate: config.zeroState,
      databaseUrl: url,
      ...{ from, keepMs, ...until },
      accounts: accounts?.map(addressBytes) ?? null,
      accountsComeFromElsewhere: isFork,
      dnsRoots,
      ...(workers === null ? {} : { workers }),
    },
    { bundles: rounds, chain, database, clock, unixTimeMs, logger },
  );
}
