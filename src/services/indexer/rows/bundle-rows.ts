import { createHash } from 'node:crypto';
import type { TraceTransaction } from '#domain/traces/trace-assembler.js';
import { accountKey } from '#drivers/store/keys.js';
import type { StateFields } from '#drivers/store/stored-state.js';
import { sharedCodes } from '#drivers/store/stored-transaction.js';
import type { BlockRow, CodeRow, MessageRow } from '#drivers/store/tables.js';
import type { TokenEventCandidate } from '#drivers/store/write/token-events.js';
import type { Cell } from '#formats/cells/cell.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import { compareBytes, toHex } from '#kernel/bytes.js';

/** What a round adds to the index; in the order of ids. */
export interface BundleRows {
  readonly mc_seqno: number;
  readonly blocks: readonly BlockRow[];
  readonly transactions: readonly BundleTransaction[];
  /** Of the producers: each message that a transaction of the round sent. */
  readonly messages: readonly MessageRow[];
  /** The state of each account after its last transaction in each block. */
  readonly accounts: readonly AccountStateChange[];
}

/** A transaction of a round: what traces are made of, and its row. */
export interface BundleTransaction extends TraceTransaction {
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
  readonly token_candidate: TokenEventCandidate | null;
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
export interface AccountStateChange extends StateFields {
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

/** The part of a round that belongs to some accounts: their transactions, with the messages of these. Blocks stay. */
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

/** Of the codes of all transactions, those that the selected ones need. */
export function neededCodes(
  codes: readonly CodeRow[],
  accounts: readonly { readonly code_hash: Uint8Array | null }[],
  rounds: readonly BundleRows[],
): CodeRow[] {
  const needed = new Set<string>();
  for (const { code_hash } of accounts) if (code_hash !== null) needed.add(toHex(code_hash));
  for (const { transactions } of rounds) {
    for (const { boc } of transactions) for (const hash of sharedCodes(boc)) needed.add(toHex(hash));
  }
  return codes.filter(({ code_hash }) => needed.has(toHex(code_hash)));
}

/** What is left out of an index, as it is noted in the database: the same accounts give the same text, in whatever order. */
export function selectionIdentity(accounts: readonly Uint8Array[] | null): Readonly<Record<string, string>> {
  if (accounts === null) return {};
  const hash = createHash('sha256');
  const distinct = accounts.toSorted(compareBytes).filter((each, i, all) => i === 0 || compareBytes(each, all[i - 1]!));
  for (const account of distinct) hash.update(account);
  return { accounts: `${distinct.length} (${hash.digest('hex').slice(0, 16)})` };
}

/** The keys of accounts, in a form that goes to other threads. */
export function accountKeys(accounts: readonly Uint8Array[] | null): BigInt64Array | null {
  return accounts === null ? null : BigInt64Array.from(new Set(accounts.map(accountKey)));
}
