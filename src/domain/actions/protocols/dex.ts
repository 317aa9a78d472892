import {
  actionType,
  addressField,
  amountField,
  flagField,
  listOf,
  optionalField,
  recordOf,
  textField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  type MatchContext,
  type Matched,
  type Meaning,
  meaning,
  recognised,
} from '#domain/actions/pattern.js';
import {
  isWrappedTon,
  JettonNotification,
  type JettonTransferData,
  jettonTransfer,
  wrappedTonTransfer,
} from '#domain/actions/protocols/jettons.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Types of decentralised exchanges. An asset that is null is TON. */

const dex = textField('Protocol.', ['stonfi', 'stonfi_v2', 'dedust', 'dedust_v2', 'tonco', 'coffee']);

export const jettonSwapType = actionType('jetton_swap', 'An exchange of one asset for another.', {
  dex,
  sender: addressField('Who swapped.', 'source'),
  asset_in: addressField('Asset that was sold; none for TON.', 'asset'),
  asset_out: addressField('Asset that was bought; none for TON.', 'asset2'),
  dex_incoming_transfer: recordOf('JettonSwapLeg', 'The payment to the exchange.', {
    asset: addressField('None for TON.'),
    source: addressField('Who paid.', 'source'),
    destination: addressField('Account of the exchange.'),
    source_jetton_wallet: addressField('None for TON.', 'source_secondary'),
    destination_jetton_wallet: addressField('None for TON.'),
    amount: amountField('In the smallest units of the asset.'),
  }),
  dex_outgoing_transfer: recordOf('JettonSwapLeg', 'The payment by the exchange.', {
    asset: addressField('None for TON.'),
    source: addressField('Account of the exchange.'),
    destination: addressField('Who received it.', 'destination'),
    source_jetton_wallet: addressField('None for TON.'),
    destination_jetton_wallet: addressField('None for TON.', 'destination_secondary'),
    amount: amountField('In the smallest units of the asset.'),
  }),
  peer_swaps: listOf('JettonPeerSwap', 'Single exchanges when it went through several pools.', {
    asset_in: addressField('None for TON.'),
    amount_in: amountField('In the smallest units of the asset.'),
    asset_out: addressField('None for TON.'),
    amount_out: amountField('In the smallest units of the asset.'),
  }),
  min_out_amount: optionalField(amountField('The least that the sender accepted; only of Tonco.')),
});

export const dexDepositLiquidityType = actionType('dex_deposit_liquidity', 'Liquidity was added to a pool.', {
  dex,
  amount_1: amountField('Of the first asset.'),
  amount_2: amountField('Of the second asset.'),
  asset_1: addressField('First asset; none for TON.', 'asset'),
  asset_2: addressField('Second asset; none for TON.', 'asset2'),
  user_jetton_wallet_1: addressField('Wallet that paid the first asset.'),
  user_jetton_wallet_2: addressField('Wallet that paid the second asset.'),
  source: addressField('Who added it.', 'source'),
  pool: addressField('The pool.', 'destination'),
  destination_liquidity: addressField('Contract that received it.', 'destination_secondary'),
  lp_tokens_minted: amountField('Tokens of the pool that were minted for it.'),
  target_asset_1: addressField('Of the deposit that this is a part of.'),
  target_asset_2: addressField('Of the deposit that this is a part of.'),
  target_amount_1: amountField('Of the deposit that this is a part of.'),
  target_amount_2: amountField('Of the deposit that this is a part of.'),
  vault_excesses: listOf('LiquidityVaultExcess', 'What was returned.', {
    asset: addressField('None for TON.'),
    amount: amountField('In the smallest units of the asset.'),
  }),
  tick_lower: amountField('Lower bound of the price.'),
  tick_upper: amountField('Upper bound of the price.'),
  nft_index: amountField('Index of the item that stands for the position.'),
  nft_address: addressField('That item.'),
});

export const dexWithdrawLiquidityType = actionType('dex_withdraw_liquidity', 'Liquidity was taken from a pool.', {
  dex,
  amount_1: amountField('Of the first asset.'),
  amount_2: amountField('Of the second asset.'),
  asset_1: addressField('First asset; none for TON.', 'asset'),
  asset_2: addressField('Second asset; none for TON.', 'asset2'),
  user_jetton_wallet_1: addressField('Wallet that received the first asset.'),
  user_jetton_wallet_2: addressField('Wallet that received the second asset.'),
  lp_tokens_burnt: amountField('Tokens of the pool that were burnt for it.'),
  is_refund: flagField('Whether a deposit was returned.'),
  source: addressField('Who took it.', 'source'),
  pool: addressField('The pool.', 'destination'),
  destination_liquidity: addressField('Contract that held it.'),
  burnt_nft_index: amountField('Index of the item that stood for the position.'),
  burnt_nft_address: addressField('That item.'),
  tick_lower: amountField('Lower bound of the price.'),
  tick_upper: amountField('Upper bound of the price.'),
});

