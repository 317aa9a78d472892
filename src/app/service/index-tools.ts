import type { NamedNetwork } from '#app/config/networks.js';
import { type ChainSource, openChainSource } from '#app/service/chain-source.js';
import { startTogether } from '#app/service/closers.js';
import { keyBlockPath, prepareDataFolder } from '#app/service/data-folder.js';
import { openIndexer } from '#app/service/index-writer.js';
import type { Surroundings } from '#app/service/surroundings.js';
import type { DnsRoot } from '#domain/contracts/dns-root.js';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { readMigrations } from '#drivers/store/migration-files.js';
import { prepareSchema } from '#drivers/store/prepare-schema.js';
import type { Address } from '#formats/address/address.js';
import { KeyBlockFile } from '#services/chain/key-block-file.js';
import { type CheckReport, checkIndex } from '#services/indexer/check/check-index.js';
import type { Indexer } from '#services/indexer/indexer.js';
import { RoundSource } from '#services/indexer/rounds/round-source.js';

/** An index, and the chain that it is of. */
export interface IndexTools {
  readonly source: ChainSource;
  readonly database: Database;
  close(): Promise<void>;
}

export interface IndexToolsOptions {
  readonly network: NamedNetwork;
  readonly url: string;
  /** For proven key blocks. */
  readonly dataFolder: string;
  /** Whether the schema may be changed; if not, nothing is. */
  readonly writes: boolean;
}

const MIB = 2 ** 20;
const DEADLINE_MS = 10_000;

/**
 * Opens the index of a network for a command that does one thing and ends.
 *
 * @throws store/*, config/data-folder, chain/key-block-file and others: it waits for nothing
 */
export function openIndexTools(options: IndexToolsOptions, modules: Surroundings): Promise<IndexTools> {
  return startTogether(async (closers) => {
    const { network, url, dataFolder, writes } = options;
    const { clock, logger } = modules;
    const database = await Database.open({ url, readOnly: !writes }, { clock, logger });
    closers.add(() => database.close());
    const migrations = await readMigrations();
    const { zeroState } = network.config;
    await database.withWriter((client) => prepareSchema(client, migrations, { network: zeroState, writes }));
    await prepareDataFolder(dataFolder);
    const path = keyBlockPath(dataFolder, network.name, zeroState);
    const source = await openChainSource(
      { config: network.config, cacheBytes: 16 * MIB, deadlineMs: DEADLINE_MS },
      { ...modules, keyBlocks: new KeyBlockFile({ path, zero_state: zeroState }, { logger }) },
    );
    closers.add(() => source.close());
    return { source, database, close: () => closers.close() };
  });
}

/** What `tern index` is to write. */
export interface BackfillOptions extends Omit<IndexToolsOptions, 'writes'> {
  readonly from: number | 'now' | null;
  /** `null` for the newest block. */
  readonly to: number | null;
  readonly accounts: readonly Address[] | null;
  readonly dnsRoots: readonly DnsRoot[];
  /** Threads; `null` for as many as is usual. */
  readonly workers: number | null;
}

/** A range that is being written. */
export interface Backfill {
  readonly indexer: Indexer;
  /** What stands in its way; `null` when nothing does. */
  problem(): string | null;
  /** Resolves when all of it is there, or it is closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Begins to write what is missing in a range. @throws as {@link openIndexTools}, store/other-network, store/other-selection */
export function startBackfill(options: BackfillOptions, modules: Surroundings): Promise<Backfill> {
  return startTogether(async (closers) => {
    const { network, url, from, to, accounts, dnsRoots, workers } = options;
    const { source, database, close } = await openIndexTools({ ...options, writes: true }, modules);
    closers.add(close);
    const indexer = await openIndexer(
      { config: network.config, from, keepMs: null, accounts, dnsRoots, workers },
      { ...modules, source, database, url },
      { to, follow: false },
    );
    closers.add(() => indexer.close());
    const problem = () => indexer.status.problem?.message ?? source.watch.problem;
    return { indexer, problem, ended: indexer.run(), close: () => closers.close() };
  });
}

/** What `tern check` is to compare. */
export interface CheckOptions extends Omit<IndexToolsOptions, 'writes'> {
  /** `null` for what is indexed. */
  readonly from: number | null;
  readonly to: number | null;
  /** How many masterchain blocks; `null` for all. */
  readonly sample: number | null;
  readonly accounts: readonly Address[] | null;
}

/** A comparison of an index with its chain. */
export interface RunningCheck {
  /** How far it is, in words. */
  progress(): string;
  /** Rejects when it is closed before its end. */
  readonly report: Promise<CheckReport>;
  /** Resolves when the report is there; rejects when there will be none. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Begins to compare an index with the chain. @throws as {@link openIndexTools} */
export function startCheck(options: CheckOptions, modules: Surroundings): Promise<RunningCheck> {
  return startTogether(async (closers) => {
    const { network, from, to, sample, accounts } = options;
    const { clock, logger } = modules;
    const tools = await openIndexTools({ ...options, writes: false }, modules);
    closers.add(() => tools.close());
    const { database, source } = tools;
    const { chain } = source;
    const rounds = new RoundSource({}, { chain, clock, logger });
    const stop = new AbortController();
    let counts = { done: 0, total: 0 };
    const report = checkIndex(
      {
        ...{ zerostate: network.config.zeroState, from, to, sample },
        accounts: accounts?.map(addressBytes) ?? null,
      },
      { rounds, chain, database, clock, logger },
      stop.signal,
      (done, total) => {
        counts = { done, total };
      },
    );
    const ended = report.then(() => {});
    ended.catch(() => {});
    closers.add(async () => {
      stop.abort();
      await report.catch(() => {});
    });
    return {
      progress: () => {
        const problem = rounds.problem?.message ?? source.watch.problem;
        const waits = problem === null ? '' : `  waiting: ${problem}`;
        return `${counts.done} of ${counts.total} masterchain blocks compared${waits}`;
      },
      report,
      ended,
      close: () => closers.close(),
    };
  });
}
