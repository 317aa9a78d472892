import type { StaticDecode } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { V2Context } from '#api/v2/context.js';
import { blockSeqno, fileHash, rootHash, shard, workchain } from '#api/v2/parameters.js';
import { type BlockPosition, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import type { BlockAt } from '#services/chain/read-options.js';

/** Parameters that name a block of any shard. */
export const blockPositionFields = { workchain, shard, seqno: blockSeqno };

/** Parameters that name a block of any shard, and may say its hashes. */
export const blockFields = { ...blockPositionFields, root_hash: rootHash, file_hash: fileHash };

const Block = Type.Object(blockFields);

/** The masterchain has one shard: every prefix belongs to it. */
export function blockPosition(position: BlockPosition): BlockPosition {
  const { workchain: chain, seqno } = position;
  return chain === MASTERCHAIN_SHARD.workchain ? { ...MASTERCHAIN_SHARD, seqno } : position;
}

/** The block that {@link blockFields} name. Hashes that are given must be those of the block. */
export async function blockAt(
  params: StaticDecode<typeof Block>,
  { network: { chain }, read }: V2Context,
): Promise<BlockAt> {
  const { root_hash, file_hash } = params;
  const position = blockPosition({ workchain: params.workchain, shard: params.shard, seqno: params.seqno });
  if (root_hash === undefined && file_hash === undefined) return position;
  if (root_hash !== undefined && file_hash !== undefined) return { ...position, root_hash, file_hash };
  const id = await chain.blockId(position, read);
  return { ...id, root_hash: root_hash ?? id.root_hash, file_hash: file_hash ?? id.file_hash };
}
