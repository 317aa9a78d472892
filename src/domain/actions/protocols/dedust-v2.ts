import { actionType, addressField, amountField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
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
  type SwapLeg,
  sameAsset,
  swapMeaning,
  tonLeg,
} from '#domain/actions/protocols/dex.js';
import { type JettonTransferData, jettonTransfer } from '#domain/actions/protocols/jettons.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* DeDust v2: pools hold their assets themselves, and contracts stand for positions. */

const PayNative = layout('pay_native#a5a7cbf8 query_id:uint64 amount:Coins payload:^Cell');
const PayJetton = layout('pay#cbc33949 payload:^Cell');
const SwapRequest = layout('swap#c442500f min_out:Coins deadline:uint40 next:(Maybe ^Cell)');
const SwapStep = layout('_ pool:MsgAddress min_out:Coins deadline:uint40 next:(Maybe ^Cell)');
const SwapEvent = layout('swap#78e79ba4 is_x_to_y:Bool amount_in:Coins amount_out:Coins');
const Payout = layout('payout#3216ca09 query_id:uint64 amount:Coins exit_code:int32');

const isEvent = { 'it is an event': (block: ActionBlock) => block.isEvent };

const payNative = call(PayNative);
const payJetton = recognised(jettonTransfer, {
  where: { 'the payload is for a pool': (_, { payload_opcode }) => payload_opcode === PayJetton.tag },
});
const carrier = anyOf(payNative, payJetton);
const paidJettons = recognised(jettonTransfer);
const paidTon = call(Payout);
const swapEvent = call(SwapEvent, { where: isEvent });

/** What a pool was paid, with what it is to do. */
interface Carried {
  readonly block: ActionBlock;
  readonly leg: SwapLeg;
  readonly payload: Cell;
}

function carriedBy(match: Matched<typeof payNative> | Matched<typeof payJetton>, context: MatchContext): Carried {
  const { block, data } = match;
  if (!('asset' in data)) return { block, leg: tonLeg(block, data.amount, context), payload: data.payload };
  if (data.payload === null) return context.refuse('there is no payload');
  return { block, leg: legOf(data), payload: context.read(PayJetton, data.payload).payload };
}

/** What a pool paid after a message. */
interface PoolPayment {
  readonly block: ActionBlock;
  readonly leg: SwapLeg;
  readonly exit_code: number;
}

function paymentAfter(block: ActionBlock, context: MatchContext): PoolPayment | null {
  const jettons = context.after(block, paidJettons);
  if (jettons !== null) return { block: jettons.block, leg: legOf(jettons.data), exit_code: 0 };
  const coins = context.after(block, paidTon);
  if (coins === null) return null;
  const { data } = coins;
  return { block: coins.block, leg: tonLeg(coins.block, data.amount, context), exit_code: data.exit_code };
}

/** The last asset of a request and the least of it; the asset of the payment when a pool is unknown. */
function wantedOf({ leg, payload, block }: Carried, otherwise: Address | null, context: MatchContext) {
  let { min_out, next } = context.read(SwapRequest, payload);
  let pool = leg.destination ?? block.destination;
  let asset = leg.asset;
  let isKnown = true;
  for (let i = 0; i < MAX_HOPS; i++) {
    context.spend();
    const facts = context.fact(pool, 'dex_pool');
    if (facts === null) isKnown = false;
    else asset = sameAsset(asset, facts.asset_1) ? facts.asset_2 : facts.asset_1;
    const step = context.readIf(SwapStep, next);
    if (step === null) break;
    ({ pool, min_out, next } = step);
  }
  return { asset: isKnown ? asset : otherwise, min_out };
}

export const dedustV2Swap = pattern('dedust_v2_swap', payNative, (match, context) => exchange(match, context), {
  kinds: ['jetton_swap'],
});

export const dedustV2JettonSwap = pattern(
  'dedust_v2_swap_jettons',
  payJetton,
  (match, context) => exchange(match, context),
  {
    kinds: ['jetton_swap'],
  },
);

