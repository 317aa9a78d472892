import { isTransient } from '#drivers/store/connection.js';
import type { Database } from '#drivers/store/database.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { seqnoOfId } from '#drivers/store/keys.js';
import {
  classifiable,
  countClassificationQueue,
  nextQueuedTraces,
  nextUnclassified,
  postponeClassification,
  queueClassification,
  removeQueuedTraces,
  type TraceToClassify,
  tracesEndingIn,
} from '#drivers/store/write/actions.js';
import { isDetectionDue } from '#drivers/store/write/contract-queue.js';
import { countUnderived, markDerived } from '#drivers/store/write/derivations.js';
import { ensurePartitions, partitionsOf } from '#drivers/store/write/partitions.js';
import type { ClassifyPace, ClassifySums } from '#services/indexer/actions/classify-protocol.js';
import type {
  ClassifiedPage,
  FailedTrace,
  TraceClassification,
} from '#services/indexer/actions/trace-classification.js';
import { WakeLoop, type WakeLoopModules } from '#services/indexer/wake-loop.js';

export interface ClassifyLoopOptions {
  /** Key of the derivation in the table `derivations`. */
  readonly key: string;
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** Long traces of the queue only; otherwise all others. */
  readonly isLong: boolean;
  /** Traces with more transactions are long: a thread of their own classifies them. Default: {@link LONG_TRACE}. */
  readonly longTrace?: number;
}

export interface ClassifyLoopModules extends WakeLoopModules {
  readonly database: Database;
  readonly classification: Pick<TraceClassification, 'classify' | 'write'>;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly onClassified: (sums: ClassifySums) => void;
  readonly onLong: () => void;
  readonly onIdle: (wake: number, left: number) => void;
  readonly onFailed: (traces: readonly FailedTrace[]) => void;
}

/** Transactions of a trace above which others would wait too long for it. */
const LONG_TRACE = 500;
/** Transactions that are classified together, a long trace apart: about 0.1 s. */
const PAGE_TRANSACTIONS = 500;
/** Traces taken from the queue at a time. */
const QUEUE_PAGE = 256;
/** Masterchain blocks of one step, adapted to the transactions in them. */
const FIRST_MC_BLOCKS = 16;
const MOST_MC_BLOCKS = 4096;

/** Classifies traces while any are due, and then waits. Each step is one database transaction with its progress. */
export class ClassifyLoop extends WakeLoop<ClassifyPace> {
  readonly #options: ClassifyLoopOptions;
  readonly #modules: ClassifyLoopModules;
  readonly #partitions = new Set<number>();
  readonly #longTrace: number;
  #mcBlocks = FIRST_MC_BLOCKS;

  constructor(options: ClassifyLoopOptions, modules: ClassifyLoopModules) {
    super({ freshFrom: null }, modules);
    this.#options = options;
    this.#modules = modules;
    this.#longTrace = options.longTrace ?? LONG_TRACE;
  }

  protected async step(): Promise<boolean> {
    const didBlocks = !this.#options.isLong && (await this.#nextBlocks());
    const didQueued = await this.#nextQueued();
    return didBlocks || didQueued;
  }

  protected async idle(wake: number): Promise<void> {
    const { database, onIdle, onLong } = this.#modules;
    const { isLong, key } = this.#options;
    const { queue, underived } = await database.withWriter(async (client) => ({
      queue: await countClassificationQueue(client),
      underived: isLong ? 0 : await countUnderived(client, key),
    }));
    // Also those that a process before this one has queued.
    if (!isLong && queue.long > 0) onLong();
    onIdle(wake, isLong ? queue.soonLong : queue.soonShort + underived);
  }

