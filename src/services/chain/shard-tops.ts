import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { blockOfShard, type ProvenShard, verifyAllShards } from '#formats/proofs/shard-block.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerAllShardsInfo } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetAllShardsInfo } from '#formats/tl/generated/lite-server-functions.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { shardContains } from '#formats/tlb/shard-ident.js';
import type { Call, Checked } from '#services/chain/call.js';
import type { ProvenBlock, ProvenBlocks } from '#services/chain/proven-blocks.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** Reads the newest blocks of all shards as a proven masterchain block lists them. */
export class ShardTops {
  readonly #proven: ProvenBlocks;

  constructor(proven: ProvenBlocks) {
    this.#proven = proven;
  }

  /** Those of a workchain from left to right; none before the first masterchain block that lists one. */
  async all(call: Call, { id }: ProvenBlock): Promise<Checked<readonly ProvenShard[], LiteServerAllShardsInfo>> {
    const found = await call.ask({
      fn: LiteServerGetAllShardsInfo,
      query: { id: blockIdToTl(id) },
      need: { kind: 'block', seqno: id.seqno },
      immutable: true,
      verifiedAs: 'shards',
      verify: (answer) => {
        expectBlock(answer.id, id);
        return this.#read(id, answer);
      },
    });
    for (const { block, entry } of found.value) {
      this.#proven.add({ id: block, gen_utime: block.seqno === 0 ? null : entry.descr.gen_utime, mc_seqno: id.seqno });
    }
    return found;
  }

  #read(id: BlockId, { proof, data }: LiteServerAllShardsInfo): readonly ProvenShard[] {
    const hashes = verifyAllShards(id, proof, data);
    return [...shardDescrs(hashes)].map((entry) => ({ block: blockOfShard(entry), entry }));
  }

  /** The one that a prefix belongs to; `null` when there is no such workchain. */
  async topOf(call: Call, block: ProvenBlock, { workchain, shard }: Shard): Promise<ProvenShard | null> {
    if (!isMasterchain(block.id) || block.id.seqno === 0) return null;
    const { value } = await this.all(call, block);
    return value.find((top) => top.entry.workchain === workchain && shardContains(top.entry.shard, shard)) ?? null;
  }
}
