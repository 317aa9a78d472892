import type { IndexEvent, IndexEventFeed } from '#drivers/store/event-log.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexedTransaction, IndexReadOptions } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printBlockId } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';
import type { PendingTraces } from '#services/pending/pending-traces.js';

export interface FollowIndexModules {
  readonly traces: PendingTraces;
  readonly feed: Pick<IndexEventFeed, 'subscribe'>;
  readonly index: Pick<IndexPort, 'transactionsByMessage' | 'transactionsOfTraces'>;
  /** The newest indexed masterchain block: its gen_utime; null while it is not known. */
  readonly head: () => { readonly mc_seqno: number; readonly gen_utime: number | null } | null;
  /** The newest masterchain block that the network has; null: that cannot be said now. */
  readonly newestSeqno: () => number | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Messages that are looked up at once. */
const MESSAGES_AT_ONCE = 100;

/** Transactions of a trace that are read; live traces keep fewer. */
const MOST_OF_TRACE = 4_000;

const QUERY_MS = 5_000;
const RETRY_MS = 200;

/** Awaited messages are looked up so often, in case no event came of them: they were committed before this process knew them. */
const LOOK_MS = 5_000;

/** Messages that are looked up each time. */
const MOST_LOOKED_UP = 1_000;

/** Roots of live traces that are remembered. */
const MOST_ROOTS = 100_000;

/** Brings what becomes final from the index into live traces: from its event log, as it is committed. */
export class FollowIndex {
  readonly #modules: FollowIndexModules;
  readonly #stop = new AbortController();
  /** Trace ids by the roots that the index gives traces. */
  readonly #roots = new Map<bigint, Uint8Array>();
  readonly #looking: Polling;
  /** How many awaited messages were looked up since the first of them. */
  #lookedUp = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(modules: FollowIndexModules) {
    this.#modules = modules;
    this.#looking = new Polling((signal) => this.#look(signal), modules.clock);
  }

  start(): void {
    this.#running = this.#run();
    this.#looking.start(LOOK_MS);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#looking.close(), this.#running]);
  }

  async #run(): Promise<void> {
    const { feed } = this.#modules;
    for await (const events of feed.subscribe('now', this.#stop.signal)) {
      for (const event of events) await this.#retried(() => this.#handle(event));
    }
  }

  /** @returns the milliseconds until the next time */
  async #look(signal: AbortSignal): Promise<number> {
    const { traces, head, newestSeqno, logger } = this.#modules;
    if (traces.isIdle) return LOOK_MS;
    const indexed = head();
    const awaited = traces.awaitedAmong(null);
    const from = this.#lookedUp < awaited.length ? this.#lookedUp : 0;
    const hashes = awaited.slice(from, from + MOST_LOOKED_UP);
    try {
      await this.#applyReceived(hashes);
      this.#lookedUp = from + hashes.length;
      const newest = newestSeqno();
      const isAll =
        hashes.length === awaited.length && indexed !== null && newest !== null && indexed.mc_seqno >= newest;
      if (isAll) traces.stalled(indexed);
    } catch (error) {
      const problem = isTernError(error) ? error.message : String(error);
      if (!signal.aborted) logger.warn('awaited messages cannot be looked up in the index; retrying', { problem });
    }
    return LOOK_MS;
  }

  /** An event that is left out would leave traces pending. */
  async #retried(handle: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.#modules;
    const { signal } = this.#stop;
    for (let isReported = false; !signal.aborted; ) {
      try {
        await handle();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const problem = isTernError(error) ? error.message : String(error);
        if (!isReported) logger.warn('live traces cannot be read from the index; retrying', { problem });
        isReported = true;
        await pause(RETRY_MS, clock, signal);
      }
    }
  }

  async #handle({ kind, range, touched }: IndexEvent): Promise<void> {
    const { traces, head } = this.#modules;
    if (kind === 'derived') {
      for (const root of touched?.traces ?? []) {
        const trace_id = this.#roots.get(root);
        if (trace_id === undefined) continue;
        // A trace that goes on is remembered again with its next block.
        this.#roots.delete(root);
        traces.indexed(trace_id);
      }
      return;
    }
    const hashes = traces.awaitedAmong(kind === 'committed' ? (touched?.messages ?? null) : null);
    await this.#applyReceived(hashes);
    traces.touched(kind === 'committed' ? (touched?.messages ?? null) : null);
    if (kind !== 'committed' || range === null) return;
    const newest = head();
    const accounts = touched === null ? null : new Set(touched.accounts);
    traces.applied({
      mc_seqno: range.to,
      // Blocks that come after this one may have the message, and are not later than the newest.
      gen_utime: newest !== null && newest.mc_seqno <= range.to ? newest.gen_utime : null,
      touches: (account_key) => accounts?.has(account_key) ?? true,
    });
  }

  /** Puts the indexed transactions of messages, and of the rest of their traces, in place. */
  async #applyReceived(hashes: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < hashes.length; at += MESSAGES_AT_ONCE) {
      this.#modules.traces.apply(await this.#tracesOf(hashes.slice(at, at + MESSAGES_AT_ONCE)));
    }
  }

  /** All indexed transactions of the traces in which some messages were received. */
  async #tracesOf(hashes: readonly Uint8Array[]): Promise<readonly LiveTransaction[]> {
    const { index } = this.#modules;
    const options: IndexReadOptions = { signal: this.#stop.signal, timeoutMs: QUERY_MS };
    const page = { limit: hashes.length, offset: 0, sort: 'asc', cursor: null } as const;
    const { rows } = await index.transactionsByMessage({ msg_hash: hashes, direction: 'in' }, page, options);
    const roots = [...new Set(rows.map(({ trace_root }) => trace_root))];
    if (roots.length === 0) return [];
    for (const { trace_root, trace_id } of rows) if (trace_id !== null) this.#remember(trace_root, trace_id);
    const all = await index.transactionsOfTraces(roots, MOST_OF_TRACE, options);
    // Of a trace with too many transactions there are only those that were found.
    return roots.flatMap((root) => {
      const found = all.get(root) ?? [];
      return (found.length > 0 ? found : rows.filter(({ trace_root }) => trace_root === root)).map(liveTransactionOf);
    });
  }

  #remember(root: bigint, trace_id: Uint8Array): void {
    this.#roots.set(root, trace_id);
    if (this.#roots.size > MOST_ROOTS) this.#roots.delete(this.#roots.keys().next().value!);
  }
}

