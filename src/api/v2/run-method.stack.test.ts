import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLegacyStack, decodeTypedStack } from '#api/v2/stack-arguments.js';
import type { LegacyEntry, TypedEntry } from '#api/v2/stack-forms.js';
import { encodeLegacyStack, encodeTypedStack, MAX_RESULT_LEVELS } from '#api/v2/stack-results.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { VM_NAN, VM_NULL, type VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { errorOf } from '#test/support/error-code.js';
import { shapeOfValue } from '#test/support/tonlib-stack.js';
import { anyInt257, anyStackValue } from '#test/support/vm-values.js';

const anyStack = fc.array(anyStackValue, { maxLength: 5 });
const shapes = (stack: readonly VmStackValue[]) => stack.map(shapeOfValue);

/** de ad be ef and a reference to a cell of 4 bits. */
const cell = new Builder().storeUint(0xdeadbeef, 32).storeRef(new Builder().storeUint(0xb, 4).endCell()).endCell();
const boc = toBase64(serializeBoc(cell));
const tree = {
  data: { b64: '3q2+7w==', len: 32 },
  refs: [{ data: { b64: 'sA==', len: 4 }, refs: [], special: false }],
  special: false,
};
const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32).fill(7)).endExotic();
const libraryBoc = toBase64(serializeBoc(library));

