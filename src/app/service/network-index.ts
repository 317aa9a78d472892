import type { ApiFreshness } from '#api/http/http-api.js';
import { ChangedKeys } from '#api/v3/answer-keys.js';
import type { IndexRole, IndexStart, NetworkDatabase } from '#app/config/index-settings.js';
import { BranchWatch } from '#app/service/branch-watch.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import { FillLog } from '#app/service/fill-log.js';
import { IndexDatabase, IndexWatch, interruptibleReads, readInterruptible } from '#app/service/index-database.js';
import type { DatabaseFigures, IndexFigures } from '#app/service/metrics.js';
import type { ChainSource } from '#app/service/network.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { Database } from '#drivers/store/database.js';
import { IndexEventFeed } from '#drivers/store/event-log.js';
import { coverageText, type IndexCoverage } from '#drivers/store/index-state.js';
import { addressBytes } from '#drivers/store/keys.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Address } from '#formats/address/address.js';
import type { Logger } from '#kernel/logger.js';
import type { ContractViews } from '#services/emulation/contract-reads.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { Indexer } from '#services/indexer/indexer.js';
import type { WriterFigures } from '#services/indexer/metrics.js';
import { AccountLookUps } from '#services/lookups/account-look-ups.js';
import type { LookUpMetrics } from '#services/lookups/metrics.js';
import type { LookUps } from '#services/lookups/named-contracts.js';
import { type MetadataOptions, startMetadata } from '#services/metadata/metadata.js';
import type { MetadataMetrics } from '#services/metadata/metadata-fetcher.js';
import { loadOverrides } from '#services/metadata/overrides-file.js';

/** The newest masterchain block of an index. */
interface IndexHead {
  readonly mc_seqno: number;
  /** Unix seconds; null when unknown. */
  readonly gen_utime: number | null;
}

/** The index of a network. */
export interface NetworkIndex {
  readonly role: IndexRole;
  /** Distinguishes local networks with equal zerostates; null: there is no other. */
  readonly incarnation: string | null;
  /** Fail while the database is unavailable. */
  readonly reads: IndexPort;
  /** Reads the database in another way, with the same errors while it is unavailable. */
  whileReadable<T>(read: () => Promise<T>): Promise<T>;
  /** Default timeout of a query. */
  readonly queryTimeoutMs: number;
  /** Changes whenever the content of the index changes; 0 for an empty index. */
  readonly version: number;
  /** What changed with the version. */
  readonly changes: ChangedKeys;
  /** The database, for writing. @throws store/* */
  primary(): Promise<Database>;
  /** Called whenever the content of the index has changed. */
  onChange(listener: () => void): void;
  freshness(): ApiFreshness;
  /** The event log, as it grows. */
  readonly events: IndexEventFeed;
  /** The newest indexed masterchain block; null for an empty index. */
  head(): IndexHead | null;
  /** What the index has of its chain; of nothing before it was read. */
  coverage(): IndexCoverage;
  /** Reads from the chain what the index has never seen; `null` when that is off. */
  readonly lookUps: LookUps | null;
  /** `null` when look-ups are off. */
  lookUpMetrics(): LookUpMetrics | null;
  figures(): IndexFigures;
  databaseFigures(): DatabaseFigures;
  /** `null` when this process does not write. */
  writing(): WriterFigures | null;
  /** `null` when this process does not write. */
  metadata(): MetadataMetrics | null;
  /** Resolves when the database is open or known to be unreachable; rejects when it is unusable. */
  readonly opened: Promise<void>;
  /** As {@link opened}; of an open database, when it has answers: see {@link emptiness}. */
  readonly answering: Promise<void>;
  /** Why the index is unreadable or not written; `null` when there is no problem. */
  problem(): string | null;
  /**
   * Why there is no answer about anything yet: the database is still being opened, or empty. `null` when there are answers, and
   * when the database is unreachable.
   */
  emptiness(): string | null;
  /** Set while the chain contradicts the index, with what to do; then the process is not ready. */
  contradiction(): string | null;
  close(): Promise<void>;
}

/**
 * Opens the index of a network and starts to write it, depending on the role. Waits in the background for an unreachable
 * database.
 *
 * @throws store/*, metadata/overrides for permanent problems
 */
