import type { NetworkIndexModules, NetworkIndexOptions } from '#app/service/index-options.js';
import type { WriterFigures } from '#app/telemetry/indexer-metrics.js';
import type { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { Indexer } from '#services/indexer/indexer.js';
import { RoundSource } from '#services/indexer/rounds/round-source.js';
import { startMetadata } from '#services/metadata/metadata.js';
import type { MetadataMetrics } from '#services/metadata/metrics.js';

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
  /** Called after each batch. */
  readonly onWritten: () => void;
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
  const { onWritten } = modules;
  indexer.onWritten(onWritten);
  const metadata = await startMetadata(options.metadata, { ...modules, onChange: onWritten }).catch(async (error) => {
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
  { source, database, url, clock, unixTimeMs, logger }: Omit<IndexWriterModules, 'onWritten'>,
  until: { readonly to: number | null; readonly follow: boolean; readonly deriveOnly?: boolean },
): Promise<Indexer> {
  const { chain } = source;
  const rounds = new RoundSource({}, { chain, clock, logger });
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
    { rounds, chain, database, clock, unixTimeMs, logger },
  );
}
