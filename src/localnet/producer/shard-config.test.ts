import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { printShard } from '#formats/proofs/block-id.js';
import type { BlockInfo } from '#formats/tlb/block.js';
import { shardIdent } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { type ShardHashes, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { adjustShards, nextShardBlocks, registerShards, type ShardTopBlock } from '#localnet/producer/shard-config.js';
import { errorCode } from '#test/support/error-code.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

// Parameter 12 of the recorded network: splits and merges after 20 s, for 20 s, up to two times; sessions of 250 s.
const zerostate = decodeCell(ShardStateUnsplit, parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc'))))
  .custom!.value;
const config = zerostate.config.config;
const BEGIN = 1_795_255_700;
const WHOLE = 1n << 63n;
const LEFT = 1n << 62n;
const RIGHT = 3n << 62n;

type Wants = Partial<Pick<BlockInfo, 'want_split' | 'want_merge' | 'before_split' | 'gen_catchain_seqno'>>;

function top(shard: bigint, seqno: number, gen_utime: number, wants: Wants = {}): ShardTopBlock {
  const info: BlockInfo = {
    version: 0,
    not_master: true,
    after_merge: false,
    before_split: false,
    after_split: false,
    want_split: false,
    want_merge: false,
    key_block: false,
    vert_seqno_incr: false,
    flags: 0,
    seq_no: seqno,
    vert_seq_no: 0,
    shard: shardIdent(0, shard),
    gen_utime,
    start_lt: BigInt(seqno) * 1_000_000n,
    end_lt: BigInt(seqno) * 1_000_000n + 5n,
    gen_validator_list_hash_short: 0,
    gen_catchain_seqno: 0,
    min_ref_mc_seqno: 1,
    prev_key_block_seqno: 0,
    gen_software: null,
    master_ref: null,
    prev_ref: null as never,
    prev_vert_ref: null,
    ...wants,
  };
  const id = { workchain: 0, shard, seqno, root_hash: new Uint8Array(32).fill(seqno), file_hash: new Uint8Array(32) };
  return { id, info, fees_collected: onlyGrams(3n), funds_created: onlyGrams(2n) };
}

/** A masterchain that registers what it is told, a block a call. */
class Shards {
  hashes: ShardHashes = zerostate.shard_hashes;
  config: ConfigDictionary = config;
  now: number;
  #mc_seqno = 0;

  constructor(now = BEGIN) {
    this.now = now;
    this.next([]);
  }

  next(tops: readonly ShardTopBlock[], seconds = 0, key_block = false): this {
    const prev_utime = this.now;
    this.now += seconds;
    const context = { config: this.config, mc_seqno: ++this.#mc_seqno, gen_utime: this.now };
    const { shard_hashes } = registerShards(this.hashes, tops, context);
    this.hashes = adjustShards(shard_hashes, { config: this.config, key_block, gen_utime: this.now, prev_utime });
    return this;
  }

  get plans(): unknown {
    return [...shardDescrs(this.hashes)].map(({ shard, descr }) => [
      shard.toString(16),
      descr.split_merge_at.kind,
      ...(descr.before_split ? ['before_split'] : []),
      ...(descr.before_merge ? ['before_merge'] : []),
    ]);
  }

  get following(): unknown {
    return nextShardBlocks(this.hashes, this.now).map((next) => [
      printShard(next),
      next.seq_no,
      ...(['after_split', 'after_merge', 'before_split'] as const).filter((flag) => next[flag]),
    ]);
  }
}

function withWorkchain(change: { readonly min_split?: number; readonly max_split?: number }): ConfigDictionary {
  const workchains = configParam(config, 12)!;
  const descr = { ...workchains.get(0)!, ...change };
  return config.set(12, encodeConfigParam(12, workchains.set(0, descr)));
}

/** Shards that have been split, each half at block 3. */
function split(): Shards {
  const shards = new Shards().next([top(WHOLE, 1, BEGIN, { want_split: true })]);
  shards.next([top(WHOLE, 2, BEGIN + 20, { want_split: true, before_split: true })], 20);
  return shards.next([top(LEFT, 3, BEGIN + 21), top(RIGHT, 3, BEGIN + 21)], 1);
}

describe('a workchain', () => {
  it('begins with its zerostate', () => {
    const shards = new Shards();
    const { descr } = [...shardDescrs(shards.hashes)][0]!;
    expect(descr).toMatchObject({ kind: 'shard_descr', seq_no: 0, reg_mc_seqno: 1, min_ref_mc_seqno: 0xffffffff });
    expect(shards.following).toEqual([['(0,8000000000000000)', 1]]);
  });

  it('waits for its time', () => {
    const context = { config, mc_seqno: 1, gen_utime: 1_795_255_619 };
    expect(registerShards(zerostate.shard_hashes, [], context).shard_hashes.isEmpty).toBe(true);
  });
});

describe('a split', () => {
  it('is planned, begins when it is due, and ends with two halves', () => {
    const shards = new Shards().next([top(WHOLE, 1, BEGIN, { want_split: true })]);
    expect(shards.plans).toEqual([['8000000000000000', 'fsm_split']]);
    expect(shards.following).toEqual([['(0,8000000000000000)', 2]]);
    shards.now += 20;
    expect(shards.following).toEqual([['(0,8000000000000000)', 2, 'before_split']]);
    shards.next([top(WHOLE, 2, shards.now, { want_split: true, before_split: true })]);
    expect(shards.plans).toEqual([['8000000000000000', 'fsm_none', 'before_split']]);
    expect(shards.following).toEqual([
      ['(0,4000000000000000)', 3, 'after_split'],
      ['(0,c000000000000000)', 3, 'after_split'],
    ]);
    shards.next([top(LEFT, 3, shards.now), top(RIGHT, 3, shards.now)]);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_none'],
      ['c000000000000000', 'fsm_none'],
    ]);
  });

  it('stays planned when the shard no longer wants it, and is planned again when its time is over', () => {
    const shards = new Shards().next([top(WHOLE, 1, BEGIN, { want_split: true })]);
    shards.next([top(WHOLE, 2, BEGIN + 5)], 5);
    expect(shards.plans).toEqual([['8000000000000000', 'fsm_split']]);
    shards.next([], 40);
    expect(shards.plans).toEqual([['8000000000000000', 'fsm_none']]);
    shards.next([top(WHOLE, 3, BEGIN + 46, { want_split: true })], 1);
    shards.next([], 40);
    const { descr } = [...shardDescrs(shards.hashes)][0]!;
    expect(descr.split_merge_at).toEqual({ kind: 'fsm_split', split_utime: BEGIN + 106, interval: 20 });
  });

  it('is planned without being wanted up to min_split, and never beyond max_split', () => {
    const shards = new Shards();
    shards.config = withWorkchain({ min_split: 1, max_split: 1 });
    expect(shards.next([]).plans).toEqual([['8000000000000000', 'fsm_split']]);
    const halves = split();
    halves.config = withWorkchain({ max_split: 1 });
    halves.next([top(LEFT, 4, halves.now, { want_split: true })]);
    expect(halves.plans).toEqual([
      ['4000000000000000', 'fsm_none'],
      ['c000000000000000', 'fsm_none'],
    ]);
  });

  it('needs both halves at once', () => {
    const shards = new Shards().next([top(WHOLE, 1, BEGIN, { want_split: true, before_split: true })]);
    expect(errorCode(() => shards.next([top(LEFT, 2, BEGIN)]))).toBe('producer/shards-incomplete');
    expect(errorCode(() => shards.next([top(WHOLE, 2, BEGIN)]))).toBe('producer/shard-unknown');
  });
});

describe('a merge', () => {
  const both = (shards: Shards, seqno: number, wants: Wants) => [
    top(LEFT, seqno, shards.now, wants),
    top(RIGHT, seqno, shards.now, wants),
  ];

  it('is planned when both halves want it, and begins when it is due', () => {
    const shards = split();
    shards.next([top(LEFT, 4, shards.now, { want_merge: true })], 1);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_none'],
      ['c000000000000000', 'fsm_none'],
    ]);
    shards.next([top(RIGHT, 4, shards.now, { want_merge: true })], 1);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_merge'],
      ['c000000000000000', 'fsm_merge'],
    ]);
    shards.next(both(shards, 5, { want_merge: true }), 20);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_merge', 'before_merge'],
      ['c000000000000000', 'fsm_merge', 'before_merge'],
    ]);
    expect(shards.following).toEqual([['(0,8000000000000000)', 6, 'after_merge']]);
    shards.next([top(WHOLE, 6, shards.now, { gen_catchain_seqno: 1 })]);
    expect(shards.plans).toEqual([['8000000000000000', 'fsm_none']]);
  });

  it('does not begin when one half no longer wants it, and is called off when its time is over', () => {
    const shards = split();
    shards.next(both(shards, 4, { want_merge: true }));
    shards.next([top(RIGHT, 5, shards.now)], 20);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_merge'],
      ['c000000000000000', 'fsm_merge'],
    ]);
    shards.next([], 40);
    expect(shards.plans).toEqual([
      ['4000000000000000', 'fsm_none'],
      ['c000000000000000', 'fsm_none'],
    ]);
  });

  it('is planned without being wanted beyond max_split', () => {
    const shards = split();
    shards.config = withWorkchain({ max_split: 0 });
    shards.next([]);
    expect(shards.next([], 20).following).toEqual([['(0,8000000000000000)', 4, 'after_merge']]);
  });
});

