import type { TransactionRequest, TransactionResult } from '#drivers/tvm/transaction.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { type AccountStorage, NO_SHARD_ACCOUNT } from '#formats/tlb/account.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { MAX_EXTERNAL_MESSAGE_BYTES, readExternalInMessage } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { ExternalInOutcome, PendingExternalIn, ProducerModules } from '#localnet/producer/block-request.js';

/** Defaults without configuration parameter 43. */
const USUAL_LIMITS = { max_ext_msg_size: MAX_EXTERNAL_MESSAGE_BYTES, max_ext_msg_depth: 512 } as const;

/** Start lts of blocks are multiples of it. */
const LT_STEP = 1_000_000n;

/** Length of the VM log in errors for clients. */
const LOG_CHARACTERS = 256;

export interface ExternalMessageCheckModules {
  /** Executes a message on a copy of the state. */
  readonly execute: (request: TransactionRequest, message: PendingExternalIn) => Promise<TransactionResult>;
  readonly tip: () => ChainTip;
  /** Unix seconds: time of the next block. */
  readonly now: () => number;
  readonly forkedAccount?: NonNullable<ProducerModules['forkedAccount']>;
  readonly forkedLibrary?: NonNullable<ProducerModules['forkedLibrary']>;
}

/** Checks external-in messages as nodes do: form, size, and whether the contract accepts them in its current state. */
export class ExternalMessageCheck {
  readonly #modules: ExternalMessageCheckModules;

  constructor(modules: ExternalMessageCheckModules) {
    this.#modules = modules;
  }

  /** @throws liteserver/bad-message */
  parse(body: Uint8Array): PendingExternalIn {
    const { max_ext_msg_size, max_ext_msg_depth } = this.#limits();
    if (body.length > max_ext_msg_size) {
      throw badMessage(`external message too large: ${body.length} bytes, ${max_ext_msg_size} at most`);
    }
    try {
      const cell = parseBocRoot(body);
      if (cell.level !== 0) throw badMessage('external message must have zero level');
      const depth = cell.depth();
      if (depth > max_ext_msg_depth) {
        throw badMessage(`external message is too deep: ${depth} references, ${max_ext_msg_depth} at most`);
      }
      const { info } = readExternalInMessage(cell, body).message;
      if (info.kind !== 'ext_in_msg_info' || !(info.dest instanceof Address)) {
        throw badMessage('external message must have an addr_std as its destination');
      }
      return { message: cell, dest: info.dest };
    } catch (error) {
      if (!isTernError(error) || error.code === liteserverErrors['bad-message'].code) throw error;
      throw badMessage(error.message);
    }
  }

