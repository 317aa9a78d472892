import type { TraceTransaction } from '#domain/traces/trace-transaction.js';
import type { StateFields } from '#drivers/store/encode/state-summary.js';
import type { TokenCandidate } from '#drivers/store/encode/token-candidate.js';
import type { BlockRow, MessageRow } from '#drivers/store/rows.js';
import type { Cell } from '#formats/cells/cell.js';
import type { CellTable } from '#formats/cells/cell-table.js';

/** What a round adds to the index; in the order of ids. */
export interface RoundRows {
  readonly mc_seqno: number;
  readonly blocks: readonly BlockRow[];
  readonly transactions: readonly RoundTransaction[];
  /** Of the producers: each message that a transaction of the round sent. */
  readonly messages: readonly MessageRow[];
  /** The state of each account after its last transaction in each block. */
  readonly accounts: readonly AccountChange[];
}

/** A transaction of a round: what traces are made of, and its row. */
export interface RoundTransaction extends TraceTransaction {
  /** Its own id as long as its trace is not looked for. */
  trace_root: bigint;
  readonly hash_key: bigint;
  readonly in_msg_key: bigint | null;
  /** Signed. */
  readonly shard: bigint;
  readonly workchain: number;
  readonly block_seqno: number;
  readonly global_version: number;
  /** Of the account after it: the hash of the `Account` cell. */
  readonly state_hash: Uint8Array;
  state_after: Uint8Array | null;
  readonly boc: Uint8Array;
  /** Where its cells are. */
  readonly table: CellTable;
  /** The line of the message that it received; -1: none. */
  readonly in_msg_line: number;
  /** What the message that it received says of tokens; null: nothing. */
  readonly token_candidate: TokenCandidate | null;
}

/** How much of an account's data is known. */
export type AccountData =
  /** It has none. */
  | { readonly kind: 'none' }
  /** The same cell as in the state before; a new account may have it from elsewhere. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'whole'; readonly cell: Cell }
  /** Some cells are those of the state before: they are pruned branches here. */
  | { readonly kind: 'partial'; readonly cell: Cell };

/** An account after its last transaction in a block. */
export interface AccountChange extends StateFields {
  readonly address: Uint8Array;
  readonly account_key: bigint;
  readonly state_hash: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  readonly data: AccountData;
  /** The dictionary of other currencies, when some of it is as before and therefore pruned here. */
  readonly pruned_extra: Cell | null;
}
