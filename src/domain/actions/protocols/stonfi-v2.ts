import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  type MatchContext,
  type Matched,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import {
  anyJettonTransfer,
  dexDepositLiquidityType,
  dexWithdrawLiquidityType,
  legOf,
  MAX_HOPS,
  paidWith,
  paymentOf,
  type Swap,
  type SwapLeg,
  swapMeaning,
  WrappedTonPayment,
} from '#domain/actions/protocols/dex.js';
import { isWrappedTon, JettonNotification, jettonBurn } from '#domain/actions/protocols/jettons.js';
import { JettonInternalTransfer } from '#domain/tokens/token-messages.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* STON.fi v2: routers with pools of several kinds; an exchange may go through several of them. */

const SwapCall = layout(
  'swap#6664de2a query_id:uint64 from_user:MsgAddress left_amount:Coins right_amount:Coins payload:^Cell',
);
const SwapRequest = layout(
  '_ transferred_op:uint32 token_wallet:MsgAddress refund_address:MsgAddress excesses_address:MsgAddress tx_deadline:uint64 body:^Cell',
);
const SwapBody = layout('_ min_out:Coins receiver:MsgAddress fwd_gas:Coins custom_payload:(Maybe ^Cell)');
/** Within a request: the next exchange. */
const CrossSwap = layout(
  '_ op:uint32 token_wallet:MsgAddress refund_address:MsgAddress excesses_address:MsgAddress tx_deadline:uint64 body:^Cell',
);
const CROSS_SWAPS: readonly number[] = [0x69cf1a5b, SwapCall.tag];
const PayTo = layout(
  'pay_to#657b54f5 query_id:uint64 to_address:MsgAddress excesses_address:MsgAddress original_caller:MsgAddress exit_code:uint32 custom_payload:(Maybe ^Cell) ^[ fwd_ton_amount:Coins amount0_out:Coins token0_address:MsgAddress amount1_out:Coins token1_address:MsgAddress ]',
);
const SWAP_OK = 0xc64370e5;

const swapCall = call(SwapCall);
const payTo = call(PayTo);
const wrappedPayment = call(WrappedTonPayment);
const notification = callOf(JettonNotification.tag);

/** What one pool did. */
interface Hop {
  readonly exit_code: number;
  /** The asset that the pool paid, and how much of it. */
  readonly asset: Address | null;
  readonly amount: bigint;
}

/** The way of an exchange through pools. */
class Route {
  readonly hops: Hop[] = [];
  readonly blocks: ActionBlock[] = [];
  /** The last payment. */
  last: { readonly leg: SwapLeg; readonly failed: boolean } | null = null;

  constructor(start: Matched<typeof swapCall>, context: MatchContext) {
    let swap: Matched<typeof swapCall> | null = start;
    for (let i = 0; i < MAX_HOPS && swap !== null; i++) swap = this.#follow(swap.block, context);
  }

  /** Takes what follows from a pool; the call of the next pool, if there is one. */
  #follow(swap: ActionBlock, context: MatchContext): Matched<typeof swapCall> | null {
    const paid = context.after(swap, payTo);
    if (paid === null) return null;
    this.blocks.push(swap, paid.block);
    const direct = context.after(paid.block, swapCall);
    const { asset, amount } = paidOut(paid.data, context);
    this.hops.push({ exit_code: paid.data.exit_code, asset, amount });
    if (direct !== null) return direct;
    const transfer = context.after(paid.block, anyJettonTransfer);
    if (transfer === null) return null;
    this.blocks.push(transfer.block);
    const leg = legOf(transfer.data);
    this.last = { leg, failed: transfer.block.failed };
    this.hops[this.hops.length - 1] = { exit_code: paid.data.exit_code, asset: leg.asset, amount: leg.amount };
    const next = context.after(transfer.block, swapCall);
    if (next !== null) return next;
    const wrapped = context.after(transfer.block, wrappedPayment);
    if (wrapped === null) return null;
    this.blocks.push(wrapped.block);
    const notified = context.after(wrapped.block, notification);
    const further = notified === null ? null : context.after(notified.block, swapCall);
    if (further !== null) this.blocks.push(notified!.block);
    return further;
  }
}

/** What a pool requests the router to pay, by the wallets of the router. */
function paidOut(
  given: {
    readonly amount0_out: bigint;
    readonly token0_address: Address | null;
    readonly amount1_out: bigint;
    readonly token1_address: Address | null;
  },
  context: MatchContext,
) {
  const isFirst = given.amount0_out > 0n;
  const wallet = isFirst ? given.token0_address : given.token1_address;
  return { asset: assetOfWallet(wallet, context), amount: isFirst ? given.amount0_out : given.amount1_out };
}

