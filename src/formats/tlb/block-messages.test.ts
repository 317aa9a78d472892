import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { openCell } from '#formats/cells/slice.js';
import {
  emittedLt,
  exportedValue,
  InMsg,
  InMsgDescr,
  IntermediateAddress,
  importFees,
  inMsgDescr,
  MsgEnvelope,
  OutMsg,
  OutMsgDescr,
} from '#formats/tlb/block-messages.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { type CurrencyCollection, ExtraCurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { type EnqueuedMsg, OutMsgQueue } from '#formats/tlb/out-msg-queue.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { itReads, itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const account = Address.ofParts(0, new Uint8Array(32).fill(1));
const value: CurrencyCollection = { grams: 1_000_000n, other: ExtraCurrencyCollection.of([[100, 5n]]) };

const internal = Lazy.ofValue(Message, {
  info: {
    kind: 'int_msg_info',
    ihr_disabled: false,
    bounce: true,
    bounced: false,
    src: account,
    dest: Address.ofParts(-1, new Uint8Array(32).fill(2)),
    value,
    extra_flags: 3n,
    fwd_fee: 700n,
    created_lt: 90n,
    created_at: 1_700_000_000,
  },
  init: null,
  body: { kind: 'left', value: openCell(EMPTY_CELL) },
});
const external = Lazy.ofValue(Message, {
  info: { kind: 'ext_in_msg_info', src: null, dest: account, import_fee: 0n },
  init: null,
  body: { kind: 'left', value: openCell(EMPTY_CELL) },
});
const event = Lazy.ofValue(Message, {
  info: { kind: 'ext_out_msg_info', src: account, dest: null, created_lt: 77n, created_at: 0 },
  init: null,
  body: { kind: 'left', value: openCell(EMPTY_CELL) },
});

const hops = {
  cur_addr: { kind: 'interm_addr_regular', use_dest_bits: 0 },
  next_addr: { kind: 'interm_addr_regular', use_dest_bits: 96 },
} as const;
const plain: MsgEnvelope = { kind: 'msg_envelope', ...hops, fwd_fee_remaining: 500n, msg: internal };
const deferredEnvelope: MsgEnvelope = {
  ...plain,
  kind: 'msg_envelope_v2',
  emitted_lt: 95n,
  metadata: { depth: 2, initiator_addr: account, initiator_lt: 80n },
};
const envelope = Lazy.ofValue(MsgEnvelope, plain);
const transaction = Lazy.ofCell(Transaction, new Builder().storeUint(1, 8).endCell());
const proof = new Builder().storeUint(2, 8).endCell();

/** What comes in with the message before and since global version 12, in nanotons: fees, value. */
const imports: readonly {
  readonly message: InMsg;
  readonly fees: bigint;
  readonly old: bigint;
  readonly now: bigint;
  readonly extra: bigint | undefined;
}[] = [
  { message: { kind: 'msg_import_ext', msg: external, transaction }, fees: 0n, old: 0n, now: 0n, extra: undefined },
  {
    message: { kind: 'msg_import_ihr', msg: internal, transaction, ihr_fee: 3n, proof_created: proof },
    fees: 3n,
    old: 1_000_003n,
    now: 1_000_003n,
    extra: 5n,
  },
  {
    message: { kind: 'msg_import_imm', in_msg: envelope, transaction, fwd_fee: 500n },
    fees: 500n,
    old: 0n,
    now: 0n,
    extra: undefined,
  },
  {
    message: { kind: 'msg_import_fin', in_msg: envelope, transaction, fwd_fee: 500n },
    fees: 500n,
    old: 1_000_503n,
    now: 1_000_500n,
    extra: 5n,
  },
  {
    message: { kind: 'msg_import_tr', in_msg: envelope, out_msg: envelope, transit_fee: 9n },
    fees: 9n,
    old: 1_000_503n,
    now: 1_000_500n,
    extra: 5n,
  },
  {
    message: { kind: 'msg_discard_fin', in_msg: envelope, transaction_id: 91n, fwd_fee: 500n },
    fees: 500n,
    old: 500n,
    now: 500n,
    extra: undefined,
  },
  {
    message: { kind: 'msg_discard_tr', in_msg: envelope, transaction_id: 91n, fwd_fee: 500n, proof_delivered: proof },
    fees: 500n,
    old: 500n,
    now: 500n,
    extra: undefined,
  },
  {
    message: { kind: 'msg_import_deferred_fin', in_msg: envelope, transaction, fwd_fee: 500n },
    fees: 500n,
    old: 1_000_503n,
    now: 1_000_500n,
    extra: 5n,
  },
  {
    message: { kind: 'msg_import_deferred_tr', in_msg: envelope, out_msg: envelope },
    fees: 0n,
    old: 1_000_503n,
    now: 1_000_500n,
    extra: 5n,
  },
];