/** The way of a payment through pools. */
function exchange(started: Matched<typeof payNative> | Matched<typeof payJetton>, context: MatchContext) {
  const { block } = started;
  const { previous } = block;
  const isFirst = context.match(payNative, previous) === null && context.match(payJetton, previous) === null;
  context.check(isFirst, 'it is a payment between pools');
  const first = carriedBy(started, context);
  const request = context.read(SwapRequest, first.payload);
  const also: ActionBlock[] = [];
  const peers = [];
  let isOk = true;
  let incoming = first.leg;
  let current = block;
  let outgoing: PoolPayment | null = null;
  for (let i = 0; i < MAX_HOPS; i++) {
    const event = context.after(current, swapEvent);
    const next = context.after(current, payNative) ?? context.after(current, payJetton);
    const paid = next === null ? paymentAfter(current, context) : { ...carriedBy(next, context), exit_code: 0 };
    if (paid === null) break;
    if (event === null) isOk = false;
    else {
      also.push(event.block);
      peers.push({
        asset_in: incoming.asset,
        amount_in: event.data.amount_in,
        asset_out: paid.leg.asset,
        amount_out: event.data.amount_out,
      });
    }
    also.push(paid.block);
    outgoing = paid;
    incoming = paid.leg;
    if (next === null) break;
    current = next.block;
  }
  if (outgoing === null) return context.refuse('the pool paid nothing');
  isOk &&= outgoing.exit_code === 0;
  const wanted = wantedOf(first, outgoing.leg.asset, context);
  const swap = {
    dex: 'dedust_v2',
    incoming: first.leg,
    outgoing: isOk ? outgoing.leg : { ...outgoing.leg, amount: 0n },
    asset_out: isOk ? outgoing.leg.asset : wanted.asset,
    peers,
    min_out_amount: request.next === null ? request.min_out : wanted.min_out,
  };
  const failed = !isOk || block.failed || outgoing.block.failed;
  return swapMeaning(swap, { failed, also });
}

const DepositRequest = layout('deposit#c9a015da amount_x:Coins amount_y:Coins min_lp:Coins');
const Credit = layout('credit#dc5ddba1 query_id:uint64 is_x:Bool amount:Coins');
const JOIN = 0x25251ee0;
const Joined = layout('deposit#35df2e12 amount_x:Coins amount_y:Coins lp:Coins');
const TO_POSITION = 0x855afcbd;

const credit = call(Credit, {
  before: carrier,
  next: {
    join: optionally(
      callOf(JOIN, {
        next: {
          event: optionally(call(Joined, { where: isEvent })),
          position: optionally(callOf(TO_POSITION)),
          jettons: each(recognised(jettonTransfer)),
          coins: each(call(Payout)),
        },
      }),
    ),
  },
});

interface DepositData {
  readonly contract: Address | null;
  readonly isPartial: boolean;
  readonly isX: boolean;
  readonly leg: SwapLeg;
  readonly details: Parameters<typeof meaning<'dex_deposit_liquidity', (typeof dexDepositLiquidityType)['fields']>>[1];
}

export const dedustV2Deposit = pattern(
  'dedust_v2_deposit_liquidity',
  credit,
  ({ block, data, before, join }, context) => {
    const { leg, payload } = carriedBy(before, context);
    const request = context.read(DepositRequest, payload);
    const pool = context.fact(block.source, 'dex_pool');
    const share = { amount: leg.amount, asset: leg.asset, wallet: leg.source_jetton_wallet };
    const event = join?.event ?? null;
    const details = {
      dex: 'dedust_v2',
      amount_1: share.amount,
      asset_1: share.asset,
      user_jetton_wallet_1: share.wallet,
      source: leg.source,
      pool: join?.block.destination,
      destination_liquidity: block.destination,
      lp_tokens_minted: event?.data.lp,
      target_asset_1: pool?.asset_1,
      target_asset_2: pool?.asset_2,
      target_amount_1: request.amount_x,
      target_amount_2: request.amount_y,
      vault_excesses: [
        ...(join?.jettons ?? []).map((one) => ({ asset: one.data.asset, amount: one.data.amount })),
        ...(join?.coins ?? []).map((one) => ({ asset: null, amount: one.data.amount })),
      ],
    };
    const learned: DepositData = {
      contract: block.destination,
      isPartial: join === null,
      isX: data.is_x,
      leg,
      details,
    };
    const failed = before.block.failed || block.failed || (join !== null && event === null);
    return meaning(dexDepositLiquidityType, details, { kind: 'dex_deposit_liquidity', failed, data: learned });
  },
  { kinds: ['dex_deposit_liquidity'] },
);

