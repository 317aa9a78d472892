import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, unsignedShard } from '#formats/tl/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type ShardEntry, type ShardHashes, ShardTree } from '#formats/tlb/shard-hashes.js';
import { NO_BLOCK } from '#localnet/liteserver/account-state.js';
import { openMcBlockExtra, openMcState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { isValidId, isValidShard, loadMasterchainBlock, refused, requireBlock, WORKCHAIN_INVALID } from '#localnet/liteserver/find-block.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { committedBy } from '#localnet/liteserver/lookup.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';
import { readShard, shardBlockLinks } from '#localnet/liteserver/shard-links.js';

const NOTHING = new Uint8Array();

/** Which blocks of shards the masterchain commits. */
export const shardHandlers: LiteHandlers<
  'liteServer.getShardInfo' | 'liteServer.getAllShardsInfo' | 'liteServer.getShardBlockProof'
> = {
  'liteServer.getShardInfo': ({ id, workchain, shard, exact }, { ledger }) => {
    const wanted = { workchain, shard: unsignedShard(shard) };
    if (workchain === WORKCHAIN_INVALID || wanted.shard === 0n) throw refused('requested shard is invalid');
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const entry = findShardEntry(openMcState(reader.root).extra.shard_hashes, wanted, exact);
    return {
      id: blockIdToTl(block.id),
      shardblk: blockIdToTl(entry === null ? NO_BLOCK : blockOfShard(entry)),
      shard_proof: serializeBoc([stateRootProof(block.root), reader.proof()]),
      shard_descr:
        entry === null ? NOTHING : serializeBoc(encodeCell(ShardTree, { kind: 'bt_leaf', leaf: entry.descr })),
    };
  },

  'liteServer.getAllShardsInfo': ({ id }, { ledger }) => {
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(block.root);
    const { root } = openMcBlockExtra(reader.root).shard_hashes;
    const data = new Builder().storeBit(root !== null);
    if (root !== null) data.storeRef(root);
    return { id: blockIdToTl(block.id), proof: reader.proofBytes(), data: serializeBoc(data.endCell()) };
  },

  'liteServer.getShardBlockProof': ({ id }, { ledger }) => {
    const wanted = blockIdFromTl(id);
    if (!isValidShard(wanted)) throw refused('invalid block id');
    if (isMasterchain(wanted)) return { masterchain_id: id, links: [] };
    if (!isValidId(wanted)) throw refused('invalid block id');
    const block = requireBlock(ledger, wanted);
    const committing = committedBy(ledger, block);
    return { masterchain_id: blockIdToTl(committing.id), links: shardBlockLinks(ledger, committing, block.id) };
  },
};

function findShardEntry(hashes: ShardHashes, wanted: Shard, exact: boolean): ShardEntry | null {
  const entry = readShard(hashes, wanted.workchain, wanted.shard & (wanted.shard - 1n));
  if (entry === null) return null;
  if (exact) return entry.shard === wanted.shard ? entry : null;
  return lowestBit(entry.shard) >= lowestBit(wanted.shard) ? entry : null;
}

/** The tag of a shard; that of what is asked for may lie further to the right than that of any real shard. */
function lowestBit(shard: bigint): bigint {
  return shard & -shard;
}
