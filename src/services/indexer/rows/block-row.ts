import type { BlockRow } from '#drivers/store/rows.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import type { Block } from '#formats/tlb/block.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import { previousBlocks } from '#formats/tlb/block-ref.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { shardChildren, shardParent } from '#formats/tlb/shard-ident.js';

/** Flags in the column `bits`. */
const FLAGS = [
  ['after_merge', 1],
  ['before_split', 2],
  ['after_split', 4],
  ['want_merge', 8],
  ['want_split', 16],
  ['key_block', 32],
  ['vert_seqno_incr', 64],
] as const satisfies readonly (readonly [keyof BlockInfo, number])[];

/** The row of a block; its hashes come from its id. */
export function blockRow(
  place: { readonly id: bigint; readonly block: BlockId },
  block: Block,
  counts: { readonly tx_count: number; readonly global_version: number },
): BlockRow {
  const { block: id } = place;
  const info = block.info.value;
  const extra = block.extra.value;
  let bits = 0;
  for (const [flag, bit] of FLAGS) if (info[flag]) bits |= bit;
  return {
    id: place.id,
    workchain: id.workchain,
    shard: BigInt.asIntN(64, id.shard),
    seqno: id.seqno,
    root_hash: id.root_hash,
    file_hash: id.file_hash,
    global_id: block.global_id,
    version: info.version,
    bits,
    flags: info.flags,
    gen_utime: info.gen_utime,
    start_lt: info.start_lt,
    end_lt: info.end_lt,
    validator_list_hash_short: info.gen_validator_list_hash_short,
    gen_catchain_seqno: info.gen_catchain_seqno,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    prev_key_block_seqno: info.prev_key_block_seqno,
    vert_seqno: info.vert_seq_no,
    master_ref_seqno: info.master_ref?.value.master.seq_no ?? null,
    rand_seed: extra.rand_seed,
    created_by: extra.created_by,
    ...counts,
    prev_blocks: previousPositions(id, info),
    shard_tops: isMasterchain(id) ? shardTops(block) : null,
  };
}

/** workchain, shard (signed), seqno of each. */
function previousPositions({ workchain, shard }: BlockId, info: BlockInfo): bigint[] {
  const shards = info.after_merge ? shardChildren(shard) : [info.after_split ? shardParent(shard) : shard];
  return previousBlocks(info.prev_ref.value).flatMap(({ seq_no }, i) => position(workchain, shards[i]!, seq_no));
}

function shardTops(block: Block): bigint[] {
  const custom = block.extra.value.custom;
  if (custom === null) return [];
  return [...shardDescrs(custom.value.shard_hashes)].flatMap(({ workchain, shard, descr }) =>
    position(workchain, shard, descr.seq_no),
  );
}

function position(workchain: number, shard: bigint, seqno: number): bigint[] {
  return [BigInt(workchain), BigInt.asIntN(64, shard), BigInt(seqno)];
}