const anyDeposit = recognised(dedustV2Deposit, {
  where: { 'it is of DeDust v2': (_, data) => data !== null && 'isPartial' in (data as object) },
});

export const dedustV2JoinedDeposit = pattern(
  'dedust_v2_joined_deposit',
  anyDeposit,
  ({ block, data }, context) => {
    if (data.isPartial || block.previous === null) return context.refuse('it is not complete');
    const same = context
      .allAfter(block.previous, anyDeposit)
      .filter((one) => data.contract !== null && one.data.contract?.equals(data.contract));
    const other = same.find((one) => one.block !== block);
    if (same.length !== 2 || other === undefined || other.data.isX === data.isX)
      return context.refuse('it is no deposit in two parts');
    const [x, y] = data.isX ? [data.leg, other.data.leg] : [other.data.leg, data.leg];
    const details = {
      ...data.details,
      amount_1: x.amount,
      asset_1: x.asset,
      user_jetton_wallet_1: x.source_jetton_wallet,
      amount_2: y.amount,
      asset_2: y.asset,
      user_jetton_wallet_2: y.source_jetton_wallet,
    };
    const more = { failed: block.failed || other.block.failed, also: [other.block], sender: true };
    return meaning(dexDepositLiquidityType, details, { kind: 'dex_deposit_liquidity', ...more });
  },
  { kinds: ['dex_deposit_liquidity'] },
);

const Withdraw = layout('withdraw#20b5ef89 query_id:uint64 liquidity:Coins min_x:Coins min_y:Coins auto_claim:Bool');
const Withdrawn = layout('withdraw#c0d77b54 lp:Coins amount_x:Coins amount_y:Coins');
const payouts = { jettons: each(recognised(jettonTransfer)), coins: each(call(Payout)) } as const;

/** What a pool paid. */
interface Paid {
  readonly jettons: readonly { readonly block: ActionBlock; readonly data: JettonTransferData }[];
  readonly coins: readonly { readonly block: ActionBlock; readonly data: { readonly amount: bigint } }[];
}

function isPaid({ jettons, coins }: Paid): boolean {
  return [...jettons, ...coins].every(({ block }) => !block.failed);
}

/** The legs of what a pool paid, at most two. */
function paidLegs(paid: Paid, context: MatchContext): readonly SwapLeg[] {
  const legs = [
    ...paid.coins.map(({ block, data }) => tonLeg(block, data.amount, context)),
    ...paid.jettons.map(({ data }) => legOf(data)),
  ];
  context.check(legs.length <= 2, 'the pool paid more than two assets');
  return legs;
}

function legDetails([one, other]: readonly SwapLeg[]) {
  return {
    amount_1: one?.amount,
    amount_2: other?.amount,
    asset_1: one?.asset,
    asset_2: other?.asset,
    user_jetton_wallet_1: one?.destination_jetton_wallet,
    user_jetton_wallet_2: other?.destination_jetton_wallet,
  };
}

