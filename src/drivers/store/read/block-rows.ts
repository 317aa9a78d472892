import { seqnoOfId } from '#drivers/store/ids.js';
import type { IndexedBlock, ShardPosition } from '#drivers/store/read/index-reads.js';
import { raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** A row of `blocks` as it comes from the database. */
export interface BlockFound {
  readonly id: bigint;
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
  readonly global_id: number;
  readonly version: bigint;
  readonly bits: number;
  readonly flags: number;
  readonly gen_utime: bigint;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  readonly validator_list_hash_short: bigint;
  readonly gen_catchain_seqno: bigint;
  readonly min_ref_mc_seqno: bigint;
  readonly prev_key_block_seqno: bigint;
  readonly vert_seqno: bigint;
  readonly master_ref_seqno: bigint | null;
  readonly rand_seed: Uint8Array;
  readonly created_by: Uint8Array;
  readonly tx_count: number;
  readonly prev_blocks: readonly bigint[];
}

/** Columns of a {@link BlockFound}, of the table `b`. */
export const BLOCK_COLUMNS = raw(
  `b.id, b.workchain, b.shard, b.seqno, b.root_hash, b.file_hash, b.global_id, b.version, b.bits, b.flags, b.gen_utime,
   b.start_lt, b.end_lt, b.validator_list_hash_short, b.gen_catchain_seqno, b.min_ref_mc_seqno, b.prev_key_block_seqno,
   b.vert_seqno, b.master_ref_seqno, b.rand_seed, b.created_by, b.tx_count, b.prev_blocks`,
);

export function indexedBlock(found: BlockFound): IndexedBlock {
  const { bits } = found;
  // Without a spread: an object that is made of one and grows by so many fields is several times as slow.
  return {
    workchain: found.workchain,
    shard: BigInt.asUintN(64, found.shard),
    seqno: found.seqno,
    mc_seqno: seqnoOfId(found.id),
    root_hash: found.root_hash,
    file_hash: found.file_hash,
    global_id: found.global_id,
    version: Number(found.version),
    after_merge: (bits & 1) !== 0,
    before_split: (bits & 2) !== 0,
    after_split: (bits & 4) !== 0,
    want_merge: (bits & 8) !== 0,
    want_split: (bits & 16) !== 0,
    key_block: (bits & 32) !== 0,
    vert_seqno_incr: (bits & 64) !== 0,
    flags: found.flags,
    gen_utime: Number(found.gen_utime),
    start_lt: found.start_lt,
    end_lt: found.end_lt,
    validator_list_hash_short: Number(found.validator_list_hash_short),
    gen_catchain_seqno: Number(found.gen_catchain_seqno),
    min_ref_mc_seqno: Number(found.min_ref_mc_seqno),
    prev_key_block_seqno: Number(found.prev_key_block_seqno),
    vert_seqno: Number(found.vert_seqno),
    master_ref_seqno: found.master_ref_seqno === null ? null : Number(found.master_ref_seqno),
    rand_seed: found.rand_seed,
    created_by: found.created_by,
    tx_count: found.tx_count,
    prev_blocks: Array.from({ length: found.prev_blocks.length / 3 }, (_, i) => {
      const [workchain, shard, seqno] = found.prev_blocks.slice(i * 3, i * 3 + 3) as [bigint, bigint, bigint];
      return position(Number(workchain), shard, Number(seqno));
    }),
  };
}

/** @param shard signed, as it is stored */
export function position(workchain: number, shard: bigint, seqno: number): ShardPosition {
  return { workchain, shard: BigInt.asUintN(64, shard), seqno };
}

/** Whether there is a block of a workchain: what is asked of one that there is not would be looked for in all there is. */
export function hasWorkchain(workchain: number): Sql {
  return sql`(
    SELECT w.seqno FROM blocks w WHERE w.workchain = ${workchain}::integer ORDER BY w.workchain, w.shard, w.seqno LIMIT 1
  ) IS NOT NULL`;
}
