import type { CopyRows } from '#drivers/store/copy.js';
import type { TraceRow } from '#drivers/store/write/traces.js';

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

/** How the rows of a table are copied: its columns, and a writer of their fields in this order. */
export interface TableRows<Row> {
  readonly table: string;
  readonly columns: readonly string[];
  write(rows: CopyRows, row: Row): void;
}

export const BLOCKS: TableRows<BlockRow> = {
  table: 'blocks',
  columns: [
    ...['id', 'workchain', 'shard', 'seqno', 'root_hash', 'file_hash', 'global_id', 'version', 'bits', 'flags'],
    ...['gen_utime', 'start_lt', 'end_lt', 'validator_list_hash_short', 'gen_catchain_seqno', 'min_ref_mc_seqno'],
    ...['prev_key_block_seqno', 'vert_seqno', 'master_ref_seqno', 'rand_seed', 'created_by', 'global_version'],
    ...['tx_count', 'prev_blocks', 'shard_tops'],
  ],
  write(rows, row) {
    rows.row(25);
    rows.int8(row.id);
    rows.int4(row.workchain);
    rows.int8(row.shard);
    rows.int4(row.seqno);
    rows.bytea(row.root_hash);
    rows.bytea(row.file_hash);
    rows.int4(row.global_id);
    rows.int8(row.version);
    rows.int2(row.bits);
    rows.int2(row.flags);
    rows.int8(row.gen_utime);
    rows.int8(row.start_lt);
    rows.int8(row.end_lt);
    rows.int8(row.validator_list_hash_short);
    rows.int8(row.gen_catchain_seqno);
    rows.int8(row.min_ref_mc_seqno);
    rows.int8(row.prev_key_block_seqno);
    rows.int8(row.vert_seqno);
    rows.int8(row.master_ref_seqno);
    rows.bytea(row.rand_seed);
    rows.bytea(row.created_by);
    rows.int4(row.global_version);
    rows.int4(row.tx_count);
    rows.int8Array(row.prev_blocks);
    rows.int8Array(row.shard_tops);
  },
};

export const TRANSACTIONS: TableRows<TransactionRow> = {
  table: 'transactions',
  columns: [
    ...['id', 'lt', 'now', 'account_key', 'hash_key', 'trace_root', 'in_msg_key', 'shard', 'workchain', 'block_seqno'],
    ...['global_version', 'state_after', 'boc'],
  ],
  write(rows, row) {
    rows.row(13);
    rows.int8(row.id);
    rows.int8(row.lt);
    rows.int8(row.now);
    rows.int8(row.account_key);
    rows.int8(row.hash_key);
    rows.int8(row.trace_root);
    rows.int8(row.in_msg_key);
    rows.int8(row.shard);
    rows.int4(row.workchain);
    rows.int4(row.block_seqno);
    rows.int2(row.global_version);
    rows.bytea(row.state_after);
    rows.bytea(row.boc);
  },
};

export const MESSAGES: TableRows<MessageRow> = {
  table: 'messages',
  columns: [
    ...['tx_id', 'msg_key', 'body_key', 'norm_key', 'source_key', 'destination_key', 'created_lt', 'created_at'],
    ...['opcode', 'position'],
  ],
  write(rows, row) {
    rows.row(10);
    rows.int8(row.tx_id);
    rows.int8(row.msg_key);
    rows.int8(row.body_key);
    rows.int8(row.norm_key);
    rows.int8(row.source_key);
    rows.int8(row.destination_key);
    rows.int8(row.created_lt);
    rows.int8(row.created_at);
    rows.int4(row.opcode);
    rows.int2(row.position);
  },
};

export const TOKEN_EVENTS: TableRows<TokenEventRow> = {
  table: 'token_events',
  columns: [
    ...['tx_id', 'lt', 'now', 'account_key', 'token_key', 'source_key', 'destination_key', 'kind', 'aborted'],
    'confirmed',
  ],
  write(rows, row) {
    rows.row(10);
    rows.int8(row.tx_id);
    rows.int8(row.lt);
    rows.int8(row.now);
    rows.int8(row.account_key);
    rows.int8(row.token_key);
    rows.int8(row.source_key);
    rows.int8(row.destination_key);
    rows.int2(row.kind);
    rows.bool(row.aborted);
    rows.bool(row.confirmed);
  },
};

