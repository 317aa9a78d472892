import { actionType, addressesField, addressField, amountField, bareBocField } from '#domain/actions/action-type.js';
import { call, callOf, meaning, pattern } from '#domain/actions/pattern.js';
import type { TracedMessage } from '#domain/actions/trace-input.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { MessageRelaxed, messageBodyCell } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { bytesEqual } from '#kernel/bytes.js';

/* Vesting wallets. */

const Send = layout('send#a7733acd query_id:uint64 mode:uint8 message:^Cell');
const SENT = 0xf7733acd;
const AddWhitelist = layout('add_whitelist#7258a69b query_id:uint64 account:MsgAddress rest:Any');
const Whitelisted = layout('_ account:MsgAddress rest:Any');
const ADDED = 0xf258a69b;

export const vestingSendMessageType = actionType(
  'vesting_send_message',
  'The owner of a vesting wallet sent a message from it.',
  {
    query_id: amountField('Chosen by the sender.'),
    message_boc: bareBocField('The message.'),
    source: addressField('The owner.', 'source'),
    vesting: addressField('The wallet.', 'destination'),
    destination: addressField('Receiver of the message.', 'destination_secondary'),
    amount: amountField('Nanotons of the message.', 'amount'),
  },
);

export const vestingSendMessage = pattern(
  'vesting_send_message',
  call(Send, { next: { sent: callOf(SENT) } }),
  ({ block, data }, context) => {
    const { info } = decodeCell(MessageRelaxed, data.message);
    if (info.kind !== 'int_msg_info') return context.refuse('the message is not internal');
    const destination = accountOf(info.dest);
    const { grams: value } = info.value;
    const message = { body: messageBodyCell(decodeCell(MessageRelaxed, data.message)), destination, value };
    const sent = block.first.transaction?.out_msgs ?? [];
    const details = {
      query_id: data.query_id,
      message_boc: data.message,
      source: block.source,
      vesting: block.destination,
      destination,
      amount: value,
    };
    return meaning(vestingSendMessageType, details, { failed: !sent.some((one) => isMessage(one, message)) });
  },
);

/** Whether a message is the one that was asked for. The send mode may change its value, and the wallet may send its body in another form. */
function isMessage(
  { destination, body, value }: TracedMessage,
  wanted: { readonly destination: Address | null; readonly body: Cell; readonly value: bigint },
): boolean {
  if (destination === null || wanted.destination === null || !destination.equals(wanted.destination)) return false;
  return bytesEqual(body.hash(), wanted.body.hash()) || value === wanted.value;
}

export const vestingAddWhitelistType = actionType(
  'vesting_add_whitelist',
  'Accounts were added to those that a vesting wallet may always pay.',
  {
    query_id: amountField('Chosen by the sender.'),
    accounts_added: addressesField('The accounts.'),
    source: addressField('Who added them.', 'source'),
    vesting: addressField('The wallet.', 'destination'),
  },
);

/** Longer chains are no list of a wallet. */
const MAX_ACCOUNTS = 1_000;

export const vestingAddWhitelist = pattern(
  'vesting_add_whitelist',
  call(AddWhitelist, { next: { added: callOf(ADDED) } }),
  ({ block, data, added }, context) => {
    const accounts: Address[] = [];
    let { account, rest } = data;
    for (let i = 0; i < MAX_ACCOUNTS; i++) {
      if (account !== null) accounts.push(account);
      if (rest.remainingRefs === 0) break;
      ({ account, rest } = Whitelisted.load(openCell(rest.loadRef())));
    }
    context.spend(accounts.length);
    const details = {
      query_id: data.query_id,
      accounts_added: accounts,
      source: block.source,
      vesting: block.destination,
    };
    return meaning(vestingAddWhitelistType, details, { failed: block.failed || added.block.failed });
  },
);
