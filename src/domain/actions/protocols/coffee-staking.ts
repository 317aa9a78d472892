import { actionType, addressField, amountField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { call, callOf, meaning, optionally, pattern, recognised } from '#domain/actions/pattern.js';
import { jettonTransfer } from '#domain/actions/protocols/jettons.js';
import { nftMint } from '#domain/actions/protocols/nfts.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Staking of Coffee: deposits of jettons, for which NFT items stand. */

const Deposit = layout('deposit#f9471134 query_id:uint64');
const UNLOCK = 0xcb03bfaf;
const Unlocked = layout(
  'withdraw#cb03bfaf query_id:uint64 nft_index:uint64 owner:MsgAddress points:Coins ^[ wallet:MsgAddress amount:Coins ]',
);
const Claim = layout('claim_rewards#b30c7310 query_id:uint64');

const isCall = { 'it is no event': (block: ActionBlock) => !block.isEvent };
const isEvent = { 'it is an event': (block: ActionBlock) => block.isEvent };

const asset = addressField('Jetton master.', 'asset');
const amount = amountField('In the smallest units of the jetton.', 'amount');

export const coffeeStakingDepositType = actionType('coffee_staking_deposit', 'Jettons were staked.', {
  source: addressField('Who staked them.', 'source'),
  source_jetton_wallet: addressField('Wallet that paid.', 'source_secondary'),
  pool: addressField('The pool.', 'destination'),
  pool_jetton_wallet: addressField('Wallet that received them.', 'destination_secondary'),
  asset,
  amount,
  minted_item_address: addressField('Item that stands for the deposit.'),
  minted_item_index: amountField('Its index.'),
});

export const coffeeStakingDeposit = pattern(
  'coffee_staking_deposit',
  recognised(jettonTransfer, {
    next: {
      deposit: call(Deposit, {
        where: isCall,
        next: { event: optionally(callOf(Deposit.tag, { where: isEvent })), item: recognised(nftMint) },
      }),
    },
  }),
  ({ block, data, deposit }) => {
    const details = {
      source: data.sender,
      source_jetton_wallet: data.sender_wallet,
      pool: deposit.block.destination,
      pool_jetton_wallet: data.receiver_wallet,
      asset: data.asset,
      amount: data.amount,
      minted_item_address: deposit.item.data.item,
      minted_item_index: deposit.item.data.facts.index,
    };
    return meaning(coffeeStakingDepositType, details, { failed: block.failed || deposit.block.failed });
  },
);

export const coffeeStakingWithdrawType = actionType('coffee_staking_withdraw', 'Staked jettons were paid back.', {
  source: addressField('Who staked them.', 'source'),
  source_jetton_wallet: addressField('Wallet that receives them.', 'source_secondary'),
  pool: addressField('The item that stood for the deposit, as API v3 shows it.', 'destination'),
  pool_jetton_wallet: addressField('Wallet that paid.', 'destination_secondary'),
  asset,
  amount,
  nft_address: addressField('Item that stood for the deposit.'),
  nft_index: amountField('Its index.'),
  points: amountField('Points of the deposit.'),
});

export const coffeeStakingWithdraw = pattern(
  'coffee_staking_withdraw',
  callOf(UNLOCK, {
    where: isCall,
    next: {
      unlocked: call(Unlocked, {
        where: isCall,
        next: {
          event: optionally(callOf(UNLOCK, { where: isEvent })),
          payer: callOf(UNLOCK, { where: isCall, next: { paid: recognised(jettonTransfer) } }),
        },
      }),
    },
  }),
  ({ block, unlocked }) => {
    const { paid } = unlocked.payer;
    const details = {
      source: block.source,
      source_jetton_wallet: paid.data.receiver_wallet,
      pool: unlocked.block.source,
      pool_jetton_wallet: paid.data.sender_wallet,
      asset: paid.data.asset,
      amount: paid.data.amount,
      nft_address: block.destination,
      nft_index: unlocked.data.nft_index,
      points: unlocked.data.points,
    };
    return meaning(coffeeStakingWithdrawType, details, { failed: block.failed || paid.block.failed });
  },
);

export const coffeeStakingClaimType = actionType('coffee_staking_claim_rewards', 'Rewards of staking were paid.', {
  pool: addressField('The pool.', 'source'),
  pool_jetton_wallet: addressField('Wallet that paid.', 'source_secondary'),
  recipient: addressField('Who receives them.', 'destination'),
  recipient_jetton_wallet: addressField('Wallet that receives them.', 'destination_secondary'),
  asset,
  amount,
});

export const coffeeStakingClaim = pattern(
  'coffee_staking_claim_rewards',
  call(Claim, {
    where: isCall,
    next: { event: optionally(callOf(Claim.tag, { where: isEvent })), paid: recognised(jettonTransfer) },
  }),
  ({ block, paid }) => {
    const details = {
      pool: block.destination,
      pool_jetton_wallet: paid.data.sender_wallet,
      recipient: paid.data.receiver,
      recipient_jetton_wallet: paid.data.receiver_wallet,
      asset: paid.data.asset,
      amount: paid.data.amount,
    };
    return meaning(coffeeStakingClaimType, details, { failed: block.failed || paid.block.failed });
  },
);
