import { describe, expect, it } from 'vitest';
import { compareMasterchainRules } from '#test/support/masterchain-rules.js';
import { compareSplitMergeStates } from '#test/support/split-merge-states.js';
import { MAINNET_ZEROSTATES, RECORDED_ZEROSTATES } from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const recorded = vectorPath('collection/recorded-net/chain');
const genesis = vectorPath('collection/mainnet-genesis');

describe('what masterchain blocks have beside accounts, made again', () => {
  it('is as the reference software wrote it', () => {
    expect(compareMasterchainRules(recorded, RECORDED_ZEROSTATES)).toEqual({
      masterchainBlocks: 1219,
      shardBlocks: 1368,
      keyBlocks: 3,
      splits: 2,
      merges: 2,
      differences: [],
    });
  });

  // The software of 2019 wrote all entries of shards in the form that is now only that of a workchain's first one.
  it('is as in the first blocks of mainnet, but for the form of entries', () => {
    expect(compareMasterchainRules(genesis, MAINNET_ZEROSTATES, 'shard_descr')).toEqual({
      masterchainBlocks: 199,
      shardBlocks: 606,
      keyBlocks: 0,
      splits: 3,
      merges: 0,
      differences: [],
    });
  });
});

describe('the states from which blocks after splits and merges start', () => {
  it('are those of the reference software', () => {
    const report = compareSplitMergeStates(recorded, RECORDED_ZEROSTATES.basechain);
    expect(report).toEqual({ afterSplit: 4, afterMerge: 2, messages: 148, differences: [] });
  });

  it('are those of mainnet, up to what its first blocks noted at once', () => {
    const { differences, ...counts } = compareSplitMergeStates(genesis, MAINNET_ZEROSTATES.basechain);
    expect(counts).toEqual({ afterSplit: 6, afterMerge: 0, messages: 0 });
    // The software of 2019 noted in the very first block of a half that it had received all that the masterchain sent.
    const expected = [
      ...['c000000000000000,35', '4000000000000000,35'],
      ...['2000000000000000,71', '6000000000000000,71'],
      ...['a000000000000000,72', 'e000000000000000,72'],
    ].flatMap((block) => [`proc_info: ${block}`, `min_ref_mc_seqno: ${block}`]);
    expect(differences).toEqual(expected);
  });
});
