import type { Database } from '#drivers/store/database.js';
import { requireSchema } from '#drivers/store/migrate.js';
import { readMigrations } from '#drivers/store/migration-files.js';
import { type IndexState, openIndex, type SeqnoRange } from '#drivers/store/write/index-state.js';
import { LeaderLock } from '#drivers/store/write/leader-lock.js';
import { pause } from '#kernel/async/pause.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import { ChainFacts } from '#services/indexer/chain-facts.js';
import { AccountCompleter } from '#services/indexer/complete-accounts.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { Filler } from '#services/indexer/fill.js';
import { Follower } from '#services/indexer/follow.js';
import { type IndexWork, indexState, newestRange } from '#services/indexer/index-work.js';
import { type IndexerOptions, type IndexerSettings, indexerSettings } from '#services/indexer/indexer-options.js';
import { keepBound, pruneHistory } from '#services/indexer/keep-history.js';
import type { IndexerMetrics } from '#services/indexer/metrics.js';
import { Retries } from '#services/indexer/retries.js';
import type { RoundSource } from '#services/indexer/rounds/round-source.js';
import { accountKeys, describeAccounts } from '#services/indexer/selection.js';
import { WritePool } from '#services/indexer/work/write-pool.js';
import { type FillProgress, Written, type WrittenBatch, type WrittenSums } from '#services/indexer/written.js';

export interface IndexerModules {
  readonly rounds: RoundSource;
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
  readonly head: IndexHead | null;
  /** Milliseconds from the moment when the head was known to exist until it was indexed; the last one of following. */
  readonly delayMs: number | null;
  /** Null while nothing is filled. */
  readonly filling: FillProgress | null;
  readonly sums: WrittenSums;
  /** Attempts of any part that failed. */
  readonly retries: number;
  /** Accounts of which servers have not told all, and messages whose senders are not indexed; as last counted. */
  readonly incompleteAccounts: number | null;
  readonly orphanMessages: number | null;
  /** What stands in the way, and what to do about it. */
  readonly problem: TernError | null;
}

export interface IndexHead {
  readonly seqno: number;
  /** Unix seconds; null where it is not known. */
  readonly gen_utime: number | null;
}

/** How often it is looked for what can be done besides: old history, incomplete accounts, gaps. */
const CARE_MS = 5000;
const PRUNE_MS = 60_000;
const LOCK = { everyMs: 1000, deadAfterMs: 4000 };

/** Makes the index of a network and keeps it: as long as it leads; else it waits until nobody does. */
export class Indexer {
  readonly #settings: IndexerSettings;
  readonly #modules: IndexerModules;
  readonly #work: IndexWork;
  readonly #retries: Retries;
  readonly #written: Written;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<(batch: WrittenBatch) => void>();
  readonly #followThreads: WritePool;
  readonly #fillThreads: WritePool;
  #state: IndexState;
  #role: 'leader' | 'stand-by' = 'stand-by';
  #head: IndexHead | null = null;
  #delayMs: number | null = null;
  #counts: { readonly incomplete: number; readonly orphans: number } | null = null;
  #running: Promise<void> | null = null;

  private constructor(settings: IndexerSettings, modules: IndexerModules, state: IndexState) {
    const { clock, logger, database, rounds, unixTimeMs } = modules;
    this.#settings = settings;
    this.#modules = modules;
    this.#state = state;
    this.#retries = new Retries(clock, logger);
    this.#written = new Written(() => clock.now());
    const facts = new ChainFacts(settings.zerostate, modules);
    const start = {
      url: settings.databaseUrl,
      partition_rounds: state.partition_rounds,
      accounts: accountKeys(settings.accounts),
    };
    const globalVersion = (key_block: number) => facts.globalVersion(key_block, this.#stop.signal);
    this.#followThreads = new WritePool(1, start, { clock, globalVersion });
    this.#fillThreads = new WritePool(settings.workers, start, { clock, globalVersion });
    const onWritten = (batch: WrittenBatch) => this.#onWritten(batch);
    this.#work = {
      ...{ settings, rounds, facts, database, clock, unixTimeMs, logger },
      ...{ retries: this.#retries, onWritten },
    };
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
      selection: describeAccounts(settings.accounts),
    };
    const state = await modules.database.transaction(async (client) => {
      await requireSchema(client, migrations);
      return openIndex(client, identity, settings.partitionRounds);
    });
    return new Indexer(settings, modules, state);
  }

  get status(): IndexerStatus {
    const { rounds, pruned_below } = this.#state;
    return {
      role: this.#role,
      rounds,
      pruned_below,
      head: this.#head,
      delayMs: this.#delayMs,
      filling: this.#written.filling,
      sums: this.#written.sums,
      retries: this.#retries.count,
      incompleteAccounts: this.#counts?.incomplete ?? null,
      orphanMessages: this.#counts?.orphans ?? null,
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
      threads_lost: this.#followThreads.lost + this.#fillThreads.lost,
      incomplete_accounts: incompleteAccounts ?? 0,
      orphan_messages: orphanMessages ?? 0,
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
        this.#retries.run(() => LeaderLock.take(database, clock, LOCK, stop), stop),
      );
      if (lock === undefined || lock === null) break;
      this.#role = 'leader';
      logger.info('this process writes the index');
      const signal = AbortSignal.any([stop, lock.lost]);
      try {
        done = (await this.#unlessStopped(() => this.#retries.run(() => this.#lead(signal), signal))) === true;
      } finally {
        this.#role = 'stand-by';
        if (lock.lost.aborted) logger.warn('this process does not write the index any more: it lost the database');
        await lock.release();
      }
    }
  }

