import * as core from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import {
  openVmCellSlice,
  VM_NAN,
  VM_NULL,
  VmStack,
  VmStackValue,
  vmCell,
  vmInt,
  vmSlice,
  vmTuple,
} from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { itReads, itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { readLiteExchanges } from '#test/support/lite-exchanges.js';
import { TlReader } from '#test/support/tl-reader.js';
import { vectorPath } from '#test/support/vector-files.js';

const toCore = (cell: Cell): core.Cell => core.Cell.fromBoc(Buffer.from(serializeBoc(cell)))[0]!;
const leaf = new Builder().storeUint(0x1234, 13).storeRef(EMPTY_CELL).endCell();

/** A value as @ton/core has it. */
function asCore(value: VmStackValue): core.TupleItem {
  switch (value.kind) {
    case 'vm_stk_null':
      return { type: 'null' };
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return { type: 'int', value: value.value };
    case 'vm_stk_nan':
      return { type: 'nan' };
    case 'vm_stk_cell':
      return { type: 'cell', cell: toCore(value.cell) };
    case 'vm_stk_slice':
      return {
        type: 'slice',
        cell: toCore(new Builder().storeSlice(openVmCellSlice(value.slice)).endCell()),
      };
    case 'vm_stk_builder':
      return { type: 'builder', cell: toCore(value.cell) };
    case 'vm_stk_tuple':
      return { type: 'tuple', items: value.data.map(asCore) };
    case 'vm_stk_cont':
      throw new TypeError('@ton/core has no continuations');
  }
}

/** With hashes in place of cells, as one cell may be several objects. */
function plain(item: core.TupleItem): unknown {
  if (item.type === 'tuple') return item.items.map(plain);
  return 'cell' in item ? [item.type, item.cell.hash().toString('hex')] : item;
}

const leaves: fc.Arbitrary<VmStackValue> = fc.oneof(
  fc.constant(VM_NULL),
  fc.constant(VM_NAN),
  fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n - 1n }).map(vmInt),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(vmInt),
  fc.constant(vmCell(leaf)),
  fc.constant(vmSlice(leaf)),
  fc.constant<VmStackValue>({ kind: 'vm_stk_builder', cell: leaf }),
);
const { value: values } = fc.letrec<{ value: VmStackValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaves,
    fc.array(tie('value'), { maxLength: 6 }).map((items) => vmTuple(items)),
  ),
}));

describe('VmStack, as @ton/core writes and reads it', () => {
  it('any stack', () => {
    fc.assert(
      fc.property(fc.array(values, { maxLength: 8 }), (stack) => {
        const theirs = core.serializeTuple(stack.map(asCore));
        const ours = encodeCell(VmStack, stack);
        expect(toHex(ours.hash())).toBe(theirs.hash().toString('hex'));
        const boc = serializeBoc(ours);
        const read = roundTrip(VmStack, parseBocRoot(boc)).map(asCore);
        expect(read.map(plain)).toEqual(core.parseTuple(theirs).map(plain));
      }),
      { numRuns: 300 },
    );
  });

  it.each([0, 1, 2, 3, 4, 255])('a tuple of %i items', (length) => {
    const tuple = vmTuple(Array.from({ length }, (_, i) => vmInt(i)));
    const cell = encodeCell(VmStack, [tuple]);
    expect(toHex(cell.hash())).toBe(
      core
        .serializeTuple([asCore(tuple)])
        .hash()
        .toString('hex'),
    );
    expect(roundTrip(VmStack, cell)).toEqual([tuple]);
  });

  it('a list of 500 pairs, each in the one before', () => {
    let list: VmStackValue = VM_NULL;
    for (let i = 0; i < 500; i++) list = vmTuple([vmInt(i), list]);
    expect(roundTrip(VmStackValue, encodeCell(VmStackValue, list))).toEqual(list);
  });

  it('a stack of 1000 values', () => {
    const stack = Array.from({ length: 1000 }, (_, i) => vmInt(i));
    expect(roundTrip(VmStack, encodeCell(VmStack, stack))).toEqual(stack);
  });
});

