import { actionType, addressField, amountField, optionalField } from '#domain/actions/action-type.js';
import { call, callOf, each, meaning, optionally, pattern } from '#domain/actions/pattern.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Subscriptions: plugins of wallets that pay a beneficiary again and again. */

const PAYMENT_REQUESTED = 0xf06c7567;
const PAYMENT = 0x73756273;
const RequestPayment = layout('request_payment#706c7567 query_id:uint64 amount:Coins');
const DESTROY = 0x64737472;

export const subscribeType = actionType('subscribe', 'A payment of a subscription.', {
  subscriber: addressField('Who pays.', 'source'),
  beneficiary: optionalField(addressField('Who receives.', 'destination')),
  subscription: addressField('The subscription.', 'destination_secondary'),
  amount: amountField('Nanotons.', 'amount'),
});

export const subscribe = pattern(
  'subscribe',
  callOf(PAYMENT_REQUESTED, { next: { payment: callOf(PAYMENT) }, before: optionally(call(RequestPayment)) }),
  ({ block, payment, before }) => {
    const details = {
      subscriber: block.source,
      beneficiary: payment.block.destination,
      subscription: block.destination,
      amount: before === null ? block.value : before.data.amount,
    };
    return meaning(subscribeType, details, { failed: block.failed || payment.block.failed });
  },
);

export const unsubscribeType = actionType('unsubscribe', 'A subscription was ended.', {
  subscriber: addressField('Who ended it.', 'source'),
  beneficiary: optionalField(addressField('Who received the payments.', 'destination')),
  subscription: addressField('The subscription.', 'destination_secondary'),
  amount: optionalField(amountField('Nanotons that were returned.', 'amount')),
});

export const unsubscribe = pattern(
  'unsubscribe',
  callOf(DESTROY, { next: { notices: each(callOf(DESTROY)) } }),
  ({ block, notices }) => {
    const { source: subscriber, destination: subscription } = block;
    // The rest of the coins goes to whom ended it.
    const isOther = (party: Address | null) => party !== null && subscriber !== null && !party.equals(subscriber);
    const parties = notices.map((one) => one.block.destination);
    const details = { subscriber, beneficiary: parties.find(isOther) ?? parties[0], subscription };
    return meaning(unsubscribeType, details, { failed: block.failed });
  },
);
