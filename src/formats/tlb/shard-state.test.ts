import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { KeyExtBlkRef } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { ShardFees } from '#formats/tlb/shard-hashes.js';
import { BlockCreateStats, OldMcBlocksInfo } from '#formats/tlb/shard-state.js';
import { roundTrip } from '#test/support/codec-harness.js';

describe('old masterchain blocks', () => {
  const entry = (key: boolean, end_lt: bigint): KeyExtBlkRef => ({
    key,
    blk_ref: { end_lt, seq_no: 0, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) },
  });

  it('know of each part whether it has a key block, and its last lt', () => {
    const blocks = OldMcBlocksInfo.of([
      [0, entry(true, 0n)],
      [1, entry(false, 30n)],
      [2, entry(false, 20n)],
    ]);
    const read = roundTrip(OldMcBlocksInfo, encodeCell(OldMcBlocksInfo, blocks));
    expect(read.extra).toEqual({ key: true, max_end_lt: 30n });
    expect(read.delete(0).extra).toEqual({ key: false, max_end_lt: 30n });
    expect(read.delete(1).extra).toEqual({ key: true, max_end_lt: 20n });
    expect(OldMcBlocksInfo.of([]).extra).toEqual({ key: false, max_end_lt: 0n });
  });
});

describe('fees of shards', () => {
  it('are summed up', () => {
    const shard = (number: bigint) => ({ workchain: 0, shard: number });
    const fees = ShardFees.of([
      [shard(0x4000000000000000n), { fees: onlyGrams(3n), create: onlyGrams(10n) }],
      [shard(0xc000000000000000n), { fees: onlyGrams(4n), create: onlyGrams(20n) }],
    ]);
    const { extra } = roundTrip(ShardFees, encodeCell(ShardFees, fees));
    expect([extra.fees.grams, extra.create.grams]).toEqual([7n, 30n]);
  });
});

describe('numbers of blocks made', () => {
  const counters = (last_updated: number) => ({ last_updated, total: 1n, cnt2048: 2n, cnt65536: 3n });
  const stats = { mc_blocks: counters(5), shard_blocks: counters(8) };

  it('are kept plain', () => {
    const empty = decodeCell(BlockCreateStats, new Builder().storeUint(0x17, 8).storeBit(false).endCell());
    if (empty.kind !== 'block_create_stats') throw new TypeError(empty.kind);
    const filled = { ...empty, counters: empty.counters.set(new Uint8Array(32), stats) };
    const read = roundTrip(BlockCreateStats, encodeCell(BlockCreateStats, filled));
    expect([...read.counters]).toEqual([[new Uint8Array(32), stats]]);
  });

  it('or with the last change of each part', () => {
    const empty = decodeCell(BlockCreateStats, new Builder().storeUint(0x34, 8).storeUint(0, 33).endCell());
    if (empty.kind !== 'block_create_stats_ext') throw new TypeError(empty.kind);
    const filled = { ...empty, counters: empty.counters.set(new Uint8Array(32), stats) };
    const read = roundTrip(BlockCreateStats, encodeCell(BlockCreateStats, filled));
    expect(read.kind === 'block_create_stats_ext' && read.counters.extra).toBe(8);
  });
});
