import { addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { isNotAvailable, type ReadOptions } from '#services/chain/read-context.js';
import type {
  DetectContract,
  DetectionChain,
  DetectPace,
  DetectStart,
  DetectSums,
  UnindexedAccount,
} from '#services/indexer/contracts/detect-protocol.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';
import { CountsByTwo, type DelayMetrics, WakeCounter } from '#services/indexer/wake-loop.js';

interface DetectThreadModules {
  readonly chain: DetectionChain;
  readonly logger: Logger;
  readonly onDetected: (sums: DetectSums) => void;
  readonly onQueued: (queued: number) => void;
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
  /** Why one detection was postponed, or all detection is blocked. */
  readonly onPostponed: (error: TernError) => void;
  readonly onTrouble: (error: TernError) => void;
}

/** Time to finish a database transaction before the thread is terminated. */
const GIVE_UP_MS = 2000;

/** The thread that detects contracts. */
class DetectThread {
  readonly #thread: WorkerThread<DetectContract>;

  constructor(start: DetectStart, modules: DetectThreadModules) {
    const { chain, logger, onDetected, onQueued, onIdle, onPostponed, onTrouble } = modules;
    this.#thread = new WorkerThread({
      entry: new URL('./detect-main.js', import.meta.url),
      start,
      host: {
        ...logMethods(logger),
        config: (key_block) => chain.config(key_block),
        library: (hash) => chain.library(hash),
        account: (address) => chain.account(address),
        accountAt: (address, mc_seqno) => chain.accountAt(address, mc_seqno),
        detected: onDetected,
        queued: onQueued,
        idle: onIdle,
        postponed: (error) => onPostponed(TernError.fromPlain(error)),
        trouble: (error) => onTrouble(TernError.fromPlain(error)),
      },
      lost: (problem, thrown) => indexerErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
      closed: () => indexerErrors['thread-lost']({ problem: 'it was stopped' }),
      unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
    });
  }

  /** Rejects when the thread ends otherwise than by {@link stop}. */
  get ended(): Promise<void> {
    return this.#thread.ended;
  }

  setPace(pace: DetectPace): void {
    this.#thread.notify.setPace(pace);
  }

  wake(number: number): void {
    this.#thread.notify.wake(number);
  }

  /** Stops the thread: what is not written stays queued. */
  stop(): Promise<void> {
    return this.#thread.close(this.#thread.isReady ? GIVE_UP_MS : 0);
  }
}

/** Metrics of contract detection. Sums only grow. */
export interface ContractDetectionMetrics {
  /** Queued accounts, as last counted; null before. */
  readonly queued: number | null;
  readonly detected: number;
  /** Get-method results read natively from contract data, and get-methods run in the TVM. */
  readonly natively: number;
  readonly runs: number;
  /** Postponed detections, counted each time. */
  readonly postponed: number;
  readonly seconds: number;
  /** From a followed batch until all accounts that it changed were detected. */
  readonly delays: DelayMetrics;
  /** Refusals by interface and reason. */
  readonly refused: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface ContractDetectionModules extends Pick<IndexerContext, 'retries' | 'clock' | 'logger'> {
  /** Called when contracts were detected, and when none is due any more. */
  readonly onDetected: () => void;
}

/** Share of time for detection while blocks are filled. */
const SHARE = 0.25;
const PACES = {
  filling: { newestFirst: false, share: SHARE },
  'filling-and-following': { newestFirst: true, share: SHARE },
  following: { newestFirst: true, share: 1 },
  alone: { newestFirst: false, share: 1 },
} satisfies Record<string, DetectPace>;

/** Runs contract detection in a worker thread, and wakes it when batches are written. */
export class ContractDetection {
  readonly #start: DetectStart;
  readonly #work: ContractDetectionModules;
  readonly #wakes: WakeCounter;
  readonly #refused = new CountsByTwo();
  #thread: DetectThread | null = null;
  #pace: DetectPace = PACES.alone;
  #lost = 0;
  #sums = { detected: 0, natively: 0, runs: 0, postponed: 0, seconds: 0 };
  #queued: number | null = null;
  #postponedFor: string | null = null;

  constructor(start: DetectStart, work: ContractDetectionModules) {
    this.#start = start;
    this.#work = work;
    this.#wakes = new WakeCounter(work.clock);
  }

  get metrics(): ContractDetectionMetrics {
    return {
      ...this.#sums,
      queued: this.#queued,
      delays: this.#wakes.delays,
      refused: this.#refused.counts,
    };
  }

  /** Threads lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps a detection thread running until the signal is aborted. @throws indexer/stopped */
  async run(chain: DetectionChain, signal: AbortSignal): Promise<void> {
    await this.#work.retries.run(async () => {
      const { logger } = this.#work;
      const thread = new DetectThread(this.#start, {
        ...{ chain, logger },
        onDetected: (sums) => this.#onDetected(sums),
        onQueued: (queued) => {
          this.#queued = queued;
        },
        onIdle: (wake, queued, soon) => this.#onIdle(wake, queued, soon),
        onPostponed: ({ code, message }) => {
          // One missing server affects many contracts: log the same problem once.
          if (this.#postponedFor === code) return;
          this.#postponedFor = code;
          logger.warn('detection of a contract is postponed', { code, problem: message });
        },
        onTrouble: ({ code, message, remedy }) =>
          logger.warn('contract detection is blocked; it is retried', { code, problem: message, remedy }),
      });
      this.#thread = thread;
      thread.setPace(this.#pace);
      thread.wake(this.#wakes.number);
      const stop = (): void => void thread.stop();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        await thread.ended;
      } catch (error) {
        this.#lost++;
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
        this.#thread = null;
        this.#wakes.restartDelays();
      }
    }, signal);
  }

