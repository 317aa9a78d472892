import { actionType, addressField, amountField, bocField, flagField, textField } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { bodyOpcode, readComment } from '#domain/actions/comments.js';
import { call, callOf, meaning, optionally, pattern } from '#domain/actions/pattern.js';
import { JettonBurn, JettonInternalTransfer, JettonTransfer } from '#domain/tokens/token-messages.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { accountOf } from '#formats/tlb/msg-address.js';

/* Jettons (TEP-74) and their mintable masters. */

export const JettonNotification = layout(
  'transfer_notification#7362d09c query_id:uint64 amount:Coins sender:MsgAddress forward_payload:(Either Cell ^Cell)',
);
export const BURN_NOTIFICATION = 0x7bdd97de;
export const Mint = layout('mint#642b7d07 query_id:uint64 to_address:MsgAddress ton_amount:Coins');
const OldMint = layout('mint#00000015 query_id:uint64 to_address:MsgAddress ton_amount:Coins master_msg:^Cell');
/** The message of the old mint to the new wallet, as far as the amount. */
const MasterMessage = layout('_ op:uint32 query_id:uint64 amount:Coins');

export const jettonTransferType = actionType('jetton_transfer', 'A transfer of jettons.', {
  asset: addressField('Jetton master.', 'asset'),
  sender: addressField('Owner of the wallet that sends.', 'source'),
  receiver: addressField('Owner of the wallet that receives.', 'destination'),
  sender_jetton_wallet: addressField('Wallet that sends.', 'source_secondary'),
  receiver_jetton_wallet: addressField('Wallet that receives.', 'destination_secondary'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  comment: textField('Comment in the forward payload; base64 of the bytes when it is encrypted.'),
  is_encrypted_comment: flagField('Whether the comment is encrypted.'),
  query_id: amountField('Chosen by the sender.'),
  response_destination: addressField('Where excesses go.'),
  custom_payload: bocField('For the wallet contract.'),
  forward_payload: bocField('For the receiver.'),
  forward_amount: amountField('Nanotons that go to the receiver with the notification.'),
});

/** Data of a transfer of jettons for patterns that build on it. */
export interface JettonTransferData {
  readonly sender: Address | null;
  readonly sender_wallet: Address | null;
  readonly receiver: Address | null;
  readonly receiver_wallet: Address | null;
  readonly asset: Address | null;
  readonly amount: bigint;
  readonly forward_amount: bigint;
  readonly payload: Cell | null;
  /** The first 32 bits of the payload. */
  readonly payload_opcode: number | null;
  /** The notification of the receiver, which is a part of it. */
  readonly notification: ActionBlock | null;
  readonly failed: boolean;
  /** A wrapped TON that has no wallet of the receiver. */
  readonly is_wrapped_ton: boolean;
}

export const jettonTransfer = pattern(
  'jetton_transfer',
  call(JettonTransfer, {
    next: {
      internal: call(JettonInternalTransfer, {
        to: 'jetton_wallet',
        next: { notification: optionally(callOf(JettonNotification.tag)) },
      }),
    },
  }),
  ({ block, data, internal }, context) => {
    const wallet = context.fact(internal.block.destination, 'jetton_wallet')!;
    const { asset, ...known } = {
      asset: wallet.jetton,
      sender: block.source,
      receiver: wallet.owner,
      sender_wallet: block.destination,
      receiver_wallet: internal.block.destination,
      amount: internal.data.amount,
      forward_amount: internal.data.forward_ton_amount,
    };
    const failed = block.failed || internal.block.failed;
    const payload = data.forward_payload;
    const comment = readComment(payload);
    const learned: JettonTransferData = {
      ...known,
      asset,
      payload,
      payload_opcode: payload === null ? null : bodyOpcode(payload),
      notification: internal.notification?.block ?? null,
      failed,
      is_wrapped_ton: false,
    };
    const details = {
      ...transferDetails(learned),
      comment: comment.text,
      is_encrypted_comment: comment.encrypted,
      query_id: data.query_id,
      response_destination: accountOf(data.response_destination),
      custom_payload: data.custom_payload,
    };
    const broken = accountOf(data.destination)?.equals(wallet.owner) !== true;
    return meaning(jettonTransferType, details, { failed, broken, data: learned });
  },
);

/** The details of a transfer that its data shows. */
function transferDetails(data: JettonTransferData) {
  const { asset, sender, receiver, sender_wallet, receiver_wallet, amount: units, payload, forward_amount } = data;
  return {
    ...{ asset, sender, receiver, amount: units, forward_payload: payload, forward_amount },
    sender_jetton_wallet: sender_wallet,
    receiver_jetton_wallet: receiver_wallet,
  };
}

/** Masters of wrapped TON whose wallets pay the receiver in TON. */
const WRAPPED_TON = new Set(
  [
    '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C',
    '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3',
    '0:949C4C66760C002800E2FA3D8A3CA4E1C90A9373B53AE7472033483BF14CD95E',
  ].map((raw) => parseAddress(raw).address.toRaw()),
);

/** Whether a jetton stands for TON. */
export function isWrappedTon(master: Address | null): boolean {
  return master !== null && WRAPPED_TON.has(master.toRaw());
}

export const wrappedTonTransfer = pattern(
  'pton_transfer',
  call(JettonTransfer, {
    to: 'jetton_wallet',
    where: {
      'the jetton is a wrapped TON': (block, _, context) =>
        isWrappedTon(context.fact(block.destination, 'jetton_wallet')?.jetton ?? null),
    },
    next: { notification: optionally(callOf(JettonNotification.tag)) },
  }),
  ({ block, data, notification }, context) => {
    const wallet = context.fact(block.destination, 'jetton_wallet')!;
    const payload = data.forward_payload;
    const comment = readComment(payload);
    const learned: JettonTransferData = {
      sender: block.source,
      sender_wallet: null,
      receiver: accountOf(data.destination),
      receiver_wallet: null,
      asset: wallet.jetton,
      amount: data.amount,
      forward_amount: data.forward_ton_amount,
      payload,
      payload_opcode: payload === null ? null : bodyOpcode(payload),
      notification: notification?.block ?? null,
      failed: block.failed,
      is_wrapped_ton: true,
    };
    const details = {
      ...transferDetails(learned),
      comment: comment.text,
      is_encrypted_comment: comment.encrypted,
      query_id: data.query_id,
      response_destination: accountOf(data.response_destination),
      custom_payload: data.custom_payload,
    };
    return meaning(jettonTransferType, details, { kind: 'jetton_transfer', failed: block.failed, data: learned });
  },
  { kinds: ['jetton_transfer'] },
);

export const jettonBurnType = actionType('jetton_burn', 'Jettons were burnt.', {
  owner: addressField('Owner of the wallet.', 'source'),
  owner_jetton_wallet: addressField('The wallet.', 'source_secondary'),
  asset: addressField('Jetton master.', 'asset'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
});

interface JettonBurnData {
  readonly owner: Address;
  readonly wallet: Address;
  readonly asset: Address;
  readonly amount: bigint;
}

export const jettonBurn = pattern(
  'jetton_burn',
  call(JettonBurn, { to: 'jetton_wallet', next: { notice: optionally(callOf(BURN_NOTIFICATION)) } }),
  ({ block, data, notice }, context) => {
    const wallet = context.fact(block.destination, 'jetton_wallet')!;
    const learned: JettonBurnData = {
      owner: wallet.owner,
      wallet: block.destination!,
      asset: wallet.jetton,
      amount: data.amount,
    };
    const details = {
      owner: wallet.owner,
      owner_jetton_wallet: block.destination,
      asset: wallet.jetton,
      amount: data.amount,
    };
    return meaning(jettonBurnType, details, { failed: block.failed || (notice?.block.failed ?? false), data: learned });
  },
);

export const jettonMintType = actionType('jetton_mint', 'Jettons were minted.', {
  asset: addressField('Jetton master.', 'asset'),
  receiver: addressField('Owner of the wallet that receives.', 'destination'),
  receiver_jetton_wallet: addressField('Wallet that receives.', 'destination_secondary'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  ton_amount: amountField('Nanotons that go to the wallet.', 'value'),
});

interface JettonMintData {
  readonly receiver: Address | null;
  readonly receiver_wallet: Address | null;
  readonly asset: Address | null;
  readonly amount: bigint | null;
}

const minted = {
  internal: optionally(
    call(JettonInternalTransfer, { next: { notification: optionally(callOf(JettonNotification.tag)) } }),
  ),
};

function mintMeaning(
  block: ActionBlock,
  data: { readonly to_address: Address | null; readonly ton_amount: bigint },
  internal: { readonly block: ActionBlock; readonly data: { readonly amount: bigint } } | null,
  wallet: { readonly owner: Address; readonly jetton: Address } | null,
  intended: bigint | null,
) {
  const failed = internal === null || internal.block.aborted;
  const learned: JettonMintData = {
    receiver: wallet?.owner ?? data.to_address,
    receiver_wallet: internal?.block.destination ?? null,
    asset: wallet?.jetton ?? block.destination,
    amount: internal === null ? intended : internal.data.amount,
  };
  const { receiver, receiver_wallet, asset, amount: units } = learned;
  const details = {
    asset,
    receiver,
    receiver_jetton_wallet: receiver_wallet,
    amount: units,
    ton_amount: data.ton_amount,
  };
  return meaning(jettonMintType, details, { kind: 'jetton_mint', failed, data: learned });
}

export const jettonMint = pattern('jetton_mint', call(Mint, { next: minted }), ({ block, data, internal }, context) =>
  mintMeaning(block, data, internal, context.fact(internal?.block.destination ?? null, 'jetton_wallet'), null),
);

export const oldJettonMint = pattern(
  'jetton_mint_15',
  call(OldMint, { next: minted }),
  ({ block, data, internal }, context) => {
    const { amount: intended } = context.read(MasterMessage, data.master_msg);
    const wallet = context.fact(internal?.block.destination ?? null, 'jetton_wallet');
    return mintMeaning(block, data, internal, wallet, intended);
  },
  { kinds: ['jetton_mint'] },
);
