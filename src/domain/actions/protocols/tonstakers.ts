import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  type MatchContext,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import { BURN_NOTIFICATION, JettonNotification } from '#domain/actions/protocols/jettons.js';
import { nftMint } from '#domain/actions/protocols/nfts.js';
import {
  stakeDepositType,
  stakeWithdrawalRequestType,
  stakeWithdrawalType,
} from '#domain/actions/protocols/staking.js';
import { JettonBurn, JettonInternalTransfer } from '#domain/tokens/token-messages.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Tonstakers: a pool that mints a jetton for staked TON. */

const DEPOSIT = 0x47d54391;
const MINT = 0x1674b0a0;
const WITHDRAW = 0x319b0cdc;
const PAY_NOW = 0x0a77535c;
const PAYOUT_ASSIGNED = 0x132f9a45;
const DISTRIBUTE = 0x1140a64f;
const PayoutStep = 0xf127fe4e;
const BurnedPayout = layout('asset_payout#ed58b0b2 query_id:uint64 tokens:Coins owner:MsgAddress');
const PAYOUT = 0xdb3b8abd;

/** TON that a pool keeps for its work. */
const DEPOSIT_FEE = 1_000_000_000n;

const provider = 'liquid_staking';

export const tonstakersDeposit = pattern(
  'tonstakers_deposit',
  callOf(DEPOSIT, {
    next: {
      mint: callOf(MINT, {
        next: {
          internal: optionally(
            call(JettonInternalTransfer, { next: { notification: optionally(callOf(JettonNotification.tag)) } }),
          ),
        },
      }),
    },
  }),
  ({ block, mint }, context) => {
    const { internal } = mint;
    const wallet = context.fact(internal?.block.destination ?? null, 'jetton_wallet');
    const details = {
      provider,
      stake_holder: block.source,
      pool: block.destination,
      amount: block.value > DEPOSIT_FEE ? block.value - DEPOSIT_FEE : 0n,
      tokens_minted: internal?.data.amount,
      asset: wallet?.jetton ?? mint.block.destination,
    };
    return meaning(stakeDepositType, details, { failed: block.failed || internal === null || internal.block.aborted });
  },
);

export const tonstakersWithdraw = pattern(
  'tonstakers_withdraw',
  call(JettonBurn, {
    to: 'jetton_wallet',
    next: {
      notice: callOf(BURN_NOTIFICATION, {
        next: {
          request: callOf(WITHDRAW, {
            next: {
              outcome: anyOf(
                callOf(PAY_NOW),
                callOf(MINT, { next: { item: optionally(anyOf(recognised(nftMint), callOf(PAYOUT_ASSIGNED))) } }),
              ),
            },
          }),
        },
      }),
    },
  }),
  ({ block, data, notice }, context) => {
    const wallet = context.fact(block.destination, 'jetton_wallet')!;
    const { request } = notice;
    const { outcome } = request;
    const common = {
      provider,
      stake_holder: block.source,
      pool: request.block.destination,
      asset: wallet.jetton,
    };
    const more = { failed: block.failed, parties: [block.destination] };
    if (outcome.block.opcode === PAY_NOW) {
      const details = { ...common, amount: outcome.block.value - request.block.value, tokens_burnt: data.amount };
      return meaning(stakeWithdrawalType, details, { ...more, kind: 'tonstakers_withdraw' });
    }
    const item = 'item' in outcome ? (outcome.item?.block ?? null) : null;
    const details = { ...common, payout_nft: itemOf(item) };
    return meaning(stakeWithdrawalRequestType, details, {
      ...more,
      kind: 'tonstakers_withdraw_request',
      without: [item],
    });
  },
  { kinds: ['tonstakers_withdraw', 'tonstakers_withdraw_request'] },
);

/** The item of a delayed payout. */
function itemOf(block: ActionBlock | null): Address | null {
  return block === null ? null : block.destination;
}

/** Steps back from a payout to the start of the distribution. */
const MAX_STEPS = 1_000;

export const tonstakersPayout = pattern(
  'tonstakers_delayed_withdrawal',
  callOf(PAYOUT, { before: call(BurnedPayout, { before: optionally(callOf(PayoutStep)) }) }),
  ({ block, before }, context) => {
    const details = {
      provider,
      stake_holder: before.data.owner,
      pool: poolOf(before.block, context),
      amount: block.value,
      payout_nft: before.block.source,
      tokens_burnt: before.data.tokens,
    };
    return meaning(stakeWithdrawalType, details, { kind: 'tonstakers_withdraw', failed: block.failed });
  },
  { kinds: ['tonstakers_withdraw'] },
);

/** The pool that started the distribution of which a payout is a part. */
function poolOf(from: ActionBlock, context: MatchContext): Address | null {
  let block = from.previous;
  for (let i = 0; i < MAX_STEPS && block !== null; i++) {
    context.spend();
    if (block.opcode === DISTRIBUTE) return block.source;
    block = block.previous;
  }
  return null;
}
