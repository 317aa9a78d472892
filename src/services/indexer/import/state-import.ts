import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import { FileSource } from '#drivers/state-files/byte-source.js';
import {
  assembleStates,
  masterchainOf,
  type ProvenStateHash,
  type RecognizedFile,
  recognizeFile,
  requireAllShards,
} from '#drivers/state-files/state-set.js';
import { verifyFiles } from '#drivers/state-files/verify-files.js';
import type { Database } from '#drivers/store/database.js';
import { buildDeferredIndexes, deferIndexes } from '#drivers/store/write/deferred-indexes.js';
import { beginStateImport, completeState } from '#drivers/store/write/state-imports.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { partShards } from '#formats/proofs/split-state.js';
import { MAX_SHARD_PREFIX, shardPrefixLength } from '#formats/tlb/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { VerifiedDetectionChain } from '#services/indexer/contracts/contract-detection.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { ImportRange, ImportThreadContract, ImportThreadStart } from '#services/indexer/import/import-protocol.js';
import { type AccountFile, accountFiles } from '#services/indexer/import/state-accounts.js';

export interface StateImportOptions {
  /** The state files, in any order. */
  readonly files: readonly string[];
  /** Folder for scratch files. */
  readonly folder: string;
  /** Threads that verify and import at the same time. */
  readonly threads: number;
  readonly databaseUrl: string;
  /** Memory for verification, in bytes. */
  readonly verifyBytes: number;
  /** Zerostate of the masterchain. */
  readonly zerostate: BlockId;
  readonly dnsRoots: readonly DnsRoot[];
}

export interface StateImportModules {
  readonly database: Database;
  readonly chain: ChainReads;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How far an import is. */
export interface StateImportProgress {
  readonly phase: 'opening' | 'verifying' | 'importing' | 'indexing' | 'done';
  readonly mc_seqno: number | null;
  /** Share of the bytes that are verified, 0 to 1. */
  readonly verified: number;
  /** Ranges of account ids that are written, and all of them. */
  readonly ranges: number;
  readonly allRanges: number;
  readonly accounts: number;
  /** Accounts written per second by this process. */
  readonly accountsPerSecond: number;
}

/** The masterchain block after which a state was imported, and what was read for it. */
export interface StateImportReport {
  readonly block: BlockId;
  readonly accounts: number;
  /** Of all files. */
  readonly bytes: number;
  /** Read from the files after their verification. */
  readonly bytesRead: number;
}

/**
 * Imports the persistent states of all shards after a masterchain block: every byte is checked against the state hashes that the block
 * proves, then each account is written unless a newer state of it is known. Interrupted, it continues where it was.
 */
export class StateImport {
  readonly #options: StateImportOptions;
  readonly #modules: StateImportModules;
  #progress: StateImportProgress = {
    ...{ phase: 'opening', mc_seqno: null, verified: 0, ranges: 0, allRanges: 0 },
    ...{ accounts: 0, accountsPerSecond: 0 },
  };

  constructor(options: StateImportOptions, modules: StateImportModules) {
    this.#options = options;
    this.#modules = modules;
  }

  get progress(): StateImportProgress {
    return this.#progress;
  }

