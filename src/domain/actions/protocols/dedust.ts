import type { GivenDetails } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyOf,
  call,
  callOf,
  coinTransfer,
  each,
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
  type SwapLeg,
  sameAsset,
  swapMeaning,
  tonLeg,
} from '#domain/actions/protocols/dex.js';
import { BURN_NOTIFICATION, JettonNotification, jettonTransfer } from '#domain/actions/protocols/jettons.js';
import { JettonBurn, JettonInternalTransfer } from '#domain/tokens/token-messages.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* DeDust v1: vaults hold the assets, pools exchange them, and contracts for each deposit wait until both assets are there. */

/** `native$0000 = Asset; jetton$0001 workchain_id:int8 address:bits256 = Asset;` Null: TON. */
function loadAsset(slice: Slice, context: MatchContext): Address | null {
  const tag = slice.loadUint(4);
  if (tag === 0) return null;
  if (tag !== 1) return context.refuse(`assets of kind ${tag} are unknown`);
  return Address.ofParts(slice.loadInt(8), slice.loadBytes(32));
}

const TonSwap = layout(
  'swap#ea06185d query_id:uint64 amount:Coins pool_addr:MsgAddress kind:uint1 limit:Coins next:(Maybe ^Cell)',
);
const JettonSwapPayload = layout('swap#e3a0d482 pool_addr:MsgAddress kind:uint1 limit:Coins next:(Maybe ^Cell)');
const Step = layout('_ pool_addr:MsgAddress kind:uint1 limit:Coins next:(Maybe ^Cell)');
const SWAP_EXTERNAL = 0x61ee542d;
const SWAP_PEER = 0x72aca8aa;
const SwapEvent = layout('swap#9c610de3 assets:Any');
const SwapAmounts = layout('_ amount_in:Coins amount_out:Coins');
const PayOut = layout('pay_out_from_pool#ad4eb6f5 query_id:uint64 proof:^Cell amount:Coins recipient_addr:MsgAddress');
const PAID_TON = 0x474f86cf;

const paid = anyOf(callOf(PAID_TON), anyJettonTransfer);
const payOut = call(PayOut, { next: { paid } });
const swapEvent = call(SwapEvent, { where: { 'it is an event': ({ isEvent }) => isEvent } });
const peerSwap = callOf(SWAP_PEER);

/** What a vault paid at the request of a pool. */
function payoutLeg({ data, paid: { block, data: transfer } }: Matched<typeof payOut>, context: MatchContext): SwapLeg {
  if (transfer !== null) return legOf(transfer);
  return tonLeg(block, data.amount, context);
}

interface Peer {
  readonly asset_in: Address | null;
  readonly amount_in: bigint;
  readonly asset_out: Address | null;
  readonly amount_out: bigint;
}

/** What a pool reports, if it is a pool of these assets. */
function peerOf(pool: ActionBlock, report: Slice, context: MatchContext): Peer | null {
  const asset_in = loadAsset(report, context);
  const asset_out = loadAsset(report, context);
  const amounts = SwapAmounts.load(report);
  const known = context.fact(pool.destination, 'dex_pool');
  if (known === null) return null;
  const { asset_1, asset_2 } = known;
  const fits =
    (sameAsset(asset_in, asset_1) && sameAsset(asset_out, asset_2)) ||
    (sameAsset(asset_in, asset_2) && sameAsset(asset_out, asset_1));
  return fits ? { asset_in, asset_out, ...amounts } : null;
}

/** The last asset of a way through pools; that of the payment when a pool is unknown. */
function wantedAsset(
  start: Address | null,
  step: StepData | null,
  otherwise: Address | null,
  context: MatchContext,
): Address | null {
  let asset = start;
  for (let i = 0; i < MAX_HOPS && step !== null; i++) {
    context.spend();
    const pool = context.fact(step.pool_addr, 'dex_pool');
    if (pool === null) return otherwise;
    asset = sameAsset(asset, pool.asset_1) ? pool.asset_2 : pool.asset_1;
    step = context.readIf(Step, step.next);
  }
  return asset;
}

interface StepData {
  readonly pool_addr: Address | null;
  readonly next: Cell | null;
}

