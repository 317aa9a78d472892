import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { encodeCell, type ValueOf } from '#formats/tlb/codec/codec.js';
import { either, maybe, ref } from '#formats/tlb/codec/composites.js';
import { any, bool, cellRef, grams, uint32, uint64, varUint } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { MsgAddress, MsgAddressExt, MsgAddressInt } from '#formats/tlb/msg-address.js';
import { StateInit } from '#formats/tlb/state-init.js';

const extraFlags = varUint(16);

const extInMsgInfo = variant(
  'ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams = CommonMsgInfo;',
  { src: MsgAddressExt, dest: MsgAddressInt, import_fee: grams },
);

/**
 * Header of a message: between contracts (`int_msg_info`), from outside (`ext_in_msg_info`), to outside
 * (`ext_out_msg_info`, an event). Values and fees in nanotons, `created_lt` in logical time, `created_at` in unix seconds.
 * `extra_flags` (global version 12; before it was `ihr_fee`, with the same bits): bit 0 asks for the new bounce format,
 * bit 1 for the whole original body in it.
 */
export const CommonMsgInfo = union('CommonMsgInfo', [
  variant(
    'int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:MsgAddressInt dest:MsgAddressInt value:CurrencyCollection extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32 = CommonMsgInfo;',
    {
      ihr_disabled: bool,
      bounce: bool,
      bounced: bool,
      src: MsgAddressInt,
      dest: MsgAddressInt,
      value: CurrencyCollection,
      extra_flags: extraFlags,
      fwd_fee: grams,
      created_lt: uint64,
      created_at: uint32,
    },
  ),
  extInMsgInfo,
  variant(
    'ext_out_msg_info$11 src:MsgAddressInt dest:MsgAddressExt created_lt:uint64 created_at:uint32 = CommonMsgInfo;',
    { src: MsgAddressInt, dest: MsgAddressExt, created_lt: uint64, created_at: uint32 },
  ),
]);
export type CommonMsgInfo = ValueOf<typeof CommonMsgInfo>;

/** Header of a message as a contract writes it: the source may be left out, fees and times are filled in by the node. */
export const CommonMsgInfoRelaxed = union('CommonMsgInfoRelaxed', [
  variant(
    'int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:MsgAddress dest:MsgAddressInt value:CurrencyCollection extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32 = CommonMsgInfoRelaxed;',
    {
      ihr_disabled: bool,
      bounce: bool,
      bounced: bool,
      src: MsgAddress,
      dest: MsgAddressInt,
      value: CurrencyCollection,
      extra_flags: extraFlags,
      fwd_fee: grams,
      created_lt: uint64,
      created_at: uint32,
    },
  ),
  variant(
    'ext_out_msg_info$11 src:MsgAddress dest:MsgAddressExt created_lt:uint64 created_at:uint32 = CommonMsgInfoRelaxed;',
    { src: MsgAddress, dest: MsgAddressExt, created_lt: uint64, created_at: uint32 },
  ),
]);
export type CommonMsgInfoRelaxed = ValueOf<typeof CommonMsgInfoRelaxed>;

const MaybeInit = maybe(either(StateInit, ref(StateInit)));
/** Inline it is the rest of the cell; in a reference it may be any cell, exotic ones included. */
const Body = either(any, cellRef);

/**
 * A message. `init` and `body` keep where they were stored, inline (`left`) or in a cell of their own (`right`); read them
 * with {@link messageInit} and {@link messageBody}.
 */
export const Message = record(
  'message$_ {X:Type} info:CommonMsgInfo init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = Message X;',
  { info: CommonMsgInfo, init: MaybeInit, body: Body },
);
export type Message = ValueOf<typeof Message>;

/** A message as a contract writes it; see {@link CommonMsgInfoRelaxed}. */
export const MessageRelaxed = record(
  'message$_ {X:Type} info:CommonMsgInfoRelaxed init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = MessageRelaxed X;',
  { info: CommonMsgInfoRelaxed, init: MaybeInit, body: Body },
);
export type MessageRelaxed = ValueOf<typeof MessageRelaxed>;

/**
 * The body from its start, wherever it is stored; each call gives a slice of its own.
 * @throws cells/exotic-not-expected when the body is an exotic cell, cells/pruned-branch
 */
export function messageBody(message: Message | MessageRelaxed): Slice {
  const { body } = message;
  return body.kind === 'left' ? body.value.clone() : openCell(body.value);
}

/** The body as a cell; its hash is what explorers show as the hash of the body. */
export function messageBodyCell(message: Message | MessageRelaxed): Cell {
  const { body } = message;
  return body.kind === 'left' ? new Builder().storeSlice(body.value).endCell() : body.value;
}

/** The state that the message deploys, wherever it is stored, or `null`. @throws as decoding it */
export function messageInit(message: Message | MessageRelaxed): StateInit | null {
  const { init } = message;
  if (init === null) return null;
  return init.kind === 'left' ? init.value : init.value.value;
}

/**
 * Hash that stays the same however a wallet stored its external message (TEP-467): source `addr_none`, import fee 0,
 * no init, body in a reference.
 * @throws tlb/unknown-variant when the message does not come from outside
 */
export function normalizedExternalHash(message: Message): Uint8Array {
  const { info } = message;
  if (info.kind !== 'ext_in_msg_info')
    throw tlbErrors['unknown-variant']({
      type: 'an external message',
      kind: info.kind,
      allowed: extInMsgInfo.line.name,
    });
  return encodeCell(Message, {
    info: { kind: 'ext_in_msg_info', src: null, dest: info.dest, import_fee: 0n },
    init: null,
    body: { kind: 'right', value: messageBodyCell(message) },
  }).hash(0);
}