  /**
   * Executes the message on the current account state. @throws liteserver/message-not-accepted, liteserver/bad-message,
   * tvm/*
   */
  async requireAccepted(pending: PendingExternalIn): Promise<void> {
    const { message, dest } = pending;
    const { execute, tip: tipNow, now } = this.#modules;
    const tip = tipNow();
    const masterchain = decodeCell(ShardStateUnsplit, tip.masterchain.state);
    const state = stateOf(tip, dest);
    if (state === null) throw badMessage(`external message is to workchain ${dest.workchain}, which there is not`);
    const shard = decodeCell(ShardStateUnsplit, state);
    const { forkedLibrary } = this.#modules;
    const own = shard.accounts.value.get(dest.hash);
    const shard_account =
      own === undefined
        ? ((await this.#modules.forkedAccount?.(dest)) ?? NO_SHARD_ACCOUNT)
        : new Builder()
            .storeRef(own.account.cell)
            .storeBytes(own.last_trans_hash)
            .storeUint(own.last_trans_lt, 64)
            .endCell();
    const { config } = masterchain.custom!.value.config;
    const { libraries } = masterchain.totals.value;
    const request: TransactionRequest = {
      shard_account,
      message,
      config: config.root!,
      now: Math.max(now(), shard.gen_utime),
      lt: (shard.gen_lt / LT_STEP + 1n) * LT_STEP + 1n,
      libraries: libraries.root,
      ...(forkedLibrary === undefined
        ? {}
        : { resolveLibrary: (hashes) => Promise.all(hashes.map((hash) => forkedLibrary(hash))) }),
    };
    const result = await execute(request, pending);
    if (result.accepted) return;
    const { exit_code, problem, vm_log } = result;
    throw liteserverErrors['message-not-accepted']({
      account: toHex(dest.hash).toUpperCase(),
      exit_code,
      problem,
      log: vm_log.slice(-LOG_CHARACTERS),
    });
  }

  #limits(): { readonly max_ext_msg_size: number; readonly max_ext_msg_depth: number } {
    const { config } = decodeCell(ShardStateUnsplit, this.#modules.tip().masterchain.state).custom!.value.config;
    return configParam(config, 43) ?? USUAL_LIMITS;
  }
}

/** The state of the shard that an account belongs to; null when the workchain does not exist. */
function stateOf({ masterchain, shards }: ChainTip, { workchain, hash }: Address): Cell | null {
  if (workchain === MASTERCHAIN) return masterchain.state;
  const prefix = accountPrefix(hash);
  const found = shards.find(({ id }) => id.workchain === workchain && shardContains(id.shard, prefix));
  return found?.state ?? null;
}

/**
 * Whether the newest state has an account; also true when the workchain does not exist, since nothing can be imported.
 */
export function hasAccount(tip: ChainTip, address: Address): boolean {
  const state = stateOf(tip, address);
  return state === null || decodeCell(ShardStateUnsplit, state).accounts.value.has(address.hash);
}

/** The state of an account; null when the newest state does not have it. */
export function accountIn(tip: ChainTip, address: Address): AccountStorage | null {
  const state = stateOf(tip, address);
  if (state === null) return null;
  const account = decodeCell(ShardStateUnsplit, state).accounts.value.get(address.hash)?.account.value;
  return account?.kind === 'account' ? account.storage : null;
}

/** Whether a shard has queued messages that later blocks deliver, or that its next block removes because they were delivered. */
export function hasQueuedMessages({ masterchain, shards }: ChainTip): boolean {
  return [masterchain, ...shards].some(({ state }) => {
    const { out_queue, extra } = decodeCell(ShardStateUnsplit, state).out_msg_queue_info.value;
    return out_queue.root !== null || (extra?.dispatch_queue.root ?? null) !== null;
  });
}

/** Logical time after everything in the newest blocks. */
export function lastLt({ masterchain, shards }: ChainTip): bigint {
  const lts = [masterchain, ...shards].map(({ state }) => decodeCell(ShardStateUnsplit, state).gen_lt);
  return lts.reduce((last, lt) => (lt > last ? lt : last));
}

/** Whether a shard has a queued message between two accounts that was created until a logical time; see {@link hasQueuedMessages}. */
export function hasQueuedBetween(
  { masterchain, shards }: ChainTip,
  { from, to, until }: { readonly from: Address; readonly to: Address; readonly until: bigint },
): boolean {
  return [masterchain, ...shards].some(({ state }) => {
    const { out_queue } = decodeCell(ShardStateUnsplit, state).out_msg_queue_info.value;
    for (const [, { out_msg }] of out_queue) {
      const { info } = out_msg.value.msg.value;
      if (info.kind !== 'int_msg_info' || info.created_lt > until) continue;
      if (accountOf(info.src)?.toRaw() === from.toRaw() && accountOf(info.dest)?.toRaw() === to.toRaw()) return true;
    }
    return false;
  });
}

function badMessage(problem: string): Error {
  return liteserverErrors['bad-message']({ problem });
}

/** Maximum number of pending messages, in total and per account. */
const MOST = 16_384;
const MOST_OF_ACCOUNT = 256;

/** Messages that no block has included within this time are dropped, as nodes do. */
const LIFETIME_MS = 600_000;

interface Waiting {
  readonly message: PendingExternalIn;
  readonly account: string;
  readonly since: number;
  readonly done: (outcome: ExternalInOutcome | null) => void;
}

/** External-in messages that wait for a block, deduplicated, in the order of arrival. */
export class ExternalMessagePool {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ofAccount = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether exactly this message is pending. */
  has(message: PendingExternalIn): boolean {
    return this.#waiting.has(keyOf(message));
  }

  /**
   * @param done is called with the outcome; null when the message was dropped
   * @throws liteserver/too-many-messages
   */
  add(message: PendingExternalIn, done: (outcome: ExternalInOutcome | null) => void = () => {}): void {
    const account = message.dest.toRaw();
    const ofAccount = this.#ofAccount.get(account) ?? 0;
    if (this.#waiting.size >= MOST) throw liteserverErrors['too-many-messages']({ waiting: MOST, of: 'all' });
    if (ofAccount >= MOST_OF_ACCOUNT) {
      throw liteserverErrors['too-many-messages']({ waiting: ofAccount, of: account });
    }
    this.#waiting.set(keyOf(message), { message, account, since: this.#clock.now(), done });
    this.#ofAccount.set(account, ofAccount + 1);
  }

  /** All pending messages, the oldest first; expired ones are dropped. */
  messages(): readonly PendingExternalIn[] {
    const oldest = this.#clock.now() - LIFETIME_MS;
    for (const [key, { since }] of this.#waiting) {
      if (since >= oldest) break;
      this.#end(key, null);
    }
    return [...this.#waiting.values()].map(({ message }) => message);
  }

  /** Removes messages that have an outcome. */
  settle(outcomes: readonly ExternalInOutcome[]): void {
    for (const outcome of outcomes) this.#end(keyOf(outcome.message), outcome);
  }

  /** Drops all messages. @returns their number */
  clear(): number {
    const keys = [...this.#waiting.keys()];
    for (const key of keys) this.#end(key, null);
    return keys.length;
  }

  #end(key: string, outcome: ExternalInOutcome | null): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    const left = this.#ofAccount.get(waiting.account)! - 1;
    if (left === 0) this.#ofAccount.delete(waiting.account);
    else this.#ofAccount.set(waiting.account, left);
    waiting.done(outcome);
  }
}

function keyOf({ message }: PendingExternalIn): string {
  return toHex(message.hash());
}