describe('what is written', () => {
  it('is read back by the typed dialect', () => {
    fc.assert(
      fc.property(anyStack, (stack) => {
        const json = JSON.parse(JSON.stringify(encodeTypedStack(stack)));
        expect(shapes(decodeTypedStack(json))).toEqual(shapes(stack));
        const wire = JSON.parse(JSON.stringify(json).replace(/"@type":"vm\./g, '"@type":"tvm.'));
        expect(shapes(decodeTypedStack(wire))).toEqual(shapes(stack));
      }),
    );
  });

  it('is read back by the legacy dialect, slices as the cells that they are called', () => {
    fc.assert(
      fc.property(anyStack, (stack) => {
        const json = JSON.parse(JSON.stringify(encodeLegacyStack(stack)));
        const asCells = stack.map((value) => (value.kind === 'vm_stk_slice' ? vmCell(value.slice.cell) : value));
        expect(shapes(decodeLegacyStack(json))).toEqual(shapes(asCells));
      }),
    );
  });

  it('says the same cell as tree and as bag of cells', () => {
    fc.assert(
      fc.property(anyStack, (stack) => {
        for (const [type, value] of encodeLegacyStack(stack)) {
          if (type !== 'cell') continue;
          const [fromTree, fromBoc] = decodeLegacyStack([
            ['cell', value.object],
            ['cell', value.bytes],
          ]);
          expect(shapeOfValue(fromTree!)).toEqual(shapeOfValue(fromBoc!));
        }
      }),
    );
  });
});

describe('numbers', () => {
  const read = (value: unknown) => decodeLegacyStack([['num', value]])[0];

  it('are taken in every notation', () => {
    fc.assert(
      fc.property(anyInt257, fc.constantFrom('num', 'int', 'number', 'integer'), (value, type) => {
        const sign = value < 0n ? '-' : '';
        const hex = `${sign}0x${(value < 0n ? -value : value).toString(16)}`;
        for (const text of [value.toString(), hex, hex.toUpperCase(), ` ${hex} `]) {
          expect(decodeLegacyStack([[type, text]])).toEqual([vmInt(value)]);
        }
      }),
    );
    expect(read(-5)).toEqual(vmInt(-5));
    expect(read('+7')).toEqual(vmInt(7));
    expect(read('-0')).toEqual(vmInt(0));
    expect(read('0x000000000000000000001f')).toEqual(vmInt(31));
  });

  const tooLarge = (2n ** 256n).toString();
  const rows: readonly [unknown, RegExp][] = [
    ['', /"" is not an integer/],
    ['abc', /"abc" is not an integer/],
    ['1e5', /is not an integer/],
    ['1.5', /is not an integer/],
    ['0x', /is not an integer/],
    ['0xg', /is not an integer/],
    ['--1', /is not an integer/],
    ['1_000', /is not an integer/],
    ['١٢', /is not an integer/],
    ['1\u0000', /is not an integer/],
    [tooLarge, /does not fit 257 bits/],
    [`-${(2n ** 256n + 1n).toString()}`, /does not fit 257 bits/],
    ['9'.repeat(100_000), /does not fit 257 bits/],
    [1.5, /1.5 is not an integer/],
    [2 ** 53, /too large/],
    [true, /a boolean/],
    [null, /is null/],
    [[], /an array/],
    [{}, /an object/],
  ];
  it.each(rows)('%j is refused', (value, message) => {
    expect(refusal(() => read(value))).toMatch(message);
  });
});

describe('cells, slices and builders of the legacy dialect', () => {
  const forms: readonly [string, unknown][] = [
    ['base64', boc],
    ['bytes', { bytes: boc }],
    ['bytes with a tree', { bytes: boc, object: tree }],
    ['tree', tree],
    ['tree without special', { ...tree, special: undefined, refs: [{ data: tree.refs[0]!.data }] }],
    ['tree as text', JSON.stringify(tree)],
    ['tree with stray bits', { ...tree, refs: [{ data: { b64: 'uA==', len: 4 } }] }],
  ];
  it.each(forms)('%s', (_name, form) => {
    const clean = JSON.parse(JSON.stringify(form));
    for (const type of ['cell', 'tvm.Cell', 'vm.Cell', 'tvm.cell']) {
      expect(shapes(decodeLegacyStack([[type, clean]]))).toEqual(shapes([vmCell(cell)]));
    }
    for (const type of ['slice', 'tvm.Slice', 'vm.Slice']) {
      expect(shapes(decodeLegacyStack([[type, clean]]))).toEqual(shapes([vmSlice(cell)]));
    }
    for (const type of ['builder', 'tvm.Builder', 'vm.Builder']) {
      const [value] = decodeLegacyStack([[type, clean]]);
      expect(value?.kind === 'vm_stk_builder' && hashOf(value.cell)).toBe(hashOf(cell));
    }
  });

  it('takes an exotic cell as a cell only', () => {
    for (const form of [libraryBoc, { bytes: libraryBoc }, exoticTree()]) {
      const [value] = decodeLegacyStack([['cell', form]]);
      expect(value?.kind === 'vm_stk_cell' && hashOf(value.cell)).toBe(hashOf(library));
      expect(refusal(() => decodeLegacyStack([['slice', form]]))).toMatch(/a library reference/);
      expect(refusal(() => decodeLegacyStack([['builder', form]]))).toMatch(/a library reference/);
    }
  });

  const twoRoots = toBase64(serializeBoc([cell, EMPTY_CELL]));
  const rows: readonly [unknown, RegExp][] = [
    ['', /empty/],
    ['AAAA', /bag of cells/],
    ['!!!', /not base64/],
    [boc.slice(0, -1), /not base64/],
    [boc.slice(0, -4), /bag of cells/],
    [twoRoots, /2 roots/],
    ['{"data":', /not valid JSON/],
    [{}, /data is nothing/],
    [{ bytes: 5 }, /a number/],
    [{ bytes: boc, obj: 1 }, /unknown property "obj"/],
    [{ ...tree, extra: 1 }, /unknown property "extra"/],
    [{ data: { b64: 'AA==', len: 9 } }, /1 bytes; 9 bits take 2/],
    [{ data: { b64: 'AA==', len: -1 } }, /data.len is -1/],
    [{ data: { b64: 'AA==', len: 1e9 } }, /data.len/],
    [{ data: { b64: 7, len: 8 } }, /data.b64 is a number/],
    [{ data: { b64: '', len: 0 }, refs: {} }, /refs is an object/],
    [{ data: { b64: '', len: 0 }, refs: [5] }, /refs\[0\]/],
    [{ data: { b64: '', len: 0 }, refs: Array(5).fill(tree) }, /4 references/],
    [{ data: { b64: 'CQ==', len: 8 }, special: true }, /exotic/],
    [{ data: { b64: '', len: 0 }, special: 'yes' }, /special is a string/],
    [null, /null/],
    [5, /a number/],
    [[boc], /an array/],
  ];
  it.each(rows)('%j is refused', (form, message) => {
    expect(
      refusal(() =>
        decodeLegacyStack([
          ['num', 1],
          ['cell', form],
        ]),
      ),
    ).toMatch(message);
  });

  it('refuses trees that are too deep, without end of stack', () => {
    let deep: unknown = tree;
    for (let level = 0; level < 1030; level++) deep = { data: { b64: '', len: 0 }, refs: [deep] };
    expect(refusal(() => decodeLegacyStack([['cell', deep]]))).toMatch(/nested/);
    const text = '{"data":{"b64":"","len":0},"refs":['.repeat(20_000) + ']}'.repeat(20_000);
    expect(refusal(() => decodeLegacyStack([['cell', text]]))).toMatch(/nested|JSON/);
  });
});

describe('tuples, lists and null', () => {
  const number = (value: number) => ({ '@type': 'tvm.stackEntryNumber', number: { number: String(value) } });

  it('are read in both prefixes, with inner types or without', () => {
    const elements = [number(1), { '@type': 'vm.stackEntryTuple', tuple: { '@type': 'tvm.tuple', elements: [] } }];
    for (const type of ['tuple', 'tvm.Tuple', 'vm.Tuple']) {
      expect(decodeLegacyStack([[type, { elements }]])).toEqual([vmTuple([vmInt(1), vmTuple([])])]);
      expect(decodeLegacyStack([[type, { '@type': 'vm.tuple', elements }]])).toEqual([
        vmTuple([vmInt(1), vmTuple([])]),
      ]);
    }
    for (const type of ['list', 'tvm.List']) {
      const list = vmTuple([vmInt(1), vmTuple([vmInt(2), VM_NULL])]);
      expect(decodeLegacyStack([[type, { elements: [number(1), number(2)] }]])).toEqual([list]);
      expect(decodeLegacyStack([[type, { elements: [] }]])).toEqual([VM_NULL]);
    }
    for (const content of [null, '']) expect(decodeLegacyStack([['null', content]])).toEqual([VM_NULL]);
  });

  it('are distinguished when written', () => {
    const one = vmInt(1);
    const rows: readonly [VmStackValue, string, number | null][] = [
      [VM_NULL, 'list', 0],
      [vmTuple([]), 'tuple', 0],
      [vmTuple([one, VM_NULL]), 'list', 1],
      [vmTuple([VM_NULL, VM_NULL]), 'list', 1],
      [vmTuple([one, vmTuple([one, VM_NULL])]), 'list', 2],
      [vmTuple([one, vmTuple([one, one])]), 'tuple', 2],
      [vmTuple([one, one, VM_NULL]), 'tuple', 3],
      [vmTuple([VM_NULL]), 'tuple', 1],
      [VM_NAN, 'unsupported', null],
      [{ kind: 'vm_stk_builder', cell }, 'unsupported', null],
    ];
    for (const [value, type, length] of rows) {
      const [[found, content]] = encodeLegacyStack([value]) as [LegacyEntry];
      expect([found, typeof content === 'object' && 'elements' in content ? content.elements.length : null]).toEqual([
        type,
        length,
      ]);
    }
  });

  it('say where a fault is', () => {
    const broken = { elements: [number(1), { '@type': 'tvm.stackEntryCell', cell: { bytes: 'AAAA' } }] };
    const stack = [
      ['num', 1],
      ['num', 2],
      ['num', 3],
      ['tuple', broken],
    ];
    expect(refusal(() => decodeLegacyStack(stack))).toMatch(/\(at stack\[3\]\.elements\[1\]\.cell\)$/);
    const typed = { '@type': 'tvm.stackEntryList', list: { elements: [number(1), 5] } };
    expect(refusal(() => decodeTypedStack([typed]))).toMatch(/\(at stack\[0\]\.list\.elements\[1\]\)$/);
  });

  it('are refused when they are no such thing', () => {
    const rows: readonly [unknown, RegExp][] = [
      ['tuple', /expected is an object/],
      [{}, /elements is nothing/],
      [{ '@type': 'tvm.list', elements: [] }, /@type is "tvm.list"; expected is tvm.tuple/],
      [{ elements: [], more: 1 }, /unknown property "more"/],
      [{ elements: Array(256).fill(number(1)) }, /256 items/],
      [{ elements: [{ '@type': 'tvm.stackEntryUnsupported' }] }, /unsupported/],
      [{ elements: [{ '@type': 'tvm.stackEntryFoo' }] }, /Unsupported stack entry type: "tvm.stackEntryFoo"/],
      [{ elements: [['num', '1']] }, /an array without @type/],
    ];
    for (const [content, message] of rows) {
      expect(refusal(() => decodeLegacyStack([['tuple', content]]))).toMatch(message);
    }
    expect(refusal(() => decodeLegacyStack([['null', 5]]))).toMatch(/null has a number/);
  });

  it('are limited in depth and number', () => {
    let deep: unknown = number(1);
    for (let level = 0; level < 5000; level++) deep = { '@type': 'tvm.stackEntryTuple', tuple: { elements: [deep] } };
    expect(refusal(() => decodeTypedStack([deep]))).toMatch(/nested more than/);
    expect(refusal(() => decodeLegacyStack(Array(8001).fill(['num', 1])))).toMatch(/8000 values/);
    const bytes = 'AAAA'.repeat(21_846);
    const large = /65535 bytes of cells, which nodes do not take/;
    expect(refusal(() => decodeLegacyStack([['cell', bytes]]))).toMatch(large);
    expect(refusal(() => decodeTypedStack([{ '@type': 'tvm.stackEntrySlice', slice: { bytes } }]))).toMatch(large);
    const lists = Array(9).fill(['list', { elements: Array(1000).fill(number(1)) }]);
    expect(refusal(() => decodeLegacyStack(lists))).toMatch(/8000 values.*\(at stack\[7\]/);
  });
});

describe('entries', () => {
  it('of the legacy dialect are pairs of a known type and a value', () => {
    const rows: readonly [unknown, RegExp][] = [
      [{}, /the stack is an object/],
      ['', /the stack is a string/],
      [[5], /a number; expected is an array of two.*\(at stack\[0\]\)/],
      [[['num', 1], []], /an array of 0 elements.*\(at stack\[1\]\)/],
      [[['num']], /an array of 1 elements/],
      [[['num', 1, 2]], /an array of 3 elements/],
      [[[1, 'num']], /the type of the entry is a number/],
      [[['foo', 1]], /Unsupported stack entry type: "foo"/],
      [[['__proto__', 1]], /Unsupported stack entry type/],
      [[['tvm.tvm.Cell', boc]], /Unsupported stack entry type/],
      [[['tvm.stackEntryNumber', 1]], /Unsupported stack entry type/],
    ];
    for (const [stack, message] of rows) expect(refusal(() => decodeLegacyStack(stack))).toMatch(message);
  });

  it('of the typed dialect are objects of a known type', () => {
    const rows: readonly [unknown, RegExp][] = [
      [{}, /the stack is an object/],
      [[['num', '1']], /an array without @type/],
      [[{ number: { number: '1' } }], /without @type/],
      [[{ '@type': 'tvm.stackEntryNumber' }], /number is nothing/],
      [[{ '@type': 'tvm.stackEntryNumber', number: '1' }], /number is a string/],
      [
        [{ '@type': 'tvm.stackEntryNumber', number: { '@type': 'tvm.cell', number: '1' } }],
        /expected is tvm.numberDecimal/,
      ],
      [[{ '@type': 'tvm.stackEntryNumber', number: { number: '1' }, cell: {} }], /unknown property "cell"/],
      [[{ '@type': 'tvm.stackEntrySlice', slice: { bytes: libraryBoc } }], /a library reference/],
    ];
    for (const [stack, message] of rows) expect(refusal(() => decodeTypedStack(stack))).toMatch(message);
    const hexadecimal = [{ '@type': 'vm.stackEntryNumber', number: { number: '0x1f' } }];
    expect(decodeTypedStack(hexadecimal)).toEqual([vmInt(31)]);
  });

  it('of nasty texts are refused or read, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (value) => {
        for (const decode of [decodeLegacyStack, decodeTypedStack]) {
          for (const stack of [value, [value], [['cell', value]], [['tuple', { elements: [value] }]]]) {
            try {
              decode(stack);
            } catch (error) {
              expect(isTernError(error)).toBe(true);
            }
          }
        }
      }),
    );
  });
});

