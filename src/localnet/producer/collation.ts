import {
  comparePlaces,
  type MessagePlace,
  NewMessages,
  type NewTransaction,
  type TransactionRunner,
} from '#drivers/tvm/transaction-runner.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { accountPrefix } from '#formats/tlb/block-id.js';
import type { InMsg } from '#formats/tlb/block-messages.js';
import type { Lazy } from '#formats/tlb/codec/codec.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { type BlockAccount, BlockAccounts } from '#localnet/producer/block-accounts.js';
import { type BlockRules, fillOf, type MasterchainView } from '#localnet/producer/block-context.js';
import { BlockMessages, type CreatedMessage, envelope, type NewMessage } from '#localnet/producer/block-messages.js';
import type { BlockIsFull, ExternalInOutcome, PendingExternalIn } from '#localnet/producer/block-request.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { MessageReceiver, type ReceptionContext, receiverOf } from '#localnet/producer/message-receiver.js';
import {
  LAST_HASH,
  OutQueue,
  OutQueueMerge,
  ProcessedMessages,
  type QueuedMessage,
  readQueued,
} from '#localnet/producer/out-queue.js';
import {
  ARRIVED,
  contains,
  interpolate,
  nextHop,
  type RoutingPrefix,
  routingPrefix,
} from '#localnet/producer/routing.js';

/** Another shard whose messages may be for this one, as seen by the block. */
export interface Neighbour {
  readonly shard: Shard;
  /** End lt of its newest block. */
  readonly end_lt: bigint;
  readonly state: ShardStateUnsplit;
}

/** Inputs of a collation. */
export interface CollationBase extends ReceptionContext {
  readonly shard: Shard;
  /** The previous state: of one half after a split, of both halves merged after a merge. */
  readonly before: ShardStateUnsplit;
  readonly rules: BlockRules;
  readonly view: MasterchainView;
  /** `mc_seqno` of the block's entry in `ProcessedInfo`: its own seqno in the masterchain, otherwise that of `view`. */
  readonly mc_seqno: number;
  /** End lt of the previous block; after a merge, the later of the two. */
  readonly prev_end_lt: bigint;
  readonly neighbours: readonly Neighbour[];
  readonly full: BlockIsFull;
}

/** Estimated size in bytes per block, transaction (besides its cells) and message. */
const BYTES = { block: 2_000, transaction: 600, message: 150 } as const;

/** Collects the content of a block: transactions, messages, the out-message queue. */
export class Collation {
  readonly base: CollationBase;
  readonly runner: TransactionRunner;
  readonly accounts: BlockAccounts;
  readonly messages = new BlockMessages();
  readonly queue: OutQueue;
  readonly receiver: MessageReceiver;
  readonly outcomes: ExternalInOutcome[] = [];
  readonly #processed: ProcessedMessages;
  /** The last place up to which messages were received before the block. */
  readonly #receivedBefore: MessagePlace | null;
  readonly #new = new NewMessages<NewMessage>();
  readonly #included = new Set<string>();
  #lastReceived: MessagePlace | null = null;
  #queuesEmpty = false;
  #bytes: number = BYTES.block;
  #stuck = false;

  constructor(base: CollationBase, runner: TransactionRunner) {
    const { before, shard } = base;
    this.base = base;
    this.runner = runner;
    this.accounts = new BlockAccounts(before.accounts.value, shard.workchain);
    this.receiver = new MessageReceiver(base, runner, this.accounts);
    const queues = before.out_msg_queue_info.value;
    this.queue = new OutQueue(queues);
    this.#processed = ProcessedMessages.of(queues.proc_info);
    this.#receivedBefore = this.#processed.last;
  }

  /** Tick or tock transactions of the special accounts, in the masterchain. */
  async tickTock(which: 'tick' | 'tock'): Promise<void> {
    const lt = which === 'tick' ? this.base.start_lt + 1n : this.runner.end_lt;
    for (const id of this.base.rules.specialAccounts) {
      const account = this.accounts.get(id);
      const { account: state } = account;
      if (state.kind !== 'account' || state.storage.state.kind !== 'account_active') continue;
      if (state.storage.state.state_init.special?.[which] !== true) continue;
      const result = await this.runner.run(account, { which }, lt);
      if ('cell' in result) this.sent(account, result);
    }
  }

