import { actionType, addressField, amountField, integerField, listOf } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  coinTransfer,
  each,
  type MatchContext,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import { type JettonTransferData, jettonTransfer } from '#domain/actions/protocols/jettons.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* JVault: pools in which jettons are locked for a time; wallets of another jetton stand for the stakes. */

const StakePayload = layout('stake#e3a06989 period:uint32');
const RECEIVE = 0xd68a4ac1;
const CANCEL = 0x9eada1d9;
const SET_DATA = 0x383411ea;
const REQUEST_UPDATE = 0xf5c5baa3;
const UPDATE = 0xae9307ce;
const UPDATE_REFERRER: readonly number[] = [0x55c35b40, 0x076ee4e0];

/** Data of a stake wallet, and of a pool as far as the wallet of what is locked. */
const StakeWalletData = layout('_ pool:MsgAddress minter:MsgAddress');
const PoolData = layout('_ flag:uint1 number:uint32 owner:MsgAddress creator:MsgAddress lock_wallet:MsgAddress');

/** Messages in a chain of referrers. */
const MAX_REFERRALS = 32;

/** The messages that notify referrers of a change. */
function referrals(start: ActionBlock, context: MatchContext): ActionBlock[] {
  const passed: ActionBlock[] = [];
  let found = context.after(start, callOf(UPDATE_REFERRER));
  while (found !== null && passed.length < MAX_REFERRALS) {
    passed.push(found.block);
    found = context.after(found.block, callOf(UPDATE_REFERRER));
  }
  return passed;
}

