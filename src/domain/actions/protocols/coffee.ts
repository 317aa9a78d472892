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
import { jettonBurn, jettonTransfer } from '#domain/actions/protocols/jettons.js';
import { JettonInternalTransfer } from '#domain/tokens/token-messages.js';
import { Address } from '#formats/address/address.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Coffee: vaults hold the assets, and pools exchange them. */

/**
 * `native$00 = Asset; jetton$01 chain:uint8 hash:bits256 = Asset;` Null: TON. Other currencies (`extra$10 id:uint32`) have no
 * address, so what is done with them is not shown.
 */
function loadAsset(slice: Slice, context: MatchContext): Address | null {
  const tag = slice.loadUint(2);
  if (tag === 0) return null;
  if (tag !== 1) return context.refuse('assets that are neither TON nor jettons have no address');
  return Address.ofParts(slice.loadInt(8), slice.loadBytes(32));
}

const TonSwap = layout('swap#c0ffee00 query_id:uint64 amount:Coins');
const SWAP_INTERNAL = 0xc0ffee20;
const SwapSucceeded = layout('swap_succeeded#c0ffee30 query_id:uint64 rest:Any');
const Amounts = layout('_ amount1:Coins amount2:Coins');
const Payout = layout('payout_internal#c0ffee21 query_id:uint64 recipient:MsgAddress amount:Coins');
const PAID = 0xc0ffee32;
const PAID_WITH_NOTICE = 0xc0ffee36;

const isEvent = { 'it is an event': (block: ActionBlock) => block.isEvent };

const paid = anyOf(anyJettonTransfer, callOf([PAID, PAID_WITH_NOTICE]));
const payout = call(Payout, { next: { paid } });
const swapSucceeded = call(SwapSucceeded, { where: isEvent });
const nextSwap = callOf(SWAP_INTERNAL);

/** What a vault paid at the request of a pool. */
function payoutLeg(
  { block: request, data, paid: { block, data: transfer } }: Matched<typeof payout>,
  context: MatchContext,
): SwapLeg {
  if (transfer !== null) return legOf(transfer);
  context.check(block.value >= data.amount, 'the vault paid fewer coins than the pool requested');
  const hasNotice = block.opcode === PAID_WITH_NOTICE;
  return {
    asset: null,
    source: hasNotice ? block.source : request.source,
    destination: block.destination,
    source_jetton_wallet: null,
    destination_jetton_wallet: null,
    amount: hasNotice ? block.value : data.amount,
  };
}

const paidByJettons = recognised(jettonTransfer);
const paidByTon = call(TonSwap);

interface Report {
  readonly asset_in: Address | null;
  readonly amount_in: bigint;
  readonly amount_out: bigint;
}

export const coffeeSwap = pattern(
  'coffee_swap',
  callOf(SWAP_INTERNAL, { before: anyOf(paidByTon, paidByJettons) }),
  ({ block, before }, context) => {
    const incoming =
      'amount' in before.data && 'asset' in before.data
        ? legOf(before.data)
        : tonLeg(before.block, before.data.amount, context);
    const also: ActionBlock[] = [];
    const reports: Report[] = [];
    let isOk = true;
    let hop = block;
    for (let i = 0; i < MAX_HOPS; i++) {
      const event = context.after(hop, swapSucceeded);
      if (event === null) isOk = false;
      else {
        also.push(event.block);
        const rest = event.data.rest.clone();
        const asset_in = loadAsset(rest, context);
        const { amount1: amount_in, amount2: amount_out } = Amounts.load(rest);
        reports.push({ asset_in, amount_in, amount_out });
      }
      const next = context.after(hop, nextSwap);
      if (next === null) break;
      also.push(next.block);
      hop = next.block;
    }
    const payment = context.after(hop, payout);
    if (payment === null) return context.refuse('no vault paid');
    also.push(payment.block, payment.paid.block);
    const outgoing = payoutLeg(payment, context);
    const isConsistent = isOk && sameAsset(reports[0]?.asset_in ?? null, incoming.asset);
    const peers = reports.map(({ asset_in, amount_in, amount_out }, i) => ({
      asset_in,
      amount_in,
      asset_out: i + 1 < reports.length ? reports[i + 1]!.asset_in : outgoing.asset,
      amount_out,
    }));
    const failed = !isOk || before.block.failed || block.failed || payment.paid.block.failed;
    return swapMeaning({ dex: 'coffee', incoming, outgoing, peers: isConsistent ? peers : [] }, { failed, also });
  },
  { kinds: ['jetton_swap'] },
);

const TonDeposit = layout('deposit_liquidity#c0ffee04 query_id:uint64 amount:Coins');
const CreateDeposit = layout(
  'create_liquidity_depository_request#c0ffee27 query_id:uint64 amount:Coins params:^Cell pool_params:^Cell sender:MsgAddress',
);
const DEPLOY = 0xc0ffee22;
const DEPOSIT_ALL = 0xc0ffee29;
const DepositSucceeded = layout(
  'deposit_liquidity_succeeded#c0ffee33 query_id:uint64 amount1:Coins amount2:Coins lp_amount:Coins',
);

