import { type AugmentedCodec, type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { cellRef, grams, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { EXTRA_FLAGS_VERSION, transitValue } from '#formats/tlb/transit-value.js';

/**
 * How a message came into a block: from outside (`ext`), made and used up in the same block (`imm`), from another block
 * to its receiver here (`fin`) or on its way through (`tr`), out of its sender's queue of deferred messages (`deferred_…`).
 */
export const InMsg = union('InMsg', [
  variant('msg_import_ext$000 msg:^(Message Any) transaction:^Transaction = InMsg;', {
    msg: ref(Message),
    transaction: ref(Transaction),
  }),
  variant('msg_import_ihr$010 msg:^(Message Any) transaction:^Transaction ihr_fee:Grams proof_created:^Cell = InMsg;', {
    msg: ref(Message),
    transaction: ref(Transaction),
    ihr_fee: grams,
    proof_created: cellRef,
  }),
  variant('msg_import_imm$011 in_msg:^MsgEnvelope transaction:^Transaction fwd_fee:Grams = InMsg;', {
    in_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
    fwd_fee: grams,
  }),
  variant('msg_import_fin$100 in_msg:^MsgEnvelope transaction:^Transaction fwd_fee:Grams = InMsg;', {
    in_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
    fwd_fee: grams,
  }),
  variant('msg_import_tr$101 in_msg:^MsgEnvelope out_msg:^MsgEnvelope transit_fee:Grams = InMsg;', {
    in_msg: ref(MsgEnvelope),
    out_msg: ref(MsgEnvelope),
    transit_fee: grams,
  }),
  variant('msg_discard_fin$110 in_msg:^MsgEnvelope transaction_id:uint64 fwd_fee:Grams = InMsg;', {
    in_msg: ref(MsgEnvelope),
    transaction_id: uint64,
    fwd_fee: grams,
  }),
  variant('msg_discard_tr$111 in_msg:^MsgEnvelope transaction_id:uint64 fwd_fee:Grams proof_delivered:^Cell = InMsg;', {
    in_msg: ref(MsgEnvelope),
    transaction_id: uint64,
    fwd_fee: grams,
    proof_delivered: cellRef,
  }),
  variant('msg_import_deferred_fin$00100 in_msg:^MsgEnvelope transaction:^Transaction fwd_fee:Grams = InMsg;', {
    in_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
    fwd_fee: grams,
  }),
  variant('msg_import_deferred_tr$00101 in_msg:^MsgEnvelope out_msg:^MsgEnvelope = InMsg;', {
    in_msg: ref(MsgEnvelope),
    out_msg: ref(MsgEnvelope),
  }),
]);
export type InMsg = ValueOf<typeof InMsg>;

/** Of imported messages: the fees that this block's validators get, in nanotons, and the value that came into the shard. */
export const ImportFees = record('import_fees$_ fees_collected:Grams value_imported:CurrencyCollection = ImportFees;', {
  fees_collected: grams,
  value_imported: CurrencyCollection,
});
export type ImportFees = ValueOf<typeof ImportFees>;

const NO_FEES: ImportFees = { fees_collected: 0n, value_imported: NO_CURRENCY };

/**
 * What one message brings in.
 * @param globalVersion version of the network's rules (config parameter 8) for the block
 */
export function importFees(message: InMsg, globalVersion: number): ImportFees {
  switch (message.kind) {
    case 'msg_import_ext':
      return NO_FEES;
    case 'msg_import_ihr': {
      const { info } = message.msg.value;
      const value = info.kind === 'int_msg_info' ? info.value : NO_CURRENCY;
      return { fees_collected: message.ihr_fee, value_imported: addCurrency(value, onlyGrams(message.ihr_fee)) };
    }
    case 'msg_import_imm':
      return { fees_collected: message.fwd_fee, value_imported: NO_CURRENCY };
    case 'msg_import_fin':
    case 'msg_import_deferred_fin':
      return { fees_collected: message.fwd_fee, value_imported: transitValue(message.in_msg.value, globalVersion) };
    case 'msg_import_tr':
      return { fees_collected: message.transit_fee, value_imported: transitValue(message.in_msg.value, globalVersion) };
    case 'msg_import_deferred_tr':
      return { fees_collected: 0n, value_imported: transitValue(message.in_msg.value, globalVersion) };
    case 'msg_discard_fin':
    case 'msg_discard_tr':
      return { fees_collected: message.fwd_fee, value_imported: onlyGrams(message.fwd_fee) };
  }
}

/** Messages that came into a block, by their hash; the extra of a node is the sum of what they bring in. */
export type InMsgDescr = AugmentedDictionary<Uint8Array, InMsg, ImportFees>;

/** The codec of `_ (HashmapAugE 256 InMsg ImportFees) = InMsgDescr;` under the rules of a global version. */
export function inMsgDescr(globalVersion: number): AugmentedCodec<Uint8Array, InMsg, ImportFees> {
  return hashmapAugE(bytesKey(32), InMsg, ImportFees, {
    empty: NO_FEES,
    leaf: (message) => importFees(message, globalVersion),
    combine: (left, right) => ({
      fees_collected: left.fees_collected + right.fees_collected,
      value_imported: addCurrency(left.value_imported, right.value_imported),
    }),
  });
}

/** As {@link inMsgDescr} under present rules: reading is the same for all, writing is not. */
export const InMsgDescr: AugmentedCodec<Uint8Array, InMsg, ImportFees> = inMsgDescr(EXTRA_FLAGS_VERSION);
