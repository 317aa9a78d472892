import { Address } from '#formats/address/address.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import type { InMsg } from '#formats/tlb/in-msg.js';
import { messageBody, messageInit } from '#formats/tlb/message.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import type { MessageBook } from '#localnet/validation/message-book.js';
import { prefixOf, samePrefix } from '#localnet/validation/routing.js';

const NOBODY = new Uint8Array(32);

/**
 * Checks the two messages that a masterchain block makes itself: the validators' fees to who collects them, and new extra
 * currencies to who mints them.
 *
 * @throws validation/broken-rule
 */
export function checkSpecialMessages(context: BlockContext, book: MessageBook): void {
  const { block, mcExtra, reference } = context;
  if (mcExtra === null) return;
  const { recover_create_msg, mint_msg } = mcExtra.messages.value;
  const { recovered, minted } = block.value_flow.value.fees.value;
  const { config } = reference;
  checkOne(context, book, 'recover_create_msg', recover_create_msg, recovered, config.feeCollector);
  checkOne(context, book, 'mint_msg', mint_msg, minted, config.minter);
}

function checkOne(
  { rules }: BlockContext,
  book: MessageBook,
  name: string,
  message: Lazy<InMsg> | null,
  amount: CurrencyCollection,
  receiver: Uint8Array | undefined,
): void {
  const isNothing = amount.grams === 0n && amount.other.isEmpty;
  rules.equal('special-message', isNothing, message === null, name);
  if (message === null) return;
  const { value } = message;
  if (value.kind !== 'msg_import_imm') throw rules.broken('special-message', 'msg_import_imm', value.kind, name);
  const routed = book.routed(value.in_msg);
  if (routed === null) throw rules.broken('special-message', 'an internal message', 'another', name);
  const { info, envelope, hash } = routed;
  const registered = book.in.get(toHex(hash));
  rules.equal('special-message', 'msg_import_imm', registered?.kind ?? 'none', `${name} among the messages`);
  rules.equal('special-message', amount, info.value, `${name}: value`);
  const fees = envelope.fwd_fee_remaining + info.fwd_fee + info.extra_flags;
  rules.equal('special-message', NO_CURRENCY.grams, fees, `${name}: fees`);
  const { src, dest } = info;
  const from = src instanceof Address && src.workchain === MASTERCHAIN ? src.hash : null;
  rules.equal('special-message', NOBODY, from, `${name}: src`);
  const to = dest instanceof Address && dest.workchain === MASTERCHAIN ? dest.hash : null;
  rules.equal('special-message', receiver ?? null, to, `${name}: dest`);
  const arrived = samePrefix(routed.cur, prefixOf(dest)) && samePrefix(routed.next, prefixOf(dest));
  rules.require(arrived, 'special-message', 'at its receiver', 'on its way', name);
  const { msg } = envelope;
  const empty = messageInit(msg.value) === null && msg.value.body.kind === 'left' && messageBody(msg.value).isEmpty;
  rules.require(empty, 'special-message', 'no body', 'one', name);
}
