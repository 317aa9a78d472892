import { actionType, addressField, amountField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { call, callOf, type MatchContext, meaning, pattern, recognised } from '#domain/actions/pattern.js';
import { jettonTransfer } from '#domain/actions/protocols/jettons.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Coffee: exchanges that are held back for a moment, so that nobody can exchange before them. */

const HOLD = 0x6bc79e7e;
const Failed = layout('mev_protect_failed_swap#ee51ce51 query_id:uint64 recipient:MsgAddress');
const FEE = 0xc0ffeea0;

/** The fee that the same transaction paid. */
function feeOf(block: ActionBlock, context: MatchContext) {
  const fee = block.previous === null ? null : context.after(block.previous, callOf(FEE));
  return fee === null ? {} : { also: [fee.block], sender: true };
}

export const coffeeMevHoldType = actionType('coffee_mev_protect_hold_funds', 'Funds for an exchange were held back.', {
  source: addressField('Who exchanges.', 'source'),
  source_jetton_wallet: addressField('Wallet that paid; none for TON.', 'source_secondary'),
  mev_contract: addressField('Contract that holds them.', 'destination'),
  mev_contract_jetton_wallet: addressField('Its wallet; none for TON.', 'destination_secondary'),
  asset: addressField('None for TON.', 'asset'),
  amount: amountField('In the smallest units of the asset.', 'amount'),
});

export const coffeeMevHold = pattern('coffee_mev_protect_hold_funds', callOf(HOLD), ({ block }, context) => {
  const details = { source: block.source, mev_contract: block.destination, amount: block.value };
  return meaning(coffeeMevHoldType, details, { failed: block.failed, ...feeOf(block, context) });
});

export const coffeeMevHoldJettons = pattern(
  'coffee_mev_protect_hold_jettons',
  recognised(jettonTransfer, {
    where: { 'the payload holds funds': (_, { payload_opcode }) => payload_opcode === HOLD },
  }),
  ({ block, data }, context) => {
    const details = {
      source: data.sender,
      source_jetton_wallet: data.sender_wallet,
      mev_contract: data.receiver,
      mev_contract_jetton_wallet: data.receiver_wallet,
      asset: data.asset,
      amount: data.amount,
    };
    const more = { kind: 'coffee_mev_protect_hold_funds', failed: block.failed, ...feeOf(block, context) };
    return meaning(coffeeMevHoldType, details, more);
  },
  { kinds: ['coffee_mev_protect_hold_funds'] },
);

export const coffeeMevFailedType = actionType(
  'coffee_mev_protect_failed_swap',
  'An exchange that was held back failed.',
  {
    recipient: addressField('Who received the funds back.', 'destination'),
    asset: addressField('None for TON.', 'asset'),
    amount: amountField('In the smallest units of the asset.', 'amount'),
  },
);

export const coffeeMevFailed = pattern('coffee_mev_protect_failed_swap', call(Failed), ({ block, data }) => {
  const details = { recipient: data.recipient, amount: block.value };
  return meaning(coffeeMevFailedType, details, { failed: block.failed });
});

export const coffeeMevFailedJettons = pattern(
  'coffee_mev_protect_failed_jettons',
  recognised(jettonTransfer, {
    where: { 'the payload reports a failed exchange': (_, { payload_opcode }) => payload_opcode === Failed.tag },
  }),
  ({ block, data }, context) => {
    const { recipient } = context.read(Failed, data.payload!);
    const details = { recipient, asset: data.asset, amount: data.amount };
    return meaning(coffeeMevFailedType, details, { kind: 'coffee_mev_protect_failed_swap', failed: block.failed });
  },
  { kinds: ['coffee_mev_protect_failed_swap'] },
);