describe('imported messages', () => {
  it.each(imports)('$message.kind', ({ message, fees, old, now, extra }) => {
    expect(roundTrip(InMsg, encodeCell(InMsg, message)).kind).toBe(message.kind);
    for (const [globalVersion, amount] of [
      [11, old],
      [12, now],
    ] as const) {
      const { fees_collected, value_imported } = importFees(message, globalVersion);
      expect([fees_collected, value_imported.grams, value_imported.other.get(100)]).toEqual([fees, amount, extra]);
    }
  });

  it('are summed up in the dictionary of the block', () => {
    const entries = imports.map(({ message }, i) => [new Uint8Array(32).fill(i * 16), message] as const);
    const sum = (each: (row: (typeof imports)[number]) => bigint) =>
      imports.reduce((total, row) => total + each(row), 0n);
    const { extra } = InMsgDescr.of(entries);
    expect(extra.fees_collected).toBe(sum((row) => row.fees));
    expect(extra.value_imported.grams).toBe(sum((row) => row.now));
    expect(extra.value_imported.other.get(100)).toBe(sum((row) => row.extra ?? 0n));
    expect(inMsgDescr(11).of(entries).extra.value_imported.grams).toBe(sum((row) => row.old));
    const read = roundTrip(InMsgDescr, encodeCell(InMsgDescr, InMsgDescr.of(entries)));
    expect([...read].map(([, { kind }]) => kind)).toEqual(imports.map(({ message }) => message.kind));
    expect(roundTrip(InMsgDescr, encodeCell(InMsgDescr, InMsgDescr.of([]))).extra.fees_collected).toBe(0n);
  });

  it('are internal when they come from another shard', () => {
    const wrong = Lazy.ofValue(MsgEnvelope, { ...plain, msg: external });
    expect(errorCode(() => importFees({ kind: 'msg_import_fin', in_msg: wrong, transaction, fwd_fee: 0n }, 12))).toBe(
      'tlb/constraint',
    );
  });

  itRefuses(InMsg, [
    {
      id: 'a tag that is none',
      cell: new Builder().storeUint(0b00111, 5).endCell(),
      code: 'tlb/constructor-tag',
      path: '',
    },
  ]);
});

const reimport = Lazy.ofValue(InMsg, imports[2]!.message);
const exports: readonly { readonly message: OutMsg; readonly exported: bigint }[] = [
  { message: { kind: 'msg_export_ext', msg: event, transaction }, exported: 0n },
  { message: { kind: 'msg_export_imm', out_msg: envelope, transaction, reimport }, exported: 0n },
  { message: { kind: 'msg_export_new', out_msg: envelope, transaction }, exported: 1_000_500n },
  { message: { kind: 'msg_export_tr', out_msg: envelope, imported: reimport }, exported: 1_000_500n },
  { message: { kind: 'msg_export_deq', out_msg: envelope, import_block_lt: (1n << 63n) - 1n }, exported: 0n },
  {
    message: {
      kind: 'msg_export_deq_short',
      msg_env_hash: new Uint8Array(32),
      next_workchain: -1,
      next_addr_pfx: 1n,
      import_block_lt: 2n,
    },
    exported: 0n,
  },
  { message: { kind: 'msg_export_tr_req', out_msg: envelope, imported: reimport }, exported: 1_000_500n },
  { message: { kind: 'msg_export_deq_imm', out_msg: envelope, reimport }, exported: 0n },
  { message: { kind: 'msg_export_new_defer', out_msg: envelope, transaction }, exported: 1_000_500n },
  { message: { kind: 'msg_export_deferred_tr', out_msg: envelope, imported: reimport }, exported: 1_000_500n },
];

