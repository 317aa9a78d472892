import { readWallet, readWalletMessage } from '#domain/contracts/wallet.js';
import { hashKey } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  type ExternalInMessage,
  Message,
  messageBody,
  messageInit,
  normalizedExternalHash,
} from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { MessageOrigin } from '#services/pending/live-messages.js';
import type { Invalidation, LiveTrace } from '#services/pending/live-trace.js';
import { isReal, type PlacedTrace, type TracePlace } from '#services/pending/placed-trace.js';

/** What a message to a wallet needs to be included: no higher seqno, and a time before `valid_until`. */
interface WalletClaim {
  readonly seqno: number;
  /** Unix seconds; null: it does not expire. */
  readonly valid_until: number | null;
}

/**
 * Reads what a message to a wallet of a known version claims.
 *
 * @param shardAccount `ShardAccount` of its destination before it; null: not known
 * @returns null when the destination is no known wallet, before and with the message, or the body does not fit it
 */
export function readWalletClaim(message: Message, shardAccount: Cell | null): WalletClaim | null {
  try {
    const { body } = message;
    if (body.kind === 'right' && body.value.type !== CellType.ordinary) return null;
    const deployed = shardAccount === null ? null : contractOf(shardAccount);
    const { code = null, data = null } = deployed ?? messageInit(message) ?? {};
    const wallet = readWallet(code, data);
    const claim = wallet === null ? null : readWalletMessage(wallet.wallet_type, messageBody(message));
    return claim === null ? null : { seqno: claim.seqno, valid_until: claim.valid_until };
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;` */
function contractOf(shardAccount: Cell): { readonly code: Cell | null; readonly data: Cell | null } | null {
  const account = decodeCell(Account, openCell(shardAccount).loadRef());
  if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init;
}

/** A message and its trace. */
export interface PendingMessage {
  readonly message: ExternalInMessage;
  readonly account: Address;
  readonly account_key: bigint;
  readonly hash: Uint8Array;
  readonly norm: Uint8Array;
  readonly origin: MessageOrigin;
  readonly since: number;
  /** Clock milliseconds. */
  readonly begun: number;
  readonly placed: PlacedTrace;
  /** Bytes of the states that its emulations keep. */
  bytes: number;
  isCut: boolean;
  snapshot: LiveTrace | null;
  isClassifying: boolean;
  attempts: number;
  claim: WalletClaim | null;
  /** The wallet has a higher seqno after this masterchain block. */
  used: { readonly seqno: number; readonly mc_seqno: number } | null;
  isReadingSeqno: boolean;
  /** Clock milliseconds of the last change. */
  changed: number;
  /** Clock milliseconds: since then the index has its actions. */
  indexedAt: number | null;
  /** The newest masterchain block when its time was over; null: it is not. */
  dueSeqno: number | null;
  isOver: boolean;
}

/** A message that blocks contain or may contain, and where it is in its trace. */
interface PlacedMessage {
  readonly entry: PendingMessage;
  readonly place: TracePlace;
}

/** Under what a message can be found. */
interface Keys {
  /** Of aliases and places. */
  readonly hashes: Set<string>;
  /** In raw form. */
  readonly accounts: Set<string>;
}

/** The pending messages by their hashes, accounts, and by the messages that blocks are expected to contain. */
export class MessageIndex {
  /** By normalised hash, the oldest first. */
  readonly #entries = new Map<string, PendingMessage>();
  readonly #keys = new Map<PendingMessage, Keys>();
  readonly #inNoBlock = new Set<PendingMessage>();
  /** By raw hash of the message and by trace id, where these differ from the normalised hash. */
  readonly #aliases = new Map<string, PendingMessage>();
  readonly #byAccount = new Map<string, Set<PendingMessage>>();
  /** Messages to an account, by its raw form. */
  readonly #sentTo = new Map<string, Set<PendingMessage>>();
  /** Messages that blocks contain or may contain, by hash. */
  readonly #places = new Map<string, PlacedMessage>();
  /** Of those whose transaction is not final: by `hash_key`, which the event log has. */
  readonly #awaited = new Map<bigint, Set<string>>();
  readonly #onAwaited: () => void;

  /** @param onAwaited called when {@link awaitsNothing} ends */
  constructor(onAwaited: () => void) {
    this.#onAwaited = onAwaited;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether no message is expected in a block. */
  get awaitsNothing(): boolean {
    return this.#awaited.size === 0;
  }

  /** All, the oldest first; they may be removed meanwhile. */
  all(): readonly PendingMessage[] {
    return [...this.#entries.values()];
  }

  /** Those that no block contains, as far as known, the oldest first; they may be removed meanwhile. */
  inNoBlock(): readonly PendingMessage[] {
    return [...this.#inNoBlock];
  }

  /** Adds a message, which blocks are expected to contain in its given or its normalised form. */
  add(entry: PendingMessage): void {
    const { norm, hash, account, placed } = entry;
    this.#entries.set(toHex(norm), entry);
    this.#inNoBlock.add(entry);
    this.#keys.set(entry, { hashes: new Set(), accounts: new Set() });
    this.addAlias(entry, hash);
    this.addAccount(entry, account);
    addTo(this.#sentTo, account.toRaw(), entry);
    this.#expect(entry, placed.root, norm);
    this.#expect(entry, placed.root, hash);
  }

  remove(entry: PendingMessage): void {
    const keys = this.#keys.get(entry);
    this.#entries.delete(toHex(entry.norm));
    this.#keys.delete(entry);
    this.#inNoBlock.delete(entry);
    for (const key of keys?.hashes ?? []) {
      if (this.#aliases.get(key) === entry) this.#aliases.delete(key);
      if (this.#places.get(key)?.entry !== entry) continue;
      this.#places.delete(key);
      this.#unexpect(key);
    }
    for (const raw of keys?.accounts ?? []) removeFrom(this.#byAccount, raw, entry);
    removeFrom(this.#sentTo, entry.account.toRaw(), entry);
  }

  /** @param key normalised hash in hexadecimal digits */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** @param key normalised or raw hash, or trace id, in hexadecimal digits */
  find(key: string): PendingMessage | undefined {
    return this.#entries.get(key) ?? this.#aliases.get(key);
  }

  /** The messages in whose trace an account is. */
  ofAccount(account: Address): ReadonlySet<PendingMessage> {
    return this.#byAccount.get(account.toRaw()) ?? NONE;
  }

  /** How many messages there are to an account. Messages to others that only reach it do not count. */
  sentTo(account: Address): number {
    return this.#sentTo.get(account.toRaw())?.size ?? 0;
  }

  addAccount(entry: PendingMessage, account: Address): void {
    const raw = account.toRaw();
    const { accounts } = this.#keys.get(entry)!;
    if (accounts.has(raw)) return;
    accounts.add(raw);
    addTo(this.#byAccount, raw, entry);
  }

  /** Has a message found by another hash, too. */
  addAlias(entry: PendingMessage, hash: Uint8Array): void {
    const key = toHex(hash);
    if (!this.#entries.has(key)) this.#aliases.set(key, entry);
    this.#keys.get(entry)!.hashes.add(key);
  }

  /** Where a message of a block is in its trace; undefined: in none. */
  placeOf(in_msg: Cell): PlacedMessage | undefined {
    const found = this.#places.get(toHex(in_msg.hash()));
    if (found !== undefined) return found;
    const message = decodeCell(Message, in_msg);
    return message.info.kind === 'ext_in_msg_info'
      ? this.#places.get(toHex(normalizedExternalHash(message)))
      : undefined;
  }

  /** A real transaction was put in place: what it sent is expected, and it is not, once it is final. */
  settle(entry: PendingMessage, place: TracePlace): void {
    const key = toHex(place.message.hash());
    if (place.parent === null && isReal(place)) this.#inNoBlock.delete(entry);
    if (place.transaction?.finality === 'finalized') {
      this.#unexpect(key);
      if (place.parent === null) for (const hash of [entry.hash, entry.norm]) this.#unexpect(toHex(hash));
    }
    this.#places.set(key, { entry, place });
    this.#keys.get(entry)!.hashes.add(key);
    if (place.parent === null && place.transaction !== null) this.addAlias(entry, place.transaction.cell.hash());
    for (const child of place.children) this.#expect(entry, child, child.message.hash());
  }

  /**
   * The messages whose transaction is not final, among those of a block.
   * @param touched `msg_key` of the messages of the block; null: any
   */
  awaitedAmong(touched: readonly bigint[] | null): readonly Uint8Array[] {
    const found = new Set<string>();
    const add = (keys: Iterable<string>) => {
      for (const key of keys) found.add(key);
    };
    if (touched === null) for (const keys of this.#awaited.values()) add(keys);
    else if (this.#awaited.size > 0) for (const key of touched) add(this.#awaited.get(key) ?? []);
    return [...found].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  }

  #expect(entry: PendingMessage, place: TracePlace, hash: Uint8Array): void {
    const key = toHex(hash);
    this.#places.set(key, { entry, place });
    this.#keys.get(entry)!.hashes.add(key);
    if (place.transaction?.finality === 'finalized') return;
    const { awaitsNothing } = this;
    addTo(this.#awaited, hashKey(hash), key);
    if (awaitsNothing) this.#onAwaited();
  }

  #unexpect(key: string): void {
    removeFrom(this.#awaited, hashKey(Buffer.from(key, 'hex')), key);
  }
}

const NONE: ReadonlySet<PendingMessage> = new Set();

/** Adds to one of several sets. @returns the set */
function addTo<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): Set<Value> {
  const values = sets.get(key) ?? new Set();
  sets.set(key, values.add(value));
  return values;
}

/** Removes from one of several sets, and the set with its last value. */
function removeFrom<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = sets.get(key);
  values?.delete(value);
  if (values?.size === 0) sets.delete(key);
}

/** Who waits for changes of messages by their hash, and why messages are over that were pending. */
export class MessageWatchers {
  readonly #mostEnded: number;
  /** The oldest first. */
  readonly #ended = new Map<string, Invalidation>();
  readonly #watchers = new Map<string, Set<() => void>>();
  /** The keys of the watchers, by `hash_key`. */
  readonly #watched = new Map<bigint, Set<string>>();

  /** @param mostEnded hashes that are kept of messages that are over */
  constructor(mostEnded: number) {
    this.#mostEnded = mostEnded;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Calls the listener whenever {@link wake} is called for a hash. @returns ends that */
  watch(hash: Uint8Array, listener: () => void): () => void {
    const key = toHex(hash);
    const listeners = addTo(this.#watchers, key, listener);
    addTo(this.#watched, hashKey(hash), key);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#watchers.get(key) !== listeners) return;
      this.#watchers.delete(key);
      removeFrom(this.#watched, hashKey(hash), key);
    };
  }

  wake(key: string): void {
    for (const listener of [...(this.#watchers.get(key) ?? [])]) listener();
  }

  /** The watched hashes among the messages of a block. @param messages `msg_key` of its messages; null: any */
  among(messages: readonly bigint[] | null): ReadonlySet<string> {
    if (this.#watched.size === 0) return new Set();
    if (messages === null) return new Set(this.#watchers.keys());
    return new Set(messages.flatMap((key) => [...(this.#watched.get(key) ?? [])]));
  }

  /** Why a message is over; undefined: it is not, or that is long ago. */
  endOf(key: string): Invalidation | undefined {
    return this.#ended.get(key);
  }

  /** A message is over. */
  remember(invalidation: Invalidation): void {
    for (const hash of [invalidation.external_hash, invalidation.external_hash_norm]) {
      const key = toHex(hash);
      this.#ended.delete(key);
      this.#ended.set(key, invalidation);
      this.wake(key);
    }
    while (this.#ended.size > this.#mostEnded) this.#ended.delete(this.#ended.keys().next().value!);
  }

  /** A message begins anew. */
  forget(key: string): void {
    this.#ended.delete(key);
  }
}
