import * as core from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { openCell } from '#formats/cells/slice.js';
import { type Codec, decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import {
  TrActionPhase,
  Transaction,
  TransactionDescr,
  type TrBouncePhase,
  TrComputePhase,
  TrCreditPhase,
  TrStoragePhase,
} from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { transactionCells } from '#test/support/block-transactions.js';
import { itReads, itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { coreDescription, plainDescription } from '#test/support/core-shape.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const storage_ph = { storage_fees_collected: 7n, storage_fees_due: 9n, status_change: 'acst_frozen' } as const;
const credit_ph = { due_fees_collected: 3n, credit: onlyGrams(4n) };
const split_info = { cur_shard_pfx_len: 5, acc_split_depth: 63, this_addr: hash(1), sibling_addr: hash(2) };
const vm: TrComputePhase = {
  kind: 'tr_phase_compute_vm',
  success: false,
  msg_state_used: true,
  account_activated: true,
  gas_fees: 10n ** 12n,
  gas_used: 2n ** 47n,
  gas_limit: 1n,
  gas_credit: 10_000n,
  mode: 7,
  exit_code: -14,
  exit_arg: -2147483648,
  vm_steps: 4294967295,
  vm_init_state_hash: hash(3),
  vm_final_state_hash: hash(4),
};
const skipped = (
  reason: 'cskip_no_state' | 'cskip_bad_state' | 'cskip_no_gas' | 'cskip_suspended',
): TrComputePhase => ({
  kind: 'tr_phase_compute_skipped',
  reason,
});
const action = Lazy.ofValue(TrActionPhase, {
  success: false,
  valid: true,
  no_funds: true,
  status_change: 'acst_deleted',
  total_fwd_fees: 1n,
  total_action_fees: null,
  result_code: 37,
  result_arg: -5,
  tot_actions: 255,
  spec_actions: 1,
  skipped_actions: 2,
  msgs_created: 65535,
  action_list_hash: hash(5),
  tot_msg_size: { cells: 3n, bits: 2000n },
});
const bounces: readonly (TrBouncePhase | null)[] = [
  null,
  { kind: 'tr_phase_bounce_negfunds' },
  { kind: 'tr_phase_bounce_nofunds', msg_size: { cells: 1n, bits: 2n }, req_fwd_fees: 3n },
  { kind: 'tr_phase_bounce_ok', msg_size: { cells: 1n, bits: 2n }, msg_fees: 3n, fwd_fees: 4n },
];
const [prepared] = transactionCells(readBytes(vectorPath('examples/basechain-block.boc')));
const prepare_transaction = Lazy.ofCell(Transaction, prepared!);
const flags = { aborted: true, destroyed: false };

const values: readonly TransactionDescr[] = [
  ...bounces.map(
    (bounce): TransactionDescr => ({
      kind: 'trans_ord',
      credit_first: true,
      storage_ph,
      credit_ph,
      compute_ph: vm,
      action,
      bounce,
      ...flags,
    }),
  ),
  ...(['cskip_no_state', 'cskip_bad_state', 'cskip_no_gas'] as const).map(
    (reason): TransactionDescr => ({
      kind: 'trans_ord',
      credit_first: false,
      storage_ph: null,
      credit_ph: null,
      compute_ph: skipped(reason),
      action: null,
      bounce: null,
      aborted: false,
      destroyed: true,
    }),
  ),
  { kind: 'trans_storage', storage_ph },
  { kind: 'trans_tick_tock', is_tock: true, storage_ph, compute_ph: vm, action, ...flags },
  { kind: 'trans_split_prepare', split_info, storage_ph, compute_ph: vm, action: null, ...flags },
  { kind: 'trans_split_install', split_info, prepare_transaction, installed: true },
  { kind: 'trans_merge_prepare', split_info, storage_ph, aborted: true },
  {
    kind: 'trans_merge_install',
    split_info,
    prepare_transaction,
    storage_ph: null,
    credit_ph,
    compute_ph: vm,
    action,
    ...flags,
  },
];

describe('TransactionDescr of every kind, as @ton/core reads it', () => {
  const readByBoth = values.filter((value) => !value.kind.startsWith('trans_merge'));
  it.each(readByBoth.map((value, row) => ({ row, kind: value.kind, value })))('$row $kind', ({ value }) => {
    const boc = serializeBoc(encodeCell(TransactionDescr, value));
    const read = roundTrip(TransactionDescr, parseBocRoot(boc));
    const theirs = core.loadTransactionDescription(core.Cell.fromBoc(Buffer.from(boc))[0]!.beginParse());
    expect(plainDescription(read)).toEqual(plainDescription(value));
    expect(plainDescription(read)).toEqual(coreDescription(theirs));
  });

  describe('merges, which @ton/core does not know', () => {
    // Each part written by its codec, which the rows above have checked; the frame bit by bit.
    const frame = (tag: number) =>
      new Builder().storeUint(tag, 4).storeUint(5, 6).storeUint(63, 6).storeBytes(hash(1)).storeBytes(hash(2));
    const part = <T>(codec: Codec<T>, value: T) => openCell(encodeCell(codec, value));
    itReads(TransactionDescr, [
      {
        id: 'trans_merge_prepare',
        cell: frame(0b0110).storeSlice(part(TrStoragePhase, storage_ph)).storeBit(true).endCell(),
        value: { kind: 'trans_merge_prepare', split_info, storage_ph, aborted: true },
      },
    ]);
    const install = frame(0b0111)
      .storeRef(prepare_transaction.cell)
      .storeBit(false)
      .storeBit(true)
      .storeSlice(part(TrCreditPhase, { due_fees_collected: 3n, credit: onlyGrams(4n) }))
      .storeSlice(part(TrComputePhase, vm))
      .storeBit(true)
      .storeRef(action.cell)
      .storeUint(0b10, 2)
      .endCell();

    it('trans_merge_install', () => {
      const read = roundTrip(TransactionDescr, install);
      expect(plainDescription(read)).toEqual(plainDescription(values.at(-1)!));
      expect(toHex(encodeCell(TransactionDescr, values.at(-1)!).hash())).toBe(toHex(install.hash()));
    });
  });

  it('reads the mode as a signed number, as the schema has it', () => {
    const value = { ...values[0], compute_ph: { ...vm, mode: -1 } } as TransactionDescr;
    expect(decodeCell(TransactionDescr, encodeCell(TransactionDescr, value))).toMatchObject({
      compute_ph: { mode: -1 },
    });
  });

  it('knows suspended accounts, which @ton/core does not', () => {
    const value = { ...values[4], compute_ph: skipped('cskip_suspended') } as TransactionDescr;
    expect(decodeCell(TransactionDescr, encodeCell(TransactionDescr, value))).toMatchObject({
      compute_ph: { reason: 'cskip_suspended' },
    });
  });
});

describe('refused descriptions', () => {
  const of = (tag: number, bits: number) => new Builder().storeUint(tag, bits);
  const tickTock = () => of(0b0011, 4).storeUint(0, 4).storeUint(0, 2);
  itRefuses(TransactionDescr, [
    { id: 'an unknown kind', cell: of(0b1000, 4).endCell(), code: 'tlb/constructor-tag', path: '' },
    { id: 'nothing', cell: of(0, 0).endCell(), code: 'cells/slice-underflow', path: '' },
    {
      id: 'no storage phase',
      cell: of(0b0001, 4).endCell(),
      code: 'cells/slice-underflow',
      path: 'storage_ph.storage_fees_collected',
    },
    {
      id: 'an unknown reason',
      cell: tickTock().storeUint(0b0111, 4).endCell(),
      code: 'tlb/constructor-tag',
      path: 'compute_ph.reason',
    },
    {
      id: 'no details of the run',
      cell: tickTock().storeUint(0b1000, 4).storeUint(0, 4).endCell(),
      code: 'cells/slice-no-reference',
      path: 'compute_ph.^vm',
    },
    {
      id: 'short details of the run',
      cell: tickTock().storeUint(0b1000, 4).storeUint(0, 4).storeRef(of(0, 7).storeUint(0, 8).endCell()).endCell(),
      code: 'cells/slice-underflow',
      path: 'compute_ph.exit_code',
    },
    { id: 'leftovers', cell: of(0b0001, 4).storeUint(0, 7).endCell(), code: 'cells/slice-not-empty', path: '' },
  ]);
});
