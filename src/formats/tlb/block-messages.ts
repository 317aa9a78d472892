import { type AugmentedCodec, type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey } from '#formats/tlb/codec/dictionary.js';
import {
  bigUint,
  bits256,
  cellRef,
  constrained,
  grams,
  int8,
  int32,
  uint,
  uint32,
  uint64,
} from '#formats/tlb/codec/primitives.js';
import { record, union, variant } from '#formats/tlb/codec/record.js';
import { addCurrency, CurrencyCollection, currencySum, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { Message } from '#formats/tlb/message.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** Position of a message in transit: the number of destination address bits already routed, or an address prefix. */
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

/** The transaction that a message descends from, and the number of steps. `initiator_lt` is the lt of that transaction. */
export const MsgMetadata = record(
  'msg_metadata#0 depth:uint32 initiator_addr:MsgAddressInt initiator_lt:uint64 = MsgMetadata;',
  { depth: uint32, initiator_addr: MsgAddressInt, initiator_lt: uint64 },
);
export type MsgMetadata = ValueOf<typeof MsgMetadata>;

/**
 * A message in transit between shards, and the rest of its forward fee. `emitted_lt` is the lt at which a deferred message
 * left the dispatch queue.
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

/** The lt by which the message is ordered: `emitted_lt`, or its `created_lt`. */
export function emittedLt(envelope: MsgEnvelope): bigint {
  if (envelope.kind === 'msg_envelope_v2' && envelope.emitted_lt !== null) return envelope.emitted_lt;
  const { info } = envelope.msg.value;
  return info.kind === 'ext_in_msg_info' ? 0n : info.created_lt;
}

/** From this global version on, the former `ihr_fee` (instant hypercube routing) holds flags and does not count as value. */
export const EXTRA_FLAGS_VERSION = 12;

/**
 * The value of an internal message in transit: its own value, the rest of its forward fee, and in old global versions
 * `ihr_fee`.
 *
 * @param globalVersion global version (config parameter 8) in effect for the block
 * @throws tlb/constraint when the message is not internal
 */
export function transitValue(envelope: MsgEnvelope, globalVersion: number): CurrencyCollection {
  const { info } = envelope.msg.value;
  if (info.kind !== 'int_msg_info')
    throw tlbErrors.constraint({ bit: 0, value: info.kind, rule: 'only internal messages are sent between shards' });
  const fees = envelope.fwd_fee_remaining + (globalVersion < EXTRA_FLAGS_VERSION ? info.extra_flags : 0n);
  return addCurrency(info.value, onlyGrams(fees));
}

/**
 * How a message entered a block: external-in (`ext`), created and processed in the same block (`imm`), from another block
 * to its destination here (`fin`) or in transit (`tr`), from the dispatch queue of its sender (`deferred_…`).
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

/** For imported messages: fees collected by the validators of this block in nanotons, and value imported into the shard. */
export const ImportFees = record('import_fees$_ fees_collected:Grams value_imported:CurrencyCollection = ImportFees;', {
  fees_collected: grams,
  value_imported: CurrencyCollection,
});
export type ImportFees = ValueOf<typeof ImportFees>;

const NO_FEES: ImportFees = { fees_collected: 0n, value_imported: NO_CURRENCY };

/**
 * The fees and value that one message imports.
 * @param globalVersion global version (config parameter 8) in effect for the block
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

/** Messages imported into a block by hash; the extra of a node is the sum of the imported fees and values. */
export type InMsgDescr = AugmentedDictionary<Uint8Array, InMsg, ImportFees>;

/** The codec of `_ (HashmapAugE 256 InMsg ImportFees) = InMsgDescr;` for a global version. */
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

/** {@link inMsgDescr} for current global versions. Decoding is the same for all versions, computing extras is not. */
export const InMsgDescr: AugmentedCodec<Uint8Array, InMsg, ImportFees> = inMsgDescr(EXTRA_FLAGS_VERSION);

/**
 * How a message left a block or its queue: external-out (`ext`), created and processed in the same block (`imm`), new in
 * the queue (`new`) or in the dispatch queue of its sender (`new_defer`), in transit (`tr`, `tr_req`,
 * `deferred_tr`), dequeued because it was imported elsewhere (`deq…`).
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
 * The value that one message exports from the shard.
 * @param globalVersion global version (config parameter 8) in effect for the block
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

/** Messages that left a block by hash; the extra of a node is the sum of the exported values. */
export type OutMsgDescr = AugmentedDictionary<Uint8Array, OutMsg, CurrencyCollection>;

/** The codec of `_ (HashmapAugE 256 OutMsg CurrencyCollection) = OutMsgDescr;` for a global version. */
export function outMsgDescr(globalVersion: number): AugmentedCodec<Uint8Array, OutMsg, CurrencyCollection> {
  return hashmapAugE(
    bytesKey(32),
    OutMsg,
    CurrencyCollection,
    currencySum((message) => exportedValue(message, globalVersion)),
  );
}

/** {@link outMsgDescr} for current global versions. Decoding is the same for all versions, computing extras is not. */
export const OutMsgDescr: AugmentedCodec<Uint8Array, OutMsg, CurrencyCollection> = outMsgDescr(EXTRA_FLAGS_VERSION);