describe('results', () => {
  it('hold of a slice what it has left', () => {
    const slice = { cell, st_bits: 16, end_bits: 28, st_ref: 0, end_ref: 1 };
    const [entry] = encodeTypedStack([{ kind: 'vm_stk_slice', slice }]) as [TypedEntry & { slice: { bytes: string } }];
    const rest = parseBocRoot(fromBase64(entry.slice.bytes)!);
    expect([rest.bits, rest.refCount, rest.bytes[rest.dataOffset]]).toEqual([12, 1, 0xbe]);
    expect(entry.slice.bytes.startsWith('te6cck')).toBe(true);
  });

  it('pad the bits of a tree with zeros', () => {
    const five = new Builder().storeUint(0b10110, 5).endCell();
    const [[, content]] = encodeLegacyStack([vmCell(five)]) as unknown as [['cell', { object: { data: unknown } }]];
    expect(content.object.data).toEqual({ b64: 'sA==', len: 5 });
  });

  it('leave out trees that equal cells blow up', () => {
    let cellOfMany: Cell = EMPTY_CELL;
    for (let level = 0; level < 40; level++)
      cellOfMany = new Builder().storeRef(cellOfMany).storeRef(cellOfMany).endCell();
    const [[, content]] = encodeLegacyStack([vmCell(cellOfMany)]) as [['cell', { bytes: string; object?: unknown }]];
    expect('object' in content).toBe(false);
    expect(hashOf(parseBocRoot(fromBase64(content.bytes)!))).toBe(hashOf(cellOfMany));
  });

  it('have few trees, however many cells are on the stack', () => {
    let cellOfMany: Cell = EMPTY_CELL;
    for (let level = 0; level < 11; level++)
      cellOfMany = new Builder().storeRef(cellOfMany).storeRef(cellOfMany).endCell();
    const [small, ...others] = encodeLegacyStack([vmCell(cell), ...Array(100).fill(vmCell(cellOfMany)), vmCell(cell)]);
    expect(small).toMatchObject(['cell', { object: tree }]);
    const hasTree = others.map(([, content]) => typeof content === 'object' && 'object' in content);
    expect(hasTree).toEqual([...Array(4).fill(true), ...Array(97).fill(false)]);
  });

  it('are refused when a cell is repeated in them without end', () => {
    let large = EMPTY_CELL;
    for (let i = 0; i < 500; i++) large = new Builder().storeUint(i, 1_000).storeRef(large).endCell();
    const many = [vmTuple(Array.from({ length: 255 }, () => vmCell(large)))];
    expect(refusal(() => encodeTypedStack(many))).toMatch(/more than 2097152 characters/);
    expect(refusal(() => encodeLegacyStack(many))).toMatch(/more than 2097152 characters/);
  });

  it('are refused when they are nested too deep, and not when they are merely long', () => {
    let deep = vmTuple([]);
    let pairs: VmStackValue = vmInt(1);
    let list: VmStackValue = VM_NULL;
    for (let level = 0; level < 1000; level++) {
      deep = vmTuple([deep, vmInt(level), vmInt(0)]);
      pairs = vmTuple([vmInt(level), pairs]);
      list = vmTuple([vmInt(level), list]);
    }
    for (const value of [deep, pairs]) {
      expect(refusal(() => encodeTypedStack([value]))).toMatch(`Result stack depth >= ${MAX_RESULT_LEVELS}`);
      expect(refusal(() => encodeLegacyStack([value]))).toMatch(`Result stack depth >= ${MAX_RESULT_LEVELS}`);
    }
    expect(encodeTypedStack([list])).toMatchObject([{ list: { elements: { length: 1000 } } }]);
  });
});

function exoticTree() {
  return { data: { b64: toBase64(library.bytes.subarray(0, 33)), len: 264 }, refs: [], special: true };
}

function hashOf(value: Cell): string {
  return toBase64(value.hash());
}

/** The message of the error that `work` ends with. */
function refusal(work: () => unknown): string {
  return errorOf(work).message;
}
