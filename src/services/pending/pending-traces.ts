import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type ExternalInMessage, normalizedExternalHash } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { EmulatedTrace, TraceEmulation } from '#services/emulation/emulated-trace.js';
import { EmulationQueue } from '#services/pending/emulation-queue.js';
import type { LiveMessages, MessageOrigin, MessageStatus } from '#services/pending/live-messages.js';
import type { Invalidation, LiveAction, LiveEvent, LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';
import {
  MessageIndex,
  MessageWatchers,
  type PendingMessage,
  readWalletClaim,
} from '#services/pending/message-index.js';
import type { PendingMetrics } from '#services/pending/metrics.js';
import { checkPendingOptions, type PendingOptions, type PendingSettings } from '#services/pending/options.js';
import { isReal, messagesOf, PlacedTrace, type TracePlace } from '#services/pending/placed-trace.js';

/** Classifies live traces: see `LiveTrace.actions`. */
export interface LiveClassification {
  /** The actions of the present transactions, by end_lt and start_lt, newest first. */
  classify(trace: LiveTrace, signal: AbortSignal): Promise<readonly LiveAction[]>;
}

/** Reads real wallets, to find out that the seqno of a message is used. */
export interface WalletSeqnos {
  /** Null: the account is no known wallet. `mc_seqno`: of the block after which it was read. */
  read(account: Address, signal: AbortSignal): Promise<{ readonly seqno: number; readonly mc_seqno: number } | null>;
}

export interface PendingModules {
  /** Null: messages are followed without being emulated. */
  readonly emulation: TraceEmulation | null;
  /** Null: traces have no actions. */
  readonly classification: LiveClassification | null;
  readonly wallets: WalletSeqnos;
  /** The newest masterchain block that is known here; null: none. */
  readonly newestSeqno: () => number | null;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
}

/** A block whose transactions were applied. */
export interface AppliedBlock {
  readonly mc_seqno: number;
  /** Unix seconds; null when unknown. */
  readonly gen_utime: number | null;
  /** Whether an account, by its `account_key`, has a transaction in it. */
  readonly touches: (account_key: bigint) => boolean;
}

/** Blocks of other shards may have an earlier time than the newest masterchain block: seconds. */
const CLOCK_SLACK = 5;

/** A network that has made no block for so long makes none soon: milliseconds. */
const STALLED_MS = 30_000;

/** How often a message whose emulation failed is emulated again, with the states after later blocks. */
const MOST_ATTEMPTS = 4;

/** A final trace is live so long after the index has its actions: answers of the index may lag behind its event log. */
const INDEXED_MS = 1_000;

/** How often a trace is looked at for its age. */
const SWEEP_MS = 1_000;

/**
 * Traces from a message to finalized transactions. It gets messages ({@link PendingTraces.submit}) and transactions of blocks
 * ({@link PendingTraces.apply}), emulates the former, and puts the latter in place of what was emulated. Nothing is stored outside of
 * this process.
 */
export class PendingTraces implements LiveMessages {
  readonly #settings: PendingSettings;
  readonly #modules: PendingModules;
  readonly #queue: EmulationQueue;
  readonly #messages = new MessageIndex(() => this.#onAwaited());
  readonly #watchers: MessageWatchers;
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  readonly #stop = new AbortController();
  readonly #counts = {
    messages: { sent: 0, pooled: 0, shared: 0, channel: 0 } as Record<MessageOrigin, number>,
    not_admitted: 0,
    emulations: 0,
    emulation_failures: 0,
    invalidated: { expired: 0, replaced: 0, dropped: 0, refused: 0, mispredicted: 0 } as Record<
      Invalidation['reason'],
      number
    >,
    finalized: 0,
    corrected: 0,
  };
  /** Reads of wallets that are under way, by raw address. */
  readonly #seqnoReads = new Map<string, ReturnType<WalletSeqnos['read']>>();
  #transactions = 0;
  #bytes = 0;
  /** The newest block of the network, and since when no other one is known: clock milliseconds. */
  #newest: { readonly mc_seqno: number; readonly since: number } | null = null;
  /** All awaited messages were looked for up to this masterchain block; null: in none. */
  #searched: number | null = null;
  /** Called when messages are awaited again. */
  #onAwaited: () => void = () => {};
  #isStarted = false;
  #isSweeping = false;
  #cancelSweep: () => void = () => {};

  /** @throws pending/option */
  constructor(options: PendingOptions, modules: PendingModules) {
    this.#settings = checkPendingOptions(options);
    this.#modules = modules;
    this.#watchers = new MessageWatchers(this.#settings.mostEnded);
    this.#queue = new EmulationQueue(this.#settings.emulationsAtOnce, this.#settings.mostWaiting);
  }

  start(): void {
    this.#isStarted = true;
    this.#sweepLater();
  }

  /** Has a listener called when {@link isIdle} ends. */
  onAwaited(listener: () => void): void {
    this.#onAwaited = listener;
  }

  async close(): Promise<void> {
    this.#cancelSweep();
    this.#stop.abort();
    await this.#queue.close();
  }

  metrics(): PendingMetrics {
    return {
      ...this.#counts,
      traces: this.#messages.size,
      transactions: this.#transactions,
      bytes: this.#bytes,
      waiting: this.#queue.waiting,
      listeners: this.#listeners.size + this.#watchers.size,
    };
  }

  /** Whether there is anything that a block could change. */
  get isIdle(): boolean {
    return this.#messages.awaitsNothing;
  }

  /**
   * Takes a message and begins to emulate it, unless it is known.
   *
   * @returns false when it was not taken: the limits of its account or of all are reached
   */
  submit(message: ExternalInMessage, origin: MessageOrigin): boolean {
    const { info } = message.message;
    if (info.kind !== 'ext_in_msg_info' || !(info.dest instanceof Address) || this.#stop.signal.aborted) return false;
    const norm = normalizedExternalHash(message.message);
    const key = toHex(norm);
    if (this.#messages.has(key)) return true;
    const account = info.dest;
    if (!this.#admit(account)) {
      this.#counts.not_admitted++;
      return false;
    }
    this.#counts.messages[origin]++;
    this.#watchers.forget(key);
    const { clock, unixTimeMs } = this.#modules;
    const now = clock.now();
    const entry: PendingMessage = {
      ...{ message, account, norm, origin, hash: message.cell.hash(), since: unixTimeMs(), begun: now, changed: now },
      account_key: accountKey(addressBytes(account)),
      placed: new PlacedTrace(message.cell, this.#settings.mostTransactionsOfTrace),
      ...{ bytes: 0, isCut: false, snapshot: null, isClassifying: false, attempts: 0, claim: null, used: null },
      ...{ isReadingSeqno: false, indexedAt: null, dueSeqno: null, isOver: false },
    };
    this.#messages.add(entry);
    this.#makeRoom();
    this.#sweepLater();
    this.#changed(entry);
    this.#emulateRoot(entry);
    return true;
  }

  /**
   * The messages of live traces whose transaction is not final, among those of a block.
   * @param touched `msg_key` of the messages of the block; null: any
   */
  awaitedAmong(touched: readonly bigint[] | null): readonly Uint8Array[] {
    return this.#messages.awaitedAmong(touched);
  }

  /** Puts transactions of blocks in place; those of other traces are left. In any order. */
  apply(transactions: readonly LiveTransaction[]): void {
    const changed = new Set<PendingMessage>();
    const ordered = transactions.map((transaction) => ({ transaction, ...positionOf(transaction.cell) }));
    ordered.sort((a, b) => (a.lt < b.lt ? -1 : a.lt > b.lt ? 1 : 0));
    for (const { transaction, in_msg } of ordered) {
      const found = in_msg === null ? undefined : this.#messages.placeOf(in_msg);
      if (found === undefined) continue;
      const { entry, place } = found;
      const { mispredicted } = entry.placed;
      if (!entry.placed.place(place, transaction)) continue;
      if (entry.placed.mispredicted > mispredicted) this.#mispredicted(entry);
      this.#messages.settle(entry, place);
      changed.add(entry);
    }
    for (const entry of changed) {
      if (entry.isOver) continue;
      this.#emulateTails(entry);
      this.#publish(entry);
    }
  }

  /** After {@link apply}: what a block, with those before it, means for messages that are not in it. */
  applied(block: AppliedBlock): void {
    this.#searched = Math.max(this.#searched ?? 0, block.mc_seqno);
    for (const entry of this.#messages.inNoBlock()) {
      if (this.#isExpired(entry, block)) continue;
      if (entry.used !== null && block.mc_seqno >= entry.used.mc_seqno) this.#replaced(entry, entry.used.seqno);
      else if (block.touches(entry.account_key)) {
        this.#readSeqno(entry);
        if (entry.placed.root.transaction === null && entry.attempts > 0) this.#emulateRoot(entry);
      }
    }
  }

  /**
   * What it means for messages that the network makes no blocks. Called again and again, each time after all awaited messages were
   * looked for in all blocks.
   *
   * @param newest the newest block of the network
   */
  stalled({ mc_seqno, gen_utime }: { readonly mc_seqno: number; readonly gen_utime: number | null }): void {
    const now = this.#modules.clock.now();
    this.#searched = Math.max(this.#searched ?? 0, mc_seqno);
    if (this.#newest?.mc_seqno !== mc_seqno) this.#newest = { mc_seqno, since: now };
    const stalledMs = now - this.#newest.since;
    if (stalledMs < STALLED_MS || gen_utime === null) return;
    const touches = () => false;
    // The next block is not earlier than this.
    const due = { mc_seqno, gen_utime: gen_utime + Math.floor(stalledMs / 1000), touches };
    for (const entry of this.#messages.inNoBlock()) this.#isExpired(entry, due);
  }

  /** Wakes those who watch messages that a block has. @param messages `msg_key` of its messages; null: any */
  touched(messages: readonly bigint[] | null): void {
    for (const key of this.#watchers.among(messages)) {
      if (this.#messages.find(key) === undefined) this.#watchers.wake(key);
    }
  }

  /** Traces that the index has complete and classified are not live any more. @param trace_id of such a trace */
  indexed(trace_id: Uint8Array): void {
    const entry = this.#messages.find(toHex(trace_id));
    if (entry !== undefined) entry.indexedAt ??= this.#modules.clock.now();
  }

  ofAccounts(accounts: readonly Address[], limit: number): readonly LiveTrace[] {
    const found = new Set(accounts.flatMap((account) => [...this.#messages.ofAccount(account)]));
    const traces = [...found].flatMap(({ snapshot }) => (snapshot === null ? [] : [snapshot]));
    return traces.sort((a, b) => b.since - a.since).slice(0, limit);
  }

  find(hash: Uint8Array): LiveTrace | null {
    return this.#messages.find(toHex(hash))?.snapshot ?? null;
  }

  /** What is known of a message, by its raw or normalised hash; null: nothing. */
  status(hash: Uint8Array): MessageStatus | null {
    const key = toHex(hash);
    const entry = this.#messages.find(key);
    if (entry === undefined) {
      const invalidation = this.#watchers.endOf(key);
      return invalidation === undefined ? null : { kind: 'ended', invalidation };
    }
    const { hash: external_hash, norm: external_hash_norm, account, since, snapshot } = entry;
    const stage = snapshot === null ? 'accepted' : snapshot.finality;
    return { kind: 'live', stage, external_hash, external_hash_norm, account, since, trace: snapshot };
  }

  subscribe(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener after each change of {@link status} of a hash. @returns ends that */
  watch(hash: Uint8Array, listener: () => void): () => void {
    return this.#watchers.watch(hash, listener);
  }

  /** A message that was refused is not live, but may be asked for. */
  refused(message: ExternalInMessage, why: Pick<Invalidation, 'problem' | 'exit_code'>): void {
    const norm = normalizedExternalHash(message.message);
    if (this.#messages.has(toHex(norm))) return;
    this.#watchers.remember({
      external_hash: message.cell.hash(),
      external_hash_norm: norm,
      reason: 'refused',
      ...why,
    });
  }

  // Emulation

  #emulateRoot(entry: PendingMessage): void {
    if (entry.attempts >= MOST_ATTEMPTS) return;
    const isFirst = entry.attempts++ === 0;
    // Later states may include it, or a message that came after it.
    const mc_seqno = isFirst ? (this.#modules.newestSeqno() ?? undefined) : undefined;
    this.#emulate(entry, entry.placed.root, mc_seqno, (error) => {
      const isRefused = isTernError(error, 'emulation/not-accepted');
      // Nobody has checked it: it never was pending.
      if (isRefused && entry.origin === 'channel' && entry.snapshot === null) this.#forget(entry);
      else if (isFirst) this.#emulateRoot(entry);
    });
  }

  /** Real transactions have sent messages that the emulation did not expect. */
  #emulateTails(entry: PendingMessage): void {
    for (const place of entry.placed.places()) {
      const isExpected = place.parent === null || !isReal(place.parent) || place.transaction !== null;
      if (isExpected || place.isTried) continue;
      place.isTried = true;
      if (entry.snapshot !== null) this.#counts.corrected++;
      const sender = place.parent?.transaction;
      this.#emulate(entry, place, sender?.finality === 'finalized' ? sender.mc_seqno : undefined, () => {});
    }
  }

  /** @param mc_seqno begins with the states after this masterchain block; undefined: with the newest ones */
  #emulate(
    entry: PendingMessage,
    place: TracePlace,
    mc_seqno: number | undefined,
    failed: (error: unknown) => void,
  ): void {
    const { emulation, logger } = this.#modules;
    const { message } = place;
    const { signal } = this.#stop;
    const { emulationTimeoutMs: deadlineMs } = this.#settings;
    if (emulation === null) return;
    this.#queue.add(async () => {
      if (entry.isOver || place.transaction !== null) return;
      this.#counts.emulations++;
      let trace: EmulatedTrace;
      try {
        trace = await emulation.emulateTrace({ message, mc_seqno, rand_seed: entry.norm }, { deadlineMs, signal });
      } catch (error) {
        this.#counts.emulation_failures++;
        if (!isTernError(error) && !signal.aborted)
          logger.warn('a message cannot be emulated', { problem: String(error) });
        failed(error);
        return;
      }
      // A block was faster.
      if (entry.isOver || place.transaction !== null || place.message !== message) return;
      if (trace.is_incomplete) entry.isCut = true;
      entry.bytes += trace.bytes;
      this.#bytes += trace.bytes;
      const { global_version } = trace;
      const emulated = trace.transactions.map((each) => ({ ...each, finality: 'pending' as const, global_version }));
      entry.placed.addEmulated(place, emulated);
      this.#publish(entry);
    });
  }

  // Changes

  #publish(entry: PendingMessage): void {
    const { placed, norm, hash, since } = entry;
    const transactions = placed.transactions();
    const [root] = transactions;
    if (root === undefined) return;
    this.#transactions += transactions.length - (entry.snapshot?.transactions.length ?? 0);
    const was = entry.snapshot?.finality ?? null;
    const finality = placed.finality();
    entry.snapshot = {
      ...{ external_hash: hash, external_hash_norm: norm, since, transactions, finality },
      trace_id: root.finality === 'pending' ? null : root.cell.hash(),
      actions: null,
      is_incomplete: entry.isCut || placed.isCut,
    };
    entry.claim ??= readWalletClaim(entry.message.message, root.before);
    entry.changed = this.#modules.clock.now();
    for (const { account } of transactions) this.#messages.addAccount(entry, account);
    if (finality === 'finalized' && was !== 'finalized') this.#counts.finalized++;
    this.#emit({ kind: 'transactions', trace: entry.snapshot });
    this.#changed(entry);
    void this.#classify(entry);
    this.#makeRoom();
  }

  /** One classification of a trace at a time, of the transactions that it has then. */
  async #classify(entry: PendingMessage): Promise<void> {
    const { classification, logger } = this.#modules;
    if (entry.isClassifying || classification === null) return;
    entry.isClassifying = true;
    try {
      for (let of = entry.snapshot; of !== null && !entry.isOver; of = entry.snapshot) {
        const actions = await classification.classify(of, this.#stop.signal);
        // It may have ended meanwhile: then nothing more is said of it.
        if (entry.isOver || entry.snapshot !== of) continue;
        entry.snapshot = { ...of, actions };
        this.#emit({ kind: 'actions', trace: entry.snapshot });
        this.#changed(entry);
        return;
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      logger.warn('a live trace cannot be classified', { trace: toHex(entry.norm), problem: String(error) });
    } finally {
      entry.isClassifying = false;
    }
  }

  #emit(event: LiveEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #changed({ norm, hash, snapshot }: PendingMessage): void {
    const keys = new Set([toHex(norm), toHex(hash)]);
    if (snapshot?.trace_id != null) keys.add(toHex(snapshot.trace_id));
    for (const key of keys) this.#watchers.wake(key);
  }

  // The end of messages

  #isExpired(entry: PendingMessage, { gen_utime }: AppliedBlock): boolean {
    const until = entry.claim?.valid_until ?? null;
    if (until === null || gen_utime === null || gen_utime <= until + CLOCK_SLACK) return false;
    const problem = `No block included the message before its valid_until, ${timeText(until)}; the time of the network is ${timeText(gen_utime)}. It cannot be included any more: sign a new one.`;
    this.#invalidate(entry, { reason: 'expired', problem, exit_code: null });
    return true;
  }

  #replaced(entry: PendingMessage, seqno: number): void {
    const own = entry.claim?.seqno;
    const problem = `The wallet is at seqno ${seqno}: another message with seqno ${own} was included in a block, so this one cannot be any more. Read the seqno again before signing a new message.`;
    this.#invalidate(entry, { reason: 'replaced', problem, exit_code: null });
  }

  /** What was shown of a trace does not hold; it is shown anew, with what blocks have. */
  #mispredicted({ hash, norm, snapshot }: PendingMessage): void {
    if (snapshot === null) return;
    this.#counts.invalidated.mispredicted++;
    const problem =
      'A transaction in a block sent other messages than its emulation: what was expected below it will not come.';
    const hashes = { external_hash: hash, external_hash_norm: norm };
    this.#emit({ kind: 'invalidated', invalidation: { ...hashes, reason: 'mispredicted', problem, exit_code: null } });
  }

  #readSeqno(entry: PendingMessage): void {
    const { claim, account } = entry;
    if (claim === null || entry.used !== null || entry.isReadingSeqno) return;
    entry.isReadingSeqno = true;
    this.#seqnoOf(account)
      .then((found) => {
        if (found !== null && found.seqno > claim.seqno) entry.used = found;
      })
      .catch(() => {})
      .finally(() => {
        entry.isReadingSeqno = false;
      });
  }

  /** Messages to one wallet share a read. */
  #seqnoOf(account: Address): ReturnType<WalletSeqnos['read']> {
    const raw = account.toRaw();
    let read = this.#seqnoReads.get(raw);
    if (read === undefined) {
      read = this.#modules.wallets.read(account, this.#stop.signal).finally(() => this.#seqnoReads.delete(raw));
      this.#seqnoReads.set(raw, read);
    }
    return read;
  }

  #invalidate(entry: PendingMessage, why: Pick<Invalidation, 'reason' | 'problem' | 'exit_code'>): void {
    const invalidation = { external_hash: entry.hash, external_hash_norm: entry.norm, ...why };
    this.#counts.invalidated[why.reason]++;
    const wasSeen = entry.snapshot !== null;
    this.#forget(entry);
    if (wasSeen) this.#emit({ kind: 'invalidated', invalidation });
    this.#watchers.remember(invalidation);
  }

  /** Only while there is something that may become too old. */
  #sweepLater(): void {
    if (!this.#isStarted || this.#isSweeping || this.#messages.size === 0 || this.#stop.signal.aborted) return;
    this.#isSweeping = true;
    this.#cancelSweep = this.#modules.clock.schedule(SWEEP_MS, () => {
      this.#isSweeping = false;
      this.#sweep();
      this.#sweepLater();
    });
  }

  /** Ends what is too old. */
  #sweep(): void {
    const now = this.#modules.clock.now();
    const { lifetimeMs, restMs } = this.#settings;
    for (const entry of this.#messages.all()) {
      // The last classification failed.
      if (entry.snapshot?.actions === null) void this.#classify(entry);
      if (isReal(entry.placed.root)) {
        const isFinal = entry.snapshot?.finality === 'finalized' && entry.snapshot.actions !== null;
        const isIndexed = isFinal && entry.indexedAt !== null && now - entry.indexedAt >= INDEXED_MS;
        // The index has what is final. What was only emulated has not come for long.
        if (isIndexed || now - entry.changed >= restMs) this.#forget(entry);
      } else if (now - entry.begun >= lifetimeMs && this.#isSearched(entry)) {
        const problem = `No block included the message within ${Math.round(lifetimeMs / 1000)} s, after which nodes forget it. Send it again, if it has not expired.`;
        this.#invalidate(entry, { reason: 'dropped', problem, exit_code: null });
      }
    }
  }

  /** Whether a message, whose time is over, was looked for in the blocks of that time: the index may be behind. */
  #isSearched(entry: PendingMessage): boolean {
    entry.dueSeqno ??= this.#modules.newestSeqno() ?? 0;
    return this.#searched === null || this.#searched >= entry.dueSeqno;
  }

  // Bounds

  #admit(account: Address): boolean {
    return this.#messages.sentTo(account) < this.#settings.mostOfAccount;
  }

  /** What is final goes first, then what is oldest. */
  #makeRoom(): void {
    const { mostTraces, mostTransactions, mostBytes } = this.#settings;
    const isFull = () =>
      this.#messages.size > mostTraces || this.#transactions > mostTransactions || this.#bytes > mostBytes;
    if (!isFull()) return;
    for (const entry of this.#messages.all()) {
      if (!isFull()) return;
      if (entry.snapshot?.finality === 'finalized') this.#forget(entry);
    }
    for (const entry of this.#messages.all()) {
      if (!isFull()) return;
      if (isReal(entry.placed.root)) this.#forget(entry);
      else {
        const problem =
          'More messages are pending than this server follows; look for it in the transactions of its account.';
        this.#invalidate(entry, { reason: 'dropped', problem, exit_code: null });
      }
    }
  }

  #forget(entry: PendingMessage): void {
    if (entry.isOver) return;
    entry.isOver = true;
    this.#transactions -= entry.snapshot?.transactions.length ?? 0;
    this.#bytes -= entry.bytes;
    this.#messages.remove(entry);
    // Only the index can say more.
    this.#changed(entry);
  }
}

function positionOf(transaction: Cell): { readonly lt: bigint; readonly in_msg: Cell | null } {
  const { lt } = decodeCell(Transaction, transaction);
  return { lt, in_msg: messagesOf(transaction).in_msg };
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