export const jvaultStakeType = actionType('jvault_stake', 'Jettons were staked.', {
  period: integerField('Seconds for which they are locked.'),
  minted_stake_jettons: amountField('Jettons that stand for the stake.'),
  stake_wallet: addressField('Wallet of these.'),
  source: addressField('Who staked.', 'source'),
  source_jetton_wallet: addressField('Wallet that paid.', 'source_secondary'),
  asset: addressField('Master of the staked jettons.', 'asset'),
  pool: addressField('The pool.', 'destination'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
});

export const jvaultStake = pattern(
  'jvault_stake',
  recognised(jettonTransfer, {
    next: {
      wallet: callOf(RECEIVE, {
        next: {
          outcome: anyOf(callOf(REQUEST_UPDATE, { next: { updated: callOf(UPDATE) } }), callOf(CANCEL)),
        },
      }),
      set: optionally(callOf(SET_DATA)),
    },
  }),
  ({ block, data, wallet }, context) => {
    const { outcome } = wallet;
    const payload = context.readIf(StakePayload, data.payload);
    const details = {
      period: payload?.period,
      stake_wallet: wallet.block.destination,
      source: data.sender,
      source_jetton_wallet: data.sender_wallet,
      asset: data.asset,
      pool: data.receiver,
      amount: data.amount,
    };
    const failed = block.failed || outcome.block.opcode === CANCEL;
    return meaning(jvaultStakeType, details, { failed, also: referrals(outcome.block, context) });
  },
);

const unstake = {
  source: addressField('Who staked.', 'source'),
  stake_wallet: addressField('Wallet of the jettons that stand for the stake.', 'source_secondary'),
  pool: addressField('The pool.', 'destination'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  exit_code: integerField('Of the stake wallet.'),
  asset: addressField('Master of the staked jettons.', 'asset'),
  staking_asset: addressField('Master of the jettons that stand for the stake.', 'asset2'),
};
export const jvaultUnstakeType = actionType('jvault_unstake', 'A stake was paid back.', unstake);
export const jvaultUnstakeRequestType = actionType(
  'jvault_unstake_request',
  'A stake is to be paid back later.',
  unstake,
);

const Unstake = layout('unstake#499a9262 query_id:uint64 amount:Coins');
const UnstakeRequest = layout('unstake_request#0168d4b7 query_id:uint64 amount:Coins');

/** The details of an unstake; the pool of a refused one is in the data of the stake wallet. */
function unstakeDetails(
  block: ActionBlock,
  amount: bigint,
  { update, paid }: { readonly update: ActionBlock | null; readonly paid: JettonTransferData | null },
  context: MatchContext,
) {
  const wallet = block.destination === null ? null : context.contractData(block.destination);
  const stake = context.readIf(StakeWalletData, wallet);
  context.check(update !== null || (block.aborted && stake !== null), 'the stake wallet did not call its pool');
  const pool = update?.destination ?? stake?.pool ?? null;
  return {
    source: block.source,
    stake_wallet: block.destination,
    pool,
    amount,
    exit_code: block.aborted ? block.first.transaction?.exit_code : null,
    asset: paid?.asset ?? lockedAsset(pool, context),
    staking_asset: context.fact(block.destination, 'jetton_wallet')?.jetton ?? stake?.minter,
  };
}

/** The asset of a pool, if the wallet that its data names is its own. */
function lockedAsset(pool: Address | null, context: MatchContext): Address | null {
  if (pool === null) return null;
  const data = context.readIf(PoolData, context.contractData(pool));
  const wallet = context.fact(data?.lock_wallet ?? null, 'jetton_wallet');
  return wallet?.owner.equals(pool) ? wallet.jetton : null;
}

export const jvaultUnstake = pattern(
  'jvault_unstake',
  call(Unstake, {
    next: {
      update: optionally(
        callOf(REQUEST_UPDATE, {
          next: { paid: recognised(jettonTransfer), updated: callOf(UPDATE), fee: optionally(coinTransfer()) },
        }),
      ),
    },
  }),
  ({ block, data, update }, context) => {
    const found = { update: update?.block ?? null, paid: update?.paid.data ?? null };
    const details = unstakeDetails(block, data.amount, found, context);
    const also = update === null ? [] : referrals(update.block, context);
    return meaning(jvaultUnstakeType, details, { failed: block.failed || (update?.paid.block.failed ?? true), also });
  },
);

export const jvaultUnstakeRequest = pattern(
  'jvault_unstake_request',
  call(UnstakeRequest, {
    next: { update: optionally(callOf(REQUEST_UPDATE, { next: { updated: callOf(UPDATE) } })) },
  }),
  ({ block, data, update }, context) => {
    const details = unstakeDetails(block, data.amount, { update: update?.block ?? null, paid: null }, context);
    const also = update === null ? [] : referrals(update.block, context);
    return meaning(jvaultUnstakeRequestType, details, { failed: block.failed || update === null, also });
  },
);

const CLAIM = 0x78d9f109;
const SEND_CLAIMED = 0x44bc1fe3;

export const jvaultClaimType = actionType('jvault_claim', 'Rewards of a stake were paid.', {
  claimed_rewards: listOf('JettonAmountPair', 'What was paid.', {
    jetton: addressField('Wallet of the pool that paid.'),
    amount: amountField('In the smallest units of the jetton.'),
  }),
  source: addressField('Who staked.', 'source'),
  stake_wallet: addressField('Wallet of the jettons that stand for the stake.', 'source_secondary'),
  pool: addressField('The pool.', 'destination'),
});

export const jvaultClaim = pattern(
  'jvault_claim',
  callOf(CLAIM, {
    next: {
      sent: callOf(SEND_CLAIMED, {
        next: { first: recognised(jettonTransfer), rest: each(recognised(jettonTransfer)), updated: callOf(UPDATE) },
      }),
    },
  }),
  ({ block, sent }) => {
    const paid = [sent.first, ...sent.rest];
    const details = {
      claimed_rewards: paid.map(({ data }) => ({ jetton: data.sender_wallet, amount: data.amount })),
      source: block.source,
      stake_wallet: block.destination,
      pool: sent.block.destination,
    };
    return meaning(jvaultClaimType, details, { failed: block.failed || paid.some((one) => one.block.failed) });
  },
);