export function openNetworkIndex(options: NetworkIndexOptions, modules: NetworkIndexModules): Promise<NetworkIndex> {
  return withClosers(async (closers) => {
    const { config, database, role, queryTimeoutMs, connections } = options;
    const { source, clock, logger, unixTimeMs } = modules;
    const writes = role !== 'api';
    // Validated before anything is written; used when the database is open.
    if (writes && options.metadata.overrides !== null) await loadOverrides(options.metadata.overrides);
    const network = { ...config.zeroState, incarnation: options.chain ?? config.incarnation };
    const store = new IndexDatabase({ network, database, writes, connections, queryTimeoutMs }, modules);
    closers.add(() => store.close());
    const feed = new IndexEventFeed({}, { database: () => store.database, clock, logger });
    closers.add(() => feed.close());
    const changes = new ChangedKeys();
    let writer: IndexWriter | null = null;
    const coverageLog = new CoverageLog(logger);
    const listeners: (() => void)[] = [];
    const watch = new IndexWatch(
      { network: config.zeroState },
      {
        ...{ database: () => store.database, feed, listener: changes, clock, logger },
        onChange: ({ coverage }) => {
          coverageLog.note(coverage);
          for (const listener of listeners) listener();
          // Another process may have queued contracts that it looked up.
          writer?.wakeDetection();
        },
      },
    );
    closers.add(() => watch.close());
    const branch = new BranchWatch({
      ...{ database: () => store.database, chain: source.chain, clock, logger },
      headSeqno: () => source.watch.head?.seqno ?? 0,
    });
    closers.add(() => branch.close());
    let reader: IndexPort | null = null;
    closers.add(() => writer?.close());
    const primary = new PrimaryDatabase(() => (writes ? store.database : null), modules);
    closers.add(() => primary.close());
    const coverage = () => watch.progress?.coverage ?? NOTHING_COVERED;
    const lookUps = lookUpsOf(options, {
      ...modules,
      index: () => store.database,
      writer: () => primary.open(),
      coverage,
      onQueued: () => writer?.wakeDetection(),
    });
    const opened = store.start(async (database, { url }) => {
      primary.url = url;
      if (writes) writer = await startIndexWriter(options, { ...modules, database, url });
      await watch.read(database);
      reader = indexReads(database);
    });
    let isOpening = true;
    opened
      .finally(() => {
        isOpening = false;
      })
      .then(
        () => feed.wake(),
        () => {},
      );
    if (database instanceof Promise) opened.catch(() => {});
    else await opened;
    feed.start();
    watch.start();
    // The index leader compares each block; others only read what is written.
    if (!writes) branch.start();

    // Nothing that it could be asked for would be known, and all of it would look as if it did not exist.
    const emptiness = () => {
      if (reader === null) return isOpening ? NOT_OPEN : null;
      return isEmpty(coverage()) ? 'no masterchain block is indexed yet' : null;
    };
    const answering = opened.then(async () => {
      if (emptiness() === null) return;
      await new Promise<void>((resolve) => {
        listeners.push(() => {
          if (emptiness() === null) resolve();
        });
      });
    });
    answering.catch(() => {});
    const current = () => emptiness() ?? reader ?? store.problem ?? NOT_OPEN;
    const unreadable = () => store.problem ?? watch.problem;
    const freshness = (): ApiFreshness => {
      const { last = null, gen_utime = null } = watch.progress ?? {};
      const head = source.watch.head;
      if (last === null || head === null) return { mcSeqno: last ?? 0, lagMs: null };
      if (last >= head.seqno) return { mcSeqno: last, lagMs: 0 };
      const isKnown = gen_utime !== null && head.gen_utime !== null;
      return { mcSeqno: last, lagMs: isKnown ? Math.max(0, head.gen_utime - gen_utime) * 1000 : null };
    };
    const contradiction = () => writer?.contradiction() ?? branch.contradiction;
    return {
      role,
      incarnation: network.incarnation,
      opened,
      answering,
      reads: interruptibleReads(current),
      whileReadable: (read) => readInterruptible(current, read),
      queryTimeoutMs,
      get version() {
        return watch.version;
      },
      changes,
      primary: () => primary.open(),
      onChange: (listener) => void listeners.push(listener),
      freshness,
      events: feed,
      head: () => {
        const { last = null, gen_utime = null } = watch.progress ?? {};
        return last === null ? null : { mc_seqno: last, gen_utime };
      },
      coverage,
      lookUps,
      lookUpMetrics: () => lookUps?.metrics() ?? null,
      figures: () => {
        const { mcSeqno, lagMs } = freshness();
        const { gen_utime = null, missing = 0 } = watch.progress ?? {};
        return {
          readable: unreadable() === null,
          other_branch: contradiction() !== null,
          head_seqno: mcSeqno,
          head_age_seconds: gen_utime === null ? null : Math.max(0, unixTimeMs() / 1000 - gen_utime),
          lag_seconds: lagMs === null ? null : lagMs / 1000,
          missing_blocks: missing,
          coverage: coverage(),
        };
      },
      databaseFigures: () => store.database?.pools ?? null,
      writing: () => writer?.figures() ?? null,
      metadata: () => writer?.metadata() ?? null,
      problem: () => unreadable() ?? writer?.problem() ?? branch.contradiction,
      emptiness,
      contradiction,
      close: () => closers.close(),
    };
  });
}

