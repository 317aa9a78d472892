import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import {
  type Augmentation,
  buildAugmentedDictionary,
  buildDictionary,
  checkDictionary,
  type DictionaryCheckOptions,
} from '#formats/cells/dict-build.js';
import { deleteAugmentedEntry, setAugmentedEntry } from '#formats/cells/dict-edit.js';
import { readLabel } from '#formats/cells/dict-label.js';
import { iterateEntries, lookup } from '#formats/cells/dict-read.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { bitString, describe as describeSlice, inTable, sliceOf } from '#test/support/dictionaries.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { sums } from '#test/support/sum-augmentation.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const cell = (bits: string, ...refs: Cell[]) => {
  const builder = new Builder().storeBits(bitString(bits));
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
};
const extra = (total: number) => total.toString(2).padStart(32, '0');
const leaf = cell('00');
/** A leaf under a label of no bits: extra, value. */
const summed = (total: number, amount: number) =>
  cell(`00${extra(total)}${amount.toString(2).padStart(16, '0')}`, EMPTY_CELL);

describe('checking a dictionary', () => {
  it('refuses whatever building it would not give', () => {
    const table: [why: string, root: Cell, keyBits: number, options: DictionaryCheckOptions, code: string][] = [
      ['a long label where a short one is due', cell('10' + '1' + '1'), 1, {}, 'cells/dict-label-form'],
      ['a short label where a long one is due', cell('0111100101'), 4, {}, 'cells/dict-label-form'],
      ['a short label where all bits are equal', cell('0111101111'), 4, {}, 'cells/dict-label-form'],
      ['a long label where all bits are equal', cell('10' + '100' + '1111'), 4, {}, 'cells/dict-label-form'],
      [
        'such a label of a fork below',
        cell('00', cell('100', leaf, leaf), cell('00', leaf, leaf)),
        2,
        {},
        'cells/dict-label-form',
      ],
      ['a same label for one bit', cell('11' + '0' + '1'), 1, {}, 'cells/dict-label-form'],
      ['a fork with one reference', cell('00', leaf), 1, {}, 'cells/dict-fork'],
      ['a fork with three', cell('00', leaf, leaf, leaf), 1, {}, 'cells/dict-fork'],
      ['a fork with a bit too many', cell('001', leaf, leaf), 1, {}, 'cells/dict-fork'],
      ['a label longer than the key', cell('10' + '11' + '111'), 2, {}, 'cells/dict-label'],
      ['a label that ends too early', cell('10' + '10' + '1'), 2, {}, 'cells/slice-underflow'],
      ['an extra of a leaf that is not the rule', summed(7, 8), 0, { augmentation: sums }, 'cells/dict-augmentation'],
      ['a leaf without extra', leaf, 0, { augmentation: sums }, 'cells/slice-underflow'],
      [
        'a leaf without the extra’s reference',
        cell(`00${extra(0)}`),
        0,
        { augmentation: sums },
        'cells/slice-no-reference',
      ],
      [
        'an extra of a fork that is not the sum',
        cell(`00${extra(12)}`, summed(5, 5), summed(6, 6), EMPTY_CELL),
        1,
        { augmentation: sums },
        'cells/dict-augmentation',
      ],
      [
        'another reference in the extra of a fork',
        cell(`00${extra(11)}`, summed(5, 5), summed(6, 6), leaf),
        1,
        { augmentation: sums },
        'cells/dict-augmentation',
      ],
      [
        'a bit after the extra of a fork',
        cell(`00${extra(11)}1`, summed(5, 5), summed(6, 6), EMPTY_CELL),
        1,
        { augmentation: sums },
        'cells/dict-fork',
      ],
      [
        'another extra beside the root',
        summed(5, 5),
        0,
        { augmentation: sums, rootExtra: sliceOf(new Builder().storeUint(6, 32).storeRef(EMPTY_CELL)) },
        'cells/dict-augmentation',
      ],
      ['keys that are too long', leaf, 1024, {}, 'cells/dict-key'],
    ];
    for (const [why, root, keyBits, options, code] of table) {
      expect(
        errorCode(() => checkDictionary(root, keyBits, options)),
        why,
      ).toBe(code);
      expect(
        errorCode(() => checkDictionary(inTable(root), keyBits, options)),
        why,
      ).toBe(code);
    }
    const wrong = cell(`00${extra(12)}`, summed(5, 5), summed(6, 6), EMPTY_CELL);
    expect(errorOf(() => checkDictionary(wrong, 1, { augmentation: sums })).data).toMatchObject({
      stored: '0000000C with 1 references',
      computed: '0000000B with 1 references',
    });
  });

  it('accepts what is right, empty ones too', () => {
    const right = cell(`00${extra(11)}`, summed(5, 5), summed(6, 6), EMPTY_CELL);
    const rootExtra = sliceOf(new Builder().storeUint(11, 32).storeRef(EMPTY_CELL));
    checkDictionary(right, 1, { augmentation: sums, rootExtra });
    checkDictionary(null, 1);
    checkDictionary(null, 1, { augmentation: sums, rootExtra: sliceOf(sums.empty()) });
    expect(errorCode(() => checkDictionary(null, 1, { augmentation: sums, rootExtra }))).toBe(
      'cells/dict-augmentation',
    );
  });

  it('looks at a shared cell once, and gives up at the limit', () => {
    let root = leaf;
    for (let i = 0; i < 500; i++) root = cell('00', root, root);
    checkDictionary(root, 500, { limit: 501 });
    checkDictionary(inTable(root), 500, { limit: 501 });
    expect(errorCode(() => checkDictionary(root, 500, { limit: 500 }))).toBe('cells/dict-too-large');
    expect(errorCode(() => checkDictionary(new UsageTracker().track(root), 500, { limit: 10_000 }))).toBe(
      'cells/dict-too-large',
    );
  });

  it('passes over what a proof leaves out, on request', () => {
    const entries = [1, 2, 64, 128, 255].map((n) => [new Uint8Array([n]), new Builder().storeUint(n, 16)] as const);
    const prove = (root: Cell) => {
      const tracker = new UsageTracker();
      lookup(tracker.track(root), 8, new Uint8Array([2]));
      return inTable(createMerkleProof(root, tracker)).ref(0);
    };
    const plain = prove(
      buildDictionary(
        8,
        entries.map(([key, value]) => [key, new Builder().storeBuilder(value).storeRef(leaf)]),
      )!,
    );
    const augmented = prove(buildAugmentedDictionary(8, entries, sums).root!);
    expect(errorCode(() => checkDictionary(plain, 8))).toBe('cells/pruned-branch');
    checkDictionary(plain, 8, { pruned: 'skip' });
    checkDictionary(augmented, 8, { pruned: 'skip', augmentation: sums });
  });
});

