/** Rows of the tables; columns are explained in `migrations/0001-index.sql`. */

export interface BlockRow {
  readonly id: bigint;
  readonly workchain: number;
  /** Signed. */
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
  readonly global_id: number;
  readonly version: number;
  readonly bits: number;
  readonly flags: number;
  readonly gen_utime: number;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  readonly validator_list_hash_short: number;
  readonly gen_catchain_seqno: number;
  readonly min_ref_mc_seqno: number;
  readonly prev_key_block_seqno: number;
  readonly vert_seqno: number;
  readonly master_ref_seqno: number | null;
  readonly rand_seed: Uint8Array;
  readonly created_by: Uint8Array;
  readonly global_version: number;
  readonly tx_count: number;
  /** workchain, shard (signed), seqno of each block before it. */
  readonly prev_blocks: readonly bigint[];
  /** Of a masterchain block: the same of the newest block of each shard. */
  readonly shard_tops: readonly bigint[] | null;
}

export interface TransactionRow {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: number;
  readonly account_key: bigint;
  readonly hash_key: bigint;
  readonly trace_root: bigint;
  readonly in_msg_key: bigint | null;
  /** Signed. */
  readonly shard: bigint;
  readonly workchain: number;
  readonly block_seqno: number;
  readonly global_version: number;
  readonly state_after: Uint8Array | null;
  readonly boc: Uint8Array;
}

export interface MessageRow {
  readonly tx_id: bigint;
  readonly msg_key: bigint;
  readonly body_key: bigint;
  readonly norm_key: bigint | null;
  readonly source_key: bigint | null;
  readonly destination_key: bigint | null;
  readonly created_lt: bigint | null;
  readonly created_at: number | null;
  /** Signed. */
  readonly opcode: number | null;
  readonly position: number;
}

export interface AccountRow {
  readonly address: Uint8Array;
  readonly state_hash: Uint8Array;
  /** 0 uninit, 1 active, 2 frozen, 3 nonexist. */
  readonly status: number;
  readonly balance: bigint;
  /** By currency id; null for none. */
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  readonly frozen_hash: Uint8Array | null;
  /** Null without data, when it is as before (`data_hash` tells), and when a part of it is not known. */
  readonly data_boc: Uint8Array | null;
}

export interface CodeRow {
  readonly code_hash: Uint8Array;
  readonly boc: Uint8Array;
  /** Ids of its get methods; null: not known, or it has no table of them. */
  readonly methods: readonly number[] | null;
  /** Whether they were looked for; not in a library reference, whose methods are those of the library. */
  readonly methods_read: boolean;
}

export interface TokenEventRow {
  readonly tx_id: bigint;
  readonly lt: bigint;
  readonly now: number;
  readonly account_key: bigint;
  readonly token_key: bigint | null;
  readonly source_key: bigint;
  readonly destination_key: bigint | null;
  readonly kind: number;
  readonly aborted: boolean;
  readonly confirmed: boolean;
}
