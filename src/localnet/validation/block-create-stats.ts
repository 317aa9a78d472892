import type { Counters, CreatorStats } from '#formats/tlb/block-create-stats.js';
import type { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { BlockContext, OpenBlock } from '#localnet/validation/block-context.js';
import { sameRoot } from '#localnet/validation/dictionary-difference.js';
import type { MasterchainView } from '#localnet/validation/masterchain-view.js';

const NOBODY = '00'.repeat(32);
const ONE = 1n << 32n;
const NOTHING: Counters = { last_updated: 0, total: 0n, cnt2048: 0n, cnt65536: 0n };

type Stats = Dictionary<Uint8Array, CreatorStats>;

/**
 * Checks how many blocks each validator is said to have made: those of this round are added, nothing else changes but that
 * entries which have faded to nothing may go.
 *
 * @param open the blocks of shards in this round
 * @throws validation/broken-rule
 */
export function checkBlockCreateStats(context: BlockContext, open: Iterable<OpenBlock>): void {
  const { rules, reference, afterView, extra, info } = context;
  const before = statsOf(reference);
  const now = statsOf(afterView!);
  if (now === null) return;
  const shards = new Map<string, bigint>();
  let all = 0n;
  for (const each of open) {
    const key = toHex(each.extra.created_by);
    if (key === NOBODY) continue;
    shards.set(key, (shards.get(key) ?? 0n) + 1n);
    all++;
  }
  const creator = toHex(extra.created_by);
  const made = new Map([...shards].map(([key, count]) => [key, { masterchain: 0n, shards: count }]));
  if (creator !== NOBODY) made.set(creator, { masterchain: 1n, shards: shards.get(creator) ?? 0n });
  if (creator !== NOBODY || all > 0n) made.set(NOBODY, { masterchain: creator === NOBODY ? 0n : 1n, shards: all });
  if (made.size === 0 && sameRoot(before?.root ?? null, now.root)) return;

  const old = new Map([...(before ?? [])].map(([key, value]) => [toHex(key), value]));
  const fresh = new Map([...now].map(([key, value]) => [toHex(key), value]));
  for (const key of new Set([...old.keys(), ...fresh.keys(), ...made.keys()])) {
    const from = old.get(key);
    const to = fresh.get(key);
    const added = made.get(key) ?? { masterchain: 0n, shards: 0n };
    const check = (part: 'mc_blocks' | 'shard_blocks', count: bigint): void => {
      const place = `${part} of ${key}`;
      const expected = count === 0n ? (from?.[part] ?? NOTHING) : grown(from?.[part] ?? NOTHING, count, info.gen_utime);
      const found = to?.[part] ?? NOTHING;
      if (count === 0n && found.total === 0n) {
        const rest = grown(expected, 0n, info.gen_utime);
        rules.require(rest.cnt65536 <= 1n, 'block-create-stats', 'what has not faded', 'none', place);
        return;
      }
      rules.equal('block-create-stats', expected.total, found.total, place);
      rules.equal('block-create-stats', expected.last_updated, found.last_updated, place);
      // Fading is rounded, by who made the block in another way than here.
      rules.require(
        isNear(expected.cnt2048, found.cnt2048),
        'block-create-stats',
        expected.cnt2048,
        found.cnt2048,
        place,
      );
      rules.require(
        isNear(expected.cnt65536, found.cnt65536),
        'block-create-stats',
        expected.cnt65536,
        found.cnt65536,
        place,
      );
    };
    check('mc_blocks', added.masterchain);
    check('shard_blocks', added.shards);
  }
}

function statsOf({ info }: MasterchainView): Stats | null {
  const stats = info.block_create_stats;
  return stats === null || stats.kind !== 'block_create_stats' ? null : stats.counters;
}

/** Adds blocks: what was counted before fades with time, by a factor of e in 2048 or 65536 seconds. */
function grown(old: Counters, count: bigint, now: number): Counters {
  const more = count * ONE;
  if (old.total === 0n) return { last_updated: now, total: count, cnt2048: more, cnt65536: more };
  const seconds = Math.max(0, now - old.last_updated);
  return {
    last_updated: now,
    total: old.total + count,
    cnt2048: faded(old.cnt2048, seconds / 2048) + more,
    cnt65536: faded(old.cnt65536, seconds / 65536) + more,
  };
}

function faded(count: bigint, lifetimes: number): bigint {
  return lifetimes === 0 ? count : BigInt(Math.round(Number(count) * Math.exp(-lifetimes)));
}

/** Two units for each time that it is rounded, and what a double cannot hold of large counts. */
function isNear(a: bigint, b: bigint): boolean {
  const difference = a < b ? b - a : a - b;
  return difference <= 2n + (a >> 52n);
}