export const dedustSwap = pattern(
  'dedust_swap',
  callOf(SWAP_EXTERNAL, {
    before: anyOf(
      call(TonSwap),
      recognised(jettonTransfer, {
        where: { 'the payload is a swap': (_, { payload_opcode }) => payload_opcode === JettonSwapPayload.tag },
      }),
    ),
  }),
  ({ block, before }, context) => {
    const started = before.block;
    const incoming = incomingLeg(before, context);
    const also: ActionBlock[] = [];
    const peers: (Peer | null)[] = [];
    let hop: ActionBlock = block;
    let isOk = true;
    for (let i = 0; i < MAX_HOPS; i++) {
      const event = context.after(hop, swapEvent);
      if (event === null) isOk = false;
      else {
        also.push(event.block);
        peers.push(peerOf(hop, openCell(event.block.message!.body).skip(32), context));
      }
      const next = context.after(hop, peerSwap);
      if (next === null) break;
      also.push(next.block);
      hop = next.block;
    }
    const payment = context.after(hop, payOut);
    if (payment === null) return context.refuse('no vault paid');
    also.push(payment.block, payment.paid.block);
    const outgoing = payoutLeg(payment, context);
    const request: StepData | null =
      'pool_addr' in before.data ? before.data : context.readIf(JettonSwapPayload, before.data.payload);
    const asset_out = isOk ? outgoing.asset : wantedAsset(incoming.asset, request, outgoing.asset, context);
    const failed = !isOk || started.failed || block.failed || payment.paid.block.failed;
    const known = peers.filter((peer): peer is Peer => peer !== null);
    const swap = { dex: 'dedust', incoming, outgoing, asset_out, peers: known.length === peers.length ? known : [] };
    return swapMeaning(swap, { failed, also });
  },
  { kinds: ['jetton_swap'] },
);

const tonSwap = call(TonSwap);
const jettonSwap = recognised(jettonTransfer);

function incomingLeg(before: Matched<typeof tonSwap> | Matched<typeof jettonSwap>, context: MatchContext): SwapLeg {
  const { block, data } = before;
  if (!('pool_addr' in data)) return legOf(data);
  return tonLeg(block, data.amount, context);
}

export const dedustWithdraw = pattern(
  'dedust_withdraw_liquidity',
  call(JettonBurn, {
    to: 'jetton_wallet',
    next: { notice: callOf(BURN_NOTIFICATION, { next: { one: payOut, other: payOut } }) },
  }),
  ({ block, data, notice }, context) => {
    const wallet = context.fact(block.destination, 'jetton_wallet')!;
    // API v3 shows the later payout first.
    const one = payoutLeg(notice.other, context);
    const other = payoutLeg(notice.one, context);
    const details = {
      dex: 'dedust',
      amount_1: one.amount,
      amount_2: other.amount,
      asset_1: one.asset,
      asset_2: other.asset,
      user_jetton_wallet_1: one.destination_jetton_wallet,
      user_jetton_wallet_2: other.destination_jetton_wallet,
      lp_tokens_burnt: data.amount,
      source: wallet.owner,
      pool: notice.block.destination,
      destination_liquidity: notice.block.destination,
    };
    const failed = block.failed || notice.one.paid.block.failed || notice.other.paid.block.failed;
    return meaning(dexWithdrawLiquidityType, details, {
      kind: 'dex_withdraw_liquidity',
      failed,
      parties: [block.destination],
    });
  },
  { kinds: ['dex_withdraw_liquidity'] },
);

const TonDeposit = layout('deposit_liquidity#d55e4686 query_id:uint64 amount:Coins');
const JETTON_DEPOSIT = 0x40e108d6;
const CreateDeposit = layout(
  'create_liquidity_deposit#f04ec526 query_id:uint64 proof:^Cell owner_addr:MsgAddress is_stable:Bool assets:Any',
);
const Targets = layout('_ asset0_target_balance:Coins asset1_target_balance:Coins');
const INSTALL = 0x9b3aa3fa;
const DEPOSIT_ASSET = 0x54240fe5;
const DepositAll = layout(
  'deposit_liquidity_all#b56b9598 query_id:uint64 proof:^Cell owner_addr:MsgAddress min_lp_amount:Coins assets:^Cell',
);
const Amount = layout('_ amount:Coins');
const DEPOSIT_EVENT = 0xb544f4a4;
const FULFIL = 0xaae79256;
const REJECT = 0xe1a36cd4;
const PAY_OUT_DEPOSIT = 0x6b0b787f;

const returned = { paid: each(callOf(PAY_OUT_DEPOSIT, { next: { paid } })), rest: optionally(coinTransfer()) } as const;
const created = call(CreateDeposit, {
  before: anyOf(
    call(TonDeposit),
    recognised(jettonTransfer, {
      where: { 'the payload is a deposit': (_, { payload_opcode }) => payload_opcode === JETTON_DEPOSIT },
    }),
  ),
  next: {
    install: optionally(callOf(INSTALL)),
    asset: callOf(DEPOSIT_ASSET, {
      next: {
        all: optionally(
          call(DepositAll, {
            next: {
              event: optionally(callOf(DEPOSIT_EVENT)),
              outcome: anyOf(callOf(FULFIL, { next: returned }), callOf(REJECT, { next: returned })),
              minted: optionally(
                call(JettonInternalTransfer, { next: { notice: optionally(callOf(JettonNotification.tag)) } }),
              ),
            },
          }),
        ),
      },
    }),
  },
});

