import { call, each, optionally, pattern, recognised } from '#domain/actions/pattern.js';
import { anyJettonTransfer, legOf, type SwapLeg, swapMeaning } from '#domain/actions/protocols/dex.js';
import { type JettonTransferData, jettonTransfer, wrappedTonTransfer } from '#domain/actions/protocols/jettons.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* STON.fi v1: a router holds the jettons of all pools. */

const Swap = layout(
  'swap#25938561 query_id:uint64 user:MsgAddress in_wallet:MsgAddress amount:Coins min_out:Coins has_referral:Bool ^[ from_user:MsgAddress ]',
);
const SwapPayload = layout('swap#25938561 out_wallet:MsgAddress min_out:Coins to_address:MsgAddress');
const PaymentRequest = layout(
  'payment_request#f93bb43f query_id:uint64 owner:MsgAddress exit_code:uint32 ^[ amount0_out:Coins token0_address:MsgAddress amount1_out:Coins token1_address:MsgAddress ]',
);
const SWAP_OK = 0xc64370e5;
const SWAP_OK_REFERRAL = 0x45078540;

export const stonfiSwap = pattern(
  'stonfi_swap',
  recognised([jettonTransfer, wrappedTonTransfer], {
    next: {
      swap: call(Swap, {
        next: { payments: each(call(PaymentRequest, { next: { payment: optionally(anyJettonTransfer) } })) },
      }),
    },
  }),
  ({ block, data, swap }, context) => {
    const paid = swap.payments.find((one) => one.data.exit_code !== SWAP_OK_REFERRAL);
    if (paid === undefined || paid.payment === null) return context.refuse('the pool paid nothing');
    const { payment } = paid;
    const isOk = paid.data.exit_code === SWAP_OK;
    const wanted = context.readIf(SwapPayload, data.payload);
    const known = isOk ? null : context.fact(wanted?.out_wallet ?? null, 'jetton_wallet');
    const asset_out = known === null ? payment.data.asset : known.jetton;
    const incoming = {
      ...wrappedLeg(data),
      destination_jetton_wallet: data.receiver_wallet ?? data.notification?.source ?? null,
    };
    const others = swap.payments.filter((one) => one !== paid);
    const without = others.flatMap((one) => [one.block, one.payment?.block]);
    const failed = !isOk || block.failed || payment.block.failed;
    return swapMeaning(
      { dex: 'stonfi', incoming, outgoing: wrappedLeg(payment.data), asset_out },
      { failed, without, parties: [wanted?.out_wallet] },
    );
  },
  { kinds: ['jetton_swap'] },
);

/** STON.fi v1 shows wrapped TON as the jetton that it is. */
function wrappedLeg(data: JettonTransferData): SwapLeg {
  return { ...legOf(data), asset: data.asset };
}