describe('sessions of shards', () => {
  it('end with a key block, and when the clock passes a multiple of their lifetime', () => {
    const session = (shards: Shards) => [...shardDescrs(shards.hashes)][0]!.descr.next_catchain_seqno;
    const shards = new Shards(1_795_255_749);
    expect(session(shards)).toBe(0);
    expect(session(shards.next([], 1))).toBe(1);
    expect(session(shards.next([], 249))).toBe(1);
    expect(session(shards.next([], 0, true))).toBe(2);
    expect(errorCode(() => shards.next([top(WHOLE, 1, shards.now)]))).toBe('producer/shard-not-next');
  });
});

it('refuses blocks that are no later than the registered one, or of no shard', () => {
  const shards = new Shards().next([top(WHOLE, 5, BEGIN)]);
  expect(errorCode(() => shards.next([top(WHOLE, 5, BEGIN)]))).toBe('producer/shard-not-next');
  expect(errorCode(() => shards.next([top(LEFT, 6, BEGIN)]))).toBe('producer/shard-unknown');
});

it('sums what shards collected and created', () => {
  const { shard_fees } = registerShards(new Shards().hashes, [top(WHOLE, 1, BEGIN)], {
    config,
    mc_seqno: 2,
    gen_utime: BEGIN,
  });
  expect(shard_fees.extra).toEqual({ fees: onlyGrams(3n), create: onlyGrams(2n) });
  expect(shard_fees.get({ workchain: 0, shard: WHOLE })).toEqual({ fees: onlyGrams(3n), create: onlyGrams(2n) });
});