/** The asset of a wallet, with wrapped TON as TON; of an unknown wallet, another one. */
function assetOfWallet(
  wallet: Address | null,
  context: MatchContext,
  otherwise: Address | null = null,
): Address | null {
  const known = context.fact(wallet, 'jetton_wallet');
  if (known === null) return otherwise;
  return isWrappedTon(known.jetton) ? null : known.jetton;
}

/** The asset that the last exchange of a request was to give. */
function wantedAsset(payload: Cell, otherwise: Address | null, context: MatchContext): Address | null {
  let request: { readonly token_wallet: Address | null; readonly body: Cell } = context.read(SwapRequest, payload);
  for (let i = 0; i < MAX_HOPS; i++) {
    context.spend();
    const { custom_payload } = context.read(SwapBody, request.body);
    const next = context.readIf(CrossSwap, custom_payload);
    if (next === null || !CROSS_SWAPS.includes(next.op)) break;
    request = next;
  }
  return assetOfWallet(request.token_wallet, context, otherwise);
}

export const stonfiV2Swap = pattern(
  'stonfi_v2_swap',
  call(SwapCall, { before: paidWith }),
  (match, context) => {
    const paid = paymentOf(match.before, context);
    const route = new Route(match, context);
    const { hops, last } = route;
    if (last === null) return context.refuse('the router paid nothing');
    const isOk = hops.every(({ exit_code }) => exit_code === SWAP_OK);
    const peers: { asset_in: Address | null; amount_in: bigint; asset_out: Address | null; amount_out: bigint }[] = [];
    let { asset, amount } = paid.leg as { asset: Address | null; amount: bigint };
    for (const hop of hops) {
      peers.push({ asset_in: asset, amount_in: amount, asset_out: hop.asset, amount_out: hop.amount });
      ({ asset, amount } = hop);
    }
    const swap: Swap = {
      dex: 'stonfi_v2',
      incoming: paid.leg,
      outgoing: last.leg,
      asset_out: isOk ? last.leg.asset : wantedAsset(match.data.payload, last.leg.asset, context),
      peers,
    };
    return swapMeaning(swap, { failed: !isOk || paid.failed || last.failed, also: [...paid.blocks, ...route.blocks] });
  },
  { kinds: ['jetton_swap'] },
);

const Provide = layout(
  'provide_lp#37c096df query_id:uint64 from_user:MsgAddress left_amount:Coins right_amount:Coins payload:^Cell',
);
const AddLiquidity = layout('add_liquidity#50c6a654 query_id:uint64 new_amount0:Coins new_amount1:Coins');
const LiquidityAdded = layout('cb_add_liquidity#06ecd527 query_id:uint64 amount0:Coins amount1:Coins');

const deposited = {
  next: {
    account: call(AddLiquidity, {
      next: {
        outcome: optionally(
          anyOf(
            call(LiquidityAdded, {
              next: {
                minted: optionally(call(JettonInternalTransfer, { next: { notice: optionally(notification) } })),
              },
            }),
            call(AddLiquidity),
          ),
        ),
      },
    }),
  },
} as const;

const provide = call(Provide, { before: paidWith, ...deposited });

interface Provided {
  readonly leg: SwapLeg;
  readonly failed: boolean;
  readonly lp: bigint | null;
  readonly pool: ActionBlock;
  readonly account: Address | null;
  readonly blocks: readonly ActionBlock[];
}

function provided(match: Matched<typeof provide>, context: MatchContext): Provided {
  const paid = paymentOf(match.before, context);
  const { account } = match;
  const { outcome } = account;
  const minted = outcome !== null && 'minted' in outcome ? outcome.minted : null;
  const isRefund = outcome !== null && !('minted' in outcome);
  const blocks = [...paid.blocks, match.block, account.block];
  if (outcome !== null) blocks.push(outcome.block);
  if (minted !== null) blocks.push(minted.block);
  if (minted?.notice) blocks.push(minted.notice.block);
  const wallet = context.fact(minted?.block.destination ?? null, 'jetton_wallet');
  return {
    leg: paid.leg,
    failed: paid.failed || isRefund || (minted?.block.failed ?? false),
    lp: minted === null || wallet === null ? null : minted.data.amount,
    pool: match.block,
    account: account.block.destination,
    blocks,
  };
}