/**
 * The extras of `ShardAccountBlocks = HashmapAugE 256 AccountBlock CurrencyCollection`: fees collected, here without
 * extra currencies. `acc_trans#5 account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection)`: the
 * extra of a leaf is that of its transactions.
 */
const fees: Augmentation = {
  empty: () => storeFees(0n),
  leaf: (value) => {
    value.skip(4 + 256);
    if (readLabel(value, 64).length < 64) value.take(0, 2);
    return storeFees(loadFees(value));
  },
  combine: (left, right) => storeFees(loadFees(left) + loadFees(right)),
  skip: (slice) => void loadFees(slice),
};

/** `currencies$_ grams:(VarUInteger 16) other:(HashmapE 32 …)` */
function loadFees(slice: Slice): bigint {
  const grams = slice.loadUintBig(slice.loadUint(4) * 8);
  expect(slice.loadBit()).toBe(false);
  return grams;
}

function storeFees(grams: bigint): Builder {
  const bytes = Math.ceil(grams.toString(2).length / 8) * Number(grams > 0n);
  return new Builder()
    .storeUint(bytes, 4)
    .storeUint(grams, bytes * 8)
    .storeBit(false);
}

describe('the account blocks of real blocks', () => {
  // block: info, value_flow, state_update, extra; in extra: in_msg_descr, out_msg_descr, account_blocks.
  const files: [file: string, accounts: number][] = [
    ['examples/basechain-block.boc', 10],
    ['examples/masterchain-block.boc', 4],
  ];

  it('pass, come out of their entries again, and fail with one fee changed', () => {
    for (const [file, accounts] of files) {
      const slice = openCell(
        parseBocRoot(readBytes(vectorPath(file)))
          .ref(3)
          .ref(2),
      );
      slice.skip(1);
      const root = slice.loadRef();
      checkDictionary(root, 256, { augmentation: fees, rootExtra: slice.clone() });

      const entries = [...iterateEntries(root, 256)].map(([key, leaf]) => {
        fees.skip(leaf);
        return [key, leaf] as const;
      });
      expect(entries.length, file).toBe(accounts);
      const built = buildAugmentedDictionary(256, entries, fees);
      expect(toHex(built.root!.hash()), file).toBe(toHex(root.hash()));
      expect(describeSlice(sliceOf(built.extra)), file).toBe(describeSlice(slice));

      const [key, value] = entries[0]!;
      const without = deleteAugmentedEntry(root, 256, key, fees);
      const again = setAugmentedEntry(without.root, 256, key, value, fees);
      expect(toHex(again.root!.hash()), file).toBe(toHex(root.hash()));

      const wrong = { ...fees, leaf: (leaf: Slice) => storeFees(loadFees(sliceOf(fees.leaf(leaf))) + 1n) };
      expect(
        errorCode(() => checkDictionary(root, 256, { augmentation: wrong })),
        file,
      ).toBe('cells/dict-augmentation');
    }
  });
});
