import { describe, expect, it } from 'vitest';
import { shardHex } from '#formats/tlb/block-id.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import {
  findShard,
  type ShardDescr,
  ShardDescrFees,
  ShardHashes,
  ShardTree,
  shardDescrFees,
  shardDescrs,
  shardLeaves,
} from '#formats/tlb/shard-hashes.js';
import { roundTrip } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const fees: ShardDescrFees = { fees_collected: onlyGrams(7n), funds_created: onlyGrams(11n) };

function descr(seq_no: number): ShardDescr {
  return {
    kind: 'shard_descr_new',
    seq_no,
    reg_mc_seqno: 5,
    start_lt: 100n,
    end_lt: 105n,
    root_hash: new Uint8Array(32).fill(seq_no),
    file_hash: new Uint8Array(32).fill(0xff - seq_no),
    before_split: false,
    before_merge: true,
    want_split: false,
    want_merge: true,
    nx_cc_updated: false,
    flags: 0,
    next_catchain_seqno: 9,
    next_validator_shard: 1n << 63n,
    min_ref_mc_seqno: 2,
    gen_utime: 1_700_000_000,
    split_merge_at: { kind: 'fsm_merge', merge_utime: 1_700_000_100, interval: 100 },
    fees: Lazy.ofValue(ShardDescrFees, fees),
  };
}

const leaf = (seq_no: number): Lazy<ShardTree> => Lazy.ofValue(ShardTree, { kind: 'bt_leaf', leaf: descr(seq_no) });
const fork = (left: Lazy<ShardTree>, right: Lazy<ShardTree>): Lazy<ShardTree> =>
  Lazy.ofValue(ShardTree, { kind: 'bt_fork', left, right });

/** Workchain 0 in three shards, workchain 1 in one. */
const hashes = roundTrip(
  ShardHashes,
  encodeCell(
    ShardHashes,
    ShardHashes.of([
      [0, fork(leaf(1), fork(leaf(2), leaf(3)))],
      [1, leaf(4)],
    ]),
  ),
);

describe('shards of the masterchain', () => {
  it('are listed with their ids, which follow from the paths to them', () => {
    const listed = [...shardDescrs(hashes)].map((entry) => [
      entry.workchain,
      shardHex(entry.shard),
      entry.descr.seq_no,
    ]);
    expect(listed).toEqual([
      [0, '4000000000000000', 1],
      [0, 'a000000000000000', 2],
      [0, 'e000000000000000', 3],
      [1, '8000000000000000', 4],
    ]);
  });

  it.each([
    [0, 0x0000000000000000n, 1],
    [0, 0x7fffffffffffffffn, 1],
    [0, 0x8000000000000000n, 2],
    [0, 0xbfffffffffffffffn, 2],
    [0, 0xc000000000000000n, 3],
    [1, 0xffffffffffffffffn, 4],
  ])('are found by account: workchain %i, %s', (workchain, prefix, seq_no) => {
    const found = findShard(hashes, workchain, prefix);
    expect(found?.descr.seq_no).toBe(seq_no);
    expect([...shardDescrs(hashes)].find((entry) => entry.descr.seq_no === seq_no)?.shard).toBe(found?.shard);
  });

  it('are not found in a workchain that is not there', () => {
    expect(findShard(hashes, 2, 0n)).toBeNull();
  });

  it('have fees in a cell of their own, or inline', () => {
    const { fees: lazy, ...common } = descr(1) as Extract<ShardDescr, { kind: 'shard_descr_new' }>;
    expect(shardDescrFees({ ...common, fees: lazy })).toEqual(fees);
    const old: ShardDescr = {
      ...common,
      kind: 'shard_descr',
      fees_collected: NO_CURRENCY,
      funds_created: onlyGrams(1n),
    };
    expect(shardDescrFees(old).funds_created.grams).toBe(1n);
    roundTrip(ShardTree, encodeCell(ShardTree, { kind: 'bt_leaf', leaf: old }));
  });

  it('are no more than 60 splits deep', () => {
    const deepTree = (depth: number): Lazy<ShardTree> => {
      let tree = leaf(1);
      for (let i = 0; i < depth; i++) tree = fork(tree, leaf(2));
      return tree;
    };
    expect([...shardLeaves(0, deepTree(60).value)].length).toBe(61);
    expect(errorCode(() => [...shardLeaves(0, deepTree(61).value)])).toBe('tlb/shard-depth');
    const deep = ShardHashes.of([[0, deepTree(61)]]);
    expect(errorCode(() => findShard(deep, 0, 0n))).toBe('tlb/shard-depth');
    expect(findShard(deep, 0, 1n << 63n)?.descr.seq_no).toBe(2);
  });
});
