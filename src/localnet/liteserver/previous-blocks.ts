import type { BlockId } from '#formats/proofs/block-id.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { refused } from '#localnet/liteserver/find-block.js';
import type { PreviousBlocks } from '#localnet/liteserver/get-methods.js';

const MOST = 16;
const HUNDRED = 100;

/** What contracts may know of the blocks up to one, from the state after it. @throws liteserver/refused */
export function previousBlocks(current: BlockId, extra: McStateExtra): PreviousBlocks {
  const { prev_blocks, after_key_block, last_key_block } = extra.info.value;
  const at = (seqno: number): BlockId => {
    if (seqno === current.seqno) return current;
    const known = prev_blocks.get(seqno);
    if (known === undefined) throw refused(`masterchain block ${seqno} is not known to block ${current.seqno}`);
    return blockOf(known.blk_ref);
  };
  const from = (first: number, step: number): BlockId[] => {
    const blocks: BlockId[] = [];
    for (let seqno = first; seqno >= 0 && blocks.length < MOST; seqno -= step) blocks.push(at(seqno));
    return blocks;
  };
  return {
    last_mc_blocks: from(current.seqno, 1),
    prev_key_block: after_key_block ? current : last_key_block === null ? at(0) : blockOf(last_key_block),
    last_mc_blocks_100: from(current.seqno - (current.seqno % HUNDRED), HUNDRED),
  };
}

function blockOf({
  seq_no: seqno,
  root_hash,
  file_hash,
}: {
  readonly seq_no: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}): BlockId {
  return { workchain: MASTERCHAIN, shard: 1n << 63n, seqno, root_hash, file_hash };
}