/** A transaction of the index. */
export function liveTransactionOf({ cell, block, mc_seqno, global_version }: IndexedTransaction): LiveTransaction {
  const { account_addr } = decodeCell(Transaction, cell);
  const account = Address.ofParts(block.workchain, account_addr);
  return { finality: 'finalized', cell, account, mc_seqno, block, global_version, before: null, after: null };
}

export interface FollowShardsModules {
  readonly traces: PendingTraces;
  readonly chain: Pick<ChainReads, 'pendingShardBlocks' | 'pendingShardBlock' | 'provenSeqno'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Pending shard blocks are queried so often while messages are pending. */
const PENDING_LOOK_MS = 150;

/** While none is pending: the next one ends the pause. */
const IDLE_MS = 600_000;

/** The same where servers do not support the query. */
const RETRY_UNSUPPORTED_MS = 600_000;

const PENDING_QUERY_MS = 2_000;

/** Blocks that were read, by id. */
const MOST_SEEN = 4_096;
const MOST_AT_ONCE = 16;

/**
 * Brings transactions of shard blocks that validators have signed, but the masterchain has not committed, into live traces: `confirmed`.
 * Nothing of that is proven. It is only asked for while messages are pending.
 */
export class FollowShards {
  readonly #modules: FollowShardsModules;
  readonly #polling: Polling;
  readonly #seen = new Set<string>();
  /** Clock milliseconds: before, servers are not asked again. */
  #unsupportedUntil = Number.NEGATIVE_INFINITY;
  #isReported = false;

  constructor(modules: FollowShardsModules) {
    this.#modules = modules;
    this.#polling = new Polling((signal) => this.#poll(signal), modules.clock);
  }

  start(): void {
    this.#modules.traces.onAwaited(() => this.#polling.wake());
    this.#polling.start();
  }

  close(): Promise<void> {
    return this.#polling.close();
  }

  /** @returns the milliseconds until the next time */
  async #poll(signal: AbortSignal): Promise<number> {
    const { traces, clock, logger } = this.#modules;
    if (traces.isIdle) return IDLE_MS;
    const unsupportedMs = this.#unsupportedUntil - clock.now();
    if (unsupportedMs > 0) return unsupportedMs;
    try {
      await this.#look(signal);
    } catch (error) {
      if (!this.#isReported && !signal.aborted) {
        const problem = isTernError(error) ? error.message : String(error);
        logger.info('no confirmed transactions: liteservers do not list pending shard blocks', { problem });
        this.#isReported = true;
      }
      if (isTernError(error, 'lite/answer-error')) {
        this.#unsupportedUntil = clock.now() + RETRY_UNSUPPORTED_MS;
        return RETRY_UNSUPPORTED_MS;
      }
    }
    return PENDING_LOOK_MS;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { traces, chain } = this.#modules;
    const options = { deadlineMs: PENDING_QUERY_MS, signal };
    const ids = await chain.pendingShardBlocks(options);
    const fresh = ids.filter((id) => !this.#seen.has(printBlockId(id))).slice(0, MOST_AT_ONCE);
    const blocks = await Promise.all(fresh.map((id) => chain.pendingShardBlock(id, options)));
    for (const id of fresh) this.#remember(id);
    const mc_seqno = chain.provenSeqno + 1;
    for (const block of blocks.toSorted((a, b) => a.id.seqno - b.id.seqno)) {
      traces.apply(confirmedTransactions(block, mc_seqno));
    }
  }

  #remember(id: BlockId): void {
    this.#seen.add(printBlockId(id));
    if (this.#seen.size > MOST_SEEN) this.#seen.delete(this.#seen.values().next().value!);
  }
}

/** The transactions of a block. @param mc_seqno of the masterchain block that is expected to commit it */
function confirmedTransactions({ id, block }: BlockHeader, mc_seqno: number): readonly LiveTransaction[] {
  const { workchain, shard, seqno } = id;
  const found: LiveTransaction[] = [];
  for (const [account_addr, { transactions }] of block.extra.value.account_blocks.value) {
    const account = Address.ofParts(workchain, account_addr);
    for (const [, { cell }] of transactions) {
      found.push({
        ...{ finality: 'confirmed', cell, account, mc_seqno, block: { workchain, shard, seqno } },
        ...{ global_version: block.info.value.gen_software?.version ?? 0, before: null, after: null },
      });
    }
  }
  return found;
}
