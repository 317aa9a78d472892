import type { ApiFreshness } from '#api/http/http-api.js';
import type { IndexRole } from '#app/config/index-settings.js';
import { startTogether } from '#app/service/closers.js';
import { IndexDatabase } from '#app/service/index-database.js';
import type { NetworkIndexModules, NetworkIndexOptions } from '#app/service/index-options.js';
import { IndexWatch } from '#app/service/index-watch.js';
import { type IndexWriter, startIndexWriter } from '#app/service/index-writer.js';
import { InterruptibleReads } from '#app/service/interruptible-reads.js';
import type { DatabaseFigures, IndexFigures } from '#app/telemetry/index-metrics.js';
import type { WriterFigures } from '#app/telemetry/indexer-metrics.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import { IndexReader } from '#drivers/store/read/index-reader.js';
import type { MetadataMetrics } from '#services/metadata/metrics.js';
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

/** How often it is looked how new the index is; what this process itself writes is seen at once. */
const LOOK_MS = 200;

/**
 * Opens the index of a network and begins to write it, as the role says. A database that does not answer is waited for in the
 * background.
 *
 * @throws store/*, metadata/overrides for what only a person can change
 */
export function openNetworkIndex(options: NetworkIndexOptions, modules: NetworkIndexModules): Promise<NetworkIndex> {
  return startTogether(async (closers) => {
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
    const watch = new IndexWatch(
      { network: config.zeroState, lookMs: LOOK_MS },
      { database: () => store.database, clock, logger },
    );
    closers.add(() => watch.close());
    let reader: IndexReader | null = null;
    let writer: IndexWriter | null = null;
    closers.add(() => writer?.close());
    const opened = store.start(async (database, { url }) => {
      const onWritten = () => watch.lookNow();
      if (writes) writer = await startIndexWriter(options, { ...modules, database, url, onWritten });
      else await watch.look(database);
      reader = new IndexReader(database);
    });
    if (database instanceof Promise) opened.catch(() => {});
    else await opened;
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
      reads: new InterruptibleReads(() => reader ?? store.problem ?? 'the database is not open yet'),
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
