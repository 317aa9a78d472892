import { type BlockId, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { verifyOutMsgQueueSize } from '#formats/proofs/out-msg-queue.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockOutMsgQueueSize } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerGetBlockOutMsgQueueSize,
  LiteServerGetOutMsgQueueSizes,
} from '#formats/tl/generated/lite-server-functions.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { GlobalVersion } from '#formats/tlb/global-version.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import { type Call, isServersFailure } from '#services/chain/call.js';
import type { Config } from '#services/chain/config-params.js';
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
  /** False: states do not keep the sizes, so that they are what a server counted. */
  readonly proven: boolean;
}

const WANT_PROOF = 1;
const GLOBAL_VERSION = 8;
/** `capStoreOutMsgQueueSize`: with it, states keep the sizes of their queues. */
const STORES_QUEUE_SIZE = 1n << 8n;

export interface QueueSizesModules {
  readonly blockIds: BlockIds;
  readonly shardTops: ShardTops;
  readonly config: Config;
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

  /**
   * A shard that has no block yet has no queue either and is left out. Where a network is older than the capability, a
   * server is asked what it counted, which it only does for its newest block.
   */
  async queueSizes(call: Call, { at }: ReadAt): Promise<QueueSizesRead> {
    const { blockIds, shardTops } = this.#modules;
    const block = await blockIds.resolveMasterchain(call, at);
    const { value } = await shardTops.all(call, block);
    const tops = value.filter((top) => top.block.seqno > 0);
    const blocks: ProvenBlock[] = [
      block,
      ...tops.map((top) => ({ id: top.block, gen_utime: null, mc_seqno: block.id.seqno })),
    ];
    const common = { block: block.id, gen_utime: block.gen_utime };
    let reads: QueueSizeRead[];
    try {
      reads = await Promise.all(blocks.map((each) => this.#sizeAfter(call, each)));
    } catch (error) {
      if (!isServersFailure(error) || (await this.#areStored(call, block.id))) throw error;
      const queues = await this.#counted(call, blocks);
      return { ...common, queues, proven: false, proof: call.proof([]) };
    }
    const answers = reads.map(({ proof }) => proof).filter((proof) => proof !== null);
    const queues = reads.map((read) => ({ block: read.block, size: read.size }));
    return { ...common, queues, proven: true, proof: call.proof(answers) };
  }

  async #areStored(call: Call, at: BlockId): Promise<boolean> {
    const { params } = await this.#modules.config.params(call, [GLOBAL_VERSION], { at });
    const version = params.get(GLOBAL_VERSION);
    return version !== undefined && (decodeCell(GlobalVersion, version).capabilities & STORES_QUEUE_SIZE) !== 0n;
  }

  async #counted(call: Call, blocks: readonly ProvenBlock[]): Promise<QueueSizesRead['queues']> {
    const { value } = await call.ask({
      fn: LiteServerGetOutMsgQueueSizes,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ shards }) =>
        blocks.map(({ id }) => {
          const found = shards.find((each) => sameBlock(blockIdFromTl(each.id), id));
          if (found !== undefined && found.size >= 0) return { block: id, size: found.size };
          throw chainErrors['incomplete-answer']({ problem: `it does not tell the queue of ${printBlockId(id)}` });
        }),
    });
    return value;
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
