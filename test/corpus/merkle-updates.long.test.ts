import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { applyMerkleUpdate, createMerkleUpdate, readMerkleUpdate } from '#formats/cells/merkle-update.js';
import { toHex } from '#kernel/bytes.js';
import { blockLinks, ChainStates } from '#test/support/chain-states.js';
import { FULL } from '#test/support/full-depth.js';
import { readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/**
 * Follows both chains from their zerostates: applies the update of every block, makes an update of its own between the two
 * states of every third one (of all with TERN_FULL=1), and applies that one, too.
 */
function followChain(
  directory: string,
  masterchainZerostate: string,
  basechainZerostate: string,
): Record<string, number> {
  const states = new ChainStates();
  states.addZerostate(parseBocRoot(readBytes(`${directory}/${masterchainZerostate}`)), -1);
  states.addZerostate(parseBocRoot(readBytes(`${directory}/${basechainZerostate}`)), 0);
  const counts = { blocks: 0, beforeSplit: 0, afterSplit: 0, afterMerge: 0 };
  for (const link of blockLinks(readChain(directory))) {
    const name = `block ${link.id.workchain},${link.id.shard},${link.id.seqno}`;
    const before = states.before(link);
    if (before === null) throw new TypeError(`${name}: a previous block is missing`);
    const { oldHash, newHash } = readMerkleUpdate(link.stateUpdate);
    expect(toHex(before.hash()), name).toBe(toHex(oldHash));
    const after = applyMerkleUpdate(before, link.stateUpdate);
    expect(toHex(after.hash()), name).toBe(toHex(newHash));
    if (FULL || link.afterSplit || link.afterMerge || counts.blocks % 3 === 0) {
      const own = createMerkleUpdate(before, after);
      // Written and read, so that nothing of it is taken from the states but by its hash.
      const again = applyMerkleUpdate(before, parseBocRoot(serializeBoc(own)));
      expect(toHex(again.hash()), name).toBe(toHex(newHash));
    }
    states.addAfter(link, after);
    counts.blocks++;
    for (const key of ['beforeSplit', 'afterSplit', 'afterMerge'] as const) counts[key] += link[key] ? 1 : 0;
    // Hashes of applied states are taken over from the update: now and then all are computed anew.
    if (link.id.seqno % 100 === 10) expect(toHex(parseBocRoot(serializeBoc(after)).hash()), name).toBe(toHex(newHash));
  }
  return counts;
}

describe('Merkle updates lead from the zerostates to every later state', () => {
  it('blocks 1 to 10 of mainnet', () => {
    const counts = followChain(
      vectorPath('mainnet-genesis'),
      'zerostate_mc_5E994FCF.boc',
      'zerostate_wc0_EE0BEDFE.boc',
    );
    expect(counts).toEqual({ blocks: 20, beforeSplit: 0, afterSplit: 0, afterMerge: 0 });
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');

describe('the same, on the collection of real data', () => {
  it('all of mainnet-genesis, with shard splits', () => {
    const counts = followChain(genesis, 'zerostate_mc_5E994FCF.boc', 'zerostate_wc0_EE0BEDFE.boc');
    expect(counts).toEqual({ blocks: 805, beforeSplit: 3, afterSplit: 6, afterMerge: 0 });
  });

  it('all of recorded-net, with shard splits and merges', () => {
    const counts = followChain(recorded, 'zerostate-mc.boc', 'zerostate-basechain.boc');
    expect(counts).toEqual({ blocks: 2587, beforeSplit: 2, afterSplit: 4, afterMerge: 2 });
  });
});
