import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { createMerkleProof, openMerkleProof } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, decodeCell, deferred, encodeCell, type Lazy, maybe, ref } from '#formats/tlb/codec/codec.js';
import { hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { any, cellRef, uint8, uint16 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { pathOf, type VisitedNode, walkValue } from '#formats/tlb/walk-value.js';
import { BitString } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

function kinds(value: unknown, inside: (node: VisitedNode) => boolean = () => true): string[] {
  const seen: string[] = [];
  walkValue(value, {
    enter: (node, place) => {
      seen.push(`${pathOf(place)} ${node.kind}`);
      return inside(node);
    },
    leave: (node, place) => void seen.push(`${pathOf(place)} /${node.kind}`),
  });
  return seen;
}

const numbers = hashmapE(uintKey(8), uint8);
const sums = hashmapAugE(uintKey(8), uint8, uint16, {
  empty: 0,
  leaf: (value) => value,
  combine: (left, right) => left + right,
});
const Parts = record('_ numbers:(HashmapE 8 uint8) inner:^Cell rest:Any = Parts;', {
  numbers,
  inner: cellRef,
  rest: any,
});

describe('walkValue', () => {
  it('distinguishes leaves from parts, in order, on the way in and out', () => {
    const value = { a: [1, null], b: { c: new Uint8Array(1) }, d: new BitString(new Uint8Array(1), 3) };
    expect(kinds(value)).toEqual([
      ' object',
      'a array',
      'a[0] leaf',
      'a[1] leaf',
      'a /array',
      'b object',
      'b.c leaf',
      'b /object',
      'd leaf',
      ' /object',
    ]);
    expect(kinds(Address.ofParts(0, new Uint8Array(32)))).toEqual([' leaf']);
  });

  it('goes through dictionaries and shows what the schema does not describe', () => {
    const cell = encodeCell(Parts, {
      numbers: numbers.of([[3, 4]]),
      inner: new Builder().endCell(),
      rest: openCell(new Builder().storeUint(5, 3).endCell()),
    });
    expect(kinds(decodeCell(Parts, cell))).toEqual([
      ' object',
      'numbers dictionary',
      'numbers[3] leaf',
      'numbers /dictionary',
      'inner opaque',
      'rest opaque',
      ' /object',
    ]);
  });

  it('shows the extra of an augmented dictionary as a part of it', () => {
    const seen: unknown[] = [];
    walkValue(
      sums.of([
        [1, 20],
        [2, 22],
      ]),
      { enter: (node, place) => seen.push([pathOf(place), node.value, place?.key]) > 0 },
    );
    expect(seen.slice(1)).toEqual([
      ['extra', 42, undefined],
      ['[1]', 20, 1],
      ['[2]', 22, 2],
    ]);
  });

  it('does not visit below nodes that the visitor declines', () => {
    expect(kinds({ a: [1], b: [2] }, (node) => node.kind !== 'array')).toEqual([
      ' object',
      'a array',
      'b array',
      ' /object',
    ]);
  });

  it('shows what a proof leaves out, and passes over it in dictionaries', () => {
    const state = parseBocRoot(readBytes(vectorPath('examples/zerostate.boc')));
    const keep = new Set([state, state.ref(1)].map((cell) => cell.hash().join()));
    const proof = createMerkleProof(state, (cell) => keep.has(cell.hash().join()));
    const seen = kinds(decodeCell(ShardStateUnsplit, openMerkleProof(proof)));
    expect(seen).toContain('out_msg_queue_info lazy');
    expect(seen).toContain('accounts dictionary');
    expect(seen.filter((line) => line.startsWith('accounts['))).toEqual([]);
    expect(seen.filter((line) => line.endsWith(' pruned'))).toEqual(['totals pruned', 'custom pruned']);
  });

  it('says where a part cannot be decoded', () => {
    const Holder = record('_ entries:(HashmapE 8 ^Inner) = Holder;', {
      entries: hashmapE(uintKey(8), ref(record('inner#aa x:uint8 = Inner;', { x: uint8 }))),
    });
    const broken = hashmapE(uintKey(8), cellRef).of([[7, new Builder().storeUint(0xbb01, 16).endCell()]]);
    const value = decodeCell(
      Holder,
      encodeCell(record('_ entries:(HashmapE 8 ^Cell) = Holder;', { entries: hashmapE(uintKey(8), cellRef) }), {
        entries: broken,
      }),
    );
    const error = errorOf(() => kinds(value));
    expect([error.code, error.path]).toEqual(['tlb/constructor-tag', 'entries[7]']);
  });

  it('needs no stack for depth', () => {
    interface Chain {
      readonly next: Lazy<Chain> | null;
    }
    const Chain: Codec<Chain> = record('_ next:(Maybe ^Chain) = Chain;', {
      next: maybe(ref(deferred('Chain', (): Codec<Chain> => Chain))),
    });
    let cell: Cell = new Builder().storeBit(false).endCell();
    for (let i = 0; i < 1023; i++) cell = new Builder().storeBit(true).storeRef(cell).endCell();
    let deepest = 0;
    walkValue(decodeCell(Chain, cell), {
      enter: (_, place) => {
        deepest = Math.max(deepest, pathOf(place).length);
        return true;
      },
    });
    expect(deepest).toBe('next.'.length * 1024 - 1);
    let nested: unknown = 1;
    for (let i = 0; i < 100_000; i++) nested = [nested];
    let count = 0;
    walkValue(nested, { enter: () => ++count > 0 });
    expect(count).toBe(100_001);
  });
});
