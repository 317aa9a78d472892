import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type BlockId, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import { toHex } from '#kernel/bytes.js';
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
  /** BoC of the `Account` cell; `null` when there is no such account. */
  readonly account: Uint8Array | null;
  /** From the shard state. */
  readonly last_transaction: TransactionRef | null;
}

/** Number of masterchain blocks whose shard tops are cached. */
const KNOWN_TOPS = 16;

const MAX_SEQNO = 0xffffffff;

/**
 * Verified bundles from liteservers. A block file is checked against its file hash, which comes from a proven block: the next
 * masterchain block, the masterchain block that commits it, or the next block of its shard. One proof covers a whole segment.
 * Block files do not enter the shared answer cache.
 */
export class BundleSource {
  readonly #options: FetchOptions;
  readonly #modules: BundleSourceModules;
  readonly #reads: RetryingReads;
  readonly #rates = new FetchRates();
  /** Shard tops by root hash of the masterchain block in hex, in order of reading. */
  readonly #known = new Map<string, CommittedShardTops>();

  /** @throws indexer/parameter when an option is out of range */
  constructor(options: Partial<FetchOptions>, modules: BundleSourceModules) {
    this.#options = fetchOptions(options);
    this.#modules = modules;
    this.#reads = new RetryingReads(this.#options, modules.clock, modules.logger);
  }

  /** The read that keeps failing, with its remedy; `null` when all is well. */
  get problem(): TernError | null {
    return this.#reads.problem;
  }

  /**
   * One bundle, as soon as its masterchain block exists. Failures of servers are retried until the signal is aborted.
   * @throws indexer/parameter, chain/aborted, chain/two-blocks
   */
  async bundle(mc_seqno: number, signal?: AbortSignal): Promise<McBlockBundle> {
    requireWholeNumber('mc_seqno', mc_seqno, 1, MAX_SEQNO);
    const stop = new LinkedAbort(signal);
    try {
      const segment = new BundleSegment(mc_seqno, mc_seqno, this.#until(stop.signal));
      const bundle = (await segment.bundles)[0]!;
      this.#remember(bundle.blocks[0]!.id, await segment.lastTops);
      return bundle;
    } finally {
      stop.stop();
    }
  }

  /**
   * The bundles of a range in ascending order, fetched ahead within the limits of the options. Fetching stops when the
   * consumer stops.
   *
   * @throws as {@link BundleSource.bundle}
   */
  bundles(from: number, to: number, signal?: AbortSignal): AsyncGenerator<McBlockBundle, void, undefined> {
    requireWholeNumber('from', from, 1, MAX_SEQNO);
    requireWholeNumber('to', to, from, MAX_SEQNO);
    const { clock } = this.#modules;
    const modules = { clock, rates: this.#rates, reads: (until: AbortSignal) => this.#until(until), signal };
    return new BundleBackfill({ from, to }, this.#options, modules).bundles();
  }

  /**
   * A proven account state after a block; `null` when no server has that state any more.
   *
   * @param block a masterchain block, or a block of the account's shard
   * @param mc_seqno of the masterchain block that commits it
   * @throws chain/parameter, chain/aborted
   */
  async accountAt(
    address: Address,
    block: BlockId,
    mc_seqno: number,
    signal?: AbortSignal,
  ): Promise<AccountAtBlock | null> {
    const { chain } = this.#modules;
    const wanted = { name: () => `account ${address.toRaw()} after block ${printPosition(block)}`, mc_seqno: mc_seqno };
    const proven = { id: block, gen_utime: null, mc_seqno };
    return this.#reads.read(
      wanted,
      async (options) => {
        try {
          const read = await chain.accountAfter(address, proven, { ...options, proof: true });
          const { cell, last_transaction, proof } = read;
          // For an account in a zerostate there is no proof, only the state itself.
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

  /** The proven id of a masterchain block, as soon as it exists. */
  async #proven(seqno: number, signal: AbortSignal): Promise<BlockId> {
    const { chain } = this.#modules;
    const position = { ...MASTERCHAIN_SHARD, seqno };
    const wanted = { name: () => `block ${printPosition(position)}`, mc_seqno: seqno };
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
    const wanted = { name: () => `block ${printPosition(id)}`, mc_seqno: mc_seqno };
    const block = { id, gen_utime: null, mc_seqno };
    return this.#reads.read(wanted, (options) => this.#modules.chain.blockFile(block, options), signal);
  }

  /** Shard tops of the previous masterchain block. */
  async #before(first: BlockFileRead, signal: AbortSignal): Promise<CommittedShardTops> {
    const prev = first.header.prev[0]!;
    if (prev.seqno === 0) return NO_SHARD_TOPS;
    const known = this.#known.get(toHex(prev.root_hash));
    if (known !== undefined) return known;
    const tops = shardTopsOf(await this.#file(prev, prev.seqno, signal));
    this.#remember(prev, tops);
    return tops;
  }

  #remember({ root_hash }: BlockId, tops: CommittedShardTops): void {
    this.#known.set(toHex(root_hash), tops);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_TOPS) return;
      this.#known.delete(oldest);
    }
  }
}
