import { checkOldBlock } from '#formats/proofs/block-chain.js';
import { type BlockHeader, checkRootHash, verifyBlockHeader } from '#formats/proofs/block-header.js';
import {
  type BlockId,
  printPosition,
  printShard,
  requireMasterchain,
  type Shard,
  sameBlock,
} from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof } from '#formats/proofs/proof-part.js';
import { type ShardBlockLink, verifyShardBlockChain } from '#formats/proofs/shard-block.js';
import { verifyState } from '#formats/proofs/shard-state.js';
import { Block } from '#formats/tlb/block.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardContains } from '#formats/tlb/shard-ident.js';

/**
 * Which block of a shard is looked for. The shard is that of a prefix (first 64 bits of an account id, or a shard id);
 * by lt it is the first block with `end_lt >= lt`. By time (unix seconds) it is a block with `gen_utime >= utime` whose
 * predecessor is not later than that: of several blocks in one second, servers may name any.
 */
export type BlockQuery = Shard &
  (
    | { readonly by: 'seqno'; readonly seqno: number }
    | { readonly by: 'lt'; readonly lt: bigint }
    | { readonly by: 'utime'; readonly utime: number }
  );

/** An answer to such a question (`liteServer.lookupBlockResult`). */
export interface LookupAnswer {
  readonly id: BlockId;
  /** The masterchain block that commits it, or that it is itself. */
  readonly mc_block_id: BlockId;
  /** Header of the masterchain block that was known; empty when that is `mc_block_id`. */
  readonly client_mc_state_proof: Uint8Array;
  /** State after that block, which remembers `mc_block_id`; empty when it is that. */
  readonly mc_block_proof: Uint8Array;
  readonly shard_links: readonly ShardBlockLink[];
  /** Header proof of the block. */
  readonly header: Uint8Array;
  /** Header proof of the block before; for look-ups by lt and time. */
  readonly prev_header: Uint8Array;
}

/**
 * Checks that an answer gives the block that was looked for, and that it belongs to the chain of a trusted masterchain
 * block.
 *
 * @throws proofs/not-masterchain, proofs/old-block, proofs/lookup-target, proofs/prev-block, and as
 *   {@link verifyShardBlockChain}
 */
export function verifyLookup(masterchainBlock: BlockId, query: BlockQuery, answer: LookupAnswer): BlockHeader {
  const { id, mc_block_id } = answer;
  requireMasterchain(masterchainBlock);
  if (!sameBlock(masterchainBlock, mc_block_id)) {
    const state = verifyState(masterchainBlock, answer.client_mc_state_proof, answer.mc_block_proof);
    inPart('mc_block_proof', () => void checkOldBlock(state, mc_block_id));
  }
  verifyShardBlockChain(mc_block_id, id, answer.shard_links);
  const header = inPart('header', () => verifyBlockHeader(answer.header, id));
  if (id.workchain !== query.workchain || !shardContains(id.shard, query.shard)) {
    throw wrongTarget(id, 'shard', printShard(query), printShard(id));
  }
  if (query.by === 'seqno') {
    if (id.seqno !== query.seqno) throw wrongTarget(id, 'seqno', String(query.seqno), String(id.seqno));
  } else {
    checkFirst(header, answer, query);
  }
  return header;
}

/** The block reaches the value, the one before does not. A zerostate before it does not reach anything. */
function checkFirst(
  header: BlockHeader,
  answer: LookupAnswer,
  query: BlockQuery & { readonly by: 'lt' | 'utime' },
): void {
  const field = query.by === 'lt' ? 'end_lt' : 'gen_utime';
  const wanted = query.by === 'lt' ? query.lt : BigInt(query.utime);
  const value = BigInt(header.info[field]);
  if (value < wanted) throw wrongTarget(header.id, field, `at least ${wanted}`, String(value));
  // There is one: the block's shard contains the prefix, and the previous ones make up that shard or contain it.
  const before = header.prev.find(({ shard }) => shardContains(shard, query.shard))!;
  if (before.seqno === 0) return;
  const info = inPart('prev_header', () => visibleInfo(answer.prev_header, before));
  const valueBefore = BigInt(info[field]);
  const tooLate = query.by === 'lt' ? valueBefore >= wanted : valueBefore > wanted;
  if (tooLate) throw wrongTarget(before, field, `before ${wanted}`, String(valueBefore));
}

/** What a header proof says of a block, by its root hash alone: proofs of the block before do not show more than this. */
function visibleInfo(proof: Uint8Array, id: BlockId): BlockInfo {
  const root = openProof('header_proof', proof);
  checkRootHash(root, id);
  return decodeCell(Block, root).info.value;
}

function wrongTarget(id: BlockId, field: string, wanted: string, found: string): Error {
  return proofsErrors['lookup-target']({ block: printPosition(id), field, wanted, found });
}
