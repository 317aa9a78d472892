import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { McStateExtra, McStateInfo } from '#formats/tlb/mc-state-extra.js';
import { findShard, type ShardEntry, type ShardHashes, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { ConfigView } from '#localnet/validation/config-view.js';
import { isShardHalf, type Prefix } from '#localnet/validation/routing.js';

/** A state of the masterchain, as blocks that refer to it see it. */
export class MasterchainView {
  /** The block that it is the state after. */
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
  readonly extra: McStateExtra;
  readonly info: McStateInfo;
  readonly config: ConfigView;
  #shards: readonly ShardEntry[] | null = null;

  /** @param known a view of a state whose configuration may be the same: then it is shared */
  constructor(id: BlockId, state: ShardStateUnsplit, extra: McStateExtra, known: MasterchainView | null) {
    this.id = id;
    this.state = state;
    this.extra = extra;
    this.info = extra.info.value;
    this.config = known?.config.is(extra.config) === true ? known.config : new ConfigView(extra.config);
  }

  /** @param root the state, sound (of a zerostate or of a block that was checked) */
  static of(id: BlockId, root: Cell, known: MasterchainView | null = null): MasterchainView {
    const state = decodeCell(ShardStateUnsplit, root);
    return new MasterchainView(id, state, state.custom!.value, known);
  }

  get shardHashes(): ShardHashes {
    return this.extra.shard_hashes;
  }

  /** All shards, in their order. */
  get shards(): readonly ShardEntry[] {
    this.#shards ??= [...shardDescrs(this.shardHashes)];
    return this.#shards;
  }

  /** The shard as it is listed; `null` when it is not, or only in parts or as a part of another. */
  shard({ workchain, shard }: Shard): ShardEntry | null {
    return this.shards.find((entry) => entry.workchain === workchain && entry.shard === shard) ?? null;
  }

  /** The end lt of the newest block known here with accounts of this prefix; 0 when there is none. */
  endLt({ workchain, prefix }: Prefix): bigint {
    if (workchain === MASTERCHAIN) return this.state.gen_lt;
    return findShard(this.shardHashes, workchain, prefix)?.descr.end_lt ?? 0n;
  }

  /** Seqno of the newest key block up to this one; 0 when there is none after the zerostate. */
  get lastKeySeqno(): number {
    const { after_key_block, last_key_block } = this.info;
    return after_key_block ? this.id.seqno : (last_key_block?.seq_no ?? 0);
  }

  /**
   * Number of the session that makes the next blocks of a shard. Halves go on with that of the whole, a merged shard has a
   * new one. `null` when there is no such shard.
   */
  nextCatchainSeqno(shard: Shard): number | null {
    if (isMasterchain(shard)) return this.info.validator_info.catchain_seqno;
    const same = this.shard(shard);
    if (same !== null) return same.descr.next_catchain_seqno;
    const around = findShard(this.shardHashes, shard.workchain, shard.shard);
    if (around === null) return null;
    const parts = this.shards.filter(
      (entry) => entry.workchain === shard.workchain && isShardHalf(entry.shard, shard.shard),
    );
    if (parts.length === 0) return around.descr.next_catchain_seqno;
    return Math.max(...parts.map(({ descr }) => descr.next_catchain_seqno)) + 1;
  }
}
