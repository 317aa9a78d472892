import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import {
  accountPrefix,
  isShardAncestor,
  ShardIdent,
  shardChildren,
  shardContains,
  shardHex,
  shardIdent,
  shardOf,
  shardParent,
  shardPrefixLength,
  shardSibling,
  shardsIntersect,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/block-id.js';
import { itReads, itRefuses } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const stored = (bits: number, workchain: number, prefix: bigint) =>
  new Builder().storeUint(0, 2).storeUint(bits, 6).storeInt(workchain, 32).storeUint(prefix, 64).endCell();

describe('ShardIdent', () => {
  itReads(ShardIdent, [
    {
      id: 'of the masterchain',
      cell: stored(0, -1, 0n),
      value: { shard_pfx_bits: 0, workchain_id: -1, shard_prefix: 0n },
    },
    {
      id: 'of a quarter of the basechain',
      cell: stored(2, 0, 0xc000000000000000n),
      value: { shard_pfx_bits: 2, workchain_id: 0, shard_prefix: 0xc000000000000000n },
    },
    {
      id: 'with the tag bit in the prefix, as in the zerostate of the basechain of mainnet',
      cell: stored(0, 0, 0x8000000000000000n),
      value: { shard_pfx_bits: 0, workchain_id: 0, shard_prefix: 0x8000000000000000n },
    },
    {
      id: 'of the smallest shard',
      cell: stored(60, 0, 0xfffffffffffffff0n),
      value: { shard_pfx_bits: 60, workchain_id: 0, shard_prefix: 0xfffffffffffffff0n },
    },
  ]);
  itRefuses(ShardIdent, [
    { id: 'a longer prefix', cell: stored(61, 0, 0n), code: 'tlb/constraint', path: 'shard_pfx_bits' },
    {
      id: 'bits after the prefix and the tag',
      cell: stored(1, 0, 0xa000000000000000n),
      code: 'tlb/constraint',
      path: 'shard_prefix',
    },
    {
      id: 'another tag',
      cell: new Builder().storeUint(1, 2).storeUint(0, 102).endCell(),
      code: 'tlb/constructor-tag',
      path: '',
    },
    {
      id: 'a torn cell',
      cell: new Builder().storeUint(0, 80).endCell(),
      code: 'cells/slice-underflow',
      path: 'shard_prefix',
    },
  ]);
});

describe('shard ids', () => {
  it.each([
    [0, 0n, '8000000000000000'],
    [0, 0x8000000000000000n, '8000000000000000'],
    [1, 0n, '4000000000000000'],
    [1, 0x8000000000000000n, 'c000000000000000'],
    [3, 0xa000000000000000n, 'b000000000000000'],
    [60, 0xfffffffffffffff0n, 'fffffffffffffff8'],
  ] as const)('of a prefix of %i bits', (bits, prefix, id) => {
    const shard = shardOf({ shard_pfx_bits: bits, workchain_id: 0, shard_prefix: prefix });
    expect(shardHex(shard)).toBe(id);
    expect(shardPrefixLength(shard)).toBe(bits);
    expect(shardOf(shardIdent(0, shard))).toBe(shard);
  });

  it('are split and merged', () => {
    expect(shardChildren(WHOLE_WORKCHAIN).map(shardHex)).toEqual(['4000000000000000', 'c000000000000000']);
    expect(shardChildren(0x4000000000000000n).map(shardHex)).toEqual(['2000000000000000', '6000000000000000']);
    for (const shard of [WHOLE_WORKCHAIN, 0x4000000000000000n, 0xb000000000000000n]) {
      const [left, right] = shardChildren(shard);
      expect([shardParent(left), shardParent(right)]).toEqual([shard, shard]);
      expect([shardSibling(left), shardSibling(right)]).toEqual([right, left]);
    }
  });

  it('report which accounts are theirs', () => {
    const prefix = accountPrefix(new Uint8Array(32).fill(0xa5));
    expect(shardHex(prefix)).toBe('a5a5a5a5a5a5a5a5');
    // The account starts with 10100101.
    const homes = [WHOLE_WORKCHAIN, 0xc000000000000000n, 0xb000000000000000n, 0xa800000000000000n];
    const others = [0x4000000000000000n, 0x9000000000000000n, 0xb800000000000000n, 0xa5a5a5a5a5a5ac00n];
    expect(homes.map((shard) => shardContains(shard, prefix))).toEqual([true, true, true, true]);
    expect(others.map((shard) => shardContains(shard, prefix))).toEqual([false, false, false, false]);
  });

  it('report which were split from which', () => {
    expect(isShardAncestor(WHOLE_WORKCHAIN, 0x1000000000000000n)).toBe(true);
    expect(isShardAncestor(0x4000000000000000n, 0x4000000000000000n)).toBe(true);
    expect(isShardAncestor(0x4000000000000000n, 0xc000000000000000n)).toBe(false);
    expect(isShardAncestor(0x2000000000000000n, 0x4000000000000000n)).toBe(false);
    expect(shardsIntersect(0x2000000000000000n, 0x4000000000000000n)).toBe(true);
    expect(shardsIntersect(0x2000000000000000n, 0x6000000000000000n)).toBe(false);
  });

  it('are refused when they are none', () => {
    for (const bad of [0n, -1n, 1n, 4n, 1n << 64n])
      expect(
        errorCode(() => shardPrefixLength(bad)),
        String(bad),
      ).toBe('tlb/shard-id');
    expect(errorCode(() => shardParent(WHOLE_WORKCHAIN))).toBe('tlb/shard-id');
    expect(errorCode(() => shardSibling(WHOLE_WORKCHAIN))).toBe('tlb/shard-id');
    expect(errorCode(() => shardChildren(8n))).toBe('tlb/shard-id');
  });
});
