import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { NamedNetwork } from '#app/config/networks.js';
import { type Environment, keyBlockPath, prepareDataFolder, withClosers } from '#app/service/environment.js';
import { type ChainSource, openChainSource } from '#app/service/network.js';
import { openIndexer } from '#app/service/network-index.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { prepareSchema, readMigrations } from '#drivers/store/migrate.js';
import { countQueued } from '#drivers/store/write/contract-queue.js';
import type { Address } from '#formats/address/address.js';
import { pause } from '#kernel/clock.js';
import { fileProblem } from '#kernel/files.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { KeyBlockFile } from '#services/chain/key-blocks.js';
import { type CheckIndexReport, checkIndex } from '#services/indexer/check/check-index.js';
import {
  type DerivationLeft,
  DerivedShare,
  derivationsLeft,
  restartDerivation,
} from '#services/indexer/derivations/derivation-progress.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { StateImport, type StateImportProgress } from '#services/indexer/import/state-import.js';
import type { Indexer } from '#services/indexer/indexer.js';

/** An open index with its chain. */
export interface IndexTools {
  readonly source: ChainSource;
  readonly database: Database;
  close(): Promise<void>;
}

export interface IndexToolsOptions {
  readonly network: NamedNetwork;
  readonly url: string;
  /** Folder of proven key blocks. */
  readonly dataFolder: string;
  /** Whether the database may be changed. */
  readonly writes: boolean;
}

const MIB = 2 ** 20;
const DEADLINE_MS = 10_000;

/**
 * Opens the index of a network for a one-shot command.
 *
 * @throws store/*, config/data-folder, chain/key-block-file and others; does not retry
 */
export function openIndexTools(options: IndexToolsOptions, modules: Environment): Promise<IndexTools> {
  return withClosers(async (closers) => {
    const { network, url, dataFolder, writes } = options;
    const { clock, logger } = modules;
    const database = await Database.open({ url, readOnly: !writes }, { clock, logger });
    closers.add(() => database.close());
    const migrations = await readMigrations();
    const { zeroState, incarnation } = network.config;
    await database.withWriter((client) =>
      prepareSchema(client, migrations, { network: { ...zeroState, incarnation }, writes }),
    );
    await prepareDataFolder(dataFolder);
    const path = keyBlockPath(dataFolder, network.name, network.config);
    const source = await openChainSource(
      { config: network.config, cacheBytes: 16 * MIB, deadlineMs: DEADLINE_MS },
      { ...modules, keyBlocks: new KeyBlockFile({ path, zero_state: zeroState }, { logger }) },
    );
    closers.add(() => source.close());
    return { source, database, close: () => closers.close() };
  });
}

/** Options of `tern index`. */
export interface BackfillOptions extends Omit<IndexToolsOptions, 'writes'> {
  readonly from: number | 'now' | null;
  /** `null` for the newest block. */
  readonly to: number | null;
  readonly accounts: readonly Address[] | null;
  readonly dnsRoots: readonly DnsRoot[];
  /** Writer threads; `null` for the default. */
  readonly workers: number | null;
  /** Whether all that is indexed is deleted first. Default: no. */
  readonly recreate?: boolean;
}

