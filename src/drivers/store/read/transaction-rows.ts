import { raw } from '#drivers/store/read/sql.js';

/** A row of `transactions` as it comes from the database, with the hash of the root of its trace. */
export interface TransactionFound {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: bigint;
  readonly account_key: bigint;
  readonly hash_key: bigint;
  readonly trace_root: bigint;
  readonly shard: bigint;
  readonly workchain: number;
  readonly block_seqno: number;
  readonly global_version: number;
  readonly state_after: Uint8Array | null;
  readonly boc: Uint8Array;
  readonly trace_id: Uint8Array | null;
}

/** Columns of a {@link TransactionFound}, of the table `t`. */
export const TRANSACTION_COLUMNS = raw(
  `t.id, t.lt, t.now, t.account_key, t.hash_key, t.trace_root, t.shard, t.workchain, t.block_seqno, t.global_version,
   t.state_after, t.boc, (SELECT x.trace_id FROM traces x WHERE x.root = t.trace_root) AS trace_id`,
);