const NOT_OPEN = 'the database is not open yet';

const NOTHING_COVERED: IndexCoverage = { history: [], selected: false, state_seqno: null };

function isEmpty({ history, state_seqno }: IndexCoverage): boolean {
  return history.length === 0 && state_seqno === null;
}

/** Logs what the index has of its chain when that becomes another part of it, not with each block. */
class CoverageLog {
  readonly #logger: Logger;
  #noted = '';

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(coverage: IndexCoverage): void {
    const { history } = coverage;
    const text = coverageText(coverage);
    const part = `${text.replace(/history=[^;]*/, '')} ${history.map(({ from }) => from).join()}`;
    if (part === this.#noted || history.length === 0) return;
    this.#noted = part;
    this.#logger.info('the index covers', { coverage: text });
  }
}

/** Connections to the server for writing, where this process only reads: opened when something is looked up. */
class PrimaryDatabase {
  readonly #own: () => Database | null;
  readonly #modules: Environment;
  url: string | null = null;
  #opening: Promise<Database> | null = null;

  /** @param own the database that this process writes to anyway; null: it only reads */
  constructor(own: () => Database | null, modules: Environment) {
    this.#own = own;
    this.#modules = modules;
  }

  /** @throws store/* */
  open(): Promise<Database> {
    const own = this.#own();
    if (own !== null) return Promise.resolve(own);
    const { clock, logger } = this.#modules;
    this.#opening ??= Database.open(
      { url: this.url ?? '', writeConnections: 1, readConnections: 1 },
      { clock, logger },
    ).catch((error) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }
}

/** Accounts remembered as absent: some 100 bytes each. */
const MOST_ABSENT = 1_000_000;

const DEFAULT_LOOK_UPS: LookUpOptions = { mostPerRequest: 1024, concurrency: 32 };

/** The look-ups of a network whose states can be read from a chain and added to its index. */
function lookUpsOf(
  { lookUps = DEFAULT_LOOK_UPS, dnsRoots, isFork = false, accounts }: NetworkIndexOptions,
  modules: Omit<ConstructorParameters<typeof AccountLookUps>[1], 'chain' | 'contracts'> & NetworkIndexModules,
): AccountLookUps | null {
  const { chain, contracts } = modules.source;
  // Accounts that come without a transaction, and those that blocks are not indexed for, would not be kept up to date.
  if (lookUps.mostPerRequest === 0 || contracts === undefined || isFork || accounts !== null) return null;
  return new AccountLookUps({ ...lookUps, mostAbsent: MOST_ABSENT, dnsRoots }, { ...modules, chain, contracts });
}

/** Limits of look-ups. */
interface LookUpOptions {
  /** Accounts that one request may have read from the chain; 0: look-ups are off. */
  readonly mostPerRequest: number;
  /** Accounts that are read at once. */
  readonly concurrency: number;
}

/** Index options of a network. */
export interface NetworkIndexOptions {
  readonly config: GlobalConfig;
  /** A promise for a database that is still starting: only the index waits for it. */
  readonly database: NetworkDatabase | Promise<NetworkDatabase>;
  readonly role: IndexRole;
  /** The incarnation of a local network: when it changes, the index is created again. Default: that of the global config. */
  readonly chain?: string | null;
  /** Start of the index; `null` for as far back as servers have blocks. */
  readonly from: IndexStart | null;
  /** Retention of transactions in milliseconds; `null` for unlimited. */
  readonly keepMs: number | null;
  /** Accounts to index; `null` for all. */
  readonly accounts: readonly Address[] | null;
  /** Whether no other process uses the database. Default: false. */
  readonly isAlone?: boolean;
  /** Whether the network is a fork, where accounts appear without a transaction. Default: false. */
  readonly isFork?: boolean;
  /** Additional DNS collections besides the built-in ones. */
  readonly dnsRoots: readonly DnsRoot[];
  readonly metadata: MetadataOptions;
  /** Default: 1,024 accounts per request, 32 at once. */
  readonly lookUps?: LookUpOptions;
  /** Writer threads; `null` for the default. */
  readonly workers: number | null;
  /** Maximum connections for reading. */
  readonly connections: number;
  readonly queryTimeoutMs: number;
}

export interface NetworkIndexModules extends Environment {
  /** Source of the blocks to index. */
  readonly source: Pick<ChainSource, 'chain' | 'watch'> & {
    /** For look-ups; without it there are none. */
    readonly contracts?: ContractViews;
  };
}

/** The running writer of an index. */
interface IndexWriter {
  /** Contracts were queued for detection. */
  wakeDetection(): void;
  figures(): WriterFigures;
  /** Metrics of the metadata fetcher. */
  metadata(): MetadataMetrics;
  /** The current problem; `null` when there is none. */
  problem(): string | null;
  /** As of {@link NetworkIndex}. */
  contradiction(): string | null;
  close(): Promise<void>;
}

export interface IndexWriterModules extends NetworkIndexModules {
  readonly database: Database;
  /** Database URL, for threads. */
  readonly url: string;
}

/**
 * Starts to write the index of a network, or stands by while another process is the leader, and starts the metadata fetcher.
 * Waits for an unavailable database or unavailable liteservers.
 *
 * @throws store/* when the database belongs to another network or selection, metadata/overrides
 */
async function startIndexWriter(options: NetworkIndexOptions, modules: IndexWriterModules): Promise<IndexWriter> {
  const indexer = await openIndexer(options, modules, { to: null, follow: true });
  const metadata = await startMetadata(options.metadata, modules).catch(async (error) => {
    await indexer.close();
    throw error;
  });
  void indexer.run();
  const fillLog = new FillLog(() => indexer.status, modules);
  fillLog.start();
  const problem = () => indexer.status.problem?.message ?? null;
  return {
    wakeDetection: () => indexer.wakeDetection(),
    figures: () => ({ ...indexer.metrics(), blocked: problem() !== null }),
    metadata: () => metadata.metrics(),
    problem,
    contradiction: () => {
      const { contradiction } = indexer.status;
      return contradiction === null ? null : `${contradiction.message}. ${contradiction.remedy}`;
    },
    close: async () => {
      fillLog.close();
      await Promise.all([metadata.close(), indexer.close()]);
    },
  };
}

/** Nothing is queued by others; what is tried again later may wait as long. */
const ALONE_POLL_MS = 5_000;

/**
 * Creates the indexer of a network without starting it.
 *
 * @param until the last masterchain block (`null`: the newest), and whether to follow the head
 * @throws as {@link startIndexWriter}
 */
export function openIndexer(
  {
    config,
    chain: incarnation = config.incarnation,
    from,
    keepMs,
    accounts,
    isAlone,
    isFork,
    dnsRoots,
    workers,
  }: Pick<
    NetworkIndexOptions,
    'config' | 'chain' | 'from' | 'keepMs' | 'accounts' | 'isAlone' | 'isFork' | 'dnsRoots' | 'workers'
  >,
  { source, database, url, clock, unixTimeMs, logger }: IndexWriterModules,
  until: {
    readonly to: number | null;
    readonly follow: boolean;
    readonly deriveOnly?: boolean;
    readonly recreate?: boolean;
  },
): Promise<Indexer> {
  const { chain } = source;
  const bundles = new BundleSource({}, { chain, clock, logger });
  return Indexer.open(
    {
      zerostate: config.zeroState,
      databaseUrl: url,
      ...{ from, keepMs, chain: incarnation, ...until },
      accounts: accounts?.map(addressBytes) ?? null,
      ...(isFork === undefined ? {} : { accountsComeFromElsewhere: isFork }),
      dnsRoots,
      ...(isAlone === true ? { queuePollMs: ALONE_POLL_MS } : {}),
      ...(workers === null ? {} : { workers }),
    },
    { bundles, chain, database, clock, unixTimeMs, logger },
  );
}
