import { createHash } from 'node:crypto';
import type { TraceTransaction } from '#domain/traces/trace-assembler.js';
import { accountKey } from '#drivers/store/keys.js';
import type { StateFields } from '#drivers/store/stored-state.js';
import { sharedCodes } from '#drivers/store/stored-transaction.js';
import type { BlockRow, CodeRow, MessageRow } from '#drivers/store/tables.js';
import type { TokenEventCandidate } from '#drivers/store/write/token-events.js';
import type { Cell } from '#formats/cells/cell.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { compareBytes, toHex } from '#kernel/bytes.js';

/** A block with the blocks before it, as its header names them (`prev_ref`), with their hashes. */
export interface BlockParents {
  readonly id: BlockId;
  readonly prev: readonly BlockId[];
}

/** The rows that a bundle adds to the index, by ascending id. */
export interface BundleRows {
  readonly mc_seqno: number;
  readonly blocks: readonly BlockRow[];
  /** Of the blocks, in the same order. */
  readonly links: readonly BlockParents[];
  readonly transactions: readonly BundleTransaction[];
  /** Each message that a transaction of the bundle sent, and inbound messages without a sender on the chain. */
  readonly messages: readonly MessageRow[];
  /** The state of each account after its last transaction in each block. */
  readonly accounts: readonly AccountStateChange[];
}

/** A transaction of a bundle: the input of trace assembly, and its row. */
export interface BundleTransaction extends TraceTransaction {
  /** Its own id until its trace is assembled. */
  trace_root: bigint;
  readonly hash_key: bigint;
  readonly in_msg_key: bigint | null;
  /** Signed. */
  readonly shard: bigint;
  readonly workchain: number;
  readonly block_seqno: number;
  readonly global_version: number;
  /** Hash of the `Account` cell after the transaction. */
  readonly state_hash: Uint8Array;
  state_after: Uint8Array | null;
  readonly boc: Uint8Array;
  /** The cell table of its block. */
  readonly table: CellTable;
  /** Cell index of its inbound message; -1: none. */
  readonly in_msg_line: number;
  /** The token event its inbound message claims; null: none. */
  readonly token_candidate: TokenEventCandidate | null;
}

/** How much of an account's data a block contains. */
export type AccountData =
  /** The account has no data. */
  | { readonly kind: 'none' }
  /** Same cell as in the previous state; for a new account, a cell that is elsewhere in the block (e.g. in the message). */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'whole'; readonly cell: Cell }
  /** Some cells are unchanged: they are pruned branches here. */
  | { readonly kind: 'partial'; readonly cell: Cell };

/** An account after its last transaction in a block. */
export interface AccountStateChange extends StateFields {
  readonly address: Uint8Array;
  readonly account_key: bigint;
  readonly state_hash: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  /** Id of its first transaction in the block; null: none, it is of a zerostate. */
  readonly first_tx: bigint | null;
  readonly data: AccountData;
  /** The extra currency dictionary, when a part of it is unchanged and therefore pruned here. */
  readonly pruned_extra: Cell | null;
}

/** The rows of selected accounts: their transactions with their messages, and their states. All blocks stay. */
export function selectRows(rows: BundleRows, accounts: ReadonlySet<bigint>): BundleRows {
  const transactions = rows.transactions.filter(({ account_key }) => accounts.has(account_key));
  const ids = new Set(transactions.map(({ id }) => id));
  return {
    ...rows,
    transactions,
    messages: rows.messages.filter(({ tx_id }) => ids.has(tx_id)),
    accounts: selectAccounts(rows.accounts, accounts),
  };
}

export function selectAccounts(
  changes: readonly AccountStateChange[],
  accounts: ReadonlySet<bigint>,
): AccountStateChange[] {
  return changes.filter(({ account_key }) => accounts.has(account_key));
}

/** The codes that the selected accounts and transactions need. */
export function neededCodes(
  codes: readonly CodeRow[],
  accounts: readonly { readonly code_hash: Uint8Array | null }[],
  bundles: readonly BundleRows[],
): CodeRow[] {
  const needed = new Set<string>();
  for (const { code_hash } of accounts) if (code_hash !== null) needed.add(toHex(code_hash));
  for (const { transactions } of bundles) {
    for (const { boc } of transactions) for (const hash of sharedCodes(boc)) needed.add(toHex(hash));
  }
  return codes.filter(({ code_hash }) => needed.has(toHex(code_hash)));
}

/** The account selection as stored in `index_state`: the same accounts give the same text, in any order. */
export function selectionIdentity(accounts: readonly Uint8Array[] | null): Readonly<Record<string, string>> {
  if (accounts === null) return {};
  const hash = createHash('sha256');
  const distinct = accounts.toSorted(compareBytes).filter((each, i, all) => i === 0 || compareBytes(each, all[i - 1]!));
  for (const account of distinct) hash.update(account);
  return { accounts: `${distinct.length} (${hash.digest('hex').slice(0, 16)})` };
}

/** Account keys, in a form that can be sent to worker threads. */
export function accountKeys(accounts: readonly Uint8Array[] | null): BigInt64Array | null {
  return accounts === null ? null : BigInt64Array.from(new Set(accounts.map(accountKey)));
}
