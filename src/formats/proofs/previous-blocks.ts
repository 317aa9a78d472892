import { type BlockId, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';

/** Blocks of the masterchain that contracts may name, newest first. */
export interface PreviousBlocks {
  /** The last 16, the masterchain block itself included. */
  readonly last_mc_blocks: readonly BlockId[];
  readonly prev_key_block: BlockId;
  /** The last 16 whose seqno is a multiple of 100; from global version 9 on contracts see them. */
  readonly last_mc_blocks_100: readonly BlockId[];
}

const MOST = 16;
const HUNDRED = 100;
const HUNDREDS_VERSION = 9;

/**
 * What contracts may know of the blocks up to one, from the state after it.
 *
 * @param globalVersion before 9 there are no blocks by hundreds, and proofs do not show them
 * @throws proofs/old-block when the state does not know one of them; cells/pruned-branch when a proof leaves one out
 */
export function previousBlocks(current: BlockId, extra: McStateExtra, globalVersion: number): PreviousBlocks {
  const { prev_blocks, after_key_block, last_key_block } = extra.info.value;
  const at = (seqno: number): BlockId => {
    if (seqno === current.seqno) return current;
    const known = prev_blocks.get(seqno);
    if (known === undefined) {
      throw proofsErrors['old-block']({
        block: printPosition({ ...MASTERCHAIN_SHARD, seqno }),
        from: printPosition(current),
      });
    }
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
    last_mc_blocks_100:
      globalVersion < HUNDREDS_VERSION ? [] : from(current.seqno - (current.seqno % HUNDRED), HUNDRED),
  };
}

function blockOf(reference: {
  readonly seq_no: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}): BlockId {
  const { seq_no: seqno, root_hash, file_hash } = reference;
  return { ...MASTERCHAIN_SHARD, seqno, root_hash: root_hash.slice(), file_hash: file_hash.slice() };
}
