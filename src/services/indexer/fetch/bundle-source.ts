import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type BlockId, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { BlockFileRead } from '#services/chain/blocks.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { isNotAvailable } from '#services/chain/read-context.js';
import { BundleBackfill, BundleSegment, LinkedAbort, type SegmentReads } from '#services/indexer/fetch/backfill.js';
import { FetchRates } from '#services/indexer/fetch/fetch-limits.js';
import {
  type CommittedShardTops,
  type McBlockBundle,
  NO_SHARD_TOPS,
  shardTopsOf,
} from '#services/indexer/fetch/mc-block-bundle.js';
import { type FetchOptions, fetchOptions, requireWholeNumber } from '#services/indexer/options.js';
import { RetryingReads } from '#services/indexer/retries.js';

export interface BundleSourceModules {
  readonly chain: Pick<ChainReads, 'waitForHead' | 'blockId' | 'blockFile' | 'accountAfter'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An account after a block. */
export interface AccountAtBlock {
  /** Bag with the `Account` cell; `null` when there is no such account. */
  readonly account: Uint8Array | null;
  /** As the shard's state tells it. */
  readonly last_transaction: TransactionRef | null;
}

/** So many masterchain blocks are remembered by what they commit. */
const KNOWN_TOPS = 16;

const MAX_SEQNO = 0xffffffff;

/**
 * Verified rounds from liteservers. A block's file is checked by its file hash, which a proven block names: the masterchain
 * block after it, the one that commits it, or a block of its shard after it. One proof is asked for a whole stretch.
 * Nothing of it fills the memory for answers that others may want.
 */
export class BundleSource {
  readonly #options: FetchOptions;
  readonly #modules: BundleSourceModules;
  readonly #reads: RetryingReads;
  readonly #pace = new FetchRates();
  /** By seqno of the masterchain, in the order in which they were read. */
  readonly #known = new Map<number, CommittedShardTops>([[0, NO_SHARD_TOPS]]);

  /** @throws indexer/parameter when an option is out of range */
  constructor(options: Partial<FetchOptions>, modules: BundleSourceModules) {
    this.#options = fetchOptions(options);
    this.#modules = modules;
    this.#reads = new RetryingReads(this.#options, modules.clock, modules.logger);
  }

  /** What does not come at the moment, what is missing and what to do; `null` when all is well. */
  get problem(): TernError | null {
    return this.#reads.problem;
  }

  /**
   * One round, as soon as there is its masterchain block. What servers do wrong is asked for again until the signal is given.
   * @throws indexer/parameter, chain/aborted, chain/two-blocks
   */
  async round(mc_seqno: number, signal?: AbortSignal): Promise<McBlockBundle> {
    requireWholeNumber('mc_seqno', mc_seqno, 1, MAX_SEQNO);
    const stop = new LinkedAbort(signal);
    try {
      const stretch = new BundleSegment(mc_seqno, mc_seqno, this.#until(stop.signal));
      const [round] = await stretch.rounds;
      this.#remember(mc_seqno, await stretch.lastTops);
      return round!;
    } finally {
      stop.stop();
    }
  }

  /**
   * The rounds from one masterchain block to another, in their order; as many are fetched ahead as the options say. What
   * is not taken any more is not fetched any more.
   *
   * @throws as {@link BundleSource.round}
   */
  rounds(from: number, to: number, signal?: AbortSignal): AsyncGenerator<McBlockBundle, void, undefined> {
    requireWholeNumber('from', from, 1, MAX_SEQNO);
    requireWholeNumber('to', to, from, MAX_SEQNO);
    const { clock } = this.#modules;
    const modules = { clock, pace: this.#pace, reads: (until: AbortSignal) => this.#until(until), signal };
    return new BundleBackfill({ from, to }, this.#options, modules).rounds();
  }

  /**
   * An account after a block of a round, proven; `null` when no server has such a state any more.
   *
   * @param block of the masterchain, or of the account's shard
   * @param mc_seqno of the round
   * @throws chain/parameter, chain/aborted
   */
  async accountAt(
    address: Address,
    block: BlockId,
    mc_seqno: number,
    signal?: AbortSignal,
  ): Promise<AccountAtBlock | null> {
    const { chain } = this.#modules;
    const wanted = { name: () => `account ${address.toRaw()} after block ${printPosition(block)}`, round: mc_seqno };
    const proven = { id: block, gen_utime: null, mc_seqno };
    return this.#reads.read(
      wanted,
      async (options) => {
        try {
          const read = await chain.accountAfter(address, proven, { ...options, proof: true });
          const { cell, last_transaction, proof } = read;
          // Of an account in a zerostate there is no answer, but the state as a whole.
          const account = cell === null ? null : (proof?.state.slice() ?? serializeBoc(cell));
          return { account, last_transaction };
        } catch (error) {
          if (isTernError(error) && isNotAvailable(error)) return null;
          throw error;
        }
      },
      signal,
    );
  }

  #until(signal: AbortSignal): SegmentReads {
    return {
      proven: (seqno) => this.#proven(seqno, signal),
      file: (id, mc_seqno) => this.#file(id, mc_seqno, signal),
      before: (first) => this.#before(first, signal),
    };
  }

  /** The id of a masterchain block, as soon as there is one. */
  async #proven(seqno: number, signal: AbortSignal): Promise<BlockId> {
    const { chain } = this.#modules;
    const position = { ...MASTERCHAIN_SHARD, seqno };
    const wanted = { name: () => `block ${printPosition(position)}`, round: seqno };
    return this.#reads.read(
      wanted,
      async (options) => {
        const deadlineMs = Math.max(options.deadlineMs ?? 0, this.#options.headWaitMs);
        const { block } = await chain.waitForHead(seqno, { ...options, deadlineMs });
        return block.seqno === seqno ? block : chain.blockId(seqno, options);
      },
      signal,
    );
  }

  #file(id: BlockId, mc_seqno: number, signal: AbortSignal): Promise<BlockFileRead> {
    const wanted = { name: () => `block ${printPosition(id)}`, round: mc_seqno };
    const block = { id, gen_utime: null, mc_seqno };
    return this.#reads.read(wanted, (options) => this.#modules.chain.blockFile(block, options), signal);
  }

  /** What the masterchain block before commits. */
  async #before(first: BlockFileRead, signal: AbortSignal): Promise<CommittedShardTops> {
    const prev = first.header.prev[0]!;
    const known = this.#known.get(prev.seqno);
    if (known !== undefined) return known;
    const tops = shardTopsOf(await this.#file(prev, prev.seqno, signal));
    this.#remember(prev.seqno, tops);
    return tops;
  }

  #remember(seqno: number, tops: CommittedShardTops): void {
    this.#known.set(seqno, tops);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_TOPS) return;
      if (oldest > 0) this.#known.delete(oldest);
    }
  }
}