/** A running backfill. */
export interface RunningBackfill {
  readonly indexer: Indexer;
  /** The current problem; `null` when there is none. */
  problem(): string | null;
  /** Resolves when the range is complete or the backfill is closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts a backfill of the missing blocks of a range. @throws as {@link openIndexTools}, store/other-network, store/other-selection */
export function startBackfill(options: BackfillOptions, modules: Environment): Promise<RunningBackfill> {
  return withClosers(async (closers) => {
    const { network, url, from, to, accounts, dnsRoots, workers, recreate = false } = options;
    const { source, database, close } = await openIndexTools({ ...options, writes: true }, modules);
    closers.add(close);
    const indexer = await openIndexer(
      { config: network.config, from, keepMs: null, accounts, dnsRoots, workers },
      { ...modules, source, database, url },
      { to, follow: false, recreate },
    );
    closers.add(() => indexer.close());
    const problem = () => indexer.status.problem?.message ?? source.watch.operatorProblem;
    return { indexer, problem, ended: indexer.run(), close: () => closers.close() };
  });
}

/** Options of `tern index --state`. */
export interface StateImportCommand extends Omit<BackfillOptions, 'from' | 'to' | 'accounts'> {
  /** State files, and folders of them. */
  readonly state: readonly string[];
}

/** How far a long operation is. */
export interface OperationProgress {
  readonly done: number;
  /** Null while unknown. */
  readonly total: number | null;
  /** What is counted; null: `done` is a share of 1. */
  readonly unit: string | null;
  /** What is under way, and what is in the way. */
  readonly note: string;
}

/** A running import of states. */
export interface RunningStateImport {
  progress(): OperationProgress;
  /** Resolves when the states are imported and their contracts detected; rejects with why not. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Memory for hashes while files are verified, of all threads together. */
const VERIFY_BYTES = 384 * MIB;

/** Starts an import of persistent states, and detects their contracts. @throws as {@link openIndexTools}, state-files/unreadable */
export function startStateImport(options: StateImportCommand, modules: Environment): Promise<RunningStateImport> {
  return withClosers(async (closers) => {
    const { network, url, dnsRoots, workers, recreate = false, dataFolder, state } = options;
    const { clock, logger } = modules;
    const files = stateFilesIn(state);
    const { source, database, close } = await openIndexTools({ ...options, writes: true }, modules);
    closers.add(close);
    // Creates the index, or checks that it is of this network.
    const indexer = await openIndexer(
      { config: network.config, from: null, keepMs: null, accounts: null, dnsRoots, workers },
      { ...modules, source, database, url },
      { to: null, follow: false, deriveOnly: true, recreate },
    );
    closers.add(() => indexer.close());
    const threads = Math.max(1, Math.min(workers ?? availableParallelism(), 16));
    const zerostate = network.config.zeroState;
    const folder = join(dataFolder, 'state-import');
    const stateImport = new StateImport(
      { files, folder, threads, verifyBytes: VERIFY_BYTES, zerostate, dnsRoots, databaseUrl: url },
      { database, chain: source.chain, clock, logger },
    );
    const stop = sharedAbortController();
    let detecting = false;
    const run = async (): Promise<void> => {
      await stateImport.run(stop.signal);
      detecting = true;
      // Contracts are detected by the index leader: this process, or another one.
      const byAnother = async (): Promise<void> => {
        for (;;) {
          const { soon } = await database.withWriter(countQueued);
          if (stop.signal.aborted || (soon === 0 && indexer.status.role !== 'leader')) return;
          await pause(LOOK_MS, clock, stop.signal);
        }
      };
      await Promise.race([indexer.run(), byAnother()]);
    };
    const ended = run();
    ended.catch(() => {});
    closers.add(async () => {
      stop.abort();
      await ended.catch(() => {});
    });
    return {
      progress: () => {
        const { progress } = stateImport;
        const text = importText(progress);
        const queued = indexer.metrics().contracts.queued;
        const note = detecting && queued !== null && queued > 0 ? `${text}; ${queued} contracts to be detected` : text;
        return { ...importShare(progress), unit: null, note };
      },
      ended,
      close: () => closers.close(),
    };
  });
}

/** The given files, and the files of the given folders. @throws state-files/unreadable */
function stateFilesIn(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      if (!statSync(path).isDirectory()) return [path];
      const entries = readdirSync(path, { withFileTypes: true });
      const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
      return names.sort().map((name) => join(path, name));
    } catch (error) {
      throw stateFilesErrors.unreadable({ file: path, offset: 0, problem: fileProblem(error) }, error);
    }
  });
}

/** The files are verified first, then their accounts are written: each from 0 to 1. */
function importShare({
  phase,
  verified,
  ranges,
  allRanges,
}: StateImportProgress): Pick<OperationProgress, 'done' | 'total'> {
  if (phase === 'opening') return { done: 0, total: null };
  if (phase === 'verifying') return { done: verified, total: 1 };
  return { done: phase === 'indexing' || phase === 'done' || allRanges === 0 ? 1 : ranges / allRanges, total: 1 };
}

function importText(progress: StateImportProgress): string {
  const { phase, mc_seqno, verified, ranges, allRanges, accounts, accountsPerSecond } = progress;
  const state = `the state after masterchain block ${mc_seqno}`;
  if (phase === 'opening') return 'opening the state files';
  if (phase === 'verifying') return `${(verified * 100).toFixed(1)} % of ${state} verified`;
  if (phase === 'indexing') return `${accounts} accounts of ${state} written; building indexes`;
  if (phase === 'done') return `${state} is imported: ${accounts} accounts`;
  const speed = `${Math.round(accountsPerSecond)} per second`;
  return `${accounts} accounts of ${state} written (${speed}), ${ranges} of ${allRanges} ranges of accounts complete`;
}

/** Options of `tern check`. */
export interface StartCheckOptions extends Omit<IndexToolsOptions, 'writes'> {
  /** `null` for the indexed range. */
  readonly from: number | null;
  readonly to: number | null;
  /** Number of masterchain blocks to compare; `null` for all. */
  readonly sample: number | null;
  readonly accounts: readonly Address[] | null;
}

