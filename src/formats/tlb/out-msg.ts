import { type AugmentedCodec, type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { bigUint, bits256, int32, uint64 } from '#formats/tlb/codec/primitives.js';
import { variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection, currencySum, NO_CURRENCY } from '#formats/tlb/currency.js';
import { InMsg } from '#formats/tlb/in-msg.js';
import { Message } from '#formats/tlb/message.js';
import { MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { EXTRA_FLAGS_VERSION, transitValue } from '#formats/tlb/transit-value.js';

/**
 * How a message left a block or its queue: to the outside (`ext`), made and used up in the same block (`imm`), new in the
 * queue (`new`) or in its sender's queue of deferred messages (`new_defer`), on its way through (`tr`, `tr_req`,
 * `deferred_tr`), taken out of the queue because it was received (`deq…`).
 */
export const OutMsg = union('OutMsg', [
  variant('msg_export_ext$000 msg:^(Message Any) transaction:^Transaction = OutMsg;', {
    msg: ref(Message),
    transaction: ref(Transaction),
  }),
  variant('msg_export_imm$010 out_msg:^MsgEnvelope transaction:^Transaction reimport:^InMsg = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
    reimport: ref(InMsg),
  }),
  variant('msg_export_new$001 out_msg:^MsgEnvelope transaction:^Transaction = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
  }),
  variant('msg_export_tr$011 out_msg:^MsgEnvelope imported:^InMsg = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    imported: ref(InMsg),
  }),
  variant('msg_export_deq$1100 out_msg:^MsgEnvelope import_block_lt:uint63 = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    import_block_lt: bigUint(63),
  }),
  variant(
    `msg_export_deq_short$1101 msg_env_hash:bits256 next_workchain:int32 next_addr_pfx:uint64 import_block_lt:uint64
      = OutMsg;`,
    { msg_env_hash: bits256, next_workchain: int32, next_addr_pfx: uint64, import_block_lt: uint64 },
  ),
  variant('msg_export_tr_req$111 out_msg:^MsgEnvelope imported:^InMsg = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    imported: ref(InMsg),
  }),
  variant('msg_export_deq_imm$100 out_msg:^MsgEnvelope reimport:^InMsg = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    reimport: ref(InMsg),
  }),
  variant('msg_export_new_defer$10100 out_msg:^MsgEnvelope transaction:^Transaction = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    transaction: ref(Transaction),
  }),
  variant('msg_export_deferred_tr$10101 out_msg:^MsgEnvelope imported:^InMsg = OutMsg;', {
    out_msg: ref(MsgEnvelope),
    imported: ref(InMsg),
  }),
]);
export type OutMsg = ValueOf<typeof OutMsg>;

/**
 * The value that goes out of the shard with one message.
 * @param globalVersion version of the network's rules (config parameter 8) for the block
 */
export function exportedValue(message: OutMsg, globalVersion: number): CurrencyCollection {
  switch (message.kind) {
    case 'msg_export_ext':
    case 'msg_export_imm':
    case 'msg_export_deq':
    case 'msg_export_deq_short':
    case 'msg_export_deq_imm':
      return NO_CURRENCY;
    default:
      return transitValue(message.out_msg.value, globalVersion);
  }
}

/** Messages that left a block, by their hash; the extra of a node is the sum of the values that go out of the shard. */
export type OutMsgDescr = AugmentedDictionary<Uint8Array, OutMsg, CurrencyCollection>;

/** The codec of `_ (HashmapAugE 256 OutMsg CurrencyCollection) = OutMsgDescr;` under the rules of a global version. */
export function outMsgDescr(globalVersion: number): AugmentedCodec<Uint8Array, OutMsg, CurrencyCollection> {
  return hashmapAugE(
    bytesKey(32),
    OutMsg,
    CurrencyCollection,
    currencySum((message) => exportedValue(message, globalVersion)),
  );
}

/** As {@link outMsgDescr} under present rules: reading is the same for all, writing is not. */
export const OutMsgDescr: AugmentedCodec<Uint8Array, OutMsg, CurrencyCollection> = outMsgDescr(EXTRA_FLAGS_VERSION);
