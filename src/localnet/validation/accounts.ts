import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import type { Slice } from '#formats/cells/slice.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import {
  type Account,
  type AccountStatus,
  NO_ACCOUNT,
  type ShardAccount,
  type TickTock,
} from '#formats/tlb/account.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import type { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import type { AccountBlock, Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, compareBytes, toHex } from '#kernel/bytes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';

/** A transaction of a block. */
export interface CheckedTransaction {
  readonly account: Uint8Array;
  readonly transaction: Transaction;
  readonly hash: Uint8Array;
}

/** An account that a block changes. */
export interface ChangedAccount {
  readonly account: Uint8Array;
  readonly before: Account;
  readonly after: Account;
  /** Whether it was imported: its previous state is not known. */
  readonly imported: boolean;
  /** In lt order. */
  readonly transactions: readonly CheckedTransaction[];
}

/** The effects of a block on accounts. */
export interface AccountChanges {
  readonly changed: readonly ChangedAccount[];
  /** Balances of imported accounts without transactions. */
  readonly imported: CurrencyCollection;
}

const NO_HASH = new Uint8Array(32);
const NONE: Account = { kind: 'account_none' };

/**
 * Checks the transactions of all accounts: that they link the previous accounts to the new ones, and that no other
 * account has changed.
 *
 * @throws validation/broken-rule
 */
export function checkAccounts(context: BlockContext): AccountChanges {
  const { rules, extra, shard, before, after, deviations } = context;
  const changed: ChangedAccount[] = [];
  let expected = before.accounts;
  let imported = NO_CURRENCY;
  const now = after.accounts.value;
  for (const [account, block] of extra.account_blocks.value) {
    const place = { what: 'account', hash: account };
    rules.equal('account-block', account, block.account_addr, place);
    const inside = shardContains(shard.shard, accountPrefix(account));
    rules.require(inside, 'account-block', 'an account of the shard', account, place);
    const old = before.accounts.get(account) ?? null;
    const fresh = now.get(account) ?? null;
    changed.push(checkAccount(context, account, block, old, fresh));
    expected = fresh === null ? expected.delete(account) : expected.set(account, fresh);
  }
  for (const { key, old, fresh } of dictionariesDiffer(expected, now)) {
    const place = { what: 'account', hash: key };
    rules.require(old === null && fresh !== null, 'account-unchanged', 'no change', 'another state', place);
    deviations.push({ kind: 'account-import', block: rules.block, subject: toHex(key) });
    expected = expected.set(key, fresh!);
    imported = addCurrency(imported, balanceOf(fresh!.account.value));
  }
  rules.equal('accounts-dictionary', expected.root?.hash() ?? null, now.root?.hash() ?? null);
  rules.equal('accounts-dictionary', expected.extra.balance, now.extra.balance, 'extra');
  rules.equal('accounts-dictionary', expected.extra.split_depth, now.extra.split_depth, 'extra');
  return { changed, imported };
}