export const stonfiV2Deposit = pattern(
  'stonfi_v2_deposit_liquidity',
  provide,
  (match, context) => {
    const first = provided(match, context);
    const other = otherHalf(match, first, context);
    const details = {
      dex: 'stonfi_v2',
      source: first.leg.source,
      pool: first.pool.destination,
      destination_liquidity: first.account,
      asset_1: first.leg.asset,
      amount_1: first.leg.amount,
      user_jetton_wallet_1: first.leg.source_jetton_wallet,
      asset_2: other?.leg.asset,
      amount_2: other?.leg.amount,
      user_jetton_wallet_2: other?.leg.source_jetton_wallet,
      lp_tokens_minted: other?.lp ?? first.lp,
    };
    const also = [...first.blocks, ...(other?.blocks ?? [])];
    return meaning(dexDepositLiquidityType, details, {
      kind: 'dex_deposit_liquidity',
      failed: first.failed || (other?.failed ?? false),
      also,
    });
  },
  { kinds: ['dex_deposit_liquidity'] },
);

/** The deposit of the other asset by the same sender to the same pool, which follows from the same transaction. */
function otherHalf(match: Matched<typeof provide>, first: Provided, context: MatchContext): Provided | null {
  const start = first.blocks[0]!.previous;
  if (start === null) return null;
  for (const sibling of start.next) {
    context.spend();
    if (sibling === first.blocks[0]) continue;
    const calls = [sibling, ...sibling.next].flatMap((block) => context.allAfter(block, provide));
    const found = calls.find(
      ({ block }) => block !== match.block && sameAddress(block.destination, match.block.destination),
    );
    if (found === undefined) continue;
    const other = provided(found, context);
    if (sameAddress(other.leg.source, first.leg.source)) return other;
  }
  return null;
}

function sameAddress(a: Address | null, b: Address | null): boolean {
  return a !== null && b !== null && a.equals(b);
}

const BURN_NOTIFICATION_EXT = 0x297437cf;
const payment = optionally(anyJettonTransfer);

export const stonfiV2Withdraw = pattern(
  'stonfi_v2_withdraw_liquidity',
  recognised(jettonBurn, {
    next: {
      notice: callOf(BURN_NOTIFICATION_EXT, {
        next: { paid: call(PayTo, { next: { one: anyJettonTransfer, other: payment } }) },
      }),
    },
  }),
  ({ block, data, notice }) => {
    const { one, other } = notice.paid;
    const details = {
      dex: 'stonfi_v2',
      ...payouts(legOf(one.data), other === null ? null : legOf(other.data)),
      lp_tokens_burnt: data.amount,
      source: data.owner,
      pool: notice.paid.block.source,
      destination_liquidity: notice.paid.block.source,
    };
    const failed = block.failed || one.block.failed || (other?.block.failed ?? false);
    return meaning(dexWithdrawLiquidityType, details, {
      kind: 'dex_withdraw_liquidity',
      failed,
      parties: [data.wallet],
    });
  },
  { kinds: ['dex_withdraw_liquidity'] },
);

const RefundMe = layout('refund_me#0f98e2b8 query_id:uint64');
const REFUND = 0x132b9a2c;

export const stonfiV2Refund = pattern(
  'stonfi_v2_refund_liquidity',
  callOf(REFUND, {
    next: {
      refund: call(RefundMe, { next: { paid: call(PayTo, { next: { one: anyJettonTransfer, other: payment } }) } }),
    },
  }),
  ({ block, refund }) => {
    const { one, other } = refund.paid;
    const details = {
      dex: 'stonfi_v2',
      ...payouts(legOf(one.data), other === null ? null : legOf(other.data)),
      is_refund: true,
      source: block.source,
      pool: refund.block.destination,
      destination_liquidity: block.destination,
    };
    const failed = block.failed || one.block.failed || (other?.block.failed ?? false);
    return meaning(dexWithdrawLiquidityType, details, { kind: 'dex_withdraw_liquidity', failed });
  },
  { kinds: ['dex_withdraw_liquidity'] },
);

function payouts(one: SwapLeg, other: SwapLeg | null) {
  return {
    asset_1: one.asset,
    amount_1: one.amount,
    user_jetton_wallet_1: one.destination_jetton_wallet,
    asset_2: other?.asset,
    amount_2: other?.amount,
    user_jetton_wallet_2: other?.destination_jetton_wallet,
  };
}