describe('VmStack of a liteserver', () => {
  const file = vectorPath('collection/recorded-net/lite-queries.jsonl.br');
  it('arguments, results and c7 of all recorded get methods', () => {
    let stacks = 0;
    for (const exchange of readLiteExchanges(file)) {
      if (exchange.result !== 'liteServer.runMethodResult') continue;
      const request = new TlReader(exchange.request);
      if (request.word() !== 0x5cc65dd2) continue; // with a wait prefix
      request.word();
      request.blockId();
      request.int();
      request.int256();
      request.long();
      const found = [request.bytes()];
      const response = new TlReader(exchange.response).expect(0xa39a616b);
      const mode = response.word();
      response.blockId();
      response.blockId();
      for (const [bit, fields] of [
        [1, 2],
        [2, 1],
      ] as const)
        if ((mode & bit) !== 0) for (let i = 0; i < fields; i++) response.bytes();
      const c7 = (mode & 8) !== 0 ? response.bytes() : new Uint8Array(0);
      if ((mode & 16) !== 0) response.bytes();
      response.int();
      if ((mode & 4) !== 0) found.push(response.bytes());
      for (const boc of found) {
        if (boc.length === 0) continue;
        const cell = parseBocRoot(boc);
        const stack = roundTrip(VmStack, cell);
        expect(stack.map((value) => plain(asCore(value)))).toEqual(core.parseTuple(toCore(cell)).map(plain));
        stacks++;
      }
      if (c7.length > 0) expect(roundTrip(VmStackValue, parseBocRoot(c7)).kind).toBe('vm_stk_tuple');
    }
    expect(stacks).toBeGreaterThan(50);
  });
});

/** Bits in hexadecimal, references after them. */
const cell = (hex: string, ...refs: Cell[]): Cell => {
  const builder = new Builder().storeBytes(new Uint8Array(Buffer.from(hex, 'hex')));
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
};
const slice = { cell: leaf, st_bits: 1, end_bits: 13, st_ref: 0, end_ref: 1 };
/** st_bits 1, end_bits 13, st_ref 0, end_ref 1. */
const sliceBits = (builder: Builder) =>
  builder.storeRef(leaf).storeUint(1, 10).storeUint(13, 10).storeUint(0, 3).storeUint(1, 3);

describe('values by their bits', () => {
  itReads(VmStackValue, [
    { id: 'null', cell: cell('00'), value: VM_NULL },
    { id: 'the smallest int64', cell: cell('018000000000000000'), value: vmInt(-(2n ** 63n)) },
    { id: 'NaN', cell: cell('02ff'), value: VM_NAN },
    {
      id: '2^63, which does not fit int64',
      cell: new Builder()
        .storeUint(0x0100, 15)
        .storeUint(2n ** 63n, 257)
        .endCell(),
      value: { kind: 'vm_stk_int', value: 2n ** 63n },
    },
    {
      id: 'the smallest int257',
      cell: new Builder()
        .storeUint(0x0100, 15)
        .storeUint(2n ** 256n, 257)
        .endCell(),
      value: { kind: 'vm_stk_int', value: -(2n ** 256n) },
    },
    {
      id: 'a small number in the long form, which is kept',
      cell: new Builder().storeUint(0x0100, 15).storeUint(5, 257).endCell(),
      value: { kind: 'vm_stk_int', value: 5n },
    },
    { id: 'a cell', cell: cell('03', leaf), value: vmCell(leaf) },
    { id: 'a slice', cell: sliceBits(new Builder().storeUint(4, 8)).endCell(), value: { kind: 'vm_stk_slice', slice } },
    { id: 'a builder', cell: cell('05', leaf), value: { kind: 'vm_stk_builder', cell: leaf } },
    { id: 'the empty tuple', cell: cell('070000'), value: vmTuple([]) },
    { id: 'a tuple of one', cell: cell('070001', cell('00')), value: vmTuple([VM_NULL]) },
    { id: 'a pair', cell: cell('070002', cell('00'), cell('02ff')), value: vmTuple([VM_NULL, VM_NAN]) },
    {
      id: 'a triple',
      cell: cell('070003', cell('', cell('00'), cell('02ff')), cell('030000'.slice(0, 2), leaf)),
      value: vmTuple([VM_NULL, VM_NAN, vmCell(leaf)]),
    },
    {
      id: 'a continuation',
      cell: new Builder().storeUint(6, 8).storeUint(0b1000, 4).storeInt(-7, 32).endCell(),
      value: { kind: 'vm_stk_cont', cont: { kind: 'vmc_quit', exit_code: -7 } },
    },
  ]);

  it('opens a slice at its bounds', () => {
    const opened = openVmCellSlice(slice);
    expect([opened.bitOffset, opened.remainingBits, opened.remainingRefs]).toEqual([1, 12, 1]);
    expect(opened.loadUint(12)).toBe(0x1234 & 0xfff);
  });
});