function checkAccount(
  context: BlockContext,
  account: Uint8Array,
  block: AccountBlock,
  old: ShardAccount | null,
  fresh: ShardAccount | null,
): ChangedAccount {
  const { rules } = context;
  const place = { what: 'account', hash: account };
  const { old_hash, new_hash } = block.state_update.value;
  const imported = old === null && !bytesEqual(old_hash, NO_ACCOUNT.hash());
  if (imported) context.deviations.push({ kind: 'account-import', block: rules.block, subject: toHex(account) });
  else rules.equal('account-state-update', old?.account.cell.hash() ?? NO_ACCOUNT.hash(), old_hash, place);
  rules.equal('account-state-update', fresh?.account.cell.hash() ?? NO_ACCOUNT.hash(), new_hash, place);

  const before = old?.account.value ?? NONE;
  let hash = old_hash;
  let status = statusOf(before);
  let last = { hash: old?.last_trans_hash ?? NO_HASH, lt: old?.last_trans_lt ?? 0n, end: endOf(before) };
  if (imported) {
    // All that the block tells of an imported state is what its first transaction follows.
    for (const [, { value: first }] of block.transactions) {
      status = first.orig_status;
      last = { hash: first.prev_trans_hash, lt: first.prev_trans_lt, end: 0n };
      break;
    }
  }
  const transactions: CheckedTransaction[] = [];
  for (const [key, lazy] of block.transactions) {
    const transaction = lazy.value;
    const { lt } = transaction;
    const at = `${place.what} ${toHex(account)}, transaction ${lt}`;
    rules.equal('transaction-place', account, transaction.account_addr, at);
    rules.equal('transaction-place', key, lt, at);
    rules.equal('transaction-chain', last.hash, transaction.prev_trans_hash, at);
    rules.equal('transaction-chain', last.lt, transaction.prev_trans_lt, at);
    rules.require(lt >= last.end, 'transaction-lt', `not before ${last.end}`, lt, at);
    const end = lt + 1n + BigInt(transaction.outmsg_cnt);
    const { start_lt, end_lt, gen_utime } = context.info;
    rules.require(lt > start_lt && end <= end_lt, 'transaction-lt', `${start_lt} < lt, end <= ${end_lt}`, lt, at);
    rules.equal('transaction-time', gen_utime, transaction.now, at);
    const update = transaction.state_update.value;
    rules.equal('transaction-state-update', hash, update.old_hash, at);
    rules.equal('transaction-status', status, transaction.orig_status, at);
    checkOutMessages(context, transaction, at);
    hash = update.new_hash;
    status = transaction.end_status;
    const own = lazy.cell.hash();
    last = { hash: own, lt, end };
    transactions.push({ account, transaction, hash: own });
  }
  rules.equal('account-state-update', new_hash, hash, place);
  const after = fresh?.account.value ?? NONE;
  rules.equal('transaction-status', statusOf(after), status, place);
  if (fresh !== null) {
    rules.equal('account-last-transaction', last.hash, fresh.last_trans_hash, place);
    rules.equal('account-last-transaction', last.lt, fresh.last_trans_lt, place);
    if (after.kind === 'account') {
      rules.equal('account-last-transaction', last.end, after.storage.last_trans_lt, place);
      checkAddress(context, account, after);
    }
  }
  return { account, before, after, imported, transactions };
}

function checkAddress({ rules, shard }: BlockContext, account: Uint8Array, state: Account & { kind: 'account' }): void {
  const { addr } = state;
  const own = addr instanceof Address ? addr.hash : addr.kind === 'addr_std' ? addr.address : null;
  const workchain = addr instanceof Address ? addr.workchain : addr.workchain_id;
  const anycast = !(addr instanceof Address) && addr.anycast !== null;
  const right = workchain === shard.workchain && (anycast || (own !== null && bytesEqual(own, account)));
  rules.require(right, 'account-address', account, own, { what: 'account', hash: account });
}

/** Checks that outbound messages are numbered from 0 and have consecutive lts. */
function checkOutMessages({ rules, info }: BlockContext, { lt, outmsg_cnt, out_msgs }: Transaction, at: string): void {
  let next = 0;
  for (const [index, message] of out_msgs) {
    rules.equal('out-messages', next++, index, at);
    const header = message.value.info;
    if (header.kind === 'ext_in_msg_info')
      throw rules.broken('out-messages', 'a message of a contract', header.kind, at);
    rules.equal('out-messages', lt + BigInt(next), header.created_lt, `${at}, created_lt`);
    rules.equal('out-messages', info.gen_utime, header.created_at, `${at}, created_at`);
  }
  rules.equal('out-messages', outmsg_cnt, next, at);
}

/** The account status that transactions use. */
function statusOf(account: Account): AccountStatus {
  if (account.kind === 'account_none') return 'acc_state_nonexist';
  const { kind } = account.storage.state;
  return kind === 'account_active'
    ? 'acc_state_active'
    : kind === 'account_frozen'
      ? 'acc_state_frozen'
      : 'acc_state_uninit';
}

function endOf(account: Account): bigint {
  return account.kind === 'account_none' ? 0n : account.storage.last_trans_lt;
}

export function balanceOf(account: Account): CurrencyCollection {
  return account.kind === 'account_none' ? NO_CURRENCY : account.storage.balance;
}

/** Sum of the fees of some transactions. */
export function totalFees(transactions: readonly CheckedTransaction[]): CurrencyCollection {
  return transactions.map(({ transaction }) => transaction.total_fees).reduce(addCurrency, NO_CURRENCY);
}

/**
 * Checks the kinds of transactions: that the special accounts have tick-tock transactions at the start and end of each
 * masterchain block, and no other accounts have.
 *
 * @throws validation/broken-rule
 */
