import { describe, expect, it } from 'vitest';
import { BlockValidator } from '#localnet/validation/block-validator.js';
import { chainBundles } from '#test/support/chain-bundles.js';
import { FULL } from '#test/support/full-depth.js';
import { vectorPath } from '#test/support/vector-files.js';

interface Tally {
  blocks: number;
  transactions: number;
  deviations: number;
}

/** Checks the masterchain blocks of a chain, up to `last`. */
function validateChain(folder: string, last = Number.POSITIVE_INFINITY): Tally {
  const { tip, zerostates, bundles } = chainBundles(folder);
  const validator = new BlockValidator(tip, zerostates);
  const tally: Tally = { blocks: 0, transactions: 0, deviations: 0 };
  for (const bundle of bundles) {
    if (bundle.masterchain.id.seqno > last) break;
    const { blocks, transactions, deviations } = validator.check(bundle);
    tally.blocks += blocks;
    tally.transactions += transactions;
    tally.deviations += deviations.length;
  }
  return tally;
}

const recorded = vectorPath('collection/recorded-net/chain');
const genesis = vectorPath('collection/mainnet-genesis');

describe('the check of masterchain blocks accepts blocks of the reference software', () => {
  it('recorded-net: splits and merges, key blocks', { timeout: 900_000 }, () => {
    if (FULL) expect(validateChain(recorded)).toEqual({ blocks: 2587, transactions: 11_433, deviations: 0 });
    else expect(validateChain(recorded, 500)).toEqual({ blocks: 1078, transactions: 7290, deviations: 0 });
  });

  it('all of mainnet-genesis, under its old rules', { timeout: 900_000 }, () => {
    expect(validateChain(genesis)).toEqual({ blocks: 805, transactions: 2187, deviations: 0 });
  });
});
