import { actionType, addressField, amountField, flagField, textField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import {
  anyCall,
  anyOf,
  call,
  callOf,
  coinTransfer,
  type MatchContext,
  type Matched,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import { type JettonTransferData, jettonTransfer } from '#domain/actions/protocols/jettons.js';
import { layout } from '#formats/tlb/codec/layout.js';

/*
 * EVAA: loans. A master holds the assets, and a contract for each user their sums. Messages from the master to user contracts
 * start with the version and the code of an upgrade, and have the opcode after these.
 */

const ToUser = layout('_ version:Coins upgrade:(Maybe ^Cell) flags:uint2 op:uint32 query_id:uint64');

/** Id of TON: sha256 of its name. */
const TON = 0x1a4219fe5e60d63af2a3cc7dce6fec69b45c6b5718497a6148e7c232ac87bd8an;

/** A message from a master to a user contract with one of these opcodes. */
function isUserCall(...opcodes: readonly number[]) {
  return {
    'it is a message of EVAA to a user contract': (block: ActionBlock, _: null, context: MatchContext) => {
      const head = block.message === null ? null : context.readIf(ToUser, block.message.body);
      return head !== null && opcodes.includes(head.op);
    },
  };
}

/** Transfers with notices for people. */
const notice = optionally(
  coinTransfer({
    where: {
      'it is a notice of EVAA': (_, { text }) => text !== null && /^EVAA (supply|withdraw|liquidation)\.$/.test(text),
    },
  }),
);

const Supply = layout('supply#00000001 query_id:uint64 include_user_code:uint2 amount:uint64 recipient:MsgAddress');
const SupplyPayload = layout('supply#00000001 include_user_code:uint2 recipient:MsgAddress');
const SupplySuccess = layout('supply_success#0000011a query_id:uint64 owner:MsgAddress asset_id:uint256 amount:uint64');
const SupplyFail = layout('supply_fail#0000011f query_id:uint64 owner:MsgAddress asset_id:uint256 amount:uint64');

const supplied = {
  user: anyCall({
    where: isUserCall(0x11),
    next: {
      outcome: anyOf(
        call(SupplySuccess, { next: { notice } }),
        call(SupplyFail, { next: { refund: optionally(anyOf(recognised(jettonTransfer), coinTransfer())) } }),
      ),
    },
  }),
} as const;

export const evaaSupplyType = actionType('evaa_supply', 'An asset was supplied for loans, or a loan was paid back.', {
  sender_jetton_wallet: addressField('Wallet that paid; none for TON.'),
  recipient_jetton_wallet: addressField('The same wallet, as API v3 shows it.'),
  master_jetton_wallet: addressField('Wallet that received; none for TON.'),
  master: addressField('Contract that holds the assets.'),
  asset_id: textField('Id of the asset, in hexadecimal.'),
  is_ton: flagField('Whether the asset is TON.'),
  source: addressField('Who paid.', 'source'),
  source_wallet: addressField('Wallet that paid; none for TON.', 'source_secondary'),
  recipient: addressField('For whom it is.', 'destination'),
  recipient_contract: addressField('Contract of that user.', 'destination_secondary'),
  asset: addressField('Jetton master; none for TON.', 'asset'),
  amount: amountField('In the smallest units of the asset.', 'amount'),
});

export const evaaSupply = pattern('evaa_supply', call(Supply, { next: supplied }), ({ block, data, user }, context) => {
  const { outcome } = user;
  context.check(outcome.data.asset_id === TON, 'the asset is not TON');
  context.check(block.value >= data.amount, 'the message carries fewer coins than it says');
  const details = {
    master: block.destination,
    asset_id: hexId(outcome.data.asset_id),
    is_ton: true,
    source: block.source,
    recipient: data.recipient,
    recipient_contract: user.block.destination,
    amount: data.amount,
  };
  return meaning(evaaSupplyType, details, { failed: block.failed || outcome.block.opcode === SupplyFail.tag });
});

export const evaaJettonSupply = pattern(
  'evaa_supply_jettons',
  recognised(jettonTransfer, {
    where: { 'the payload is a supply': (_, { payload_opcode }) => payload_opcode === SupplyPayload.tag },
    next: supplied,
  }),
  ({ block, data, user }, context) => {
    const { recipient } = context.read(SupplyPayload, data.payload!);
    const details = {
      sender_jetton_wallet: data.sender_wallet,
      recipient_jetton_wallet: data.sender_wallet,
      master_jetton_wallet: data.receiver_wallet,
      master: data.receiver,
      asset_id: hexId(user.outcome.data.asset_id),
      is_ton: false,
      source: data.sender,
      source_wallet: data.sender_wallet,
      recipient,
      recipient_contract: user.block.destination,
      asset: data.asset,
      amount: data.amount,
    };
    const failed = block.failed || user.outcome.block.opcode === SupplyFail.tag;
    return meaning(evaaSupplyType, details, { kind: 'evaa_supply', failed });
  },
  { kinds: ['evaa_supply'] },
);

function hexId(id: bigint): string {
  return `0x${id.toString(16)}`;
}

const Withdraw = layout('withdraw#00000002 query_id:uint64 asset_id:uint256 amount:uint64 recipient:MsgAddress');
const Collateralized = layout(
  'withdraw_collateralized#00000211 query_id:uint64 owner:MsgAddress asset_id:uint256 amount:uint64',
);
const WITHDRAW_SUCCESS = 0x211a;
const WITHDRAW_FAIL = 0x211f;
const NO_FUNDS = 0x00211fe8;
const REFUSALS: Readonly<Record<number, string>> = {
  8678: 'withdraw_locked_excess',
  8679: 'withdraw_not_collateralized_excess',
  8680: 'withdraw_missing_prices_excess',
  8684: 'withdraw_execution_crashed',
};

export const evaaWithdrawType = actionType('evaa_withdraw', 'An asset was withdrawn, or borrowed.', {
  recipient_jetton_wallet: addressField('Wallet that received; none for TON.'),
  master_jetton_wallet: addressField('Wallet that paid; none for TON.'),
  master: addressField('Contract that holds the assets.'),
  fail_reason: textField('Why it failed.', [...Object.values(REFUSALS), 'withdraw_no_funds_excess']),
  asset_id: textField('Id of the asset, in hexadecimal.'),
  source: addressField('Who asked for it.', 'source'),
  recipient: addressField('Who receives it.', 'destination'),
  owner_contract: addressField('Contract of the user.', 'destination_secondary'),
  asset: addressField('Jetton master; none for TON, and when it failed.', 'asset'),
  amount: amountField('In the smallest units of the asset.', 'amount'),
});

const paidBack = anyOf(recognised(jettonTransfer), callOf(WITHDRAW_SUCCESS));
const collateralized = call(Collateralized, {
  next: {
    done: anyCall({
      where: isUserCall(WITHDRAW_SUCCESS, WITHDRAW_FAIL),
      next: { notice, refused: optionally(callOf(NO_FUNDS)) },
    }),
    paid: optionally(paidBack),
  },
});

export const evaaWithdraw = pattern(
  'evaa_withdraw',
  call(Withdraw, {
    next: {
      user: anyCall({
        where: isUserCall(0x21),
        next: { outcome: anyOf(collateralized, callOf(Object.keys(REFUSALS).map(Number))) },
      }),
    },
  }),
  ({ block, data, user }, context) => {
    const { outcome } = user;
    const common = {
      master: block.destination,
      asset_id: hexId(data.asset_id),
      source: block.source,
      recipient: data.recipient,
      owner_contract: user.block.destination,
    };
    if (!('done' in outcome)) {
      const details = { ...common, fail_reason: REFUSALS[outcome.block.opcode ?? 0], amount: data.amount };
      return meaning(evaaWithdrawType, details, { failed: true });
    }
    const { amount } = outcome.data;
    const { done, paid } = outcome;
    if (paid === null) {
      context.check(done.refused !== null, 'nothing was paid or refused');
      return meaning(
        evaaWithdrawType,
        { ...common, fail_reason: 'withdraw_no_funds_excess', amount },
        { failed: true },
      );
    }
    if (paid.data === null) {
      context.check(data.asset_id === TON && paid.block.value >= amount, 'the payment is not of this asset');
      return meaning(evaaWithdrawType, { ...common, amount }, { failed: block.failed || paid.block.failed });
    }
    const { receiver_wallet: recipient_jetton_wallet, sender_wallet: master_jetton_wallet, asset } = paid.data;
    const details = { ...common, recipient_jetton_wallet, master_jetton_wallet, asset, amount: paid.data.amount };
    return meaning(evaaWithdrawType, details, { failed: block.failed || paid.block.failed });
  },
);

const Liquidate = layout(
  'liquidate#00000003 query_id:uint64 borrower:MsgAddress liquidator:MsgAddress collateral_asset_id:uint256 min_collateral:uint64 include_user_code:uint2 amount:uint64',
);
const LiquidatePayload = layout(
  'liquidate#00000003 borrower:MsgAddress liquidator:MsgAddress collateral_asset_id:uint256 min_collateral:uint64',
);
const Satisfied = layout(
  'liquidate_satisfied#00000311 query_id:uint64 owner:MsgAddress liquidator:MsgAddress transferred_asset_id:uint256 ^[ delta_loan:int64 liquidatable_amount:uint64 protocol_gift:uint64 new_loan:int64 collateral_asset_id:uint256 delta_collateral:int64 collateral_reward:uint64 ]',
);
const Unsatisfied = layout(
  'liquidate_unsatisfied#0000031f query_id:uint64 owner:MsgAddress liquidator:MsgAddress transferred_asset_id:uint256 ^[ transferred_amount:uint64 collateral_asset_id:uint256 min_collateral:uint64 forward_ton_amount:Coins custom_payload:^Cell error:uint32 ]',
);
const LIQUIDATE_SUCCESS = 0x311a;
const LIQUIDATE_FAIL = 0x311f;
const REPORT = 0x311d;
/** `LiquidationError`: the tags of user contracts, and the codes of the master. */
const LIQUIDATION_ERRORS: Readonly<Record<number, string>> = {
  57345: 'master_liquidating_too_much',
  57346: 'user_withdraw_in_progress',
  57347: 'not_liquidatable',
  57348: 'execution_crashed',
  57349: 'min_collateral_not_satisfied',
  57350: 'user_not_enough_collateral',
  57351: 'user_liquidating_too_much',
  57352: 'master_not_enough_liquidity',
  57353: 'prices_missing',
  12784: 'user_withdraw_in_progress',
  12786: 'not_liquidatable',
  12787: 'min_collateral_not_satisfied',
  12788: 'user_not_enough_collateral',
  12789: 'user_liquidating_too_much',
  12791: 'prices_missing',
  12798: 'execution_crashed',
};

export const evaaLiquidateType = actionType(
  'evaa_liquidate',
  'A loan was paid back by another, who receives its security.',
  {
    fail_reason: textField('Why it failed.', [...new Set(Object.values(LIQUIDATION_ERRORS))]),
    debt_amount: amountField('What was paid back, in the smallest units of its asset.'),
    source: addressField('Who paid.', 'source'),
    borrower: addressField('Whose loan it was.', 'destination'),
    borrower_contract: addressField('Contract of that user.', 'destination_secondary'),
    collateral: addressField('Master of the jettons that were received; none for TON.'),
    asset_id: textField('Id of what was received, in hexadecimal.'),
    asset: addressField('Master of the jettons that were paid; none for TON.', 'asset'),
    is_known_asset: flagField('Whether the payment of what was received is known.'),
    amount: amountField('What was received, in the smallest units of its asset.', 'amount'),
  },
);

const liquidated = {
  user: anyCall({
    where: isUserCall(0x31),
    next: {
      outcome: anyOf(
        call(Satisfied, {
          next: {
            done: optionally(anyCall({ where: isUserCall(LIQUIDATE_SUCCESS, LIQUIDATE_FAIL), next: { notice } })),
            paid: optionally(anyOf(recognised(jettonTransfer), callOf(REPORT))),
          },
        }),
        call(Unsatisfied, { next: { paid: optionally(anyOf(recognised(jettonTransfer), coinTransfer())) } }),
      ),
    },
  }),
} as const;

const liquidation = call(Liquidate, { next: liquidated });

function liquidationMeaning(
  user: Matched<typeof liquidation>['user'],
  paid: {
    readonly borrower: ActionBlock['source'];
    readonly source: ActionBlock['source'];
    readonly asset: ActionBlock['source'];
    readonly amount: bigint;
    readonly failed: boolean;
  },
) {
  const { outcome } = user;
  const common = {
    debt_amount: paid.amount,
    source: paid.source,
    borrower: paid.borrower,
    borrower_contract: user.block.destination,
    asset: paid.asset,
    asset_id: hexId(outcome.data.collateral_asset_id),
  };
  if (!('done' in outcome)) {
    const { error } = outcome.data;
    const fail_reason = LIQUIDATION_ERRORS[error] ?? `unknown_${error}`;
    return meaning(
      evaaLiquidateType,
      { ...common, fail_reason, is_known_asset: false },
      { kind: 'evaa_liquidate', failed: true },
    );
  }
  const reward = outcome.paid === null ? null : (outcome.paid.data as JettonTransferData | null);
  const isTon = outcome.paid !== null && reward === null && outcome.data.collateral_asset_id === TON;
  const details = {
    ...common,
    collateral: reward?.asset,
    is_known_asset: reward !== null || isTon,
    amount: reward?.amount ?? outcome.data.collateral_reward,
  };
  const failed = paid.failed || outcome.paid === null || outcome.paid.block.failed;
  return meaning(evaaLiquidateType, details, { kind: 'evaa_liquidate', failed });
}

export const evaaLiquidate = pattern('evaa_liquidate', liquidation, ({ block, data, user }, context) => {
  context.check(block.value >= data.amount, 'the message carries fewer coins than it says');
  const { borrower, amount } = data;
  return liquidationMeaning(user, { borrower, source: block.source, asset: null, amount, failed: block.failed });
});

export const evaaJettonLiquidate = pattern(
  'evaa_liquidate_jettons',
  recognised(jettonTransfer, {
    where: { 'the payload is a liquidation': (_, { payload_opcode }) => payload_opcode === LiquidatePayload.tag },
    next: liquidated,
  }),
  ({ block, data, user }, context) => {
    const { borrower } = context.read(LiquidatePayload, data.payload!);
    return liquidationMeaning(user, {
      borrower,
      source: data.sender,
      asset: data.asset,
      amount: data.amount,
      failed: block.failed,
    });
  },
  { kinds: ['evaa_liquidate'] },
);