export function checkKinds(context: BlockContext, accounts: readonly ChangedAccount[]): void {
  for (const changed of accounts) {
    const { account, transactions } = changed;
    const special = isMasterchain(context.id) && context.reference.config.isSpecial(account);
    const before = special ? tickTockOf(changed.before) : null;
    const after = special ? tickTockOf(changed.after) : null;
    for (const [i, each] of transactions.entries()) {
      const first = i === 0;
      const last = i === transactions.length - 1;
      checkKind(context, each, {
        tick: before?.tick === true && first,
        tock: last && (after ?? before)?.tock === true,
      });
    }
    const place = { what: 'account', hash: account };
    if (before?.tick === true) {
      const kind = kindOf(transactions[0]!);
      context.rules.equal('tick-tock', 'tick', kind, place);
    }
    if (after?.tock === true) context.rules.equal('tick-tock', 'tock', kindOf(transactions.at(-1)!), place);
  }
  if (!isMasterchain(context.id)) return;
  const changed = new Set(accounts.map(({ account }) => toHex(account)));
  for (const id of context.reference.config.special) {
    const account = context.before.accounts.get(id)?.account.value;
    const flags = account === undefined ? null : tickTockOf(account);
    if (flags === null || (!flags.tick && !flags.tock)) continue;
    context.rules.require(changed.has(toHex(id)), 'tick-tock', 'a transaction', 'none', { what: 'account', hash: id });
  }
}

function checkKind({ rules, info }: BlockContext, each: CheckedTransaction, allowed: TickTock): void {
  const { account, transaction } = each;
  const { in_msg, lt, outmsg_cnt } = transaction;
  const place = { what: `transaction ${lt} of account`, hash: account };
  const kind = kindOf(each);
  switch (kind) {
    case 'trans_ord':
      rules.require(in_msg !== null, 'transaction-kind', 'a message', 'none', place);
      break;
    case 'tick':
    case 'tock':
      rules.require(in_msg === null, 'transaction-kind', 'no message', 'one', place);
      rules.require(allowed[kind], 'tick-tock', 'a contract of the network, at its time', kind, place);
      if (kind === 'tick') rules.equal('tick-tock', info.start_lt + 1n, lt, place);
      break;
    case 'trans_storage':
      // Not part of any network: a state override set the account.
      rules.require(in_msg === null && outmsg_cnt === 0, 'transaction-kind', 'no messages', 'some', place);
      break;
    default:
      throw rules.broken('transaction-kind', 'a kind that is in use', kind, place);
  }
}

function kindOf({ transaction }: CheckedTransaction): string {
  const description = transaction.description.value;
  if (description.kind !== 'trans_tick_tock') return description.kind;
  return description.is_tock ? 'tock' : 'tick';
}

function tickTockOf(account: Account): TickTock | null {
  if (account.kind === 'account_none' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init.special;
}

/** An entry in which two dictionaries differ; `null` where it is missing. */
export interface DictionaryDifference<K, V> {
  readonly key: K;
  readonly old: V | null;
  readonly fresh: V | null;
}

/**
 * The entries in which two dictionaries differ, in key order; returns at once when the roots are equal, otherwise walks
 * both, to describe an error.
 */
export function* dictionariesDiffer<K, V, E>(
  before: AugmentedDictionary<K, V, E>,
  after: AugmentedDictionary<K, V, E>,
): Generator<DictionaryDifference<K, V>> {
  if (sameRoot(before.root, after.root)) return;
  const { key, extra, value } = before.type;
  const olds = iterateEntries(before.root, key.bits);
  const news = iterateEntries(after.root, key.bits);
  const load = (slice: Slice): V => {
    extra.load(slice);
    return value.load(slice);
  };
  let old = olds.next();
  let fresh = news.next();
  while (old.done !== true || fresh.done !== true) {
    const order = old.done === true ? 1 : fresh.done === true ? -1 : compareBytes(old.value[0], fresh.value[0]);
    const [oldKey, oldValue] = old.done === true ? [] : old.value;
    const [newKey, newValue] = fresh.done === true ? [] : fresh.value;
    if (order < 0) {
      yield { key: key.decode(oldKey!), old: load(oldValue!), fresh: null };
    } else if (order > 0) {
      yield { key: key.decode(newKey!), old: null, fresh: load(newValue!) };
    } else if (!bytesEqual(rest(oldValue!), rest(newValue!))) {
      yield { key: key.decode(oldKey!), old: load(oldValue!), fresh: load(newValue!) };
    }
    if (order <= 0) old = olds.next();
    if (order >= 0) fresh = news.next();
  }
}

/** Whether two dictionaries have equal roots, or both have none. */
export function sameRoot(a: Cell | null, b: Cell | null): boolean {
  return a === b || (a !== null && b !== null && bytesEqual(a.hash(), b.hash()));
}

/** Hash of extra and value at a slice. */
function rest(slice: Slice): Uint8Array {
  return new Builder().storeSlice(slice).endCell().hash();
}
