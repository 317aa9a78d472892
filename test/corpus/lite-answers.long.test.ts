import { describe, expect, it } from 'vitest';
import { isTernError } from '#kernel/tern-error.js';
import { Random } from '#test/fuzz/random.js';
import { FULL } from '#test/support/full-depth.js';
import { answerChecks, checkAnswer, latestBlock } from '#test/support/lite-answers.js';
import { type LiteExchange, readLiteExchanges } from '#test/support/lite-exchanges.js';
import { TlError } from '#test/support/tl-reader.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Questions that nothing could prove an answer to: the shard of the masterchain, shard 0. */
const UNPROVABLE = 'proofs/shard-question';

interface Tally {
  verified: number;
  withoutProof: number;
  unprovable: number;
  refusedFlips: number;
  harmlessFlips: number;
}

/** Checks answers as they were recorded, and each again with single bits flipped: refused, or the same value. */
function checkExchanges(exchanges: Iterable<LiteExchange>, flips: number): Tally {
  const tally: Tally = { verified: 0, withoutProof: 0, unprovable: 0, refusedFlips: 0, harmlessFlips: 0 };
  const random = new Random('lite answers');
  for (const exchange of exchanges) {
    const { function: name, request, response, n, desc } = exchange;
    if (answerChecks[name] === undefined) continue;
    const trusted = latestBlock(exchange);
    let value: string;
    try {
      value = checkAnswer(name, request, response, trusted);
    } catch (error) {
      expect(isTernError(error, UNPROVABLE), `${n} ${name} ${desc}: ${error}`).toBe(true);
      tally.unprovable++;
      continue;
    }
    if (value === 'no proof') {
      tally.withoutProof++;
      continue;
    }
    tally.verified++;
    const damaged = response.slice();
    for (let i = 0; i < flips; i++) {
      const bit = random.below(damaged.length * 8);
      damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
      try {
        expect(checkAnswer(name, request, damaged, trusted), `${n} ${name} ${desc}, bit ${bit}`).toBe(value);
        tally.harmlessFlips++;
      } catch (error) {
        if (!(error instanceof TlError) && !isRefusal(error)) throw error;
        tally.refusedFlips++;
      }
      damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
    }
  }
  return tally;
}

function isRefusal(error: unknown): boolean {
  return isTernError(error) && error.code.startsWith('proofs/') && error.code !== UNPROVABLE;
}

/**
 * Harmless are flips in what an answer says besides: modes, padding of TL, the blocks that a list of an account's
 * transactions attributes them to, the block id in an answer that there is no such shard.
 */
function expectRefusals({ refusedFlips, harmlessFlips }: Tally): void {
  expect(harmlessFlips).toBeLessThan((refusedFlips + harmlessFlips) * 0.05);
}

describe('answers of the reference liteserver', () => {
  it('are proven, and no flipped bit makes another value of them', () => {
    const tally = checkExchanges(readLiteExchanges(vectorPath('proofs/lite-answers.jsonl.gz')), 20);
    expect(tally).toMatchObject({ verified: 129, withoutProof: 27, unprovable: 2 });
    expectRefusals(tally);
  });
});

const recorded = vectorPath('collection/recorded-net/lite-queries.jsonl.br');

describe('the same, on all recorded answers', () => {
  it('of recorded-net', () => {
    const tally = checkExchanges(readLiteExchanges(recorded), FULL ? 40 : 6);
    expect(tally).toMatchObject({ verified: 1040, withoutProof: 498, unprovable: 12 });
    expectRefusals(tally);
  });
});