export const dedustV2Withdraw = pattern(
  'dedust_v2_withdraw_liquidity',
  call(Withdraw, {
    next: {
      position: callOf(0xbc1531a9, {
        next: {
          pool: callOf(0xf6f6a3aa, { next: { event: optionally(call(Withdrawn, { where: isEvent })), ...payouts } }),
        },
      }),
    },
  }),
  ({ block, data, position }, context) => {
    context.check(!data.auto_claim, 'fees are claimed with it');
    const { pool } = position;
    const details = {
      dex: 'dedust_v2',
      ...legDetails(paidLegs(pool, context)),
      lp_tokens_burnt: pool.event?.data.lp ?? data.liquidity,
      source: block.source,
      pool: pool.block.destination,
      destination_liquidity: pool.block.destination,
    };
    const failed = block.failed || pool.event === null || !isPaid(pool);
    return meaning(dexWithdrawLiquidityType, details, { kind: 'dex_withdraw_liquidity', failed });
  },
  { kinds: ['dex_withdraw_liquidity'] },
);

const FeesPaid = layout('claim_fees#29ff1bcf query_id:uint64 amount_x:Coins amount_y:Coins owner:MsgAddress');

export const dedustV2ClaimFeesType = actionType(
  'dedust_v2_claim_fees',
  'Fees of a position in a pool of DeDust v2 were paid.',
  {
    dex: dexWithdrawLiquidityType.fields.dex,
    amount_1: amountField('Of the first asset.'),
    amount_2: amountField('Of the second asset.'),
    asset_1: addressField('First asset; none for TON.', 'asset'),
    asset_2: addressField('Second asset; none for TON.', 'asset2'),
    user_jetton_wallet_1: addressField('Wallet that received the first asset.'),
    user_jetton_wallet_2: addressField('Wallet that received the second asset.'),
    source: addressField('Who claimed them.', 'source'),
    owner: addressField('Owner of the position.', 'destination_secondary'),
    pool: addressField('The pool.', 'destination'),
  },
);

export const dedustV2ClaimFees = pattern(
  'dedust_v2_claim_fees',
  callOf(0x5652f1df, { next: { position: callOf(0x25f19752, { next: { pool: call(FeesPaid, { next: payouts }) } }) } }),
  ({ block, position: { pool } }, context) => {
    const details = {
      dex: 'dedust_v2',
      ...legDetails(paidLegs(pool, context)),
      source: block.source,
      owner: pool.data.owner,
      pool: pool.block.destination,
    };
    return meaning(dedustV2ClaimFeesType, details, { failed: block.failed || pool.block.failed || !isPaid(pool) });
  },
);

const RewardPaid = layout('claim_reward#9e17fbbe query_id:uint64 amount:Coins index:uint2 owner:MsgAddress');

export const dedustV2ClaimRewardType = actionType(
  'dedust_v2_claim_reward',
  'A reward of a position in a pool of DeDust v2 was paid.',
  {
    dex: dexWithdrawLiquidityType.fields.dex,
    amount: amountField('In the smallest units of the asset.', 'amount'),
    asset: addressField('None for TON.', 'asset'),
    user_jetton_wallet: addressField('Wallet that received it.', 'destination_secondary'),
    source: addressField('Who claimed it.', 'source'),
    owner: addressField('Owner of the position.'),
    pool: addressField('The pool.', 'destination'),
  },
);

export const dedustV2ClaimReward = pattern(
  'dedust_v2_claim_reward',
  callOf(0x909fdb65, {
    next: { position: callOf(0x2e0cccba, { next: { pool: call(RewardPaid, { next: payouts }) } }) },
  }),
  ({ block, position: { pool } }, context) => {
    const [leg] = paidLegs(pool, context);
    const details = {
      dex: 'dedust_v2',
      amount: leg?.amount,
      asset: leg?.asset,
      user_jetton_wallet: leg?.destination_jetton_wallet,
      source: block.source,
      owner: pool.data.owner,
      pool: pool.block.destination,
    };
    return meaning(dedustV2ClaimRewardType, details, {
      failed: block.failed || pool.block.failed || leg === undefined || !isPaid(pool),
    });
  },
);