  /**
   * @throws state-files/* with file and offset: nothing was written, or only accounts of verified files; chain/*, store/*,
   *   indexer/stopped
   */
  async run(signal: AbortSignal): Promise<StateImportReport> {
    const opened: RecognizedFile[] = [];
    try {
      for (const file of this.#options.files) opened.push(recognizeFile(file));
      const proven = await this.#provenHashes(masterchainOf(opened).ident.seqno, opened, signal);
      const block = proven[0]!.block;
      this.#progress = { ...this.#progress, phase: 'verifying', mc_seqno: block.seqno };
      const { threads, verifyBytes: hashBytes, folder } = this.#options;
      const onProgress = (verified: number): void => {
        this.#progress = { ...this.#progress, verified };
      };
      const verified = await verifyFiles(opened, { threads, hashBytes, folder, onProgress, signal });
      requireRunning(signal);
      const files = accountFiles(assembleStates(verified, proven));
      const bytesRead = await this.#import(block, files, signal);
      this.#progress = { ...this.#progress, phase: 'indexing' };
      await buildDeferredIndexes(this.#modules.database, (indexes) => {
        this.#modules.logger.info('building the indexes of the imported tables', { indexes });
      });
      requireRunning(signal);
      await this.#modules.database.transaction(async (client) => {
        await lockTraces(client);
        await completeState(client, block.seqno);
      });
      this.#progress = { ...this.#progress, phase: 'done' };
      const bytes = opened.reduce((sum, { file }) => sum + file.source.size, 0);
      return { block, accounts: this.#progress.accounts, bytes, bytesRead };
    } finally {
      for (const { file } of opened) if (file.source instanceof FileSource) file.source.close();
    }
  }

  /** The state hashes of a masterchain block and of the newest block of each shard. */
  async #provenHashes(
    seqno: number,
    files: readonly RecognizedFile[],
    signal: AbortSignal,
  ): Promise<readonly ProvenStateHash[]> {
    const { chain } = this.#modules;
    const masterchain = await chain.blockId(seqno, { signal });
    const { shards } = await chain.shards({ at: masterchain, signal });
    const blocks = [masterchain, ...shards.map(({ block }) => block)];
    requireAllShards(files, blocks);
    const hashes: ProvenStateHash[] = [];
    for (const block of blocks) {
      // The state of a workchain without blocks is its zerostate.
      const state_hash =
        block.seqno === 0 ? block.root_hash : (await chain.header({ at: block, signal })).state_hash.slice();
      hashes.push({ block, state_hash });
    }
    return hashes;
  }

  /** @returns the bytes read from the files */
  async #import(block: BlockId, files: readonly AccountFile[], signal: AbortSignal): Promise<number> {
    const { database, clock } = this.#modules;
    const { seqno: mc_seqno } = block;
    const ranges = files.flatMap((file, n) => rangesOf(file).map((shard) => ({ file: n, shard })));
    const begun = await database.transaction(async (client) => {
      await deferIndexes(client);
      return beginStateImport(
        client,
        ranges.map(({ file, shard }) => {
          const { workchain, root_hash } = files[file]!;
          return { mc_seqno, workchain, shard: BigInt.asIntN(64, shard), root_hash };
        }),
      );
    });
    const left: ImportRange[] = ranges.flatMap(({ file, shard }) => {
      const { workchain } = files[file]!;
      const signed = BigInt.asIntN(64, shard);
      const row = begun.find((each) => each.workchain === workchain && each.shard === signed)!;
      return row.finished ? [] : [{ file, shard, row }];
    });
    const startedAt = clock.now();
    const before = begun.reduce((sum, { accounts }) => sum + Number(accounts), 0);
    let [accounts, finished, bytesRead] = [before, ranges.length - left.length, 0];
    const show = (): void => {
      const accountsPerSecond = (accounts - before) / Math.max((clock.now() - startedAt) / 1000, 0.001);
      const counts = { ranges: finished, allRanges: ranges.length, accounts, accountsPerSecond };
      this.#progress = { ...this.#progress, ...counts, phase: 'importing' };
    };
    show();
    const onWritten = (count: number): void => {
      accounts += count;
      show();
    };
    await this.#inThreads(mc_seqno, files, left.length, onWritten, signal, async (thread) => {
      for (let range = left.shift(); range !== undefined; range = left.shift()) {
        requireRunning(signal);
        bytesRead += await thread.call.importRange(range);
        finished++;
        show();
      }
    });
    return bytesRead;
  }

  /** Runs the same work in several threads, until all have ended; the first failure ends all. */
  async #inThreads(
    mc_seqno: number,
    files: readonly AccountFile[],
    most: number,
    onWritten: (accounts: number) => void,
    signal: AbortSignal,
    work: (thread: WorkerThread<ImportThreadContract>) => Promise<void>,
  ): Promise<void> {
    const { chain, logger } = this.#modules;
    const { zerostate, dnsRoots, databaseUrl: url } = this.#options;
    const libraries = new VerifiedDetectionChain({ zerostate, knowsAll: () => true, signal }, chain);
    const start: ImportThreadStart = {
      ...{ url, mc_seqno },
      files: files.map(({ file, workchain, shard, root_hash, gen_utime, isPart }) => ({
        ...{ path: file.source.name, workchain, shard, root_hash, gen_utime, isPart },
      })),
      dnsRoots: dnsRoots.map(({ collection, zone }) => ({ collection: collection.toRaw(), zone })),
    };
    const count = Math.min(this.#options.threads, MOST_THREADS, most);
    const threads = Array.from(
      { length: count },
      () =>
        new WorkerThread<ImportThreadContract>({
          entry: new URL('./import-main.js', import.meta.url),
          start,
          host: { ...logMethods(logger), library: (hash) => libraries.library(hash), written: onWritten },
          lost: (problem, thrown) => indexerErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
          closed: () => indexerErrors.stopped({}),
          unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
        }),
    );
    const stop = (): void => {
      for (const thread of threads) void thread.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      await Promise.all(threads.map(work));
    } finally {
      signal.removeEventListener('abort', stop);
      await Promise.all(threads.map((thread) => thread.terminate()));
    }
  }
}

/** Threads that import: more would only wait for each other in the database, and each takes some 250 MB. */
const MOST_THREADS = 3;
/** Files from this size on are divided into ranges for several threads. */
const DIVIDED_FROM = 64 * 2 ** 20;
const RANGE_BITS = 4;

/** The prefixes by which the accounts of a file are imported; the same each time. */
function rangesOf({ shard, file }: AccountFile): readonly bigint[] {
  const bits = shardPrefixLength(shard) + RANGE_BITS;
  return file.source.size < DIVIDED_FROM || bits > MAX_SHARD_PREFIX ? [shard] : partShards(shard, bits);
}

/** @throws indexer/stopped */
function requireRunning(signal: AbortSignal): void {
  if (signal.aborted) throw indexerErrors.stopped({});
}
