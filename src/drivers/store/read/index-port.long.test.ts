import { afterAll, beforeAll, describe } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { itReadsAsBruteForce } from '#test/support/index-comparison.js';
import { IndexOracle } from '#test/support/index-oracle.js';
import { type IndexedChain, indexedChain } from '#test/support/indexed-chain.js';

let chain: IndexedChain;
let oracle: IndexOracle;

beforeAll(async () => {
  chain = await indexedChain('vectors/dev-chain', 294, 350, 20);
  oracle = new IndexOracle(chain);
});
afterAll(() => chain?.close());

describe('lists of the index are as brute force finds them, for combinations of filters:', () => {
  itReadsAsBruteForce(() => ({ chain, oracle }), FULL ? 40 : 12);
});