  /** Classifies the traces that end in the next masterchain blocks. @returns whether there were any blocks */
  async #nextBlocks(): Promise<boolean> {
    const { database } = this.#modules;
    const { key } = this.#options;
    const { freshFrom } = this.pace;
    const most = this.#mcBlocks;
    const range = await database.withWriter(async (client) => {
      if (freshFrom !== null) {
        const fresh = await nextUnclassified(client, key, { from: freshFrom, most, newestFirst: false });
        if (fresh !== null) return fresh;
      }
      if (await isDetectionDue(client)) return null;
      return nextUnclassified(client, key, { from: 0, most, newestFirst: true });
    });
    if (range === null) return false;
    const traces = await database.withWriter((client) => tracesEndingIn(client, range));
    const short = traces.filter(({ nodes }) => nodes <= this.#longTrace);
    const long = traces.filter(({ nodes }) => nodes > this.#longTrace).map(({ root }) => root);
    const pages = pagesOf(short);
    for (const page of pages.slice(0, -1)) await this.#classify(page, async () => {});
    await this.#classify(pages.at(-1) ?? [], async (client) => {
      await queueClassification(client, long, { isLong: true });
      await markDerived(client, key, range);
    });
    if (long.length > 0) this.#modules.onLong();
    this.#adapt(range, short);
    return true;
  }

  #adapt(range: SeqnoRange, traces: readonly TraceToClassify[]): void {
    const work = traces.reduce((sum, { nodes }) => sum + nodes, 0);
    const blocks = range.to - range.from + 1;
    if (work > PAGE_TRANSACTIONS) this.#mcBlocks = Math.max(1, blocks >> 1);
    else if (work < PAGE_TRANSACTIONS / 2)
      this.#mcBlocks = Math.min(MOST_MC_BLOCKS, Math.max(this.#mcBlocks, blocks * 2));
  }

  /** Classifies due traces of the queue. @returns whether there were any */
  async #nextQueued(): Promise<boolean> {
    const { database, unixTime } = this.#modules;
    const { isLong } = this.#options;
    const most = isLong ? 1 : QUEUE_PAGE;
    const queued = await database.withWriter((client) => nextQueuedTraces(client, { isLong, now: unixTime() }, most));
    if (queued.length === 0) return false;
    const roots = queued.map(({ root }) => root);
    const traces = await database.withWriter((client) => classifiable(client, roots));
    const known = new Set(traces.map(({ root }) => root));
    const entries = new Map(queued.map((entry) => [entry.root, entry]));
    const gone = queued.filter(({ root }) => !known.has(root));
    if (gone.length > 0) await database.withWriter((client) => removeQueuedTraces(client, gone));
    const long = isLong ? [] : traces.filter(({ nodes }) => nodes > this.#longTrace).map(({ root }) => root);
    if (long.length > 0) {
      await database.withWriter((client) => queueClassification(client, long, { isLong: true }));
      this.#modules.onLong();
    }
    for (const page of pagesOf(traces.filter(({ root }) => !long.includes(root)))) {
      await this.#classify(page, (client, roots) =>
        removeQueuedTraces(
          client,
          roots.map((root) => entries.get(root)!),
        ),
      );
    }
    return true;
  }

  /**
   * Classifies traces and writes them in one transaction.
   *
   * @param also written in the same transaction; the roots are those that the database takes
   */
  async #classify(
    traces: readonly TraceToClassify[],
    also: (client: Parameters<Parameters<Database['transaction']>[0]>[0], roots: readonly bigint[]) => Promise<void>,
  ): Promise<void> {
    const { database, classification, clock, unixTime, onClassified, onFailed } = this.#modules;
    const startedAt = clock.now();
    const roots = traces.map(({ root }) => root);
    await this.#ensurePartitions(roots);
    let page: ClassifiedPage | null = null;
    let given: readonly bigint[] = roots;
    for (let isRetry = false; ; isRetry = true) {
      try {
        await database.transaction(async (client) => {
          page = given.length === 0 ? null : await classification.classify(client, given);
          if (page !== null) await classification.write(client, page);
          await also(client, given);
          if (given.length < roots.length)
            await postponeClassification(
              client,
              roots.filter((root) => !given.includes(root)),
              unixTime(),
            );
        });
        break;
      } catch (error) {
        // What the database refuses of one trace must not hold up all others.
        if (isRetry || isTransient(error) || traces.length === 0) throw error;
        this.#modules.onTrouble(error);
        given = await this.#withoutRefused(roots);
      }
    }
    const done = page as ClassifiedPage | null;
    if (done === null) return;
    if (done.failed.length > 0) onFailed(done.failed);
    onClassified({
      traces: done.traces.length,
      transactions: done.transactions,
      actions: done.traces.reduce((sum, { actions }) => sum + actions.length, 0),
      failed: done.failed.length,
      past: done.past.length,
      seconds: (clock.now() - startedAt) / 1000,
      nearMisses: done.nearMisses,
    });
  }

  /** Traces that can be written by themselves. */
  async #withoutRefused(roots: readonly bigint[]): Promise<readonly bigint[]> {
    const { database, classification } = this.#modules;
    const accepted: bigint[] = [];
    for (const root of roots) {
      try {
        await database.transaction(async (client) =>
          classification.write(client, await classification.classify(client, [root])),
        );
        accepted.push(root);
      } catch (error) {
        if (isTransient(error)) throw error;
      }
    }
    return accepted;
  }

  async #ensurePartitions(roots: readonly bigint[]): Promise<void> {
    const { partition_rounds } = this.#options;
    for (const root of roots) {
      const seqno = seqnoOfId(root);
      const range = { from: seqno, to: seqno };
      const [partition] = partitionsOf(range, partition_rounds) as [number];
      if (this.#partitions.has(partition)) continue;
      await this.#modules.database.withWriter((client) => ensurePartitions(client, range, partition_rounds));
      this.#partitions.add(partition);
    }
  }
}

/** Traces in pages of about {@link PAGE_TRANSACTIONS} transactions. */
function pagesOf(traces: readonly TraceToClassify[]): TraceToClassify[][] {
  const pages: TraceToClassify[][] = [];
  let sum = Number.POSITIVE_INFINITY;
  for (const trace of traces) {
    if (sum + trace.nodes > PAGE_TRANSACTIONS) {
      pages.push([]);
      sum = 0;
    }
    pages.at(-1)!.push(trace);
    sum += trace.nodes;
  }
  return pages;
}
