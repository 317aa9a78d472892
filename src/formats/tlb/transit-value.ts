import { addCurrency, type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import type { MsgEnvelope } from '#formats/tlb/msg-envelope.js';

/** From this global version on, the field that was the fee of instant routing holds flags, and counts as no value. */
export const EXTRA_FLAGS_VERSION = 12;

/**
 * What an internal message in transit carries: its value, what is left of its forwarding fee, and under old rules the fee
 * of instant routing.
 *
 * @param globalVersion version of the network's rules (config parameter 8) for the block at hand
 * @throws tlb/constraint when the message is not internal
 */
export function transitValue(envelope: MsgEnvelope, globalVersion: number): CurrencyCollection {
  const { info } = envelope.msg.value;
  if (info.kind !== 'int_msg_info')
    throw tlbErrors.constraint({ bit: 0, value: info.kind, rule: 'only internal messages are sent between shards' });
  const fees = envelope.fwd_fee_remaining + (globalVersion < EXTRA_FLAGS_VERSION ? info.extra_flags : 0n);
  return addCurrency(info.value, onlyGrams(fees));
}
