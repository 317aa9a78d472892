import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { masterchainSeqno } from '#api/v2/parameters.js';
import { blockPosition, blockPositionFields } from '#api/v2/routes/block-at.js';
import { MasterchainBlockSignatures, ShardBlockProof } from '#api/v2/schemas/blocks.js';
import { blockLinkBack, blockSignatures, shardBlockLink } from '#api/v2/serialize/blocks.js';
import { blockIdExt } from '#api/v2/serialize/ton-objects.js';
import type { BlockLink } from '#formats/proofs/block-chain.js';
import { sameBlock } from '#formats/proofs/block-id.js';

const READ = ['GET', 'POST'] as const;
const TAG = 'Blocks';

const getMasterchainBlockSignatures = v2Endpoint({
  name: 'getMasterchainBlockSignatures',
  verbs: READ,
  tag: TAG,
  summary: 'Signatures of a masterchain block',
  description:
    'Signatures of the validators under a masterchain block. They were checked, and stand for more than two thirds of ' +
    'the weight. What exactly is signed depends on how the validators agree: the hashes of the block, or a vote for ' +
    'the candidate that became the block.',
  params: Type.Object({ seqno: masterchainSeqno }, { additionalProperties: false }),
  result: MasterchainBlockSignatures,
  statuses: [404, 422, 504],
  freshness: 'forever',
  handle: async ({ seqno }, { network: { chain }, read }) => {
    const { block, signatures } = await chain.blockSignatures({ ...read, at: seqno });
    return blockSignatures(block, signatures);
  },
});

const getShardBlockProof = v2Endpoint({
  name: 'getShardBlockProof',
  verbs: READ,
  tag: TAG,
  summary: 'Proof of a block by a masterchain block',
  description:
    'Merkle proofs that lead from a masterchain block to a block of a shard: back to the masterchain block that commits ' +
    'it, from there to the newest block of its shard at that time, and along its shard. Who trusts the masterchain ' +
    'block needs to trust nobody else.',
  params: Type.Object(
    {
      ...blockPositionFields,
      from_seqno: Type.Optional(
        Type.Integer({
          description: 'Number of the masterchain block to start from. Default: the newest one.',
          format: 'int32',
          minimum: 0,
          maximum: 0x7fff_ffff,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: ShardBlockProof,
  statuses: [404, 422, 504],
  freshness: ({ from_seqno }) => (from_seqno === undefined ? 'head' : 'forever'),
  handle: async ({ from_seqno, ...position }, { network: { chain }, read }): Promise<ShardBlockProof> => {
    const from = from_seqno === undefined ? (await chain.head(read)).block : await chain.blockId(from_seqno, read);
    const { masterchain_block, links } = await chain.shardBlockProof({ ...read, at: blockPosition(position) });
    if (masterchain_block.seqno > from.seqno) {
      throw v2Errors['old-masterchain-block']({ from: from.seqno, committed: masterchain_block.seqno });
    }
    const back = sameBlock(from, masterchain_block)
      ? []
      : (await chain.blockProof(from, masterchain_block, read)).links.filter(isBack);
    return {
      '@type': 'blocks.shardBlockProof',
      from: blockIdExt(from),
      mc_id: blockIdExt(masterchain_block),
      links: links.map(shardBlockLink),
      mc_proof: back.map(blockLinkBack),
    };
  },
});

/** Links to an older block are of no other kind. */
function isBack(link: BlockLink): link is BlockLink & { kind: 'back' } {
  return link.kind === 'back';
}

/** What proves blocks, in the order of the published document. */
export const blockProofEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getMasterchainBlockSignatures,
  getShardBlockProof,
];
