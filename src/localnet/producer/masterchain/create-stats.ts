import { type BlockCreateStats, type Counters, CreatorStats } from '#formats/tlb/block-create-stats.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** Who made the blocks of a round, by public key (32 bytes); zeros stand for nobody. */
export interface Creators {
  readonly masterchain: Uint8Array;
  /** Of all blocks of shards that are newly committed. */
  readonly shards: readonly Uint8Array[];
}

type Counts = Extract<BlockCreateStats, { readonly kind: 'block_create_stats' }>['counters'];

const counts = hashmapE(bytesKey(32), CreatorStats);
const NO_COUNTS: Counts = counts.of([]);

/** The key under which all blocks count. */
const ALL = new Uint8Array(32);
const NO_COUNTERS: Counters = { last_updated: 0, total: 0n, cnt2048: 0n, cnt65536: 0n };
const NO_BLOCKS: CreatorStats = { mc_blocks: NO_COUNTERS, shard_blocks: NO_COUNTERS };

/**
 * The statistics with the blocks of a round counted. Validators of whom nothing is left in the slower average are dropped.
 * @param now of the masterchain block, unix seconds
 */
export function countBlocks(before: BlockCreateStats | null, creators: Creators, now: number): BlockCreateStats {
  let counters: Counts =
    before === null ? NO_COUNTS : before.kind === 'block_create_stats' ? before.counters : counts.of(before.counters);
  const counted = new Map<string, { readonly key: Uint8Array; mc: bigint; shard: bigint }>();
  const count = (key: Uint8Array, mc: bigint, shard: bigint): void => {
    const name = toHex(key);
    const sum = counted.get(name) ?? { key, mc: 0n, shard: 0n };
    counted.set(name, { key, mc: sum.mc + mc, shard: sum.shard + shard });
  };
  const isSomebody = (key: Uint8Array): boolean => key.some((byte) => byte !== 0);
  for (const key of creators.shards.filter(isSomebody)) {
    count(key, 0n, 1n);
    count(ALL, 0n, 1n);
  }
  if (isSomebody(creators.masterchain)) {
    count(creators.masterchain, 1n, 0n);
    count(ALL, 1n, 0n);
  }
  for (const { key, mc, shard } of counted.values()) {
    const { mc_blocks, shard_blocks } = counters.get(key) ?? NO_BLOCKS;
    counters = counters.set(key, {
      mc_blocks: mc === 0n ? mc_blocks : increased(mc_blocks, mc, now),
      shard_blocks: shard === 0n ? shard_blocks : increased(shard_blocks, shard, now),
    });
  }
  for (const [key, { mc_blocks, shard_blocks }] of counters) {
    const left = increased(mc_blocks, 0n, now).cnt65536 | increased(shard_blocks, 0n, now).cnt65536;
    if (left === 0n) counters = counters.delete(key);
  }
  return { kind: 'block_create_stats', counters };
}

/** The counters some time later, with `count` more. */
function increased({ last_updated, total, cnt2048, cnt65536 }: Counters, count: bigint, now: number): Counters {
  const scaled = count << 32n;
  if (total === 0n) return { last_updated: now, total: count, cnt2048: scaled, cnt65536: scaled };
  const passed = Math.max(0, now - last_updated);
  return {
    last_updated: now,
    total: total + count,
    cnt2048: faded(cnt2048, passed * 32) + scaled,
    cnt65536: faded(cnt65536, passed) + scaled,
  };
}

/** Bits after the point; enough for amounts of 64 bits to be rounded rightly. */
const PRECISION = 192n;
const ONE = 1n << PRECISION;

/** Such `time`s leave nothing of any amount of 64 bits. */
const FOREVER = 48 * 65_536;

/** exp(-1 / 65536), by its series. */
const STEP = ((): bigint => {
  let term = ONE;
  let sum = 0n;
  for (let n = 1n; term !== 0n; n++) {
    sum += term;
    term = -term / (65_536n * n);
  }
  return sum;
})();

/** amount · exp(-time / 65536), rounded. */
function faded(amount: bigint, time: number): bigint {
  if (time === 0 || amount === 0n) return amount;
  if (time >= FOREVER) return 0n;
  let factor = ONE;
  let power = STEP;
  for (let left = time; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) factor = (factor * power) >> PRECISION;
    power = (power * power) >> PRECISION;
  }
  return (amount * factor + (ONE >> 1n)) >> PRECISION;
}
