import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { shardChildren, shardContains } from '#formats/tlb/block-id.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { BlockIndex } from '#localnet/replay/replay-ledger.js';
import { Random } from '#test/fuzz/random.js';

const WHOLE = 1n << 63n;
const nothing = { bytes: new Uint8Array(), root: new Builder().endCell(), mc_seqno: 1 };

/** A workchain whose shard splits, is two, and merges, twice; times repeat. */
function chain(random: Random): LedgerBlock[] {
  const blocks: LedgerBlock[] = [];
  const add = (shard: bigint, seqno: number): void => {
    const root_hash = new Uint8Array(32).fill(seqno);
    const id = { workchain: 0, shard, seqno, root_hash, file_hash: root_hash };
    const late = random.below(3);
    blocks.push({ ...nothing, id, gen_utime: 1000 + (seqno >> 1), end_lt: BigInt(seqno * 100 + late) });
  };
  for (let seqno = 1; seqno <= 60; seqno++) {
    const split = (seqno > 10 && seqno <= 20) || (seqno > 35 && seqno <= 47);
    for (const shard of split ? shardChildren(WHOLE) : [WHOLE]) add(shard, seqno);
  }
  return blocks;
}

/** The same by looking at all. */
function scan(blocks: readonly LedgerBlock[], query: BlockQuery): LedgerBlock | null {
  const own = blocks.filter(({ id }) => shardContains(id.shard, query.shard)).sort((a, b) => a.id.seqno - b.id.seqno);
  const found = own.find(({ id, end_lt, gen_utime }) => {
    if (query.by === 'seqno') return id.seqno === query.seqno;
    return query.by === 'lt' ? end_lt >= query.lt : gen_utime >= query.utime;
  });
  return found ?? null;
}

describe('the index of blocks', () => {
  it('finds what a scan finds, across splits and merges', () => {
    const random = new Random('block index');
    const blocks = chain(random);
    const index = new BlockIndex();
    for (const block of blocks) index.add(block);
    for (let i = 0; i < 3000; i++) {
      const shard = random.pick([0n, 1n, WHOLE, WHOLE - 1n, (1n << 64n) - 1n, 3n << 62n, 1n << 62n]);
      const place = { workchain: 0, shard };
      const query: BlockQuery = random.pick([
        { ...place, by: 'seqno', seqno: random.below(65) },
        { ...place, by: 'lt', lt: BigInt(random.below(6200)) },
        { ...place, by: 'utime', utime: 995 + random.below(40) },
      ]);
      expect(index.find(query)).toBe(scan(blocks, query));
    }
  });

  it('knows workchains', () => {
    const index = new BlockIndex();
    expect(index.hasWorkchain(0)).toBe(false);
    expect(index.find({ workchain: 0, shard: WHOLE, by: 'lt', lt: 0n })).toBeNull();
    for (const block of chain(new Random('workchain'))) index.add(block);
    expect([index.hasWorkchain(0), index.hasWorkchain(-1)]).toEqual([true, false]);
  });
});