/** A deposit, for joining those of both assets. */
interface DepositData {
  readonly contract: Address | null;
  readonly details: GivenDetails<(typeof dexDepositLiquidityType)['fields']>;
}

export const dedustDeposit = pattern(
  'dedust_deposit_liquidity',
  created,
  ({ block, data, before, asset: { block: added, all } }, context) => {
    const { asset, amount, source, source_jetton_wallet } = depositLeg(before, context);
    const targets = all === null ? requestedTargets(data.assets, context) : depositedTargets(all.data.assets, context);
    const contract = added.destination;
    const minted = all?.minted ?? null;
    const details = {
      dex: 'dedust',
      amount_1: amount,
      asset_1: asset,
      user_jetton_wallet_1: source_jetton_wallet,
      source,
      pool: all?.block.destination,
      destination_liquidity: contract,
      lp_tokens_minted: minted?.data.amount,
      ...targets,
      vault_excesses: all?.outcome.paid.map(({ paid: { block: back, data: transfer } }) => ({
        asset: transfer === null ? null : legOf(transfer).asset,
        amount: transfer === null ? back.value : transfer.amount,
      })),
    };
    const learned: DepositData = { contract, details };
    const isFailed = before.block.failed || block.failed || (all !== null && (minted === null || minted.block.failed));
    const kind = all === null ? 'dedust_deposit_liquidity_partial' : 'dedust_deposit_liquidity';
    return meaning(dexDepositLiquidityType, details, { kind, failed: isFailed, data: learned });
  },
  { kinds: ['dedust_deposit_liquidity', 'dedust_deposit_liquidity_partial'] },
);

/** What the pool is to have, by the request for one asset. */
function requestedTargets(request: Slice, context: MatchContext) {
  const assets = request.clone();
  const target_asset_1 = loadAsset(assets, context);
  const target_asset_2 = loadAsset(assets, context);
  const { asset0_target_balance: target_amount_1, asset1_target_balance: target_amount_2 } = context.read(
    Targets,
    assets.loadRef(),
  );
  return { target_asset_1, target_asset_2, target_amount_1, target_amount_2 };
}

/** What the pool was given. */
function depositedTargets(assets: Cell, context: MatchContext) {
  const pair = openCell(assets);
  const target_asset_1 = loadAsset(pair, context);
  const target_amount_1 = Amount.load(pair).amount;
  const target_asset_2 = loadAsset(pair, context);
  const target_amount_2 = Amount.load(pair).amount;
  return { target_asset_1, target_asset_2, target_amount_1, target_amount_2 };
}

const tonDeposit = call(TonDeposit);

function depositLeg(before: Matched<typeof tonDeposit> | Matched<typeof jettonSwap>, context: MatchContext): SwapLeg {
  const { block, data } = before;
  if ('payload' in data) return legOf(data);
  return tonLeg(block, data.amount, context);
}

const anyDeposit = recognised(dedustDeposit);

/** Deposits of both assets by the same message, which two contracts of vaults passed to the same contract. */
export const dedustJoinedDeposit = pattern(
  'dedust_joined_deposit',
  recognised(dedustDeposit, { where: { 'it is complete': ({ kind }) => kind === 'dedust_deposit_liquidity' } }),
  ({ block, data }, context) => {
    const same =
      block.previous === null
        ? []
        : context.allAfter(block.previous, anyDeposit).filter((one) => isSameDeposit(one.data, data));
    const other = same.find((one) => one.block !== block);
    if (same.length !== 2 || other === undefined) return context.refuse('it is no deposit in two parts');
    const { details: one } = data;
    const { details: two } = other.data;
    const isSwapped = !sameAsset(one.asset_1 ?? null, one.target_asset_1 ?? null);
    const [first, second] = isSwapped ? [two, one] : [one, two];
    const fits =
      sameAsset(first.asset_1 ?? null, one.target_asset_1 ?? null) &&
      sameAsset(second.asset_1 ?? null, one.target_asset_2 ?? null);
    context.check(fits, 'the parts are not of the two assets of the pool');
    const details = {
      ...one,
      amount_1: first.amount_1,
      asset_1: first.asset_1,
      user_jetton_wallet_1: first.user_jetton_wallet_1,
      amount_2: second.amount_1,
      asset_2: second.asset_1,
      user_jetton_wallet_2: second.user_jetton_wallet_1,
    };
    const failed = block.failed || other.block.failed;
    return meaning(dexDepositLiquidityType, details, {
      kind: 'dedust_deposit_liquidity',
      failed,
      also: [other.block],
      sender: true,
    });
  },
  { kinds: ['dedust_deposit_liquidity'] },
);

function isSameDeposit(a: DepositData, b: DepositData): boolean {
  return a.contract !== null && b.contract !== null && a.contract.equals(b.contract);
}
