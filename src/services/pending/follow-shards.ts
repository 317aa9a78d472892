import { Address } from '#formats/address/address.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printBlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';
import type { PendingTraces } from '#services/pending/pending-traces.js';

export interface FollowShardsModules {
  readonly traces: PendingTraces;
  readonly chain: Pick<ChainReads, 'pendingShardBlocks' | 'pendingShardBlock' | 'provenSeqno'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Pending shard blocks are queried so often while messages are pending. */
const LOOK_MS = 150;

/** While none is pending: the next one ends the pause. */
const IDLE_MS = 600_000;

/** The same where servers do not support the query. */
const RETRY_UNSUPPORTED_MS = 600_000;

const QUERY_MS = 2_000;

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
    return LOOK_MS;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { traces, chain } = this.#modules;
    const options = { deadlineMs: QUERY_MS, signal };
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
