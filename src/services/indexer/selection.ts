import { createHash } from 'node:crypto';
import { accountKey } from '#drivers/store/keys.js';
import { compareBytes } from '#kernel/bytes/bytes.js';

/** What is left out of an index, as it is noted in the database: the same accounts give the same text, in whatever order. */
export function describeAccounts(accounts: readonly Uint8Array[] | null): Readonly<Record<string, string>> {
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
