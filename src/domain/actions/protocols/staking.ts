import { actionType, addressField, amountField, optionalField, textField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { call, coinTransfer, each, meaning, pattern } from '#domain/actions/pattern.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Types of staking, and pools of nominators. */

const provider = textField('Protocol.', ['liquid_staking', 'nominator', 'ethena']);

export const stakeDepositType = actionType('stake_deposit', 'A stake was deposited.', {
  provider,
  stake_holder: addressField('Who stakes.', 'source'),
  pool: addressField('The pool.', 'destination'),
  amount: amountField('In the smallest units of TON or of the asset that is staked.', 'amount'),
  tokens_minted: amountField('Tokens of the pool that the holder received.'),
  asset: addressField('Master of these tokens.', 'asset'),
  source_asset: optionalField(addressField('Master of the jettons that were staked.', 'asset2')),
});
export const stakeWithdrawalType = actionType('stake_withdrawal', 'A stake was paid out.', {
  provider,
  stake_holder: addressField('Who receives it.', 'source'),
  pool: addressField('The pool.', 'destination'),
  amount: amountField('Nanotons.', 'amount'),
  payout_nft: addressField('Item that stood for the payout.'),
  tokens_burnt: amountField('Tokens of the pool that were burnt.'),
  asset: addressField('Master of these tokens.', 'asset'),
});
export const stakeWithdrawalRequestType = actionType('stake_withdrawal_request', 'A stake is to be paid out later.', {
  provider,
  stake_holder: addressField('Who is to receive it.', 'source'),
  pool: addressField('The pool.', 'destination'),
  payout_nft: addressField('Item that stands for the payout.'),
  asset: addressField('Master of the tokens of the pool.', 'asset'),
  tokens_burnt: amountField('Tokens of the pool that were burnt.'),
  tokens_minted: optionalField(amountField('Tokens that the holder received in exchange.')),
});

const nominator = { provider: 'nominator' } as const;

export const nominatorDeposit = pattern(
  'nominator_pool_deposit',
  coinTransfer({ to: 'nominator_pool', where: { 'the comment is "d"': (_, data) => data.text === 'd' } }),
  ({ block }) => {
    const details = { ...nominator, stake_holder: block.source, pool: block.destination, amount: block.value };
    return meaning(stakeDepositType, details, { failed: block.failed });
  },
  { takesBounced: true },
);

export const nominatorWithdrawalRequest = pattern(
  'nominator_pool_withdraw_request',
  coinTransfer({
    to: 'nominator_pool',
    where: { 'the comment is "w"': (_, data) => data.text === 'w' },
    next: { payments: each(coinTransfer()) },
  }),
  ({ block, payments }) => {
    const common = { ...nominator, stake_holder: block.source, pool: block.destination };
    const payout = payoutOf(
      block,
      payments.map((one) => one.block),
    );
    if (payout === null) {
      const without = payments.map((one) => one.block);
      return meaning(stakeWithdrawalRequestType, common, { failed: block.failed, without });
    }
    const details = { ...common, amount: payout.value };
    return meaning(stakeWithdrawalType, details, { failed: block.failed });
  },
  { takesBounced: true },
);

/** Of the transfers after a request the one that pays the stake: one above the sent value, or the first of two. */
function payoutOf(block: ActionBlock, payments: readonly ActionBlock[]): ActionBlock | null {
  if (payments.length === 1) return payments[0]!.value > block.value ? payments[0]! : null;
  if (payments.length !== 2) return null;
  const [one, other] = payments as readonly [ActionBlock, ActionBlock];
  return (one.message!.created_lt ?? 0n) < (other.message!.created_lt ?? 0n) ? one : other;
}

const ProcessWithdrawals = layout('process_withdraw_requests#00000002 query_id:uint64');

export const nominatorProcessWithdrawals = pattern(
  'nominator_pool_withdraw',
  coinTransfer({ from: 'nominator_pool', before: call(ProcessWithdrawals, { to: 'nominator_pool' }) }),
  ({ block, before }) => {
    const details = { ...nominator, stake_holder: block.destination, pool: block.source, amount: block.value };
    return meaning(stakeWithdrawalType, details, {
      kind: nominatorWithdrawalRequest.name,
      failed: block.failed,
      without: [before.block],
    });
  },
);