  /** @returns true when all is there that was asked for */
  async #lead(outer: AbortSignal): Promise<true> {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const { wanted, followFrom } = await this.#plan(signal);
    const parts = [this.#fill(wanted, followFrom, signal), this.#prune(signal)];
    if (followFrom !== null) parts.push(new Follower(this.#work, this.#followThreads).run(followFrom, signal));
    try {
      // What ends first is filling, where nothing is to be followed; or an error, which ends all.
      await Promise.race(parts);
      if (followFrom !== null) await Promise.all(parts);
    } finally {
      stop.abort();
      await Promise.allSettled(parts);
    }
    return true;
  }

  /** What is to be filled, and where following begins. */
  async #plan(signal: AbortSignal): Promise<{ readonly wanted: SeqnoRange; readonly followFrom: number | null }> {
    const { facts, clock: _ } = this.#work;
    const { follow, followWithin, to } = this.#settings;
    this.#state = await indexState(this.#work);
    const newest = newestRange(this.#state.rounds);
    if (newest !== null) this.#head ??= { seqno: newest.to, gen_utime: null };
    const head = (await facts.waitForHead(1, signal)).block.seqno;
    const from = Math.max(await this.#first(head, signal), this.#state.pruned_below);
    if (!follow) return { wanted: { from, to: Math.min(to ?? head, head) }, followFrom: null };
    const reached = Math.max(newest?.to ?? 0, from - 1);
    const followFrom = head - reached <= followWithin ? reached + 1 : head;
    return { wanted: { from, to: followFrom - 1 }, followFrom };
  }

  /** The first seqno that is wanted. */
  async #first(head: number, signal: AbortSignal): Promise<number> {
    const { facts } = this.#work;
    const begun = this.#state.rounds[0]?.from ?? head;
    const { from } = this.#settings;
    const first = from === 'now' ? begun : (from ?? ((await facts.reachesGenesis(signal)) ? 1 : begun));
    return Math.max(first, await keepBound(this.#work, signal));
  }

  /** Fills what is missing; then looks after accounts and new gaps, as long as something is followed. */
  async #fill(wanted: SeqnoRange, followFrom: number | null, signal: AbortSignal): Promise<void> {
    const { clock } = this.#modules;
    const filler = new Filler(this.#work, this.#fillThreads, this.#written);
    const completer = new AccountCompleter(this.#work);
    const filling = filler.run(wanted, signal);
    filling.catch(() => {});
    if (followFrom === null) {
      await filling;
      await this.#refresh(signal);
      await completer.run({ from: 0, to: wanted.to }, signal);
      await this.#refresh(signal);
      return;
    }
    // Accounts that changed lately are what is asked for; the others may become complete by what is still filled.
    let isFilled = false;
    void filling.then(
      () => {
        isFilled = true;
      },
      () => {},
    );
    for (;;) {
      await Promise.race([
        pause(CARE_MS, clock, signal),
        filling.then(() => pause(isFilled ? CARE_MS : 0, clock, signal)),
      ]);
      if (signal.aborted) throw indexerErrors.stopped({});
      await this.#refresh(signal);
      const newest = newestRange(this.#state.rounds);
      if (newest !== null) await completer.run({ from: isFilled ? 0 : newest.from, to: newest.to }, signal);
      if (isFilled && newest !== null) await filler.run({ from: wanted.from, to: newest.from - 1 }, signal);
    }
  }

  async #prune(signal: AbortSignal): Promise<void> {
    for (;;) {
      const pruned_below = await pruneHistory(this.#work, signal);
      if (pruned_below !== null && pruned_below !== this.#state.pruned_below) await this.#refresh(signal);
      await pause(PRUNE_MS, this.#modules.clock, signal);
      if (signal.aborted) throw indexerErrors.stopped({});
    }
  }

  /** Reads how far the index is, and counts what is not whole. */
  async #refresh(signal: AbortSignal): Promise<void> {
    const { database } = this.#modules;
    this.#state = await this.#retries.run(() => indexState(this.#work), signal);
    const { rows } = await this.#retries.run(
      () =>
        database.withWriter((client) =>
          client.query<{ incomplete: bigint; orphans: bigint }>(
            `SELECT (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete,
               (SELECT count(*) FROM orphan_messages) AS orphans`,
          ),
        ),
      signal,
    );
    this.#counts = { incomplete: Number(rows[0]!.incomplete), orphans: Number(rows[0]!.orphans) };
  }

  #onWritten(batch: WrittenBatch): void {
    const { range, mode, delayMs, gen_utime } = batch;
    this.#written.add(batch, mode);
    if (mode === 'follow') this.#delayMs = delayMs;
    if (range.to > (this.#head?.seqno ?? 0)) this.#head = { seqno: range.to, gen_utime };
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
