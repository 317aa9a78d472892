import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, unsignedShard } from '#formats/tl/block-id.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type ShardEntry, ShardTree } from '#formats/tlb/shard-hashes.js';
import { NO_BLOCK } from '#localnet/liteserver/account-state.js';
import {
  isValidId,
  isValidShard,
  loadMasterchainBlock,
  lookupBlock,
  MerkleReader,
  openMcBlockExtra,
  openMcState,
  refused,
  requireBlock,
  stateRootProof,
  WORKCHAIN_INVALID,
} from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { readShard, shardBlockLinks } from '#localnet/liteserver/shard-links.js';

const NOTHING = new Uint8Array();

/** The shard blocks that the masterchain commits. */
export const shardHandlers: LiteHandlers<
  'liteServer.getShardInfo' | 'liteServer.getAllShardsInfo' | 'liteServer.getShardBlockProof'
> = {
  'liteServer.getShardInfo': ({ id, workchain, shard, exact }, { ledger }) => {
    const wanted = { workchain, shard: unsignedShard(shard) };
    if (workchain === WORKCHAIN_INVALID) throw refused('requested shard is invalid');
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const entry = findShardEntry(reader, wanted, exact);
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
    const committing = committedBy(ledger, wanted);
    return { masterchain_id: blockIdToTl(committing.id), links: shardBlockLinks(ledger, committing, wanted) };
  },
};

/** The masterchain is not part of `ShardHashes`. */
function findShardEntry(reader: MerkleReader, wanted: Shard, exact: boolean): ShardEntry | null {
  const { shard_hashes } = openMcState(reader.root).extra;
  if (wanted.workchain === MASTERCHAIN || wanted.shard === 0n) return null;
  const entry = readShard(shard_hashes, wanted);
  return exact && entry?.shard !== wanted.shard ? null : entry;
}

/** The masterchain block that commits a shard block; for a zerostate the first masterchain block. */
function committedBy(ledger: Ledger, id: BlockId): LedgerBlock {
  const zerostate = id.seqno === 0 && ledger.zerostateFile(id) !== null;
  const seqno = zerostate ? 1 : requireBlock(ledger, id).mc_seqno;
  return lookupBlock(ledger, { ...MASTERCHAIN_SHARD, by: 'seqno', seqno });
}
