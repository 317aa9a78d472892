import type { ChangeLog } from '#api/http/http-api.js';
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

/**
 * The jetton wallets, NFT items, NFT collections and jetton masters that name an account as their owner or admin, and the token
 * events that name it as one of their owners.
 */
function ownedDependency(address: Address): string {
  return `o${accountKey(addressBytes(address))}`;
}

/** The jetton wallets of a jetton master or the items of an NFT collection, and their token events. */
function tokenDependency(address: Address): string {
  return `k${accountKey(addressBytes(address))}`;
}

/**
 * A list of contracts, or of token events of contracts, by their addresses, or else by their owners, or else by their jetton masters or
 * NFT collections; null: by none of these, or they are too many, and it depends on anything.
 */
export function contractDependencies(
  addresses: readonly Address[] | undefined,
  owners: readonly Address[] | undefined,
  tokens?: readonly Address[],
): readonly string[] | null {
  if (addresses !== undefined) return accountDependencies(addresses);
  if (owners !== undefined) return owners.length > MOST_ACCOUNTS ? null : owners.map(ownedDependency);
  return tokens === undefined || tokens.length > MOST_ACCOUNTS ? null : tokens.map(tokenDependency);
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
function* changedKeys({ touched, continued }: KnownChange): Generator<string> {
  const { accounts, transactions, messages, traces, tokens, receivers, owners } = touched;
  for (const key of accounts) {
    yield `a${key}`;
    yield `c${key}`;
    yield `d${key}`;
  }
  for (const key of receivers) yield `d${key}`;
  for (const key of owners) yield `o${key}`;
  for (const key of tokens) yield `k${key}`;
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

/** Keys that are remembered, at most: on mainnet those of some minutes. */
const MOST_KEYS = 250_000;

/** Which keys changed with which version of the data, for the newest versions. */
export class ChangedKeys implements ChangeLog {
  readonly #most: number;
  /** The newest version with which a key changed, the least recently changed first. */
  readonly #versions = new Map<string, number>();
  /** What was known before this version may have changed unnoticed. */
  #floor = 0;
  confirmedAt = Number.NEGATIVE_INFINITY;
  /** What changed with the newest version; null: anything. */
  newest: readonly string[] | null = null;

  constructor(most = MOST_KEYS) {
    this.#most = most;
  }

  get size(): number {
    return this.#versions.size;
  }

  isUnchanged(keys: readonly string[], since: number): boolean {
    if (since < this.#floor) return false;
    for (const key of keys) {
      const version = this.#versions.get(key);
      if (version !== undefined && version > since) return false;
    }
    return true;
  }

  /** @param changes null: anything may have changed */
  noteChanges(version: number, changes: readonly KnownChange[] | null): void {
    this.newest = changes?.flatMap((change) => [...changedKeys(change)]) ?? null;
    this.noteKeys(version, this.newest);
  }

  /** @param keys null: anything may have changed */
  noteKeys(version: number, keys: readonly string[] | null): void {
    if (keys === null) this.noteAll(version);
    else for (const key of keys) this.note(key, version);
  }

  noteConfirmed(now: number): void {
    this.confirmedAt = now;
  }

  /** @param version the first one with the change */
  note(key: string, version: number): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size <= this.#most) return;
    for (const [oldest, at] of this.#versions) {
      this.#versions.delete(oldest);
      this.#floor = Math.max(this.#floor, at);
      break;
    }
  }

  /** Anything may have changed. @param version the first one with the change */
  noteAll(version: number): void {
    this.#versions.clear();
    this.#floor = version;
  }
}