  /** Adapts the scheduling to what else the leader does. */
  setPace(mode: keyof typeof PACES): void {
    const pace = PACES[mode];
    this.#pace = pace;
    this.#thread?.setPace(pace);
  }

  /** Something was queued by another way than a batch. */
  wake(): void {
    const wake = this.#wakes.next();
    this.#thread?.wake(wake);
  }

  /** A batch was written. */
  onWritten(mode: 'follow' | 'fill'): void {
    const wake = this.#wakes.nextOfBatch(mode);
    this.#thread?.wake(wake);
  }

  /** Resolves when all due accounts are detected, or the signal is aborted. */
  async drain(signal: AbortSignal): Promise<void> {
    this.wake();
    await this.#wakes.wait(signal);
  }

  #onDetected({ refused, ...sums }: DetectSums): void {
    const before = this.#sums;
    this.#sums = {
      detected: before.detected + sums.detected,
      natively: before.natively + sums.natively,
      runs: before.runs + sums.runs,
      postponed: before.postponed + sums.postponed,
      seconds: before.seconds + sums.seconds,
    };
    if (sums.postponed === 0) this.#postponedFor = null;
    this.#work.onDetected();
    this.#refused.add(refused);
  }

  #onIdle(wake: number, queued: number, soon: number): void {
    this.#queued = queued;
    this.#wakes.measure(wake);
    if (soon > 0) return;
    this.#work.onDetected();
    this.#wakes.resolve(wake);
  }
}

export interface VerifiedDetectionChainOptions {
  /** Zerostate of the masterchain. */
  readonly zerostate: BlockId;
  /** Whether all accounts of the chain are indexed, so that one that is not indexed does not exist. */
  readonly knowsAll: () => boolean;
  /** The newest indexed masterchain seqno, as of which accounts are read; null, and the default: as of the newest block. */
  readonly indexHead?: () => number | null;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 10_000;

/** {@link DetectionChain} from verified chain reads. Each read is tried once: detection is retried later. */
export class VerifiedDetectionChain implements DetectionChain {
  readonly #options: VerifiedDetectionChainOptions;
  readonly #chain: Pick<ChainReads, 'config' | 'zerostate' | 'blockId' | 'blockFile' | 'libraries' | 'account'>;

  constructor(
    options: VerifiedDetectionChainOptions,
    chain: Pick<ChainReads, 'config' | 'zerostate' | 'blockId' | 'blockFile' | 'libraries' | 'account'>,
  ) {
    this.#options = options;
    this.#chain = chain;
  }

  async config(key_block: number | null): Promise<Uint8Array> {
    const root = (key_block === null ? null : await this.#configOf(key_block)) ?? (await this.#newest());
    return serializeBoc(root);
  }

  async library(hash: Uint8Array): Promise<Uint8Array | null> {
    const { libraries } = await this.#chain.libraries([hash], this.#limits());
    const cell = libraries.get(toHex(hash));
    return cell === undefined ? null : serializeBoc(cell);
  }

  async account(address: Uint8Array): Promise<UnindexedAccount | null> {
    if (this.#options.knowsAll()) return null;
    return unindexedAccount(await this.#accountAtIndexHead(addressOfBytes(address)));
  }

  async accountAt(address: Uint8Array, mc_seqno: number): Promise<UnindexedAccount | null | 'unavailable'> {
    try {
      return unindexedAccount(await this.#chain.account(addressOfBytes(address), { ...this.#limits(), at: mc_seqno }));
    } catch (error) {
      if (isNotAvailable(error)) return 'unavailable';
      throw error;
    }
  }

  /** As of the head of the index; as of the newest block when servers do not have that state any more. */
  async #accountAtIndexHead(address: Address): Promise<AccountStateRead> {
    const at = this.#options.indexHead?.() ?? null;
    if (at !== null) {
      try {
        return await this.#chain.account(address, { ...this.#limits(), at });
      } catch (error) {
        if (!isNotAvailable(error)) throw error;
      }
    }
    return this.#chain.account(address, this.#limits());
  }

  /** Null: no server has the block any more. */
  async #configOf(key_block: number): Promise<Cell | null> {
    try {
      if (key_block === 0) {
        const { state } = await this.#chain.zerostate(this.#options.zerostate, this.#limits());
        return state.state.custom?.value.config.config.root ?? null;
      }
      const id = await this.#chain.blockId(key_block, this.#limits());
      const file = await this.#chain.blockFile({ id, gen_utime: null, mc_seqno: key_block }, this.#limits());
      return file.header.block.extra.value.custom?.value.config?.config.root ?? null;
    } catch (error) {
      if (isTernError(error) && (isNotAvailable(error) || error.class === 'not-found')) return null;
      throw error;
    }
  }

  async #newest(): Promise<Cell> {
    return (await this.#chain.config(this.#limits())).root;
  }

  #limits(): ReadOptions {
    return { deadlineMs: DEADLINE_MS, signal: this.#options.signal };
  }
}

function unindexedAccount({ cell, last_transaction, shard_utime, block }: AccountStateRead): UnindexedAccount | null {
  if (cell === null || shard_utime === null) return null;
  return {
    boc: serializeBoc(cell),
    // Accounts of a zerostate may never have had a transaction.
    last_trans_lt: last_transaction?.lt ?? 0n,
    last_trans_hash: last_transaction?.hash.slice() ?? new Uint8Array(32),
    mc_seqno: block.seqno,
    gen_utime: shard_utime,
  };
}