  /** Receives a message that no account sent: recovered fees or minted currencies. */
  async special(message: Cell): Promise<Lazy<InMsg>> {
    const account = this.accounts.get(receiverOf(message));
    const result = await this.runner.run(account, { message, special: true }, this.base.start_lt + 1n);
    if (!('cell' in result))
      throw producerErrors['transaction-mismatch']({ account: account.address.toRaw(), problem: result.problem });
    this.sent(account, result);
    return this.messages.importImmediate(envelope(message, { current: ARRIVED, next: ARRIVED }, 0n), result);
  }

  /** Dequeues messages that their destination shards have received. */
  dequeueReceived(): void {
    const { base, queue } = this;
    const receivers = [
      { shard: base.shard, end_lt: base.prev_end_lt, processed: this.#processed },
      ...base.neighbours.map(({ shard, end_lt, state }) => ({
        shard,
        end_lt,
        processed: ProcessedMessages.of(state.out_msg_queue_info.value.proc_info),
      })),
    ];
    const dequeued = new Set<string>();
    const walk = new OutQueueMerge();
    for (const [source, { shard }] of receivers.entries()) walk.add(queue.root, shard, source);
    let latest = 0n;
    for (const { processed } of receivers) if ((processed.last?.lt ?? 0n) > latest) latest = processed.last!.lt;
    for (;;) {
      const lt = walk.peekLt();
      if (lt === null || lt > latest) return;
      const found = walk.next();
      if (found === null) return;
      const { shard, end_lt, processed } = receivers[found.source]!;
      const queued = readQueued(found.key, found.lt, found.entry);
      if (!processed.has(queued, shard.workchain, base.view)) continue;
      // After a merge the queue may hold a message twice, at two hops. A block can describe it only once.
      const name = toHex(queued.hash);
      if (dequeued.has(name)) continue;
      dequeued.add(name);
      queue.remove(found.key);
      this.#dequeued.add(toHex(found.key));
      this.messages.dequeue(found.key, queued.envelope, end_lt);
    }
  }

  readonly #dequeued = new Set<string>();

  /** Receives the messages for this shard from its own queue and those of its neighbours. */
  async receiveQueued(): Promise<void> {
    const { base } = this;
    const walk = new OutQueueMerge();
    walk.add(this.queue.root, base.shard, OWN);
    for (const [i, { state }] of base.neighbours.entries())
      walk.add(state.out_msg_queue_info.value.out_queue.root, base.shard, i + 1);
    for (let found = walk.next(); found !== null; found = walk.next()) {
      const own = found.source === OWN;
      if (own && this.#dequeued.has(toHex(found.key))) continue;
      const queued = readQueued(found.key, found.lt, found.entry);
      if (this.#processed.has(queued, base.shard.workchain, base.view)) continue;
      if (this.#isFull('internal') && !this.#mustReceive(queued)) return;
      if (!(await this.#receive(queued, own))) return;
      this.#lastReceived = { lt: queued.lt, hash: queued.hash };
    }
    this.#queuesEmpty = true;
  }

  /** Receives external-in messages, each followed by the messages that it causes. */
  async receiveExternals(externals: readonly PendingExternalIn[]): Promise<void> {
    await this.passNew();
    for (const external of externals) {
      if (!this.#queuesEmpty || this.#stuck || this.#isFull('external')) return;
      const key = toHex(external.message.hash());
      if (this.#included.has(key)) continue;
      const after = this.#lastReceived?.lt ?? 0n;
      const { start_lt } = this.base;
      const lt = (after > start_lt ? after : start_lt) + 1n;
      const result = await this.receiver.external(external, lt);
      if (result === 'later') continue;
      if (!('account' in result)) {
        this.outcomes.push({ message: external, kind: 'refused', ...result });
        continue;
      }
      this.#included.add(key);
      this.outcomes.push({ message: external, kind: 'included' });
      this.messages.importExternal(external.message, result.transaction);
      this.sent(result.account, result.transaction);
      await this.passNew();
    }
  }

  /**
   * Receives messages that were created in this block for accounts of this shard while there is room; enqueues the
   * others.
   */
  async passNew(): Promise<void> {
    for (let sent = this.#new.next(); sent !== null; sent = this.#new.next()) {
      const { dest, place } = sent;
      const enqueue = !this.#queuesEmpty || this.#stuck || this.#isFull('internal') || !contains(this.base.shard, dest);
      if (!enqueue && (await this.#receiveNew(sent))) {
        this.#lastReceived = place;
        continue;
      }
      // Later messages must not be received before it.
      if (!enqueue) this.#stuck = true;
      this.#enqueue(sent, sent.src, dest);
    }
  }

  /** Enqueues all created messages that were not received. */
  queueNew(): void {
    for (let sent = this.#new.next(); sent !== null; sent = this.#new.next()) this.#enqueue(sent, sent.src, sent.dest);
  }

  /** `ProcessedInfo` after the block. */
  processed(): ProcessedMessages {
    const { view, mc_seqno, shard } = this.base;
    let upto = this.#lastReceived;
    if (this.#queuesEmpty) {
      const all = view.end_lt === 0n ? null : { lt: view.end_lt - 1n, hash: LAST_HASH };
      for (const place of [this.#receivedBefore, all])
        if (place !== null && (upto === null || comparePlaces(upto, place) < 0)) upto = place;
    }
    if (upto === null) return this.#processed;
    return this.#processed.with({ shard: shard.shard, mc_seqno, lt: upto.lt, hash: upto.hash });
  }

  /** Current load of the block. */
  load(): { readonly bytes: number; readonly gas: bigint; readonly lt_delta: bigint } {
    const { end_lt, gas } = this.runner;
    return { bytes: this.#bytes, gas, lt_delta: end_lt - this.base.start_lt };
  }

  #isFull(messages: 'external' | 'internal'): boolean {
    if (this.base.full(messages)) return true;
    const fill = fillOf(this.load(), this.base.rules.limits);
    return fill === 'soft' || fill === 'hard';
  }

  /**
   * Messages that precede ones received in an earlier block must be received now, so that a single place describes what
   * has been received.
   */
  #mustReceive(queued: QueuedMessage): boolean {
    return this.#receivedBefore !== null && comparePlaces(queued, this.#receivedBefore) < 0;
  }

  /** @returns whether the message was received or passed on */
  async #receive(queued: QueuedMessage, own: boolean): Promise<boolean> {
    const { shard, rules, start_lt } = this.base;
    if (!contains(shard, queued.dest)) {
      const route = nextHop(queued.next, queued.dest, shard);
      const fee = (queued.fwd_fee_remaining * rules.nextFrac) >> 16n;
      const passed = this.messages.pass(queued, route, fee, own);
      if (own) this.queue.remove(queued.key);
      this.queue.add(passed, interpolate(queued.next, queued.dest, route.next), start_lt);
      this.#bytes += BYTES.message;
      return true;
    }
    const result = await this.receiver.internal(queued.message);
    if (result === null) return false;
    this.messages.importFinal(queued, result.transaction, own);
    if (own) this.queue.remove(queued.key);
    this.sent(result.account, result.transaction);
    return true;
  }

  async #receiveNew(sent: CreatedMessage): Promise<boolean> {
    const result = await this.receiver.internal(sent.message);
    if (result === null) return false;
    this.messages.passImmediately(sent, result.transaction);
    this.sent(result.account, result.transaction);
    return true;
  }

  /** Registers the outbound messages of a transaction. */
  sent(account: BlockAccount, transaction: NewTransaction): void {
    this.#bytes += BYTES.transaction;
    const { value } = transaction;
    if (value.outmsg_cnt === 0) return;
    const { workchain, hash } = account.address;
    const src = { workchain, prefix: accountPrefix(hash) };
    for (const [, { cell, value: message }] of value.out_msgs) {
      this.#bytes += BYTES.message;
      const { info } = message;
      if (info.kind === 'int_msg_info') {
        const place = { lt: info.created_lt, hash: cell.hash() };
        const dest = routingPrefix(info.dest);
        this.#new.add({ message: cell, transaction, fwd_fee: info.fwd_fee, place, src, dest });
      } else this.messages.exportExternal(cell, transaction);
    }
  }

  #enqueue(sent: CreatedMessage & { readonly place: MessagePlace }, src: RoutingPrefix, dest: RoutingPrefix): void {
    const route = nextHop(src, dest, this.base.shard);
    const queued = this.messages.exportNew(sent, route);
    this.queue.add(queued, interpolate(src, dest, route.next), sent.place.lt);
  }
}

const OWN = 0;