const minted = optionally(call(JettonInternalTransfer));
const depositSucceeded = optionally(call(DepositSucceeded, { where: isEvent }));

export const coffeeDeposit = pattern(
  'coffee_deposit_liquidity',
  call(CreateDeposit, {
    before: anyOf(call(TonDeposit), paidByJettons),
    next: {
      contract: callOf(DEPLOY, {
        next: {
          all: optionally(callOf(DEPOSIT_ALL, { next: { event: depositSucceeded, minted, excesses: each(payout) } })),
        },
      }),
    },
  }),
  ({ block, data, before, contract: { block: contract, all } }, context) => {
    const leg = 'asset' in before.data ? legOf(before.data) : tonLeg(before.block, before.data.amount, context);
    const pair = openCell(data.pool_params);
    const [first, second] = [loadAsset(pair, context), loadAsset(pair, context)];
    const isSecond = !sameAsset(leg.asset, first);
    context.check(!isSecond || sameAsset(leg.asset, second), 'the asset is none of the pool');
    const share = { amount: leg.amount, wallet: leg.source_jetton_wallet };
    const [one, two] = isSecond ? [null, share] : [share, null];
    const details = {
      dex: 'coffee',
      amount_1: one?.amount,
      amount_2: two?.amount,
      asset_1: isSecond ? null : leg.asset,
      asset_2: isSecond ? leg.asset : null,
      user_jetton_wallet_1: one?.wallet,
      user_jetton_wallet_2: two?.wallet,
      source: leg.source,
      pool: all?.block.destination,
      destination_liquidity: all?.block.destination,
      lp_tokens_minted: all?.minted?.data.amount,
      // The asset that was paid comes first.
      target_asset_1: leg.asset,
      target_asset_2: isSecond ? first : second,
      vault_excesses: all?.excesses.map((one) => {
        const { asset, amount } = payoutLeg(one, context);
        return { asset, amount };
      }),
    };
    const failed =
      before.block.failed || block.failed || (all !== null && (all.minted === null || all.minted.block.failed));
    return meaning(dexDepositLiquidityType, details, { failed, parties: [contract.destination] });
  },
);

const WITHDRAW_SUCCEEDED = 0xc0ffee35;

export const coffeeWithdraw = pattern(
  'coffee_withdraw_liquidity',
  recognised(jettonBurn, {
    next: { event: callOf(WITHDRAW_SUCCEEDED, { where: isEvent }), one: payout, other: payout },
  }),
  ({ block, data, one, other }, context) => {
    // API v3 shows the later payout first.
    const first = payoutLeg(other, context);
    const second = payoutLeg(one, context);
    const details = {
      dex: 'coffee',
      amount_1: first.amount,
      amount_2: second.amount,
      asset_1: first.asset,
      asset_2: second.asset,
      user_jetton_wallet_1: first.destination_jetton_wallet ?? first.destination,
      user_jetton_wallet_2: second.destination_jetton_wallet ?? second.destination,
      lp_tokens_burnt: data.amount,
      source: data.owner,
      pool: one.block.source,
      destination_liquidity: one.block.source,
    };
    const failed = block.failed || one.paid.block.failed || other.paid.block.failed;
    return meaning(dexWithdrawLiquidityType, details, {
      kind: 'dex_withdraw_liquidity',
      failed,
      parties: [data.wallet],
    });
  },
  { kinds: ['dex_withdraw_liquidity'] },
);

const CreateVault = layout('create_vault#c0ffee06 query_id:uint64 asset:Any');

export const coffeeCreateVaultType = actionType('coffee_create_vault', 'A vault was made.', {
  source: addressField('Who asked for it.', 'source'),
  vault: addressField('The vault.', 'destination'),
  asset: addressField('The asset that it is for; none for TON.', 'asset'),
  value: amountField('Nanotons of the message.', 'value'),
});

export const coffeeCreateVault = pattern(
  'coffee_create_vault',
  call(CreateVault, {
    next: {
      vault: callOf(DEPLOY, {
        next: { provide: optionally(callOf(0x2c76b973, { next: { take: optionally(callOf(0xd1735400)) } })) },
      }),
    },
  }),
  ({ block, data, vault }, context) => {
    const asset = loadAsset(data.asset, context);
    const details = { source: block.source, vault: vault.block.destination, asset, value: block.value };
    return meaning(coffeeCreateVaultType, details, { failed: block.failed || vault.block.failed });
  },
);

const CreatePoolTon = layout('create_pool#c0ffee02 query_id:uint64 amount:Coins');
const CREATE_POOL_EXTRA = 0xc0ffee03;
const CREATE_POOL_PAYLOAD = 0xc0ffee11;
const CreatePoolCreator = layout('create_pool_creator_request#c0ffee23 query_id:uint64 amount:Coins pool:Any');
const AfterAssets = layout('_ amm:uint3 settings:(Maybe ^Cell) creation_params:^Cell sender:MsgAddress');
const CreationParams = layout('_ recipient:MsgAddress');

