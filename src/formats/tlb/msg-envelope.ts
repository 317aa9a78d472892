import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { constrained, grams, int8, int32, uint, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { Message } from '#formats/tlb/message.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';

/** Where a message in transit is: how many bits of the way to its receiver are done, or the start of an address. */
export const IntermediateAddress = union('IntermediateAddress', [
  variant('interm_addr_regular$0 use_dest_bits:(#<= 96) = IntermediateAddress;', {
    use_dest_bits: constrained(uint(7), 'use_dest_bits <= 96', (bits) => bits <= 96),
  }),
  variant('interm_addr_simple$10 workchain_id:int8 addr_pfx:uint64 = IntermediateAddress;', {
    workchain_id: int8,
    addr_pfx: uint64,
  }),
  variant('interm_addr_ext$11 workchain_id:int32 addr_pfx:uint64 = IntermediateAddress;', {
    workchain_id: int32,
    addr_pfx: uint64,
  }),
]);
export type IntermediateAddress = ValueOf<typeof IntermediateAddress>;

/** Which transaction a message descends from, and in how many steps. `initiator_lt` is that transaction's lt. */
export const MsgMetadata = record(
  'msg_metadata#0 depth:uint32 initiator_addr:MsgAddressInt initiator_lt:uint64 = MsgMetadata;',
  { depth: uint32, initiator_addr: MsgAddressInt, initiator_lt: uint64 },
);
export type MsgMetadata = ValueOf<typeof MsgMetadata>;

/**
 * A message on its way between shards, and what is left of its forwarding fee. `emitted_lt` is when a deferred message
 * left the queue of its sender.
 */
export const MsgEnvelope = union('MsgEnvelope', [
  variant(
    `msg_envelope#4 cur_addr:IntermediateAddress next_addr:IntermediateAddress fwd_fee_remaining:Grams
      msg:^(Message Any) = MsgEnvelope;`,
    { cur_addr: IntermediateAddress, next_addr: IntermediateAddress, fwd_fee_remaining: grams, msg: ref(Message) },
  ),
  variant(
    `msg_envelope_v2#5 cur_addr:IntermediateAddress next_addr:IntermediateAddress fwd_fee_remaining:Grams
      msg:^(Message Any) emitted_lt:(Maybe uint64) metadata:(Maybe MsgMetadata) = MsgEnvelope;`,
    {
      cur_addr: IntermediateAddress,
      next_addr: IntermediateAddress,
      fwd_fee_remaining: grams,
      msg: ref(Message),
      emitted_lt: maybe(uint64),
      metadata: maybe(MsgMetadata),
    },
  ),
]);
export type MsgEnvelope = ValueOf<typeof MsgEnvelope>;

/** When the message was sent on: `emitted_lt`, or the message's own `created_lt`. */
export function emittedLt(envelope: MsgEnvelope): bigint {
  if (envelope.kind === 'msg_envelope_v2' && envelope.emitted_lt !== null) return envelope.emitted_lt;
  const { info } = envelope.msg.value;
  return info.kind === 'ext_in_msg_info' ? 0n : info.created_lt;
}
