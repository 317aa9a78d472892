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
