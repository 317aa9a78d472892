import { call, callOf, meaning, pattern, recognised } from '#domain/actions/pattern.js';
import { JettonNotification, jettonMint, jettonTransfer, Mint } from '#domain/actions/protocols/jettons.js';
import { stakeDepositType, stakeWithdrawalRequestType } from '#domain/actions/protocols/staking.js';
import { JettonInternalTransfer, JettonTransfer } from '#domain/tokens/token-messages.js';
import { parseAddress } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Ethena: USDe is staked for tsUSDe. */

const provider = 'ethena';
const USDE = parseAddress('0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC').address;
const STAKED_USDE = parseAddress('0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D').address;

export const ethenaDeposit = pattern(
  'ethena_deposit',
  recognised(jettonTransfer, {
    where: { 'the jetton is USDe': (_, { asset }) => asset?.equals(USDE) ?? false },
    next: {
      minted: recognised(jettonMint, {
        where: { 'the jetton is tsUSDe': (_, { asset }) => asset?.equals(STAKED_USDE) ?? false },
      }),
    },
  }),
  ({ block, data, minted }) => {
    const details = {
      provider,
      stake_holder: data.sender,
      pool: data.receiver,
      amount: data.amount,
      tokens_minted: minted.data.amount,
      asset: minted.data.asset,
      source_asset: data.asset,
    };
    const failed = block.failed || minted.block.failed;
    return meaning(stakeDepositType, details, { failed, parties: [data.sender_wallet] });
  },
);

/** What the wallet of the staker receives: locked tokens. */
const Locked = layout('locked_transfer#b2583ed5 query_id:uint64 amount:Coins');

export const ethenaWithdrawalRequest = pattern(
  'ethena_withdrawal_request',
  call(JettonTransfer, {
    to: 'jetton_wallet',
    next: {
      internal: call(JettonInternalTransfer, {
        next: {
          notification: callOf(JettonNotification.tag, {
            next: { mint: call(Mint, { next: { locked: call(Locked, { to: 'jetton_wallet' }) } }) },
          }),
        },
      }),
    },
  }),
  ({ block, data, internal }, context) => {
    const { notification } = internal;
    const { locked } = notification.mint;
    const from = context.fact(block.destination, 'jetton_wallet')!;
    const to = context.fact(locked.block.destination, 'jetton_wallet')!;
    context.check(from.jetton.equals(STAKED_USDE) && to.jetton.equals(STAKED_USDE), 'the jetton is not tsUSDe');
    const isOwn = block.source !== null && from.owner.equals(block.source) && to.owner.equals(block.source);
    context.check(isOwn, 'the wallets are of others');
    const details = {
      provider,
      stake_holder: block.source,
      pool: notification.block.destination,
      asset: from.jetton,
      tokens_burnt: data.amount,
      tokens_minted: locked.data.amount,
    };
    const failed = block.failed || internal.block.failed || locked.block.failed;
    return meaning(stakeWithdrawalRequestType, details, { failed, parties: [block.destination] });
  },
);
