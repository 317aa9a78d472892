import type { Database } from '#drivers/store/database.js';
import { type IndexState, openIndex, recreateIndex, type SeqnoRange } from '#drivers/store/index-state.js';
import { readMigrations, requireSchema } from '#drivers/store/migrate.js';
import { buildDeferredIndexes } from '#drivers/store/write/deferred-indexes.js';
import { LeaderLock } from '#drivers/store/write/locks.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController, sharedSignalOf } from '#kernel/shared-abort.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import { ActionClassification } from '#services/indexer/actions/action-classification.js';
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
  readonly bundles: BundleSource;
  readonly chain: ChainReads;
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
}

/** Current status of the indexer. */
export interface IndexerStatus {
  /** `leader` writes the index; `stand-by` waits for the leadership. */
  readonly role: 'leader' | 'stand-by';
  /** Indexed masterchain seqnos known to this process; ascending. */
  readonly indexedRanges: readonly SeqnoRange[];
  readonly pruned_below: number;
  /** Newest indexed masterchain block. Null: none, or not known yet. */
  readonly head: IndexedHead | null;
  /** Milliseconds from the moment the head was known to exist until it was indexed, for the last followed batch. */
  readonly delayMs: number | null;
  /** Null while nothing is being filled. */
  readonly filling: FillProgress | null;
  readonly sums: WriteSums;
  /** Failed attempts of any part. */
  readonly retries: number;
  /** Accounts whose state is not fully known, and received messages whose sender is not indexed; as last counted. */
  readonly incompleteAccounts: number | null;
  readonly orphanMessages: number | null;
  /** The current problem, with its remedy. */
  readonly problem: TernError | null;
  /** Set while nothing is written because the chain contradicts the index; then also the problem. */
  readonly contradiction: TernError | null;
}

/** TVM workers that run get-methods of code without a native reader. */
const TVM_WORKERS = 1;

/** `checkMs`, at least: less often where no other process waits for the lock. */
const LEADER_LOCK = { everyMs: 1000, checkMs: 1000, deadAfterMs: 4000 };

/** Fills and follows the index of a network while it is the index leader; otherwise waits for the leadership. */
export class Indexer {
  readonly #modules: IndexerModules;
  readonly #work: IndexerContext;
  readonly #retries: Retries;
  readonly #written: WriteProgress;
  readonly #stop = sharedAbortController();
  readonly #checkMs: number;
  readonly #listeners = new Set<(batch: WrittenBatch) => void>();
  readonly #followThreads: WritePool;
  readonly #fillThreads: WritePool;
  readonly #view: IndexView;
  readonly #detection: ContractDetection;
  readonly #classification: ActionClassification;
  readonly #lead: IndexLeader;
  #role: 'leader' | 'stand-by' = 'stand-by';
  #running: Promise<void> | null = null;
  #recovered: () => void = () => {};

