import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { ExternalInOutcome, PendingExternalIn } from '#localnet/producer/block-request.js';
import {
  buildInternalMessage,
  commentBody,
  createTransfer,
  MAX_MESSAGES,
  type OutgoingMessage,
  type WalletOwner,
} from '#localnet/wallets/create-transfer.js';
import {
  type FundedWallet,
  signingKey,
  type WalletContract,
  walletContract,
} from '#localnet/wallets/wallet-contract.js';
import type { Random } from '#test/fuzz/random.js';

/** A wallet that sends, and what it has sent. */
interface Sender extends WalletOwner {
  readonly init: WalletContract['init'] | null;
  /** How many external-in messages it has taken. */
  seqno: number;
  /** Whether one is on its way: the next one would have to wait for it. */
  waiting: PendingExternalIn | null;
}

const VALID_SECONDS = 600;
const COIN = 1_000_000_000n;

/**
 * Makes messages at random: transfers between wallets, to the masterchain and back, to accounts that are not there (some
 * bounce), deployments, batches, some with nonsense.
 */
export class Traffic {
  readonly #random: Random;
  readonly #senders: Sender[];

  constructor(random: Random, wallets: readonly FundedWallet[]) {
    this.#random = random;
    // A highload wallet counts its queries in no order: left out.
    this.#senders = wallets
      .filter(({ version }) => version !== 'highload-v3')
      .map((wallet) => ({ ...wallet, init: null, seqno: 0, waiting: null }));
  }

  /** Messages of wallets that wait for nothing. @param now unix seconds */
  messages(count: number, now: number): PendingExternalIn[] {
    const random = this.#random;
    const made: PendingExternalIn[] = [];
    for (let i = 0; i < count; i++) {
      const sender = random.pick(this.#senders);
      if (sender.waiting !== null) continue;
      const most = Math.min(MAX_MESSAGES[sender.version], 4);
      const messages = Array.from({ length: random.between(1, most) }, () => this.#outgoing());
      const init = sender.seqno === 0 ? sender.init : null;
      const options = { seqno: sender.seqno, validUntil: now + VALID_SECONDS, messages, init };
      sender.waiting = { message: createTransfer(sender, options), dest: sender.address };
      made.push(sender.waiting);
    }
    return made;
  }

  /** Takes note of what became of messages. @returns those that are to be offered again */
  settle(offered: readonly PendingExternalIn[], outcomes: readonly ExternalInOutcome[]): readonly PendingExternalIn[] {
    const settled = new Map(outcomes.map((outcome) => [outcome.message, outcome.kind]));
    for (const sender of this.#senders) {
      const kind = sender.waiting === null ? undefined : settled.get(sender.waiting);
      if (kind === undefined) continue;
      if (kind === 'included') sender.seqno++;
      sender.waiting = null;
    }
    return offered.filter((message) => !settled.has(message));
  }

  #outgoing(): OutgoingMessage {
    const random = this.#random;
    const value = (COIN * BigInt(random.between(1, 3000))) / 1000n;
    const kind = random.below(20);
    // Far from all wallets have enough: such messages are left out, or bounce.
    if (kind < 9)
      return { message: buildInternalMessage({ to: random.pick(this.#senders).address, value, body: this.#body() }) };
    if (kind < 12)
      return { message: buildInternalMessage({ to: this.#stranger(), value, bounce: false, body: this.#body() }) };
    if (kind < 15) return { message: buildInternalMessage({ to: this.#stranger(), value, body: this.#body() }) };
    if (kind < 16) return { message: buildInternalMessage({ to: this.#senders[0]!.address, value: 1n }) };
    return this.#newWallet(value);
  }

  /** Nobody: an address of either chain. */
  #stranger(): Address {
    return Address.ofParts(this.#random.chance(1, 4) ? -1 : 0, this.#random.bytes(32));
  }

  /** Sends coins to a new wallet; with its state, or without. It sends messages of its own later on. */
  #newWallet(value: bigint): OutgoingMessage {
    const random = this.#random;
    const seed = random.bytes(32);
    const version = random.pick(['v3r2', 'v4r2', 'v5r1'] as const);
    const workchain = random.chance(1, 6) ? -1 : 0;
    const contract = walletContract({ version, publicKey: signingKey(seed).publicKey, workchain });
    const { address, init, walletId } = contract;
    const known = random.chance(1, 2);
    if (this.#senders.length < 200)
      this.#senders.push({ version, address, walletId, seed, init, seqno: 0, waiting: null });
    return {
      message: buildInternalMessage({ to: address, value: value + COIN, bounce: known, init: known ? init : null }),
    };
  }

  #body(): Cell {
    const random = this.#random;
    if (random.chance(1, 3)) return new Builder().endCell();
    if (random.chance(1, 2)) return commentBody('x'.repeat(random.below(300)));
    return new Builder().storeBytes(random.bytes(random.below(100))).endCell();
  }
}
