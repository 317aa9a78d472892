import type { Address } from '#formats/address/address.js';
import { type BlockId, type Shard, sameBlock } from '#formats/proofs/block-id.js';
import type { ProvenShard } from '#formats/proofs/shard-block.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ShardTopReader } from '#services/chain/block-lookup.js';
import type { BlockDataReader } from '#services/chain/blocks.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';
import type { ReadContext } from '#services/chain/read-context.js';

/** Masterchain blocks that are caught up with at once; after more, all is forgotten. */
const MAX_GAP = 8;

/** Shard blocks that are read at once for that. */
const MAX_BLOCKS = 512;

/** Changed accounts that are remembered. */
const MAX_ACCOUNTS = 100_000;

/** Masterchain blocks that nothing is read of after a failure. */
const PAUSE = 8;

/** The blocks may take so long, in milliseconds. */
const FOLLOW_MS = 1_000;

/** Reads wait for the blocks when those before took no longer: an answer of a liteserver about one account takes about as long. */
const WAIT_MS = 50;

export interface ChangedAccountsModules {
  readonly shardTops: Pick<ShardTopReader, 'all'>;
  readonly blockData: Pick<BlockDataReader, 'blockFile'>;
  readonly newContext: (deadlineMs: number) => ReadContext;
  readonly clock: Pick<Clock, 'now'>;
}

interface FollowedBlock {
  readonly id: BlockId;
  readonly tops: readonly ProvenShard[];
}

/**
 * Which accounts of workchains the blocks since some masterchain block have transactions of. Nothing but a transaction changes an
 * account. All shard blocks between the shard tops of two masterchain blocks are read, each verified by the hashes in its
 * successor or in the masterchain state. They are read only while reads ask for it: for few accounts, states cost less.
 */
export class ChangedAccounts {
  readonly #modules: ChangedAccountsModules;
  #last: FollowedBlock | null = null;
  /** Seqno of the first block since which all transactions are known. */
  #since = 0;
  /** By raw address: seqno of a masterchain block that commits the last transaction, or of a later one. */
  readonly #changed = new Map<string, number>();
  #wanted = { seqno: 0, times: 0 };
  /** After a failure, nothing is read before the head is beyond this seqno: reads have waited for it. */
  #pausedTo = 0;
  #following: Promise<void> | null = null;
  /** What the last blocks took. */
  #tookMs = 0;

  constructor(modules: ChangedAccountsModules) {
    this.#modules = modules;
  }

  /**
   * The shard top of an account after the last followed masterchain block.
   *
   * @returns null when another block is asked for, or when the workchain does not exist or has no block
   */
  topAt({ id }: ProvenBlock, { workchain, hash }: Address): ProvenShard | null {
    if (this.#last === null || !sameBlock(this.#last.id, id)) return null;
    const prefix = accountPrefix(hash);
    const holds = ({ entry }: ProvenShard) => entry.workchain === workchain && shardContains(entry.shard, prefix);
    const top = this.#last.tops.find(holds);
    return top === undefined || top.block.seqno === 0 ? null : top;
  }

  /** Whether it is known that no block after masterchain block `seqno`, up to the last followed one, has a transaction of the account. */
  isUnchanged(address: string, seqno: number): boolean {
    return this.#last !== null && seqno >= this.#since && (this.#changed.get(address) ?? 0) <= seqno;
  }

  /**
   * Asks for the blocks up to a masterchain block. Once as many reads have asked as blocks have to be read, they are.
   *
   * @returns a promise of when they have been read, whether or not that succeeded; undefined when they are not, or when that takes
   *   too long to wait for it
   */
  follow({ id }: ProvenBlock): Promise<void> | undefined {
    if (this.#following !== null) return this.#quickly(this.#following);
    if (id.seqno <= Math.max(this.#last?.id.seqno ?? 0, this.#pausedTo)) return undefined;
    if (this.#wanted.seqno !== id.seqno) this.#wanted = { seqno: id.seqno, times: 0 };
    if (++this.#wanted.times < this.#worth(id)) return undefined;
    const { clock } = this.#modules;
    const began = clock.now();
    this.#following = this.#followTo(id).finally(() => {
      this.#following = null;
      this.#tookMs = clock.now() - began;
    });
    return this.#quickly(this.#following);
  }

  #quickly(following: Promise<void>): Promise<void> | undefined {
    if (this.#tookMs <= WAIT_MS) return following;
    // Nobody may wait for it: a failure must not end the process.
    following.catch(() => {});
    return undefined;
  }

  /** Reads that blocks up to this one are worth. */
  #worth({ seqno }: BlockId): number {
    const last = this.#last;
    const gap = last === null ? 0 : seqno - last.id.seqno;
    return gap > MAX_GAP ? 2 : Math.max(2, gap * (last?.tops.length ?? 0));
  }

  async #followTo(id: BlockId): Promise<void> {
    const { shardTops, newContext } = this.#modules;
    const last = this.#last;
    try {
      const context = newContext(FOLLOW_MS);
      const { value: tops } = await shardTops.all(context, { id, gen_utime: null, mc_seqno: id.seqno });
      const isFar = last === null || id.seqno - last.id.seqno > MAX_GAP;
      const changed = isFar ? null : await this.#changedBetween(context, last.tops, tops, id.seqno);
      if (changed === null) this.#forget(id.seqno);
      else for (const address of changed) this.#changed.set(address, id.seqno);
      this.#last = { id, tops };
      if (this.#changed.size > MAX_ACCOUNTS) this.#forget(id.seqno);
    } catch (error) {
      // Reads ask the liteservers, as those of accounts that are not kept.
      this.#pausedTo = id.seqno + PAUSE;
      if (!isTernError(error)) throw error;
    }
  }

  #forget(since: number): void {
    this.#since = since;
    this.#changed.clear();
  }

  /** @returns null when the blocks do not lead back to the earlier tops: a workchain is new, or there are too many */
  async #changedBetween(
    context: ReadContext,
    before: readonly ProvenShard[],
    after: readonly ProvenShard[],
    mc_seqno: number,
  ): Promise<ReadonlySet<string> | null> {
    const changed = new Set<string>();
    const known = new Set(before.map(({ block }) => toHex(block.root_hash)));
    const unseen = (ids: readonly BlockId[]) => ids.filter(({ root_hash }) => !known.has(toHex(root_hash)));
    let count = 0;
    for (let ids = unseen(after.map(({ block }) => block)); ids.length > 0; ) {
      count += ids.length;
      if (count > MAX_BLOCKS || ids.some(({ seqno }) => seqno === 0)) return null;
      for (const { root_hash } of ids) known.add(toHex(root_hash));
      const earlier = new Map<string, BlockId>();
      const read = async (id: BlockId): Promise<void> => {
        const { header } = await this.#modules.blockData.blockFile(context, { id, gen_utime: null, mc_seqno });
        for (const address of accountsOf(id, header.block.extra.value.account_blocks.value)) changed.add(address);
        for (const prev of header.prev) earlier.set(toHex(prev.root_hash), prev);
      };
      await Promise.all(ids.map(read));
      ids = unseen([...earlier.values()]);
    }
    return changed;
  }
}

function* accountsOf({ workchain }: Shard, blocks: Iterable<readonly [Uint8Array, unknown]>): Generator<string> {
  for (const [account] of blocks) yield `${workchain}:${toHex(account)}`;
}
