import type { Dialect } from '#api/v3/serialize/dialect.js';
import { decimal, hashText, listText } from '#api/v3/serialize/texts.js';
import { blockIdText } from '#api/v3/serialize/transaction.js';
import type { IndexedBlock } from '#drivers/store/read/index-reads.js';

/** A block as `/blocks` shows it. Times and lts are texts; a masterchain block has `master_ref_seqno` 0. */
export function blockText(block: IndexedBlock, dialect: Dialect): string {
  const committed = { workchain: -1, shard: 1n << 63n, seqno: block.mc_seqno };
  return (
    `{"workchain":${block.workchain},"shard":${dialect.shard(block.shard)},"seqno":${block.seqno}` +
    `,"root_hash":${hashText(block.root_hash)},"file_hash":${hashText(block.file_hash)}` +
    `,"global_id":${block.global_id},"version":${block.version}` +
    `,"after_merge":${block.after_merge},"before_split":${block.before_split},"after_split":${block.after_split}` +
    `,"want_merge":${block.want_merge},"want_split":${block.want_split},"key_block":${block.key_block}` +
    `,"vert_seqno_incr":${block.vert_seqno_incr},"flags":${block.flags},"gen_utime":${decimal(block.gen_utime)}` +
    `,"start_lt":${decimal(block.start_lt)},"end_lt":${decimal(block.end_lt)}` +
    `,"validator_list_hash_short":${block.validator_list_hash_short | 0}` +
    `,"gen_catchain_seqno":${block.gen_catchain_seqno},"min_ref_mc_seqno":${block.min_ref_mc_seqno}` +
    `,"prev_key_block_seqno":${block.prev_key_block_seqno},"vert_seqno":${block.vert_seqno}` +
    `,"master_ref_seqno":${block.master_ref_seqno ?? 0}` +
    `,"rand_seed":${hashText(block.rand_seed)},"created_by":${hashText(block.created_by)},"tx_count":${block.tx_count}` +
    `,"masterchain_block_ref":${blockIdText(committed, dialect)}` +
    `,"prev_blocks":${listText(block.prev_blocks.map((previous) => blockIdText(previous, dialect)))}}`
  );
}