describe('refused values', () => {
  itRefuses(VmStackValue, [
    { id: 'an unknown tag', cell: cell('08'), code: 'tlb/constructor-tag', path: '' },
    { id: 'half a tag', cell: cell('0280'), code: 'tlb/constructor-tag', path: '' },
    { id: 'leftovers', cell: cell('0000'), code: 'cells/slice-not-empty', path: '' },
    { id: 'an item too few', cell: cell('070002', cell('00')), code: 'cells/slice-no-reference', path: 'data' },
    {
      id: 'a tuple cell with bits',
      cell: cell('070003', cell('01', cell('00'), cell('00')), cell('00')),
      code: 'cells/slice-not-empty',
      path: 'data',
    },
    {
      id: 'an item that is none',
      cell: cell('070002', cell('00'), cell('ff')),
      code: 'tlb/constructor-tag',
      path: '[1]',
    },
    {
      id: 'an item with leftovers',
      cell: cell('070001', cell('070001', cell('0000'))),
      code: 'cells/slice-not-empty',
      path: '[0][0]',
    },
    {
      id: 'a slice beyond its cell',
      cell: new Builder().storeUint(4, 8).storeRef(leaf).storeUint(1, 10).storeUint(14, 10).storeUint(0, 6).endCell(),
      code: 'tlb/constraint',
      path: 'slice',
    },
    {
      id: 'a slice that ends before it begins',
      cell: new Builder().storeUint(4, 8).storeRef(leaf).storeUint(3, 10).storeUint(2, 10).storeUint(0, 6).endCell(),
      code: 'tlb/constraint',
      path: 'slice',
    },
  ]);
  itRefuses(VmStack, [
    { id: 'no depth', cell: cell('0000'), code: 'cells/slice-underflow', path: '' },
    { id: 'a depth without values', cell: cell('ffffff'), code: 'cells/slice-no-reference', path: '[16777214]' },
    {
      id: 'a bad value below',
      cell: cell('00000200', cell('09', EMPTY_CELL)),
      code: 'tlb/constructor-tag',
      path: '[0]',
    },
    { id: 'something below the bottom', cell: cell('00000100', cell('00')), code: 'cells/slice-not-empty', path: '' },
  ]);

  it('a tuple that stands for more items than there are atoms', () => {
    let item = cell('00');
    for (let i = 0; i < 500; i++) item = cell('070002', item, item);
    const boc = serializeBoc(item);
    const started = cpuMs();
    expect(errorOf(() => decodeCell(VmStackValue, parseBocRoot(boc))).code).toBe('tlb/vm-size');
    expect(cpuMs() - started).toBeLessThan(1000);
  });

  it('what cells cannot hold is not written', () => {
    expect(errorCode(() => encodeCell(VmStackValue, vmInt(2n ** 256n)))).toBe('cells/value-range');
    expect(errorCode(() => encodeCell(VmStack, Array<VmStackValue>(2000).fill(VM_NULL)))).toBe('cells/cell-depth');
    let deep: VmStackValue = VM_NULL;
    for (let i = 0; i < 20_000; i++) deep = vmTuple([deep]);
    expect(errorCode(() => encodeCell(VmStackValue, deep))).toBe('cells/cell-depth');
    const wide = vmTuple(Array<VmStackValue>(65536).fill(VM_NULL));
    expect(errorCode(() => encodeCell(VmStackValue, wide))).toBe('cells/value-range');
  });
});