describe('exported messages', () => {
  it.each(exports)('$message.kind', ({ message, exported }) => {
    expect(roundTrip(OutMsg, encodeCell(OutMsg, message)).kind).toBe(message.kind);
    expect(exportedValue(message, 12).grams).toBe(exported);
    expect(exportedValue(message, 11).grams).toBe(exported === 0n ? 0n : exported + 3n);
  });

  it('are summed up in the dictionary of the block', () => {
    const entries = exports.map(({ message }, i) => [new Uint8Array(32).fill(i * 16), message] as const);
    const { extra } = roundTrip(OutMsgDescr, encodeCell(OutMsgDescr, OutMsgDescr.of(entries)));
    expect(extra.grams).toBe(exports.reduce((total, { exported }) => total + exported, 0n));
    expect(OutMsgDescr.of([]).extra).toEqual(NO_CURRENCY);
  });
});

describe('envelopes', () => {
  it('of both versions', () => {
    for (const each of [plain, deferredEnvelope]) roundTrip(MsgEnvelope, encodeCell(MsgEnvelope, each));
    const read = decodeCell(MsgEnvelope, encodeCell(MsgEnvelope, deferredEnvelope));
    expect(read.kind === 'msg_envelope_v2' && read.metadata?.initiator_lt).toBe(80n);
  });

  it('report when the message was sent on', () => {
    expect(emittedLt(plain)).toBe(90n);
    expect(emittedLt(deferredEnvelope)).toBe(95n);
    expect(emittedLt({ ...deferredEnvelope, emitted_lt: null })).toBe(90n);
    expect(emittedLt({ ...plain, msg: event })).toBe(77n);
    expect(emittedLt({ ...plain, msg: external })).toBe(0n);
  });

  it('wait in a queue that knows the least lt', () => {
    const entry = (out_msg: MsgEnvelope): EnqueuedMsg => ({
      enqueued_lt: 99n,
      out_msg: Lazy.ofValue(MsgEnvelope, out_msg),
    });
    const keyed = (hash: number) => ({
      workchain: -1,
      prefix: 0xfedcba9876543210n,
      hash: new Uint8Array(32).fill(hash),
    });
    const queue = OutMsgQueue.of([
      [keyed(1), entry(deferredEnvelope)],
      [keyed(2), entry(plain)],
    ]);
    const read = roundTrip(OutMsgQueue, encodeCell(OutMsgQueue, queue));
    expect(read.extra).toBe(90n);
    expect([...read].map(([key]) => [key.workchain, key.prefix, toHex(key.hash).slice(0, 2)])).toEqual([
      [-1, 0xfedcba9876543210n, '01'],
      [-1, 0xfedcba9876543210n, '02'],
    ]);
    expect(read.delete(keyed(2)).extra).toBe(95n);
    expect(OutMsgQueue.of([]).extra).toBe(0n);
  });

  itReads(IntermediateAddress, [
    {
      id: 'simple',
      cell: new Builder().storeUint(0b10, 2).storeInt(-1, 8).storeUint(7n, 64).endCell(),
      value: { kind: 'interm_addr_simple', workchain_id: -1, addr_pfx: 7n },
    },
    {
      id: 'ext',
      cell: new Builder().storeUint(0b11, 2).storeInt(-5, 32).storeUint(7n, 64).endCell(),
      value: { kind: 'interm_addr_ext', workchain_id: -5, addr_pfx: 7n },
    },
  ]);
  itRefuses(IntermediateAddress, [
    {
      id: 'more than 96 bits',
      cell: new Builder().storeUint(97, 8).endCell(),
      code: 'tlb/constraint',
      path: 'use_dest_bits',
    },
  ]);
});