export const TRACES: TableRows<TraceRow> = {
  table: 'traces',
  columns: [
    ...['root', 'start_lt', 'start_utime', 'end_lt', 'end_utime', 'mc_seqno_end', 'nodes', 'edges', 'pending_edges'],
    ...['state', 'trace_id'],
  ],
  write(rows, row) {
    rows.row(11);
    rows.int8(row.root);
    rows.int8(row.start_lt);
    rows.int8(row.start_utime);
    rows.int8(row.end_lt);
    rows.int8(row.end_utime);
    rows.int4(row.mc_seqno_end);
    rows.int4(row.nodes);
    rows.int4(row.edges);
    rows.int4(row.pending_edges);
    rows.int2(row.state);
    rows.bytea(row.trace_id);
  },
};

/** An account with a transaction in a trace, and the end of the trace. */
export interface TraceAccountRow {
  readonly root: bigint;
  readonly account_key: bigint;
  readonly end_lt: bigint;
  readonly end_utime: number;
}

export const TRACE_ACCOUNTS: TableRows<TraceAccountRow> = {
  table: 'trace_accounts',
  columns: ['root', 'account_key', 'end_lt', 'end_utime'],
  write(rows, row) {
    rows.row(4);
    rows.int8(row.root);
    rows.int8(row.account_key);
    rows.int8(row.end_lt);
    rows.int8(row.end_utime);
  },
};

/** A message that was sent and not received, and the trace that it belongs to. */
export interface OpenMessageRow {
  readonly msg_hash: Uint8Array;
  readonly trace_root: bigint;
}

export const OPEN_MESSAGES: TableRows<OpenMessageRow> = {
  table: 'open_messages',
  columns: ['msg_hash', 'trace_root'],
  write(rows, row) {
    rows.row(2);
    rows.bytea(row.msg_hash);
    rows.int8(row.trace_root);
  },
};

/** A message that was received and whose sender is not indexed, and the transaction that received it. */
export interface OrphanMessageRow {
  readonly msg_hash: Uint8Array;
  readonly tx_id: bigint;
}

export const ORPHAN_MESSAGES: TableRows<OrphanMessageRow> = {
  table: 'orphan_messages',
  columns: ['msg_hash', 'tx_id'],
  write(rows, row) {
    rows.row(2);
    rows.bytea(row.msg_hash);
    rows.int8(row.tx_id);
  },
};

/** An account as it is staged: the merge adds what makes it incomplete besides. */
export interface StagedAccountRow extends AccountRow {
  readonly incomplete: boolean;
}

export const STAGED_ACCOUNTS: TableRows<StagedAccountRow> = {
  table: 'staged_accounts',
  columns: [
    ...['address', 'state_hash', 'status', 'balance', 'extra_currencies', 'last_trans_lt', 'last_trans_hash'],
    ...['mc_seqno', 'gen_utime', 'code_hash', 'data_hash', 'frozen_hash', 'data_boc', 'incomplete'],
  ],
  write(rows, row) {
    rows.row(14);
    rows.bytea(row.address);
    rows.bytea(row.state_hash);
    rows.int2(row.status);
    rows.numeric(row.balance);
    rows.jsonb(row.extra_currencies === null ? null : currenciesJson(row.extra_currencies));
    rows.int8(row.last_trans_lt);
    rows.bytea(row.last_trans_hash);
    rows.int4(row.mc_seqno);
    rows.int8(row.gen_utime);
    rows.bytea(row.code_hash);
    rows.bytea(row.data_hash);
    rows.bytea(row.frozen_hash);
    rows.bytea(row.data_boc);
    rows.bool(row.incomplete);
  },
};

export const STAGED_CODES: TableRows<CodeRow> = {
  table: 'staged_codes',
  columns: ['code_hash', 'boc', 'methods', 'methods_read'],
  write(rows, row) {
    rows.row(4);
    rows.bytea(row.code_hash);
    rows.bytea(row.boc);
    rows.int4Array(row.methods);
    rows.bool(row.methods_read);
  },
};

/** `{ "100": "5" }`: amounts may be larger than numbers of JSON are exact. */
function currenciesJson(currencies: ReadonlyMap<number, bigint>): string {
  return JSON.stringify(Object.fromEntries([...currencies].map(([id, amount]) => [id, String(amount)])));
}
