import type { BlockId } from '#formats/proofs/block-id.js';
import { type PreviousBlocks, previousBlocks } from '#formats/proofs/previous-blocks.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { findShard } from '#formats/tlb/shard-hashes.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';

/** The masterchain as a block sees it that is made on its newest block. */
export class MasterchainView {
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
  readonly extra: McStateExtra;

  constructor(id: BlockId, state: ShardStateUnsplit, extra: McStateExtra) {
    this.id = id;
    this.state = state;
    this.extra = extra;
  }

  get end_lt(): bigint {
    return this.state.gen_lt;
  }

  /**
   * Up to which lt (excluded) the messages of the shard at a place were seen by a block that was made on the masterchain
   * block `seqno`: the end of the shard's block that was registered there.
   *
   * The newest state says so of itself and of the masterchain. Of the state before: each round registers exactly one new
   * block of a shard, and all that came before it ended at its `start_lt` at the latest, while its messages came after.
   */
  endLt(seqno: number, place: RoutingPrefix): bigint {
    if (place.workchain === MASTERCHAIN) {
      if (seqno >= this.id.seqno) return this.end_lt;
      return this.extra.info.value.prev_blocks.get(seqno)?.blk_ref.end_lt ?? 0n;
    }
    const entry = findShard(this.extra.shard_hashes, place.workchain, place.prefix);
    if (entry === null) return 0n;
    return entry.descr.reg_mc_seqno <= seqno ? entry.descr.end_lt : entry.descr.start_lt;
  }

  /** What contracts may know of earlier blocks. */
  previousBlocks(globalVersion: number): PreviousBlocks {
    return previousBlocks(this.id, this.extra, globalVersion);
  }
}
