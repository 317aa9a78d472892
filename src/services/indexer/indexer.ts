import type { Database } from '#drivers/store/database.js';
import { type IndexState, openIndex, type SeqnoRange } from '#drivers/store/index-state.js';
import { readMigrations, requireSchema } from '#drivers/store/migrate.js';
import { LeaderLock } from '#drivers/store/write/locks.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import { ChainFacts } from '#services/indexer/chain-facts.js';
import { ContractDetection } from '#services/indexer/contracts/contract-detection.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import {
  type FillProgress,
  type IndexedHead,
  type IndexerContext,
  IndexView,
  WriteProgress,
  type WriteSums,
  type WrittenBatch,
} from '#services/indexer/index-progress.js';
import { IndexLeader } from '#services/indexer/leader.js';
import type { IndexerMetrics } from '#services/indexer/metrics.js';
import { type IndexerOptions, type IndexerSettings, indexerSettings } from '#services/indexer/options.js';
import { Retries } from '#services/indexer/retries.js';
import { accountKeys, selectionIdentity } from '#services/indexer/rows/bundle-rows.js';
import { WritePool } from '#services/indexer/write/write-pool.js';

export interface IndexerModules {
  readonly rounds: BundleSource;
  readonly chain: ChainReads;
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
}

/** How the index is, at this moment. */
export interface IndexerStatus {
  /** `leader` writes; `stand-by` waits until the leader is gone. */
  readonly role: 'leader' | 'stand-by';
  /** What this process has written and found written; rising. */
  readonly rounds: readonly SeqnoRange[];
  readonly pruned_below: number;
  /** The newest masterchain block that is indexed with all before it in its range. Null: none, or not known yet. */
  readonly head: IndexedHead | null;
  /** Milliseconds from the moment when the head was known to exist until it was indexed; the last one of following. */
  readonly delayMs: number | null;
  /** Null while nothing is filled. */
  readonly filling: FillProgress | null;
  readonly sums: WriteSums;
  /** Attempts of any part that failed. */
  readonly retries: number;
  /** Accounts of which servers have not told all, and messages whose senders are not indexed; as last counted. */
  readonly incompleteAccounts: number | null;
  readonly orphanMessages: number | null;
  /** What stands in the way, and what to do about it. */
  readonly problem: TernError | null;
}

/** Threads that run get methods where the code is not known. */
const TVM_WORKERS = 1;

const LEADER_LOCK = { everyMs: 1000, deadAfterMs: 4000 };

/** Makes the index of a network and keeps it: as long as it leads; else it waits until nobody does. */
export class Indexer {
  readonly #modules: IndexerModules;
  readonly #work: IndexerContext;
  readonly #retries: Retries;
  readonly #written: WriteProgress;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<(batch: WrittenBatch) => void>();
  readonly #followThreads: WritePool;
  readonly #fillThreads: WritePool;
  readonly #view: IndexView;
  readonly #detection: ContractDetection;
  readonly #lead: IndexLeader;
  #role: 'leader' | 'stand-by' = 'stand-by';
  #running: Promise<void> | null = null;

