import { sharedCodes } from '#drivers/store/encode/stored-transaction.js';
import type { CodeRow } from '#drivers/store/rows.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { AccountChange, RoundRows } from '#services/indexer/rows/round-rows.js';

/** The part of a round that belongs to some accounts: their transactions, with the messages of these. Blocks stay. */
export function selectRows(rows: RoundRows, accounts: ReadonlySet<bigint>): RoundRows {
  const transactions = rows.transactions.filter(({ account_key }) => accounts.has(account_key));
  const ids = new Set(transactions.map(({ id }) => id));
  return {
    ...rows,
    transactions,
    messages: rows.messages.filter(({ tx_id }) => ids.has(tx_id)),
    accounts: selectAccounts(rows.accounts, accounts),
  };
}

export function selectAccounts(changes: readonly AccountChange[], accounts: ReadonlySet<bigint>): AccountChange[] {
  return changes.filter(({ account_key }) => accounts.has(account_key));
}

/** Of the codes of all transactions, those that the selected ones need. */
export function neededCodes(
  codes: readonly CodeRow[],
  accounts: readonly { readonly code_hash: Uint8Array | null }[],
  rounds: readonly RoundRows[],
): CodeRow[] {
  const needed = new Set<string>();
  for (const { code_hash } of accounts) if (code_hash !== null) needed.add(toHex(code_hash));
  for (const { transactions } of rounds) {
    for (const { boc } of transactions) for (const hash of sharedCodes(boc)) needed.add(toHex(hash));
  }
  return codes.filter(({ code_hash }) => needed.has(toHex(code_hash)));
}
