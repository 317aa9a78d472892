import type { BatchOrder } from '#drivers/store/write/write-batch.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type CancelSchedule, type Clock, pause } from '#kernel/clock.js';
import { Semaphore } from '#kernel/semaphore.js';
import { transfer } from '#kernel/worker-channel.js';
import { WorkerThread } from '#kernel/worker-thread.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { BatchReport, BundleBatch, ZerostateFile } from '#services/indexer/write/batch-writer.js';
import type { McBlockIdOf } from '#services/indexer/write/chain-continuity.js';

/** What a write thread is started with. */
interface ThreadStart {
  /** Connection URL of the database. */
  readonly url: string;
  readonly partition_rounds: number;
  /** Keys of the indexed accounts; null: all. */
  readonly accounts: BigInt64Array | null;
}

/** The two sides of a write thread: see `WorkerContract`. */
export interface WriteThreadContract {
  readonly start: ThreadStart;
  readonly host: {
    /** Called when most of the batch is written: resolves when the batches before it are committed. */
    awaitPrevious(): Promise<void>;
    /** Version of the rules that a key block set. */
    globalVersion(key_block: number): Promise<number>;
    /** As `McBlockIdOf`. */
    mcBlockId(mc_seqno: number): Promise<BlockId | null>;
  };
  readonly methods: {
    /** Writes a batch, or nothing of it. @throws as `BatchWriter.write` */
    write(batch: PackedBatch): Promise<BatchReport>;
  };
  readonly ready: undefined;
}

/** A batch, packed for the way to a write thread. */
interface PackedBatch {
  readonly packed: PackedBundles;
  readonly zerostates: readonly ZerostateFile[] | null;
  /** As in `BatchOrder`. */
  readonly exclusive: boolean;
}

/** A block in the buffer of a batch: root hash, file hash and file, consecutively. */
interface PackedBlock {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly at: number;
  readonly length: number;
}

/** Bundles as sent to another thread: one buffer, transferred and not copied. */
export interface PackedBundles {
  readonly bundles: readonly { readonly mc_seqno: number; readonly blocks: readonly PackedBlock[] }[];
  readonly bytes: ArrayBuffer;
}

const HASHES_BYTES = 64;

/** Copies the files once: they are views into answers. */
export function packBundles(bundles: readonly McBlockBundle[]): PackedBundles {
  let size = 0;
  for (const { blocks } of bundles) for (const { data } of blocks) size += HASHES_BYTES + data.length;
  const bytes = new Uint8Array(size);
  let at = 0;
  const packed = bundles.map(({ mc_seqno, blocks }) => ({
    mc_seqno,
    blocks: blocks.map(({ id: { workchain, shard, seqno, root_hash, file_hash }, data }) => {
      const block = { workchain, shard, seqno, at, length: data.length };
      bytes.set(root_hash, at);
      bytes.set(file_hash, at + 32);
      bytes.set(data, at + HASHES_BYTES);
      at += HASHES_BYTES + data.length;
      return block;
    }),
  }));
  return { bundles: packed, bytes: bytes.buffer };
}

/** The bundles; all bytes are views of the buffer. */
export function unpackBundles({ bundles, bytes }: PackedBundles): McBlockBundle[] {
  return bundles.map(({ mc_seqno, blocks }) => ({
    mc_seqno,
    blocks: blocks.map(({ at, length, ...position }) => ({
      id: {
        ...position,
        root_hash: new Uint8Array(bytes, at, 32),
        file_hash: new Uint8Array(bytes, at + 32, 32),
      },
      data: new Uint8Array(bytes, at + HASHES_BYTES, length),
    })),
  }));
}

/** What write threads ask about the chain. */
interface ChainAnswers {
  /** The version of the rules that a key block set. */
  globalVersion(key_block: number): Promise<number>;
  readonly mcBlockId: McBlockIdOf;
}

export interface WritePoolModules extends ChainAnswers {
  readonly clock: Clock;
}

/** After so long without a batch a thread ends: one that has filled a chain keeps some 200 MB. */
const IDLE_MS = 20_000;
/** How long it may take to close its connections then. */
const CLOSE_MS = 2_000;

/** An abandoned batch may still wait for a database that does not answer. */
const GIVE_UP_MS = 2000;

