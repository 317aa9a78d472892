import { expect, it } from 'vitest';
import type { BlockCreateStats } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { countBlocks } from '#localnet/producer/mc-state-extra.js';

const someone = new Uint8Array(32).fill(0x6b);
const nobody = new Uint8Array(32);
const names = (stats: BlockCreateStats) => [...stats.counters].map(([key]) => toHex(key).slice(0, 2));

it('counts blocks by who made them, and all of them', () => {
  const first = countBlocks(null, { masterchain: someone, shards: [] }, 1_795_255_641);
  const second = countBlocks(first, { masterchain: someone, shards: [someone] }, 1_795_255_642);
  // As the reference software wrote after the masterchain blocks 1 and 2 of the recorded network.
  const mc_blocks = { last_updated: 1_795_255_642, total: 2n, cnt2048: 8_587_837_952n, cnt65536: 8_589_869_056n };
  const once = { last_updated: 1_795_255_642, total: 1n, cnt2048: 1n << 32n, cnt65536: 1n << 32n };
  expect(names(second)).toEqual(['00', '6b']);
  expect(second.counters.get(someone)).toEqual({ mc_blocks, shard_blocks: once });
  expect(second.counters.get(nobody)).toEqual({ mc_blocks, shard_blocks: once });
});

it('counts nobody for blocks without a creator', () => {
  expect(names(countBlocks(null, { masterchain: nobody, shards: [nobody] }, 1_000))).toEqual([]);
});

it('drops who has made none for so long that nothing is left of the slower average', () => {
  const first = countBlocks(null, { masterchain: someone, shards: [] }, 1_000);
  const other = new Uint8Array(32).fill(0x7c);
  const later = (seconds: number) => countBlocks(first, { masterchain: other, shards: [] }, 1_000 + seconds);
  // exp(-23) of 2^32 is less than a half; exp(-22) is not.
  expect(names(later(22 * 65_536))).toEqual(['00', '6b', '7c']);
  expect(names(later(23 * 65_536))).toEqual(['00', '7c']);
  expect(names(later(2 ** 31))).toEqual(['00', '7c']);
});
