import { type BlockHeader, verifyBlockFile } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerGetBlock, LiteServerNonfinalGetPendingShardBlocks } from '#formats/tl/lite-api.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { chainErrors } from '#services/chain/errors.js';
import { copyBlockId, expectBlock } from '#services/chain/proven-blocks.js';
import type { ReadContext } from '#services/chain/read-context.js';

/** Blocks that a server may list. */
const MOST_BLOCKS = 1_024;

/**
 * Reads shard blocks that the masterchain has not committed: what a server says of them is NOT proven, and another block may take
 * their place. Only servers started with `--nonfinal-ls` answer (`liteServer.nonfinal.getPendingShardBlocks`).
 */
export class PendingBlockReader {
  /** The blocks that validators have signed, as a server says. @throws lite/*, chain/* */
  async ids(context: ReadContext): Promise<readonly BlockId[]> {
    const { value } = await context.query({
      fn: LiteServerNonfinalGetPendingShardBlocks,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ signed_blocks }) => {
        const found = signed_blocks.map(copyBlockId);
        if (found.length <= MOST_BLOCKS && found.every(({ workchain }) => workchain !== MASTERCHAIN)) return found;
        throw chainErrors['incomplete-answer']({ problem: 'it lists blocks that are no pending shard blocks' });
      },
    });
    return value;
  }

  /** The block of an id, whose hashes are checked. @throws lite/*, chain/*, proofs/* */
  async block(context: ReadContext, id: BlockId): Promise<BlockHeader> {
    const { value } = await context.query({
      fn: LiteServerGetBlock,
      query: { id: blockIdToTl(id) },
      need: { kind: 'head' },
      verify: (answer) => {
        expectBlock(answer.id, id);
        return verifyBlockFile(answer.data, id);
      },
    });
    return value;
  }
}
