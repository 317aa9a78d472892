import type { BlockHeader } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type BlockQuery, verifyLookup } from '#formats/proofs/shard-block.js';
import { blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import { type LiteServerLookupBlockResult, LiteServerLookupBlockWithProof } from '#formats/tl/lite-api.js';
import { copyBlockId } from '#services/chain/proven-blocks.js';

/** A block found by a lookup, with a masterchain block that proves it. */
export interface FoundBlock {
  readonly header: BlockHeader;
  readonly mc: BlockId;
}

/**
 * The query that looks a block up, with a proof from the state of a masterchain block, which lists all masterchain blocks before it.
 *
 * @param known the masterchain block
 * @param accept makes the value of what was found; throws when it is not acceptable
 */
export function lookupFrom<Value>(known: BlockId, query: BlockQuery, accept: (found: FoundBlock) => Value) {
  const { workchain } = query;
  return {
    fn: LiteServerLookupBlockWithProof,
    query: {
      mode: query.by === 'seqno' ? 1 : query.by === 'lt' ? 2 : 4,
      id: { workchain, shard: signedShard(query.shard), seqno: query.by === 'seqno' ? query.seqno | 0 : 0 },
      mc_block_id: blockIdToTl(known),
      lt: query.by === 'lt' ? BigInt.asIntN(64, query.lt) : null,
      utime: query.by === 'utime' ? query.utime | 0 : null,
    },
    verify: (answer: LiteServerLookupBlockResult): Value => {
      const mc = copyBlockId(answer.mc_block_id);
      const { client_mc_state_proof, mc_block_proof, header, prev_header } = answer;
      const links = answer.shard_links.map((link) => ({ id: copyBlockId(link.id), proof: link.proof }));
      const parts = { client_mc_state_proof, mc_block_proof, shard_links: links, header, prev_header };
      return accept({
        header: verifyLookup(known, query, { id: copyBlockId(answer.id), mc_block_id: mc, ...parts }),
        mc,
      });
    },
  };
}
