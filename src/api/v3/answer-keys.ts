import type { IndexEvent, TouchedKeys } from '#drivers/store/event-log.js';
import { accountKey, addressBytes, hashKey, seqnoOfId } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';

/*
 * What answers depend on, as texts: the kind of the data and its key in the event log of the index (see `TouchedKeys`). An answer
 * without any key changes only when older blocks are indexed, or when rows are derived again.
 */

/** The transactions of an account, its state, and what contract detection finds in it. */
export function accountDependency(address: Address): string {
  return `a${accountKey(addressBytes(address))}`;
}

/** Accounts of an answer that is kept longer than until the next block: keys of more take longer than what that saves. */
const MOST_ACCOUNTS = 100;

/** {@link accountDependency} of each; null: they are too many, and the answer depends on anything. */
export function accountDependencies(addresses: readonly Address[]): readonly string[] | null {
  return addresses.length > MOST_ACCOUNTS ? null : addresses.map(accountDependency);
}

/** The messages that were sent to an account, received or not. */
export function messagesToDependency(address: Address): string {
  return `d${accountKey(addressBytes(address))}`;
}

/** The traces that an account takes part in. */
export function tracesOfAccountDependency(address: Address): string {
  return `c${accountKey(addressBytes(address))}`;
}

/** Whether there is a transaction with a hash. */
export function transactionDependency(hash: Uint8Array): string {
  return `h${hashKey(hash)}`;
}

/** The sender and the receiver of a message, by its hash or normalized hash. */
export function messageDependency(hash: Uint8Array): string {
  return `m${hashKey(hash)}`;
}

/** The extent of a trace, by its root. */
export function traceDependency(root: bigint): string {
  return `t${root}`;
}

/** A change of the index of which is known what it touched. */
export interface KnownChange {
  readonly touched: TouchedKeys;
  /** Keys of the accounts of the traces that it continued. */
  readonly continued: readonly bigint[];
}

/** The keys of a change. */
export function* changedKeys({ touched, continued }: KnownChange): Generator<string> {
  const { accounts, transactions, messages, traces, receivers } = touched;
  for (const key of accounts) {
    yield `a${key}`;
    yield `c${key}`;
    yield `d${key}`;
  }
  for (const key of receivers) yield `d${key}`;
  for (const key of continued) yield `c${key}`;
  for (const key of transactions) yield `h${key}`;
  for (const key of messages) yield `m${key}`;
  for (const root of traces) yield `t${root}`;
}

/** Roots of the traces that began before the block of an event. */
export function continuedTraces({ range, touched }: IndexEvent): readonly bigint[] {
  if (range === null || touched === null) return touched?.traces ?? [];
  return touched.traces.filter((root) => seqnoOfId(root) < range.from);
}
