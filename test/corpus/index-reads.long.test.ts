import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itReadsAsBruteForce } from '#test/support/index-comparison.js';
import { IndexOracle } from '#test/support/index-oracle.js';
import { type IndexedChain, indexedChain } from '#test/support/indexed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const folder = vectorPath('collection/recorded-net');

/** A range of the recorded network with several shards, and messages to the outside. */
describe('lists of an index of the recorded network are as brute force finds them:', () => {
  let chain: IndexedChain;
  let oracle: IndexOracle;

  beforeAll(async () => {
    chain = await indexedChain(`${folder}/chain`, 462, 500, 15);
    oracle = new IndexOracle(chain);
  });
  afterAll(() => chain?.close());

  it('shards and messages to the outside are in it', () => {
    const shards = new Set(oracle.blocks.map(({ workchain, shard }) => `${workchain}:${shard}`));
    expect(shards.size).toBeGreaterThan(3);
    expect(oracle.messages.some(({ external }) => external === 'out')).toBe(true);
  });

  // What bounds of time and of lt say of each other rests on this.
  it('no block of a shard is newer than the masterchain block that commits it', () => {
    const top = new Map(
      oracle.blocks.filter(({ workchain }) => workchain === -1).map((block) => [block.mc_seqno, block]),
    );
    for (const { mc_seqno, workchain, info } of oracle.blocks) {
      if (workchain === -1) continue;
      expect(info.gen_utime).toBeLessThanOrEqual(top.get(mc_seqno)!.info.gen_utime);
      expect(info.end_lt).toBeLessThanOrEqual(top.get(mc_seqno)!.info.start_lt);
    }
  });

  itReadsAsBruteForce(() => ({ chain, oracle }), 40);
});