/** A running comparison of an index with its chain. */
export interface RunningCheck {
  progress(): OperationProgress;
  /** Rejects when closed before its end. */
  readonly report: Promise<CheckIndexReport>;
  /** Resolves with the report; rejects when there is none. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts a comparison of an index with the chain. @throws as {@link openIndexTools} */
export function startCheck(options: StartCheckOptions, modules: Environment): Promise<RunningCheck> {
  return withClosers(async (closers) => {
    const { network, from, to, sample, accounts } = options;
    const { clock, logger } = modules;
    const tools = await openIndexTools({ ...options, writes: false }, modules);
    closers.add(() => tools.close());
    const { database, source } = tools;
    const { chain } = source;
    const bundles = new BundleSource({}, { chain, clock, logger });
    const stop = sharedAbortController();
    let counts = { done: 0, total: 0 };
    const report = checkIndex(
      {
        ...{ zerostate: network.config.zeroState, from, to, sample },
        accounts: accounts?.map(addressBytes) ?? null,
      },
      { bundles, chain, database, clock, logger },
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
        const problem = bundles.problem?.message ?? source.watch.operatorProblem;
        const total = counts.total === 0 ? null : counts.total;
        const note = problem === null ? 'comparing with the chain' : `waiting: ${problem}`;
        return { done: counts.done, total, unit: 'masterchain blocks', note };
      },
      report,
      ended,
      close: () => closers.close(),
    };
  });
}

/** A derivation that is derived again from indexed rows, with those that depend on it. */
export interface RunningRederivation {
  progress(): OperationProgress;
  /** Resolves when it is done, or closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const LOOK_MS = 500;

/**
 * Derives the rows of a derivation again from indexed rows. The restart is stored in the database and done by the index leader:
 * by this process, if no other one is the leader. After an interruption the next leader continues.
 *
 * @throws as `openIndexTools`, store/other-network, store/other-selection
 */
export function startRederivation(
  options: Omit<BackfillOptions, 'from' | 'to'> & { readonly derivation: string },
  modules: Environment,
): Promise<RunningRederivation> {
  return withClosers(async (closers) => {
    const { network, url, accounts, dnsRoots, workers, derivation } = options;
    const { clock } = modules;
    const { source, database, close } = await openIndexTools({ ...options, writes: true }, modules);
    closers.add(close);
    const indexer = await openIndexer(
      { config: network.config, from: null, keepMs: null, accounts, dnsRoots, workers },
      { ...modules, source, database, url },
      { to: null, follow: false, deriveOnly: true },
    );
    closers.add(() => indexer.close());
    await database.transaction((client) => restartDerivation(client, derivation));
    const stop = sharedAbortController();
    closers.add(() => stop.abort());
    let left: readonly DerivationLeft[] | null = null;
    let problem: string | null = null;
    const share = new DerivedShare();
    const look = async (): Promise<boolean> => {
      try {
        left = await database.withWriter((client) => derivationsLeft(client, derivation));
        share.look(left);
        problem = indexer.status.problem?.message ?? null;
        return left.every(({ isDone }) => isDone);
      } catch (error) {
        problem = isTernError(error) ? error.message : String(error);
        return false;
      }
    };
    const watching = async (): Promise<void> => {
      while (!stop.signal.aborted && !(await look())) await pause(LOOK_MS, clock, stop.signal);
    };
    const running = indexer.run();
    return {
      progress: () => ({
        done: share.done ?? 0,
        total: share.done === null ? null : 1,
        unit: null,
        note: progressOf(derivation, left, indexer.status.role === 'leader', problem),
      }),
      // The leader may be this process or another one.
      ended: watching().then(() => (stop.signal.aborted ? running : undefined)),
      close: () => closers.close(),
    };
  });
}

function progressOf(
  name: string,
  left: readonly DerivationLeft[] | null,
  leads: boolean,
  problem: string | null,
): string {
  const what = name === 'contracts' ? 'contracts, token events and actions' : name;
  const waits = problem === null ? '' : `  waiting: ${problem}`;
  if (left === null) return `deriving ${what} anew${waits}`;
  if (left.every(({ isDone }) => isDone)) return `all ${what} are derived anew`;
  const who = leads ? '' : ' (another process does it)';
  return `${left.map(progressPart).join('; ')}${who}${waits}`;
}

function progressPart({ name, mcBlocks, unvisited, queued }: DerivationLeft): string {
  const visited = `${((1 - unvisited) * 100).toFixed(1)} %`;
  if (name === 'contracts') return `${visited} of the accounts queued, ${queued} wait to be looked at`;
  if (name === 'token_events') return `token events of ${mcBlocks} masterchain blocks to go`;
  if (name === 'actions') return `traces of ${mcBlocks} masterchain blocks and ${queued} more to be classified`;
  return `${visited} of ${name} derived`;
}
