import { describe, expect, it } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary, uintKey } from '#formats/tlb/codec/dictionary.js';
import { VM_NULL, VmCont, VmStack, VmStackValue, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const leaf = new Builder().storeUint(0x1234, 13).storeRef(EMPTY_CELL).endCell();
const slice = { cell: leaf, st_bits: 1, end_bits: 13, st_ref: 0, end_ref: 1 };
const sliceBits = (builder: Builder) =>
  builder.storeRef(leaf).storeUint(1, 10).storeUint(13, 10).storeUint(0, 3).storeUint(1, 3);
const quit = encodeCell(VmCont, { kind: 'vmc_quit', exit_code: -7 });
const lazyQuit = Lazy.ofCell(VmCont, quit);
const noSave = new Dictionary({ key: uintKey(4), value: VmStackValue }, null);
const noControl = { nargs: null, stack: null, save: noSave, cp: null };

/** Binary digits, references after them. */
const bits = (digits: string, ...refs: Cell[]) => {
  const builder = new Builder();
  for (const digit of digits) builder.storeBit(digit === '1');
  for (const ref of refs) builder.storeRef(ref);
  return builder;
};

describe('continuations by their bits', () => {
  const rows: { id: string; value: VmCont; cell: Cell }[] = [
    {
      id: 'vmc_std',
      value: { kind: 'vmc_std', cdata: noControl, code: slice },
      cell: sliceBits(bits('00' + '0000')).endCell(),
    },
    {
      id: 'vmc_envelope',
      value: { kind: 'vmc_envelope', cdata: noControl, next: lazyQuit },
      cell: bits('01' + '0000', quit).endCell(),
    },
    { id: 'vmc_quit', value: { kind: 'vmc_quit', exit_code: -7 }, cell: quit },
    { id: 'vmc_quit_exc', value: { kind: 'vmc_quit_exc' }, cell: bits('1001').endCell() },
    {
      id: 'vmc_repeat',
      value: { kind: 'vmc_repeat', count: 2n ** 63n - 1n, body: lazyQuit, after: lazyQuit },
      cell: bits(`10100${'1'.repeat(63)}`, quit, quit).endCell(),
    },
    {
      id: 'vmc_until',
      value: { kind: 'vmc_until', body: lazyQuit, after: lazyQuit },
      cell: bits('110000', quit, quit).endCell(),
    },
    { id: 'vmc_again', value: { kind: 'vmc_again', body: lazyQuit }, cell: bits('110001', quit).endCell() },
    {
      id: 'vmc_while_cond',
      value: { kind: 'vmc_while_cond', cond: lazyQuit, body: lazyQuit, after: lazyQuit },
      cell: bits('110010', quit, quit, quit).endCell(),
    },
    {
      id: 'vmc_while_body',
      value: { kind: 'vmc_while_body', cond: lazyQuit, body: lazyQuit, after: lazyQuit },
      cell: bits('110011', quit, quit, quit).endCell(),
    },
    {
      id: 'vmc_pushint',
      value: { kind: 'vmc_pushint', value: -1, next: lazyQuit },
      cell: bits(`1111${'1'.repeat(32)}`, quit).endCell(),
    },
    {
      id: 'vmc_std with all control data',
      value: {
        kind: 'vmc_std',
        cdata: {
          nargs: 5,
          stack: [vmInt(1), VM_NULL],
          save: Dictionary.of({ key: uintKey(4), value: VmStackValue }, [[7, vmTuple([])]]),
          cp: -1,
        },
        code: slice,
      },
      cell: sliceBits(
        bits(
          `00${'1'}${'0000000000101'}${'1'}${'0'.repeat(22)}10`,
          bits(`00000001${'0'.repeat(63)}1`, EMPTY_CELL).endCell(),
        )
          .storeUint(0, 8)
          // c7: a label of all four bits, then the empty tuple
          .storeBit(true)
          .storeRef(
            bits('10' + '100' + '0111')
              .storeUint(0x070000, 24)
              .endCell(),
          )
          .storeBit(true)
          .storeInt(-1, 16),
      ).endCell(),
    },
  ];
  it.each(rows)('$id', ({ value, cell: written }) => {
    expect(toHex(encodeCell(VmCont, value).hash())).toBe(toHex(written.hash()));
    const read = roundTrip(VmCont, written);
    expect(read.kind).toBe(value.kind);
    if ('next' in read) expect(read.next.value).toEqual({ kind: 'vmc_quit', exit_code: -7 });
    if ('after' in read) expect(read.after.value).toEqual({ kind: 'vmc_quit', exit_code: -7 });
    if (read.kind === 'vmc_std' && read.cdata.stack !== null) {
      expect(read.cdata.stack).toEqual([vmInt(1), VM_NULL]);
      expect(read.cdata.save.get(7)).toEqual(vmTuple([]));
      expect([read.cdata.nargs, read.cdata.cp]).toEqual([5, -1]);
    }
  });

  it('a continuation on the stack of a continuation on a stack', () => {
    let cont: VmCont = { kind: 'vmc_quit_exc' };
    for (let i = 0; i < 20; i++)
      cont = {
        kind: 'vmc_std',
        cdata: { ...noControl, stack: [vmTuple([{ kind: 'vm_stk_cont', cont }])] },
        code: slice,
      };
    const stack: VmStack = [{ kind: 'vm_stk_cont', cont }, vmInt(1)];
    expect(toHex(encodeCell(VmStack, roundTrip(VmStack, encodeCell(VmStack, stack))).hash())).toBe(
      toHex(encodeCell(VmStack, stack).hash()),
    );
  });
});

describe('refused continuations', () => {
  itRefuses(VmCont, [
    { id: 'an unknown kind', cell: bits('1011').endCell(), code: 'tlb/constructor-tag', path: '' },
    { id: 'one without body', cell: bits('110001').endCell(), code: 'cells/slice-no-reference', path: 'body' },
    { id: 'leftovers', cell: bits('10011').endCell(), code: 'cells/slice-not-empty', path: '' },
    {
      id: 'a bad value on its stack',
      cell: sliceBits(bits(`00${'0'}${'1'}${'0'.repeat(23)}1`, EMPTY_CELL).storeUint(8, 8)).endCell(),
      code: 'tlb/constructor-tag',
      path: 'cdata.stack[0]',
    },
  ]);

  it('continuations in stacks of continuations, as deep as cells go', () => {
    let stack = encodeCell(VmStack, []);
    for (let i = 0; i < 400; i++) {
      const inner = new Builder().storeUint(6, 8).storeUint(0b00, 2).storeUint(0b01, 2).storeSlice(openCell(stack));
      const value = sliceBits(inner.storeUint(0, 2)).endCell();
      stack = new Builder().storeUint(1, 24).storeRef(EMPTY_CELL).storeUint(0x070001, 24).storeRef(value).endCell();
    }
    expect(errorCode(() => decodeCell(VmStack, stack))).toBe('tlb/vm-nesting');
  });
});
