import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compareMasterchainRules } from '#test/support/masterchain-rules.js';
import { compareSplitMergeStates } from '#test/support/split-merge-states.js';
import { RECORDED_ZEROSTATES } from '#test/support/states-of-chain.js';

// Blocks of the reference software, with a split at masterchain block 350.
const DEV_CHAIN = fileURLToPath(new URL('../../../vectors/dev-chain', import.meta.url));

it('makes again what 380 masterchain blocks have beside accounts', () => {
  const report = compareMasterchainRules(DEV_CHAIN, RECORDED_ZEROSTATES);
  expect(report).toEqual({
    masterchainBlocks: 380,
    shardBlocks: 412,
    keyBlocks: 0,
    splits: 1,
    merges: 0,
    differences: [],
  });
});

it('makes again the states that two halves start from', () => {
  const report = compareSplitMergeStates(DEV_CHAIN, RECORDED_ZEROSTATES.basechain);
  expect(report).toEqual({ afterSplit: 2, afterMerge: 0, messages: 85, differences: [] });
});
