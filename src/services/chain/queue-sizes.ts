import type { BlockId } from '#formats/proofs/block-id.js';
import { verifyOutMsgQueueSize } from '#formats/proofs/out-msg-queue.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockOutMsgQueueSize } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerGetBlockOutMsgQueueSize,
  LiteServerGetOutMsgQueueSizes,
} from '#formats/tl/generated/lite-server-functions.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfState } from '#services/chain/need.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import type { ShardTops } from '#services/chain/shard-tops.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** How many messages wait in a shard's outgoing queue after a block. */
export interface QueueSizeRead extends Answered<LiteServerBlockOutMsgQueueSize> {
  readonly size: number;
}

/** The queues of all shards, the masterchain first. */
export interface QueueSizesRead extends Answered<readonly LiteServerBlockOutMsgQueueSize[]> {
  readonly queues: readonly { readonly block: BlockId; readonly size: number }[];
}

const WANT_PROOF = 1;

export interface QueueSizesModules {
  readonly blockIds: BlockIds;
  readonly shardTops: ShardTops;
}

/** Reads of the sizes of message queues, which states keep since they have the capability to. */
export class QueueSizes {
  readonly #modules: QueueSizesModules;

  constructor(modules: QueueSizesModules) {
    this.#modules = modules;
  }

  async queueSize(call: Call, { at }: ReadAt): Promise<QueueSizeRead> {
    return this.#sizeAfter(call, await this.#modules.blockIds.resolveBlock(call, at));
  }

  /** A shard that has no block yet has no queue either and is left out. */
  async queueSizes(call: Call, { at }: ReadAt): Promise<QueueSizesRead> {
    const { blockIds, shardTops } = this.#modules;
    const block = await blockIds.resolveMasterchain(call, at);
    const { value } = await shardTops.all(call, block);
    const tops = value.filter((top) => top.block.seqno > 0);
    const blocks: ProvenBlock[] = [
      block,
      ...tops.map((top) => ({ id: top.block, gen_utime: null, mc_seqno: block.id.seqno })),
    ];
    const reads = await Promise.all(blocks.map((each) => this.#sizeAfter(call, each)));
    const answers = reads.map(({ proof }) => proof).filter((proof) => proof !== null);
    const queues = reads.map((read) => ({ block: read.block, size: read.size }));
    return { block: block.id, gen_utime: block.gen_utime, queues, proof: call.proof(answers) };
  }

  /**
   * How many external messages a server keeps for a shard before it refuses further ones. A server says it of itself:
   * nothing proves it.
   */
  async externalQueueLimit(call: Call): Promise<number> {
    const { value } = await call.ask({
      fn: LiteServerGetOutMsgQueueSizes,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ ext_msg_queue_size_limit: limit }) => {
        if (limit >= 0) return limit;
        throw chainErrors['incomplete-answer']({ problem: `a queue cannot have the limit ${limit}` });
      },
    });
    return value;
  }

  async #sizeAfter(call: Call, block: ProvenBlock): Promise<QueueSizeRead> {
    const { id } = block;
    const { value, answer } = await call.ask({
      fn: LiteServerGetBlockOutMsgQueueSize,
      query: { mode: WANT_PROOF, id: blockIdToTl(id), want_proof: true },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'queue size',
      verify: (found) => {
        expectBlock(found.id, id);
        if (found.proof === null) throw chainErrors['incomplete-answer']({ problem: 'it has no proof' });
        return verifyOutMsgQueueSize(id, found.size, found.proof);
      },
    });
    return { block: id, gen_utime: block.gen_utime, size: value, proof: call.proof(answer) };
  }
}