  private constructor(settings: IndexerSettings, modules: IndexerModules, state: IndexState) {
    const { clock, logger, database, rounds, unixTimeMs } = modules;
    this.#modules = modules;
    this.#retries = new Retries(clock, logger);
    this.#written = new WriteProgress(() => clock.now());
    const facts = new ChainFacts(settings.zerostate, modules);
    const start = {
      url: settings.databaseUrl,
      partition_rounds: state.partition_rounds,
      accounts: accountKeys(settings.accounts),
    };
    const globalVersion = (key_block: number) => facts.globalVersion(key_block, this.#stop.signal);
    this.#followThreads = new WritePool(1, start, { clock, globalVersion });
    this.#fillThreads = new WritePool(settings.workers, start, { clock, globalVersion });
    const detect = {
      url: settings.databaseUrl,
      tvmWorkers: TVM_WORKERS,
      selected: settings.accounts !== null,
      dnsRoots: settings.dnsRoots.map(({ collection, zone }) => ({ collection: collection.toRaw(), zone })),
    };
    this.#detection = new ContractDetection(detect, { clock, logger, retries: this.#retries });
    const onWritten = (batch: WrittenBatch) => this.#onWritten(batch);
    this.#work = {
      ...{ settings, rounds, facts, database, clock, unixTimeMs, logger },
      ...{ retries: this.#retries, onWritten },
    };
    this.#view = new IndexView(state, this.#work);
    const [followThreads, fillThreads] = [this.#followThreads, this.#fillThreads];
    this.#lead = new IndexLeader(this.#work, {
      ...{ followThreads, fillThreads, written: this.#written, view: this.#view },
      ...{ detection: this.#detection, chain: modules.chain },
    });
  }

  /**
   * Takes up the index of a database, or begins it there. Nothing is done until {@link run}.
   *
   * @throws store/* when the database does not answer, or is not for this; nothing is changed then
   */
  static async open(options: IndexerOptions, modules: IndexerModules): Promise<Indexer> {
    const settings = indexerSettings(options);
    const migrations = await readMigrations();
    const { root_hash, file_hash } = settings.zerostate;
    const identity = {
      zerostate_root_hash: root_hash,
      zerostate_file_hash: file_hash,
      selection: selectionIdentity(settings.accounts),
    };
    const state = await modules.database.transaction(async (client) => {
      await requireSchema(client, migrations);
      return openIndex(client, identity, settings.partitionRounds);
    });
    return new Indexer(settings, modules, state);
  }

  get status(): IndexerStatus {
    const { state, head, delayMs, counts } = this.#view;
    return {
      role: this.#role,
      rounds: state.indexedRanges,
      pruned_below: state.pruned_below,
      head,
      delayMs,
      filling: this.#written.filling,
      sums: this.#written.sums,
      retries: this.#retries.count,
      incompleteAccounts: counts?.incomplete ?? null,
      orphanMessages: counts?.orphans ?? null,
      problem: this.#retries.problem ?? this.#modules.rounds.problem ?? this.#work.facts.problem,
    };
  }

  /** A snapshot for metrics. */
  metrics(): IndexerMetrics {
    const { role, head, delayMs, filling, sums, retries, incompleteAccounts, orphanMessages } = this.status;
    return {
      leader: role === 'leader',
      head_seqno: head?.seqno ?? 0,
      delay_seconds: delayMs === null ? null : delayMs / 1000,
      fill_left: filling === null ? 0 : filling.total - filling.done,
      batches: sums.batches,
      rounds: sums.rounds,
      blocks: sums.blocks,
      transactions: sums.transactions,
      bytes: sums.bytes,
      build_seconds: sums.buildSeconds,
      write_seconds: sums.writeSeconds,
      retries,
      threads_lost: this.#followThreads.lost + this.#fillThreads.lost + this.#detection.lost,
      incomplete_accounts: incompleteAccounts ?? 0,
      orphan_messages: orphanMessages ?? 0,
      contracts: this.#detection.figures,
    };
  }

  /** Calls back for each batch that was written. @returns takes the callback back */
  onWritten(listener: (batch: WrittenBatch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Works until {@link close}; without following, until all is there. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends what is under way, as it is safe at any moment, and lets another process lead. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all([this.#followThreads.close(), this.#fillThreads.close()]);
  }

  async #run(): Promise<void> {
    const { clock, database, logger } = this.#modules;
    const stop = this.#stop.signal;
    let done = false;
    while (!stop.aborted && !done) {
      const lock = await this.#unlessStopped(() =>
        this.#retries.run(() => LeaderLock.take(database, clock, LEADER_LOCK, stop), stop),
      );
      if (lock === undefined || lock === null) break;
      this.#role = 'leader';
      logger.info('this process writes the index');
      const signal = AbortSignal.any([stop, lock.lost]);
      try {
        done = (await this.#unlessStopped(() => this.#retries.run(() => this.#lead.run(signal), signal))) === true;
      } finally {
        this.#role = 'stand-by';
        if (lock.lost.aborted) logger.warn('this process does not write the index any more: it lost the database');
        await lock.release();
      }
    }
  }

  #onWritten(batch: WrittenBatch): void {
    this.#written.add(batch, batch.mode);
    this.#view.onWritten(batch);
    this.#detection.onWritten(batch.mode);
    for (const listener of this.#listeners) listener(batch);
  }

  async #unlessStopped<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const expected = [indexerErrors.stopped.code, chainErrors.aborted.code];
      if (!isTernError(error) || !expected.includes(error.code)) throw error;
      return undefined;
    }
  }
}