export const coffeeCreatePoolCreatorType = actionType(
  'coffee_create_pool_creator',
  'An asset was paid for a pool that is to be made.',
  {
    source: addressField('Who paid it.', 'source'),
    source_jetton_wallet: addressField('Wallet that paid; none for TON.', 'source_secondary'),
    deposit_recipient: addressField('Who is to receive the tokens of the pool.', 'destination'),
    pool_creator_contract: addressField('Contract that waits for both assets.', 'destination_secondary'),
    provided_asset: addressField('The asset; none for TON.', 'asset'),
    asset_1: addressField('First asset of the pool; none for TON.', 'asset2'),
    asset_2: addressField('Second asset of the pool; none for TON.', 'asset2_secondary'),
    amount: amountField('In the smallest units of the asset.', 'amount'),
  },
);

interface PoolCreatorData {
  readonly paid: SwapLeg;
  readonly contract: Address | null;
  /** The asset of the pool that was not paid. */
  readonly other: Address | null;
  readonly isSecond: boolean;
  readonly sender: Address | null;
}

export const coffeeCreatePoolCreator = pattern(
  'coffee_create_pool_creator',
  call(CreatePoolCreator, {
    before: anyOf(
      call(CreatePoolTon),
      recognised(jettonTransfer, {
        where: { 'the payload makes a pool': (_, { payload_opcode }) => payload_opcode === CREATE_POOL_PAYLOAD },
      }),
      callOf(CREATE_POOL_EXTRA),
    ),
    next: { contract: callOf(DEPLOY) },
  }),
  ({ block, data, before, contract }, context) => {
    if (before.data === null) return context.refuse('other currencies have no address');
    const leg = 'asset' in before.data ? legOf(before.data) : tonLeg(before.block, before.data.amount, context);
    const rest = data.pool.clone();
    const [first, second] = [loadAsset(rest, context), loadAsset(rest, context)];
    const { creation_params, sender } = AfterAssets.load(rest);
    const { recipient } = context.read(CreationParams, creation_params);
    const isSecond = !sameAsset(leg.asset, first);
    const learned: PoolCreatorData = {
      paid: leg,
      contract: contract.block.destination,
      other: isSecond ? first : second,
      isSecond,
      sender,
    };
    const details = {
      source: leg.source,
      source_jetton_wallet: leg.source_jetton_wallet,
      deposit_recipient: recipient,
      pool_creator_contract: contract.block.destination,
      provided_asset: leg.asset,
      asset_1: first,
      asset_2: second,
      amount: leg.amount,
    };
    const failed = before.block.failed || block.failed || contract.block.failed;
    return meaning(coffeeCreatePoolCreatorType, details, { failed, data: learned });
  },
);

const CreatePool = layout(
  'create_pool_request#c0ffee25 query_id:uint64 amount1:Coins amount2:Coins tx_initiator:MsgAddress',
);

export const coffeeCreatePoolType = actionType('coffee_create_pool', 'A pool was made.', {
  source: addressField('Who paid the second of its assets.', 'source'),
  source_jetton_wallet: addressField('Wallet that paid; none for TON.', 'source_secondary'),
  initiator_1: addressField('Who began to make the pool.'),
  initiator_2: addressField('Who completed it.'),
  pool: addressField('The pool.', 'destination'),
  pool_creator_contract: addressField('Contract that waited for both assets.', 'destination_secondary'),
  provided_asset: addressField('The asset that was paid now; none for TON.', 'asset'),
  amount: amountField('How much of it.', 'amount'),
  asset_1: addressField('The same asset.'),
  asset_2: addressField('The asset that was paid before; none for TON.', 'asset2'),
  amount_1: amountField('Of the asset that was paid now.'),
  amount_2: amountField('Of the asset that was paid before.'),
  lp_tokens_minted: amountField('Tokens of the pool.'),
});

export const coffeeCreatePool = pattern(
  'coffee_create_pool',
  recognised(coffeeCreatePoolCreator, {
    next: {
      request: call(CreatePool, { next: { pool: callOf(DEPLOY, { next: { event: depositSucceeded, minted } }) } }),
    },
  }),
  ({ block, data, request }) => {
    const { pool, data: asked } = request;
    const [amount_1, amount_2] = data.isSecond ? [asked.amount2, asked.amount1] : [asked.amount1, asked.amount2];
    const details = {
      source: data.paid.source,
      source_jetton_wallet: data.paid.source_jetton_wallet,
      initiator_1: data.sender,
      initiator_2: asked.tx_initiator,
      pool: pool.block.destination,
      pool_creator_contract: data.contract,
      provided_asset: data.paid.asset,
      amount: data.paid.amount,
      asset_1: data.paid.asset,
      asset_2: data.other,
      amount_1,
      amount_2,
      lp_tokens_minted: pool.minted?.data.amount,
    };
    const failed = block.failed || pool.block.failed || pool.minted === null || pool.minted.block.failed;
    return meaning(coffeeCreatePoolType, details, { failed });
  },
);