/** A pool of threads that write batches in parallel. Threads start on demand, and end when they are not used; a lost one is replaced. */
export class WritePool {
  readonly #start: ThreadStart;
  readonly #modules: WritePoolModules;
  readonly #permits: Semaphore;
  /** Each with the end of its rest; the one that was used last is the last. */
  readonly #idle = new Map<WriteThread, CancelSchedule>();
  readonly #busy = new Set<WriteThread>();
  #closed = false;
  #lost = 0;

  constructor(threads: number, start: ThreadStart, modules: WritePoolModules) {
    this.#start = start;
    this.#modules = modules;
    this.#permits = new Semaphore(threads);
  }

  /** Threads that run. */
  get threads(): number {
    return this.#idle.size + this.#busy.size;
  }

  /** Threads lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Writes a batch on a free thread, entirely or not at all.
   *
   * @param signal abandons the batch where possible, otherwise waits briefly for its end
   * @throws indexer/thread-lost, store/overlap, and as `BatchWriter.write`
   */
  async write(batch: BundleBatch, order: BatchOrder, signal: AbortSignal): Promise<BatchReport> {
    const release = await this.#permits.acquire(signal)!;
    try {
      return await this.#write(this.#take(), batch, order, signal);
    } finally {
      release();
    }
  }

  /** Terminates all threads. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#idle.values()) cancel();
    await Promise.all([...this.#idle.keys(), ...this.#busy].map((thread) => thread.terminate()));
    this.#idle.clear();
  }

  #take(): WriteThread {
    const last = [...this.#idle].at(-1);
    if (last === undefined) return new WriteThread(this.#start, this.#modules);
    const [thread, cancel] = last;
    cancel();
    this.#idle.delete(thread);
    return thread;
  }

  #rest(thread: WriteThread): void {
    const cancel = this.#modules.clock.schedule(IDLE_MS, () => {
      this.#idle.delete(thread);
      void thread.close();
    });
    this.#idle.set(thread, cancel);
  }

  async #write(thread: WriteThread, batch: BundleBatch, order: BatchOrder, signal: AbortSignal): Promise<BatchReport> {
    const { clock } = this.#modules;
    this.#busy.add(thread);
    const ended = new AbortController();
    const giveUp = async (): Promise<void> => {
      await pause(GIVE_UP_MS, clock, ended.signal);
      if (!ended.signal.aborted) await thread.terminate();
    };
    const onAbort = (): void => void giveUp();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await thread.write(batch, order);
    } finally {
      ended.abort();
      signal.removeEventListener('abort', onAbort);
      this.#busy.delete(thread);
      if (!thread.isAlive) this.#lost++;
      else if (this.#closed) void thread.terminate();
      else this.#rest(thread);
    }
  }
}

/** The rows of a batch live as long as the batch: in a small young generation they are copied again and again. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 128 };

/** A thread that writes batches, one at a time. */
class WriteThread {
  readonly #thread: WorkerThread<WriteThreadContract>;
  #awaitPrevious: () => Promise<void> = async () => {};

  constructor(start: ThreadStart, { globalVersion, mcBlockId }: ChainAnswers) {
    this.#thread = new WorkerThread({
      entry: new URL('./thread-main.js', import.meta.url),
      start,
      host: { globalVersion, mcBlockId, awaitPrevious: () => this.#awaitPrevious() },
      lost: (problem) => indexerErrors['thread-lost']({ problem }),
      closed: () => indexerErrors['thread-lost']({ problem: 'it was stopped' }),
      unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
      resourceLimits: RESOURCE_LIMITS,
    });
  }

  get isAlive(): boolean {
    return this.#thread.isAlive;
  }

  /** Writes a batch, or nothing of it. @throws as {@link WritePool.write} */
  write({ bundles, zerostates }: BundleBatch, { exclusive, awaitPrevious }: BatchOrder): Promise<BatchReport> {
    this.#awaitPrevious = awaitPrevious;
    const packed = packBundles(bundles as readonly McBlockBundle[]);
    return this.#thread.call.write(transfer({ packed, zerostates, exclusive }, [packed.bytes]));
  }

  close(): Promise<void> {
    return this.#thread.close(CLOSE_MS);
  }

  terminate(): Promise<void> {
    return this.#thread.terminate();
  }
}
