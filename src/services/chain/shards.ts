import { type BlockId, printPosition, printShard, type Shard } from '#formats/proofs/block-id.js';
import { type ProvenShard, verifyShardInfo } from '#formats/proofs/shard-block.js';
import { blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import type { LiteServerAllShardsInfo, LiteServerShardInfo } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetShardInfo } from '#formats/tl/generated/lite-server-functions.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfState } from '#services/chain/need.js';
import type { ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import type { ShardTops } from '#services/chain/shard-tops.js';
import { expectBlock, keepBlockId } from '#services/chain/tl-block-id.js';

/** The shards that a masterchain block commits. */
export interface ShardsRead extends Answered<LiteServerAllShardsInfo> {
  /** Each with its newest block; seqno 0 is a zerostate. */
  readonly shards: readonly ProvenShard[];
}

/** One shard of a masterchain block. */
export interface ShardRead extends Answered<LiteServerShardInfo> {
  readonly shard: ProvenShard;
}

/** Which shard: itself, or the one that contains it. */
export interface ShardOptions extends ReadAt {
  /** Only a shard of just this name. Default: also one that contains it; the name may be an account's first 64 bits. */
  readonly exact?: boolean;
}

export interface ShardsModules {
  readonly blockIds: BlockIds;
  readonly shardTops: ShardTops;
  readonly proven: ProvenBlocks;
}

/** Reads of the newest blocks of shards. */
export class Shards {
  readonly #modules: ShardsModules;

  constructor(modules: ShardsModules) {
    this.#modules = modules;
  }

  async shards(call: Call, { at }: ReadAt): Promise<ShardsRead> {
    const block = await this.#modules.blockIds.resolveMasterchain(call, at);
    const { value, answer } = await this.#modules.shardTops.all(call, block);
    return { block: block.id, gen_utime: block.gen_utime, shards: value, proof: call.proof(answer) };
  }

  /** @throws chain/shard-not-found when the proof shows that there is none */
  async shard(call: Call, wanted: Shard, { at, exact = false }: ShardOptions): Promise<ShardRead> {
    const { workchain, shard } = wanted;
    if (workchain === -1 || shard <= 0n || shard >= 1n << 64n) {
      throw chainErrors.parameter({ name: 'shard', value: printShard(wanted), wanted: 'a shard of a workchain' });
    }
    const block = await this.#modules.blockIds.resolveMasterchain(call, at);
    const { id } = block;
    const { value, answer } = await call.ask({
      fn: LiteServerGetShardInfo,
      query: { id: blockIdToTl(id), workchain, shard: signedShard(shard), exact },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'shard',
      verify: (found) => {
        expectBlock(found.id, id);
        const { shard_proof, shard_descr } = found;
        const shard_block = keepBlockId(found.shardblk);
        return verifyShardInfo(id, wanted, exact, { shard_block, shard_proof, shard_descr });
      },
    });
    if (value === null) throw chainErrors['shard-not-found']({ shard: printShard(wanted), block: printPosition(id) });
    this.#remember(value.block, value.entry.descr.gen_utime, id);
    return { block: id, gen_utime: block.gen_utime, shard: value, proof: call.proof(answer) };
  }

  #remember(id: BlockId, gen_utime: number, { seqno }: BlockId): void {
    this.#modules.proven.add({ id, gen_utime: id.seqno === 0 ? null : gen_utime, mc_seqno: seqno });
  }
}
