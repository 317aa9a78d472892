import { actionType, addressField, amountField, flagField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  call,
  each,
  type MatchContext,
  type Matched,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import {
  dexDepositLiquidityType,
  dexWithdrawLiquidityType,
  legOf,
  MAX_HOPS,
  paidWith,
  paymentOf,
  type SwapLeg,
  swapMeaning,
  WrappedTonPayment,
} from '#domain/actions/protocols/dex.js';
import { isWrappedTon, jettonTransfer, wrappedTonTransfer } from '#domain/actions/protocols/jettons.js';
import { nftMint } from '#domain/actions/protocols/nfts.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* TONCO: pools with liquidity between bounds of the price, for which positions are NFT items. */

const SwapCall = layout(
  'swap#a7fb58f8 query_id:uint64 owner_address:MsgAddress source_wallet:MsgAddress ^[ amount:Coins sqrt_price_limit:uint160 min_out_amount:Coins ]',
);
const SwapPayload = layout('swap#a7fb58f8 target_wallet:MsgAddress');
const PayTo = layout(
  'pay_to#a1daa96d query_id:uint64 receiver0:MsgAddress receiver1:MsgAddress exit_code:uint32 seqno:uint64 coins_info:(Maybe ^Cell)',
);
const CoinsInfo = layout('_ amount0:Coins jetton0_address:MsgAddress amount1:Coins jetton1_address:MsgAddress');
const SWAP_OK: readonly number[] = [0, 200];

/** Wallet of the router for its own wrapped TON. */
const WRAPPED_TON_WALLET = parseAddress('0:871DA9215B14902166F0EA2A16DB56278D528108377F8158C5F4CCFDFDD22E17').address;

/** The asset of a wallet of the router; of an unknown wallet, another one. */
function assetOfWallet(
  wallet: Address | null,
  context: MatchContext,
  otherwise: Address | null = null,
): Address | null {
  if (wallet?.equals(WRAPPED_TON_WALLET)) return null;
  const known = context.fact(wallet, 'jetton_wallet');
  if (known === null) return otherwise;
  return isWrappedTon(known.jetton) ? null : known.jetton;
}

/** A transfer by the router, with the coins that follow when it is of wrapped TON. */
const payout = recognised([jettonTransfer, wrappedTonTransfer], {
  next: { coins: optionally(call(WrappedTonPayment)) },
});
const refund = call(PayTo, { next: { payouts: each(payout) } });
const payTo = call(PayTo, { next: { payout: optionally(payout) } });
const swapCall = call(SwapCall);

export const toncoSwap = pattern(
  'tonco_swap',
  call(SwapCall, { before: paidWith }),
  (match, context) => {
    const paid = paymentOf(match.before, context);
    const also: ActionBlock[] = [...paid.blocks];
    const peers: { asset_in: Address | null; amount_in: bigint; asset_out: Address | null; amount_out: bigint }[] = [];
    let incoming = paid.leg;
    let outgoing: SwapLeg | null = null;
    let isOk = true;
    let failed = paid.failed;
    let { min_out_amount } = match.data;
    let swap: Matched<typeof swapCall> | null = match;
    for (let i = 0; i < MAX_HOPS && swap !== null; i++) {
      const request: Matched<typeof payTo> | null = context.after(swap.block, payTo);
      const payment: Matched<typeof payout> | null = request?.payout ?? null;
      if (request === null || payment === null) return context.refuse('the router paid nothing');
      isOk &&= SWAP_OK.includes(request.data.exit_code);
      failed ||= payment.block.failed;
      ({ min_out_amount } = swap.data);
      also.push(swap.block, request.block, payment.block);
      outgoing = legOf(payment.data);
      peers.push({
        asset_in: incoming.asset,
        amount_in: incoming.amount,
        asset_out: outgoing.asset,
        amount_out: outgoing.amount,
      });
      incoming = outgoing;
      if (payment.coins !== null) also.push(payment.coins.block);
      swap = context.after(payment.block, swapCall);
    }
    if (outgoing === null) return context.refuse('the router paid nothing');
    const wanted = isOk ? null : context.readIf(SwapPayload, paid.payload);
    const asset_out = wanted === null ? outgoing.asset : assetOfWallet(wanted.target_wallet, context, outgoing.asset);
    // API v3 shows what was received when it was enough.
    const least = isOk ? outgoing.amount : min_out_amount;
    const exchange = { dex: 'tonco', incoming: paid.leg, outgoing, asset_out, peers, min_out_amount: least };
    return swapMeaning(exchange, { failed: failed || !isOk, also });
  },
  { kinds: ['jetton_swap'] },
);

const FundAccount = layout(
  'fund_account#4468de77 query_id:uint64 owner_address:MsgAddress amount0:Coins amount1:Coins enough0:Coins enough1:Coins liquidity:uint128 tick_lower:int24 tick_upper:int24',
);
const FundPayload = layout('fund_account#4468de77 other_wallet:MsgAddress');
const AddLiquidity = layout(
  'add_liquidity#3ebe5431 query_id:uint64 new_amount0:Coins new_amount1:Coins new_enough0:Coins new_enough1:Coins liquidity:uint128 tick_lower:int24 tick_upper:int24',
);
const Mint = layout(
  'mint_and_refund#81702ef8 query_id:uint64 amount0_funded:Coins amount1_funded:Coins recipient:MsgAddress liquidity:uint128 tick_lower:int24 tick_upper:int24',
);

export const toncoDeposit = pattern(
  'tonco_deposit_liquidity',
  call(FundAccount, {
    before: paidWith,
    next: {
      account: call(AddLiquidity, {
        next: { mint: optionally(call(Mint, { next: { item: recognised(nftMint), refunds: each(refund) } })) },
      }),
    },
  }),
  ({ block, data, before, account }, context) => {
    const { leg, failed, payload, blocks } = paymentOf(before, context);
    const { mint } = account;
    const other = assetOfWallet(context.readIf(FundPayload, payload)?.other_wallet ?? null, context);
    // One deposit pays one of the two assets, which API v3 shows first; the wallet stands where the asset does in the pool.
    const isSecond = data.amount0 === 0n && data.amount1 > 0n;
    const details = {
      dex: 'tonco',
      amount_1: leg.amount,
      asset_1: leg.asset,
      user_jetton_wallet_1: isSecond ? null : leg.source_jetton_wallet,
      user_jetton_wallet_2: isSecond ? leg.source_jetton_wallet : null,
      source: leg.source,
      pool: block.destination,
      destination_liquidity: block.destination,
      lp_tokens_minted: mint?.data.liquidity,
      target_asset_1: isSecond ? other : leg.asset,
      target_asset_2: isSecond ? leg.asset : other,
      target_amount_1: data.enough0,
      target_amount_2: data.enough1,
      vault_excesses: mint?.refunds.flatMap(({ payouts }) =>
        payouts.map((paidBack) => ({ asset: legOf(paidBack.data).asset, amount: paidBack.data.amount })),
      ),
      tick_lower: BigInt(data.tick_lower),
      tick_upper: BigInt(data.tick_upper),
      nft_index: mint?.item.data.facts.index,
      nft_address: mint?.item.block.destination,
    };
    const isFailed = failed || block.failed || (mint?.item.block.failed ?? false);
    return meaning(dexDepositLiquidityType, details, {
      kind: 'tonco_deposit_liquidity',
      failed: isFailed,
      also: blocks,
    });
  },
);

const StartBurn = layout(
  'start_burn#530b5f2c query_id:uint64 burned_index:uint64 liquidity:uint128 tick_lower:int24 tick_upper:int24',
);
const BurnItem = layout('nft_burn#46ca335a query_id:uint64 nft_owner:MsgAddress');
const BurnPosition = layout('burn#d73ac09d query_id:uint64 recipient:MsgAddress burned_index:uint64');

export const toncoWithdraw = pattern(
  'tonco_withdraw_liquidity',
  call(StartBurn, {
    next: {
      item: call(BurnItem, {
        next: { burn: call(BurnPosition, { next: { request: call(PayTo, { next: { payouts: each(payout) } }) } }) },
      }),
    },
  }),
  ({ block, data, item }, context) => {
    const { request } = item.burn;
    if (request.data.coins_info === null) return context.refuse('the pool names no coins');
    const coins = context.read(CoinsInfo, request.data.coins_info);
    const one = side(
      request.payouts,
      { wallet: coins.jetton0_address, amount: coins.amount0, receiver: request.data.receiver0 },
      context,
    );
    const other = side(
      request.payouts,
      { wallet: coins.jetton1_address, amount: coins.amount1, receiver: request.data.receiver1 },
      context,
    );
    const details = {
      dex: 'tonco',
      amount_1: one.amount,
      amount_2: other.amount,
      asset_1: one.asset,
      asset_2: other.asset,
      user_jetton_wallet_1: one.wallet,
      user_jetton_wallet_2: other.wallet,
      lp_tokens_burnt: data.liquidity,
      source: block.source,
      pool: block.destination,
      destination_liquidity: block.destination,
      burnt_nft_index: data.burned_index,
      burnt_nft_address: item.block.destination,
      tick_lower: BigInt(data.tick_lower),
      tick_upper: BigInt(data.tick_upper),
    };
    const isPaid = !one.failed && !other.failed && request.payouts.every((paid) => !paid.block.failed);
    const failed = block.failed || !isPaid;
    return meaning(dexWithdrawLiquidityType, details, { kind: 'tonco_withdraw_liquidity', failed });
  },
);

/** What was paid of one asset; what was to be paid when no transfer of it is there. */
function side(
  payouts: readonly Matched<typeof payout>[],
  request: { readonly wallet: Address | null; readonly amount: bigint; readonly receiver: Address | null },
  context: MatchContext,
) {
  const paid = payouts.find(({ data, block }) => {
    const from = data.sender_wallet ?? block.destination;
    return from !== null && request.wallet !== null && from.equals(request.wallet);
  });
  if (paid === undefined)
    return {
      amount: request.amount,
      asset: assetOfWallet(request.wallet, context),
      wallet: request.receiver,
      failed: request.amount > 0n,
    };
  const { asset, amount, destination_jetton_wallet: wallet } = legOf(paid.data);
  return { amount, asset, wallet, failed: paid.block.failed };
}

const CreatePool = layout(
  'create_pool#2e3034ef query_id:uint64 jetton_wallet0:MsgAddress jetton_wallet1:MsgAddress tick_spacing:int24 initial_price_x96:uint160 protocol_fee:uint16 lp_fee_base:uint16 lp_fee_current:uint16 nftv3_content:^Cell nftv3item_content:^Cell minter_cell:^Cell',
);
/** API v3 shows the fees as they stand from the bit before them, `pool_active`, on. */
const InitPool = layout(
  'init_pool#441c39ed query_id:uint64 from_admin:Bool has_admin:Bool admin_address:MsgAddress has_controller:Bool controller_address:MsgAddress set_spacing:Bool tick_spacing:int24 set_price:Bool initial_price_x96:uint160 set_active:Bool protocol_fee:uint16 lp_fee_base:uint16 lp_fee_current:uint16',
);
const Minters = layout('_ jetton0_minter:MsgAddress jetton1_minter:MsgAddress');

export const toncoDeployPoolType = actionType('tonco_deploy_pool', 'A pool of TONCO was made.', {
  source: addressField('Who asked for it.', 'source'),
  pool: addressField('The pool.', 'destination_secondary'),
  router: addressField('The router.', 'destination'),
  router_jetton_wallet_1: addressField('Wallet of the router for the first asset.'),
  router_jetton_wallet_2: addressField('Wallet of the router for the second asset.'),
  jetton_minter_1: addressField('Master of the first asset, as the sender says.'),
  jetton_minter_2: addressField('Master of the second asset, as the sender says.'),
  tick_spacing: amountField('Steps between bounds of the price.'),
  initial_price_x96: amountField('Square root of the price, times 2^96.'),
  protocol_fee: amountField('In 1/10,000.'),
  lp_fee_base: amountField('In 1/10,000.'),
  lp_fee_current: amountField('In 1/10,000.'),
  pool_active: flagField('Whether it takes exchanges.'),
});

export const toncoDeployPool = pattern(
  'tonco_deploy_pool',
  call(CreatePool, { next: { pool: call(InitPool) } }),
  ({ block, data, pool }, context) => {
    const minters = context.readIf(Minters, data.minter_cell);
    const details = {
      source: block.source,
      pool: pool.block.destination,
      router: block.destination,
      router_jetton_wallet_1: data.jetton_wallet0,
      router_jetton_wallet_2: data.jetton_wallet1,
      jetton_minter_1: minters?.jetton0_minter,
      jetton_minter_2: minters?.jetton1_minter,
      tick_spacing: BigInt(pool.data.tick_spacing),
      initial_price_x96: pool.data.initial_price_x96,
      protocol_fee: BigInt(pool.data.protocol_fee),
      lp_fee_base: BigInt(pool.data.lp_fee_base),
      lp_fee_current: BigInt(pool.data.lp_fee_current),
      pool_active: pool.data.set_active,
    };
    return meaning(toncoDeployPoolType, details, { failed: block.failed || pool.block.failed });
  },
);
