import { isMasterchain } from '#formats/proofs/block-id.js';
import type { Account } from '#formats/tlb/account.js';
import type { TickTock } from '#formats/tlb/state-init.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { BlockTransaction, ChangedAccount } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';

/**
 * Checks of which kinds the transactions are: that contracts of the network are called at the begin and at the end of each
 * block of the masterchain, and nobody else is.
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

function checkKind({ rules, info }: BlockContext, each: BlockTransaction, allowed: TickTock): void {
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
      // No network makes them: they show that an account was set from outside.
      rules.require(in_msg === null && outmsg_cnt === 0, 'transaction-kind', 'no messages', 'some', place);
      break;
    default:
      throw rules.broken('transaction-kind', 'a kind that is in use', kind, place);
  }
}

function kindOf({ transaction }: BlockTransaction): string {
  const description = transaction.description.value;
  if (description.kind !== 'trans_tick_tock') return description.kind;
  return description.is_tock ? 'tock' : 'tick';
}

function tickTockOf(account: Account): TickTock | null {
  if (account.kind === 'account_none' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init.special;
}