  private constructor(settings: IndexerSettings, modules: IndexerModules, state: IndexState) {
    const { clock, logger, database, bundles, unixTimeMs } = modules;
    this.#modules = modules;
    this.#retries = new Retries(clock, logger);
    this.#written = new WriteProgress(() => clock.now());
    const facts = new ChainFacts(settings.zerostate, modules);
    const start = {
      url: settings.databaseUrl,
      partition_rounds: state.partition_rounds,
      accounts: accountKeys(settings.accounts),
    };
    const answers = {
      clock,
      globalVersion: (key_block: number) => facts.globalVersion(key_block, this.#stop.signal),
      mcBlockId: (mc_seqno: number) => facts.mcBlockId(mc_seqno, this.#stop.signal),
    };
    this.#followThreads = new WritePool(1, start, answers);
    this.#fillThreads = new WritePool(settings.workers, start, answers);
    const pollMs = settings.queuePollMs;
    this.#checkMs = Math.max(LEADER_LOCK.checkMs, pollMs);
    const detect = {
      ...{ url: settings.databaseUrl, pollMs },
      tvmWorkers: TVM_WORKERS,
      selected: settings.accounts !== null,
      dnsRoots: settings.dnsRoots.map(({ collection, zone }) => ({ collection: collection.toRaw(), zone })),
    };
    const { partition_rounds } = state;
    const classify = { url: settings.databaseUrl, pollMs, partition_rounds };
    const onPastWanted = () => this.#detection.wake();
    this.#classification = new ActionClassification(classify, { clock, logger, retries: this.#retries, onPastWanted });
    const onDetected = () => this.#classification.wake();
    this.#detection = new ContractDetection(detect, { clock, logger, retries: this.#retries, onDetected });
    const onWritten = (batch: WrittenBatch) => this.#onWritten(batch);
    this.#work = {
      ...{ settings, bundles, facts, database, clock, unixTimeMs, logger },
      ...{ retries: this.#retries, onWritten },
    };
    this.#view = new IndexView(state, this.#work);
    const [followThreads, fillThreads] = [this.#followThreads, this.#fillThreads];
    this.#lead = new IndexLeader(this.#work, {
      ...{ followThreads, fillThreads, written: this.#written, view: this.#view },
      ...{ detection: this.#detection, classification: this.#classification, chain: modules.chain },
    });
  }

  /**
   * Opens the index of a database, or creates it. Nothing runs until {@link run}.
   *
   * @throws store/* when the database is unreachable or belongs to another network or selection; nothing is changed then
   */
  static async open(options: IndexerOptions, modules: IndexerModules): Promise<Indexer> {
    const settings = indexerSettings(options);
    const migrations = await readMigrations();
    const { root_hash, file_hash } = settings.zerostate;
    const identity = {
      zerostate_root_hash: root_hash,
      zerostate_file_hash: file_hash,
      selection: selectionIdentity(settings.accounts),
      chain: settings.chain,
      ...(options.accountsComeFromElsewhere === undefined
        ? {}
        : { accountsComeFromElsewhere: options.accountsComeFromElsewhere }),
    };
    const state = await modules.database.transaction(async (client) => {
      await requireSchema(client, migrations);
      return (settings.recreate ? recreateIndex : openIndex)(client, identity, settings.partitionMcBlocks);
    });
    return new Indexer(settings, modules, state);
  }

  get status(): IndexerStatus {
    const { state, head, delayMs, counts } = this.#view;
    return {
      role: this.#role,
      indexedRanges: state.indexedRanges,
      pruned_below: state.pruned_below,
      head,
      delayMs,
      filling: this.#written.filling,
      sums: this.#written.sums,
      retries: this.#retries.count,
      incompleteAccounts: counts?.incomplete ?? null,
      orphanMessages: counts?.orphans ?? null,
      contradiction: this.#retries.contradiction,
      problem:
        this.#retries.contradiction ??
        this.#retries.problem ??
        this.#modules.bundles.problem ??
        this.#work.facts.problem,
    };
  }

  /** Metrics snapshot. */
  metrics(): IndexerMetrics {
    const { role, head, delayMs, filling, sums, retries, incompleteAccounts, orphanMessages } = this.status;
    return {
      leader: role === 'leader',
      head_seqno: head?.seqno ?? 0,
      delay_seconds: delayMs === null ? null : delayMs / 1000,
      fill_left: filling === null ? 0 : filling.total - filling.done,
      batches: sums.batches,
      mc_blocks: sums.mcBlocks,
      blocks: sums.blocks,
      transactions: sums.transactions,
      bytes: sums.bytes,
      build_seconds: sums.buildSeconds,
      write_seconds: sums.writeSeconds,
      retries,
      threads_lost:
        this.#followThreads.lost + this.#fillThreads.lost + this.#detection.lost + this.#classification.lost,
      incomplete_accounts: incompleteAccounts ?? 0,
      orphan_messages: orphanMessages ?? 0,
      contracts: this.#detection.metrics,
      actions: this.#classification.metrics,
    };
  }

  /** Accounts were queued for contract detection by another way than a batch. */
  wakeDetection(): void {
    this.#detection.wake();
  }

  /** Calls back for each written batch. @returns a function that removes the listener */
  onWritten(listener: (batch: WrittenBatch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Runs until {@link close}; without following, until the wanted range is indexed. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Stops, which is safe at any moment, and releases the leadership. */
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
        this.#retries.run(
          () => LeaderLock.take(database, clock, { ...LEADER_LOCK, checkMs: this.#checkMs }, stop),
          stop,
        ),
      );
      if (lock === undefined || lock === null) break;
      this.#role = 'leader';
      logger.info('this process is the index leader');
      const signal = sharedSignalOf([stop, lock.lost]);
      try {
        await this.#unlessStopped(() => this.#retries.run(() => this.#buildIndexes(), signal));
        done =
          (await this.#unlessStopped(() =>
            this.#retries.run((recovered) => this.#runLeader(signal, recovered), signal),
          )) === true;
      } finally {
        this.#role = 'stand-by';
        if (lock.lost.aborted) logger.warn('this process lost the index leadership: the database connection ended');
        await lock.release();
      }
    }
  }

  /** An import of states that was interrupted may have left indexes to be built. */
  #buildIndexes(): Promise<void> {
    const { database, logger } = this.#modules;
    return buildDeferredIndexes(database, (indexes) => {
      logger.warn('building the indexes that an interrupted import of states dropped; writing begins after that', {
        indexes,
      });
    });
  }

  #runLeader(signal: AbortSignal, recovered: () => void): Promise<true> {
    this.#recovered = recovered;
    return this.#lead.run(signal, recovered);
  }

  #onWritten(batch: WrittenBatch): void {
    this.#recovered();
    this.#written.add(batch, batch.mode);
    this.#view.onWritten(batch);
    this.#detection.onWritten(batch.mode);
    this.#classification.onWritten(batch.mode);
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
