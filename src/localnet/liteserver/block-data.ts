import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { CellType } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/sha256.js';
import { openExotic } from '#formats/cells/slice.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { openBlock, openMcBlockExtra } from '#localnet/liteserver/block-reading.js';
import { isValidId, notReady, refused, requireValidBlock } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader, visitAll, visitEach } from '#localnet/liteserver/merkle-reader.js';

/** Above this seqno whole states are not given out. */
const LAST_WHOLE_STATE = 1000;

/** Parts of a block that a header proof shows besides the header (`mode` of getBlockHeader). */
const SHOW = { stateUpdate: 1, valueFlow: 2, extra: 16, shardHashes: 32, prevBlkSignatures: 64 } as const;

/** Whole blocks and states, and headers. */
export const blockDataHandlers: LiteHandlers<
  'liteServer.getBlock' | 'liteServer.getState' | 'liteServer.getBlockHeader'
> = {
  'liteServer.getBlock': ({ id }, { ledger }) => {
    const block = requireValidBlock(ledger, blockIdFromTl(id));
    return { id, data: block.bytes };
  },

  'liteServer.getState': ({ id }, { ledger }) => {
    const wanted = blockIdFromTl(id);
    if (!isValidId(wanted)) throw refused('invalid BlockIdExt');
    if (wanted.seqno > LAST_WHOLE_STATE) throw refused('cannot request total state: possibly too large');
    if (wanted.seqno === 0) return zerostate(ledger, wanted);
    const root = ledger.state(requireValidBlock(ledger, wanted));
    const data = serializeBoc(root, BLOCK_FILE);
    return { id, root_hash: root.hash(), file_hash: sha256(data), data };
  },

  'liteServer.getBlockHeader': ({ id, mode }, { ledger }) =>
    blockHeader(requireValidBlock(ledger, blockIdFromTl(id)), mode),
};

function zerostate(ledger: Ledger, id: BlockId) {
  const data = ledger.zerostateFile(id);
  if (data === null) throw notReady('zerostate not in db');
  return { id: blockIdToTl(id), root_hash: id.root_hash, file_hash: id.file_hash, data };
}

/** A block with the proof of its header (`liteServer.blockHeader`). */
export function blockHeader({ id, root }: LedgerBlock, mode: number) {
  const reader = new MerkleReader(root);
  const { block, info } = openBlock(reader.root);
  if ((mode & SHOW.stateUpdate) !== 0) openExotic(block.state_update.cell, CellType.merkleUpdate);
  visitEach([info.master_ref?.cell, info.prev_ref.cell, info.prev_vert_ref?.cell]);
  if ((mode & SHOW.valueFlow) !== 0) visitAll(block.value_flow.cell);
  if ((mode & SHOW.extra) !== 0) {
    block.extra.cell.touch();
    if (isMasterchain(id)) {
      const extra = openMcBlockExtra(reader.root);
      if ((mode & SHOW.shardHashes) !== 0) visitEach([extra.shard_hashes.root]);
      if ((mode & SHOW.prevBlkSignatures) !== 0) visitEach([extra.messages.value.prev_blk_signatures.root]);
    }
  }
  return { id: blockIdToTl(id), mode, header_proof: reader.proofBytes() };
}
