import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { type InMsg, type MsgEnvelope, type OutMsg, transitValue } from '#formats/tlb/block-messages.js';
import type { Lazy } from '#formats/tlb/codec/codec.js';
import {
  addCurrency,
  type CurrencyCollection,
  ExtraCurrencyCollection,
  NO_CURRENCY,
  onlyGrams,
} from '#formats/tlb/currency.js';
import type { MsgAddressInt } from '#formats/tlb/msg-address.js';
import type { OutMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { balanceOf, type ChangedAccount, type CheckedTransaction, totalFees } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { queueKey, type RoutedMessage, routedMessage } from '#localnet/validation/routing.js';
import { compareReceived } from '#localnet/validation/shard-before.js';

const IN_KINDS = ['msg_import_ext', 'msg_import_fin', 'msg_import_imm', 'msg_import_ihr', 'msg_import_deferred_fin'];
const OUT_KINDS = ['msg_export_ext', 'msg_export_new', 'msg_export_imm', 'msg_export_new_defer'];
/** Global version since which the former IHR fee field holds flags. */
const FLAGS_VERSION = 12;

/** Value that accounts gained or lost by other means than messages and fees: burned, or by state overrides. */
export interface OutsideValue {
  readonly gained: CurrencyCollection;
  readonly lost: CurrencyCollection;
}

const NOTHING: OutsideValue = { gained: NO_CURRENCY, lost: NO_CURRENCY };

/**
 * Checks that each message of a transaction is registered once and correctly, that accounts receive messages in order,
 * and that accounts gain and lose value only by messages and fees.
 *
 * @throws validation/broken-rule
 */
export function checkTransactionMessages(
  context: BlockContext,
  book: MessageBook,
  accounts: readonly ChangedAccount[],
): OutsideValue {
  const received = new Set<string>();
  let outside: OutsideValue = { gained: NO_CURRENCY, lost: NO_CURRENCY };
  for (const changed of accounts) {
    let latest = 0n;
    for (const each of changed.transactions) {
      const lt = checkIncoming(context, book, each, received);
      if (lt !== null) {
        const at = { what: `transaction ${each.transaction.lt} of account`, hash: each.account };
        context.rules.require(lt >= latest, 'processing-order', `a message not before ${latest}`, lt, at);
        latest = lt;
      }
      checkOutgoing(context, book, each);
    }
    const { gained, lost } = checkBalance(context, book, changed);
    outside = { gained: addCurrency(outside.gained, gained), lost: addCurrency(outside.lost, lost) };
  }
  return outside;
}

/** The lt that decides the processing order of an internal message; `null` for others, and for special messages. */
function checkIncoming(
  { rules, shard, info }: BlockContext,
  book: MessageBook,
  { account, transaction }: CheckedTransaction,
  received: Set<string>,
): bigint | null {
  const { in_msg, lt } = transaction;
  if (in_msg === null) return null;
  const hash = in_msg.cell.hash();
  const place = { what: 'message', hash };
  const key = toHex(hash);
  rules.require(!received.has(key), 'message-once', 'one transaction', 'another one', place);
  received.add(key);
  const registered = book.in.get(key);
  rules.require(IN_KINDS.includes(registered?.kind ?? ''), 'in-message', 'an InMsg', registered?.kind ?? 'none', place);
  const header = in_msg.value.info;
  if (header.kind === 'ext_out_msg_info')
    throw rules.broken('in-message', 'a message to an account', header.kind, place);
  rules.require(isAccount(header.dest, shard.workchain, account), 'message-dest', account, 'another', place);
  if (header.kind === 'ext_in_msg_info') return null;
  rules.require(header.created_lt < lt, 'message-lt', `before ${lt}`, header.created_lt, place);
  if (header.created_lt === info.start_lt && book.isSpecial(hash)) return null;
  const routed = registered !== undefined && 'in_msg' in registered ? book.routed(registered.in_msg) : null;
  return routed?.lt ?? header.created_lt;
}

function checkOutgoing({ rules, shard }: BlockContext, book: MessageBook, each: CheckedTransaction): void {
  for (const [, message] of each.transaction.out_msgs) {
    const place = { what: 'message', hash: message.cell.hash() };
    const registered = book.out.get(toHex(place.hash))?.kind ?? 'none';
    rules.require(OUT_KINDS.includes(registered), 'out-message', 'an OutMsg', registered, place);
    const { info } = message.value;
    if (info.kind === 'ext_in_msg_info') throw rules.broken('out-message', 'a message of an account', info.kind, place);
    rules.require(isAccount(info.src, shard.workchain, each.account), 'message-src', each.account, 'another', place);
  }
}

/** Previous balance and inbound value must equal new balance, outbound value and fees. */
function checkBalance(context: BlockContext, book: MessageBook, changed: ChangedAccount): OutsideValue {
  const { rules, id, globalVersion, reference, deviations } = context;
  const { account, transactions } = changed;
  let left = balanceOf(changed.before);
  let right = addCurrency(balanceOf(changed.after), totalFees(transactions));
  let isSet = false;
  for (const { transaction } of transactions) {
    const { in_msg, out_msgs } = transaction;
    const header = in_msg?.value.info;
    if (header?.kind === 'int_msg_info') {
      left = addCurrency(left, header.value);
      if (globalVersion < FLAGS_VERSION) left = addCurrency(left, onlyGrams(header.extra_flags));
    }
    if (in_msg === null && transaction.description.value.kind !== 'trans_tick_tock') isSet = true;
    for (const [, message] of out_msgs) {
      const registered = book.out.get(toHex(message.cell.hash()));
      if (registered !== undefined && 'out_msg' in registered)
        right = addCurrency(right, transitValue(registered.out_msg.value, globalVersion));
    }
  }
  const difference = differenceOf(left, right);
  const blackhole = isMasterchain(id) ? (reference.config.burning?.blackhole_addr ?? null) : null;
  if (isSet) deviations.push({ kind: 'account-set', block: rules.block, subject: toHex(account) });
  if (isSet || changed.imported) return difference;
  const place = { what: 'account', hash: account };
  if (blackhole !== null && bytesEqual(blackhole, account)) {
    const { gained } = difference;
    rules.require(gained.grams === 0n && gained.other.isEmpty, 'account-balance', left, right, place);
    return difference;
  }
  rules.equal('account-balance', left, right, place);
  return NOTHING;
}

/** How much more `right` is, and how much less. */
function differenceOf(left: CurrencyCollection, right: CurrencyCollection): OutsideValue {
  const more = right.grams - left.grams;
  const gained: [number, bigint][] = [];
  const lost: [number, bigint][] = [];
  for (const id of new Set([...left.other, ...right.other].map(([each]) => each))) {
    const amount = (right.other.get(id) ?? 0n) - (left.other.get(id) ?? 0n);
    if (amount > 0n) gained.push([id, amount]);
    if (amount < 0n) lost.push([id, -amount]);
  }
  return {
    gained: { grams: more > 0n ? more : 0n, other: ExtraCurrencyCollection.of(gained) },
    lost: { grams: more < 0n ? -more : 0n, other: ExtraCurrencyCollection.of(lost) },
  };
}

function isAccount(address: MsgAddressInt, workchain: number, account: Uint8Array): boolean {
  if (address instanceof Address) return address.workchain === workchain && bytesEqual(address.hash, account);
  if (address.workchain_id !== workchain) return false;
  const { anycast } = address;
  const own = address.kind === 'addr_std' ? address.address : address.address.bytes;
  const from = anycast === null ? 0 : anycast.depth;
  // The first bits may be rewritten by anycast, the others are those of the account.
  return bytesEqual(own.subarray((from + 7) >> 3), account.subarray((from + 7) >> 3));
}

/** A place in the processing order. */
export interface Point {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** All messages of a block by hash (hex), and what the checks have found about them. */
export class MessageBook {
  readonly in: ReadonlyMap<string, InMsg>;
  readonly out: ReadonlyMap<string, OutMsg>;
  readonly transactions: readonly CheckedTransaction[];
  readonly #byInMessage = new Map<string, CheckedTransaction>();
  readonly #byOutMessage = new Map<string, CheckedTransaction>();
  readonly #special = new Set<string>();
  readonly #routed = new Map<Cell, RoutedMessage | null>();
  #lastProcessed: Point | null = null;
  #firstWaiting: Point | null = null;

  constructor({ extra, mcExtra }: BlockContext, accounts: readonly ChangedAccount[]) {
    this.in = new Map([...extra.in_msg_descr.value].map(([hash, message]) => [toHex(hash), message]));
    this.out = new Map([...extra.out_msg_descr.value].map(([hash, message]) => [toHex(hash), message]));
    this.transactions = accounts.flatMap(({ transactions }) => transactions);
    for (const each of this.transactions) {
      const { in_msg, out_msgs } = each.transaction;
      if (in_msg !== null) this.#byInMessage.set(toHex(in_msg.cell.hash()), each);
      for (const [, message] of out_msgs) this.#byOutMessage.set(toHex(message.cell.hash()), each);
    }
    if (mcExtra === null) return;
    const { recover_create_msg, mint_msg } = mcExtra.messages.value;
    for (const special of [recover_create_msg, mint_msg]) {
      const message = special?.value;
      if (message?.kind === 'msg_import_imm') this.#special.add(toHex(message.in_msg.value.msg.cell.hash()));
    }
  }

  /** The transaction that received a message. @param hash of the message */
  transactionOf(hash: Uint8Array): CheckedTransaction | undefined {
    return this.#byInMessage.get(toHex(hash));
  }

  /** The transaction that created a message. @param hash of the message, hex */
  creatorOf(hash: string): CheckedTransaction | undefined {
    return this.#byOutMessage.get(hash);
  }

  /** Queue key of a dequeued message; `null` for other kinds. */
  queueKeyOf(hash: string): OutMsgQueueKey | null {
    const message = this.out.get(hash);
    if (message === undefined) return null;
    if (message.kind === 'msg_export_deq_short') {
      const { next_workchain: workchain, next_addr_pfx: prefix } = message;
      return { workchain, prefix, hash: Buffer.from(hash, 'hex') };
    }
    if (message.kind === 'msg_export_ext') return null;
    const routed = this.routed(message.out_msg);
    return routed === null ? null : queueKey(routed);
  }

  /** Whether it is a special message, with recovered fees or minted currencies. */
  isSpecial(hash: Uint8Array): boolean {
    return this.#special.size > 0 && this.#special.has(toHex(hash));
  }

  /** Decodes an envelope, each only once. */
  routed(envelope: Lazy<MsgEnvelope>): RoutedMessage | null {
    const known = this.#routed.get(envelope.cell);
    if (known !== undefined) return known;
    const routed = routedMessage(envelope);
    this.#routed.set(envelope.cell, routed);
    return routed;
  }

  /** Registers a received message. */
  processed({ lt, hash }: Point): void {
    if (this.#lastProcessed === null || compareReceived(this.#lastProcessed, { lt, hash }) < 0)
      this.#lastProcessed = { lt, hash };
  }

  /** Registers a message of this shard to itself that was enqueued. */
  waiting({ lt, hash }: Point): void {
    if (this.#firstWaiting === null || compareReceived(this.#firstWaiting, { lt, hash }) > 0)
      this.#firstWaiting = { lt, hash };
  }

  /** The last received message, of those that must be received in order. */
  get lastProcessed(): Point | null {
    return this.#lastProcessed;
  }

  /** The first message to this shard itself that this block created and did not receive. */
  get firstWaiting(): Point | null {
    return this.#firstWaiting;
  }
}
