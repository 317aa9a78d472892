import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary, buildDictionary, checkDictionary } from '#formats/cells/dict-build.js';
import {
  deleteAugmentedEntry,
  deleteEntry,
  type SetMode,
  setAugmentedEntry,
  setEntry,
} from '#formats/cells/dict-edit.js';
import { lookup } from '#formats/cells/dict-read.js';
import { toHex } from '#kernel/bytes.js';
import {
  builderOf,
  coreDictionary,
  describe,
  describeValue,
  dictCase,
  inTable,
  keyOf,
  type ModelValue,
  modelValue,
  sliceOf,
} from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';
import { sums } from '#test/support/sum-augmentation.js';

const hash = (cell: Cell | null) => (cell === null ? null : toHex(cell.hash()));
const steps = fc.array(
  fc.record({ pick: fc.nat(), action: fc.constantFrom('set', 'add', 'replace', 'delete'), value: modelValue }),
  {
    maxLength: 30,
  },
);

suite('editing', () => {
  it('step by step gives what building from scratch gives', () => {
    fc.assert(
      fc.property(dictCase, steps, fc.boolean(), ({ keyBits, entries, probes }, list, inTables) => {
        const model = new Map<string, ModelValue>(entries);
        const keys = [...new Set([...probes, ...entries.keys()])];
        let root = buildDictionary(
          keyBits,
          [...entries].map(([key, value]) => [keyOf(key), builderOf(value)]),
        );
        for (const { pick, action, value } of keys.length === 0 ? [] : list) {
          const key = keys[pick % keys.length]!;
          const known = model.get(key);
          if (inTables && root !== null) root = inTable(root);
          if (action === 'delete') {
            const { root: rest, value: deleted } = deleteEntry(root, keyBits, keyOf(key));
            expect(deleted === null ? undefined : describe(deleted)).toBe(known && describeValue(known));
            if (known === undefined) expect(rest).toBe(root);
            model.delete(key);
            root = rest;
          } else {
            const mode = action as SetMode;
            const changed: Cell | null = setEntry(root, keyBits, keyOf(key), builderOf(value), mode);
            const stored = mode === 'set' || (mode === 'add') === (known === undefined);
            if (stored) model.set(key, value);
            else expect(changed).toBe(root);
            root = changed;
          }
          expect(hash(root), `${action} ${key}`).toBe(coreDictionary(keyBits, model)?.hash().toString('hex') ?? null);
        }
        checkDictionary(root, keyBits);
      }),
    );
  });

  it('uses all cells beside the path again', () => {
    const root = buildDictionary(
      8,
      [1, 2, 64, 128, 255].map((n) => [new Uint8Array([n]), new Builder().storeUint(n, 8)]),
    )!;
    const changed = setEntry(root, 8, new Uint8Array([2]), new Builder().storeUint(99, 8));
    expect(changed.ref(1)).toBe(root.ref(1));
    expect(changed.ref(0).ref(1)).toBe(root.ref(0).ref(1));
    const { root: rest } = deleteEntry(root, 8, new Uint8Array([255]));
    expect(rest!.ref(0)).toBe(root.ref(0));
  });

  it('takes the last entry away', () => {
    const root = setEntry(null, 8, new Uint8Array([7]), new Builder().storeUint(1, 1));
    expect(deleteEntry(root, 8, new Uint8Array([7])).root).toBeNull();
    expect(deleteEntry(null, 8, new Uint8Array([7]))).toEqual({ root: null, value: null });
    expect(setEntry(null, 8, new Uint8Array([7]), new Builder(), 'replace')).toBeNull();
  });

  it('refuses what it would lose or cannot store', () => {
    const value = new Builder().storeUint(1, 8);
    const augmented = buildAugmentedDictionary(
      8,
      [
        [new Uint8Array([1]), new Builder().storeUint(1, 16)],
        [new Uint8Array([2]), new Builder().storeUint(2, 16)],
      ],
      sums,
    ).root!;
    const table: [why: string, run: () => unknown, code: string][] = [
      ['a key of another size', () => setEntry(null, 8, new Uint8Array(2), value), 'cells/dict-key'],
      ['a key of another size', () => deleteEntry(null, 8, new Uint8Array(2)), 'cells/dict-key'],
      [
        'a plain edit of an augmented dictionary',
        () => setEntry(augmented, 8, new Uint8Array([3]), value),
        'cells/dict-fork',
      ],
      [
        'a plain edit of an augmented dictionary',
        () => deleteEntry(augmented, 8, new Uint8Array([1])),
        'cells/dict-fork',
      ],
      [
        'a value too large beside its label',
        () => setEntry(null, 256, keyOf('01'.repeat(128)), new Builder().storeBytes(new Uint8Array(100))),
        'cells/cell-overflow',
      ],
    ];
    for (const [why, run, code] of table) expect(errorCode(run), why).toBe(code);
  });

  it('of a leaf that fits under its short label fails when a delete would have to lengthen the label', () => {
    // Beside a neighbour that differs in the last bit the leaf has an empty label; alone it would have one of 254 bits.
    const big = new Builder().storeBytes(new Uint8Array(125));
    const keys = ['0'.repeat(255), '01'.repeat(128).slice(0, 255)] as const;
    const root = buildDictionary(256, [
      [keyOf(`${keys[1]}0`), big],
      [keyOf(`${keys[1]}1`), new Builder()],
      [keyOf(`${keys[0]}0`), new Builder()],
    ])!;
    expect(errorCode(() => deleteEntry(root, 256, keyOf(`${keys[1]}1`)))).toBe('cells/cell-overflow');
  });
});

suite('editing with extras', () => {
  it('step by step gives what building from scratch gives', () => {
    const small = fc.record({
      key: fc.nat(255),
      amount: fc.nat(500),
      action: fc.constantFrom('set', 'add', 'replace', 'delete'),
    });
    fc.assert(
      fc.property(fc.array(small, { maxLength: 40 }), (list) => {
        const model = new Map<number, number>();
        let root: Cell | null = null;
        for (const { key, amount, action } of list) {
          const known = model.get(key);
          const keyBytes = new Uint8Array([key]);
          const edited: { root: Cell | null; extra: Builder } =
            action === 'delete'
              ? deleteAugmentedEntry(root, 8, keyBytes, sums)
              : setAugmentedEntry(root, 8, keyBytes, new Builder().storeUint(amount, 16), sums, action as SetMode);
          if (action === 'delete') model.delete(key);
          else if (action === 'set' || (action === 'add') === (known === undefined)) model.set(key, amount);
          root = edited.root;
          const scratch = buildAugmentedDictionary(
            8,
            [...model].map(([k, n]) => [new Uint8Array([k]), new Builder().storeUint(n, 16)]),
            sums,
          );
          expect(hash(root)).toBe(hash(scratch.root));
          expect(describe(sliceOf(edited.extra))).toBe(describe(sliceOf(scratch.extra)));
          if (root !== null) root = inTable(root);
        }
        for (const [key, amount] of model) expect(lookup(root, 8, new Uint8Array([key]))?.loadUint(32)).toBe(amount);
      }),
    );
  });

  it('hands out a deleted entry at its extra', () => {
    const { root } = setAugmentedEntry(null, 8, new Uint8Array([1]), new Builder().storeUint(5, 16), sums);
    const { value } = deleteAugmentedEntry(root, 8, new Uint8Array([1]), sums);
    expect([value!.loadUint(32), value!.loadRef().bits, value!.loadUint(16), value!.isEmpty]).toEqual([5, 0, 5, true]);
  });
});