/** A transfer of jettons, wrapped TON included. */
export const anyJettonTransfer = recognised([jettonTransfer, wrappedTonTransfer]);

/** A payment of wrapped TON as coins: to its wallet, which notifies the receiver. */
export const WrappedTonPayment = layout(
  'ton_transfer#01f3835d query_id:uint64 ton_amount:Coins refund_address:MsgAddress forward_payload:(Either Cell ^Cell)',
);

/** What an exchange was paid with: jettons, or TON through a wallet of wrapped TON. */
export const paidWith = anyOf(anyJettonTransfer, callOf(JettonNotification.tag, { before: call(WrappedTonPayment) }));

/** A payment to an exchange or by it. */
export interface SwapLeg {
  /** None for TON. */
  readonly asset: Address | null;
  readonly source: Address | null;
  readonly destination: Address | null;
  readonly source_jetton_wallet: Address | null;
  readonly destination_jetton_wallet: Address | null;
  readonly amount: bigint;
}

/** A leg as a transfer that was recognised; wrapped TON is TON. */
export function legOf(data: JettonTransferData): SwapLeg {
  return {
    asset: data.is_wrapped_ton || isWrappedTon(data.asset) ? null : data.asset,
    source: data.sender,
    destination: data.receiver,
    source_jetton_wallet: data.sender_wallet,
    destination_jetton_wallet: data.receiver_wallet,
    amount: data.amount,
  };
}

/** A leg that is a message with coins, the amount of which is in its body. @throws actions/mismatch when there are fewer */
export function tonLeg({ source, destination, value }: ActionBlock, amount: bigint, context: MatchContext): SwapLeg {
  context.check(value >= amount, 'the message carries fewer coins than it says');
  return { asset: null, source, destination, source_jetton_wallet: null, destination_jetton_wallet: null, amount };
}

/** What an exchange was paid. */
export interface Payment {
  readonly leg: SwapLeg;
  readonly failed: boolean;
  /** For the exchange. */
  readonly payload: JettonTransferData['payload'];
  readonly blocks: readonly ActionBlock[];
}

/** The payment that started an exchange. */
export function paymentOf(paid: Matched<(typeof paidWith)['options'][number]>, context: MatchContext): Payment {
  if (!('before' in paid)) {
    const { block, data } = paid;
    return { leg: legOf(data), failed: block.failed, payload: data.payload, blocks: [block] };
  }
  const { block, before } = paid;
  const { data } = before;
  context.check(before.block.value >= data.ton_amount, 'the message carries fewer coins than it says');
  const wallet = context.fact(before.block.destination, 'jetton_wallet');
  const leg = {
    asset: wallet === null || isWrappedTon(wallet.jetton) ? null : wallet.jetton,
    source: before.block.source,
    destination: block.destination,
    source_jetton_wallet: null,
    destination_jetton_wallet: before.block.destination,
    amount: data.ton_amount,
  };
  return {
    leg,
    failed: before.block.failed || block.failed,
    payload: data.forward_payload,
    blocks: [before.block, block],
  };
}

/** An exchange as a whole. */
export interface Swap {
  readonly dex: string;
  readonly incoming: SwapLeg;
  readonly outgoing: SwapLeg;
  /** By default that of the outgoing payment. */
  readonly asset_out?: Address | null;
  /** Single exchanges; shown when there are several. */
  readonly peers?: readonly {
    readonly asset_in: Address | null;
    readonly amount_in: bigint;
    readonly asset_out: Address | null;
    readonly amount_out: bigint;
  }[];
  readonly min_out_amount?: bigint | null;
}

export function swapMeaning(swap: Swap, more: Partial<Omit<Meaning<null>, 'type' | 'details'>>): Meaning<null> {
  const { dex, incoming, outgoing, peers = [], min_out_amount = null } = swap;
  const details = {
    dex,
    sender: incoming.source,
    asset_in: incoming.asset,
    asset_out: swap.asset_out === undefined ? outgoing.asset : swap.asset_out,
    dex_incoming_transfer: incoming,
    dex_outgoing_transfer: outgoing,
    peer_swaps: peers.length > 1 ? peers : [],
    min_out_amount,
  };
  return meaning(jettonSwapType, details, { kind: 'jetton_swap', ...more });
}

/** Whether two assets are the same; null is TON. */
export function sameAsset(a: Address | null, b: Address | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

/** Exchanges in a row; longer ones are none of a real protocol. */
export const MAX_HOPS = 64;
