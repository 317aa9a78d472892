import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import { answerChecks, checkAnswer, latestBlock } from '#test/support/lite-answers.js';
import { type LiteExchange, readLiteExchanges } from '#test/support/lite-exchanges.js';
import { TlError } from '#test/support/tl-reader.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Exchanges whose answer is proven, and the value. */
const exchanges: readonly (readonly [LiteExchange, string])[] = [
  ...readLiteExchanges(vectorPath('proofs/lite-answers.jsonl.gz')),
].flatMap((exchange) => {
  if (answerChecks[exchange.function] === undefined) return [];
  try {
    const { function: name, request, response } = exchange;
    const value = checkAnswer(name, request, response, latestBlock(exchange));
    return value === 'no proof' ? [] : [[exchange, value] as const];
  } catch {
    // Questions that nothing can prove an answer to.
    return [];
  }
});

/** Input: number of the exchange (2 bytes), then the damaged answer. Whatever is accepted has the true value. */
export const fuzzTarget: FuzzTarget = {
  name: 'lite-answers',
  make: (random) => {
    const index = random.below(exchanges.length);
    const response = mutate(exchanges[index]![0].response, random);
    return new Uint8Array(Buffer.concat([Buffer.from([index >> 8, index]), response]));
  },
  run: (input) => {
    const chosen = exchanges[((input[0] ?? 0) << 8) | (input[1] ?? 0)];
    if (chosen === undefined) return;
    const [exchange, value] = chosen;
    let found: string;
    try {
      found = checkAnswer(exchange.function, exchange.request, input.subarray(2), latestBlock(exchange));
    } catch (error) {
      if (error instanceof TlError) return;
      throw error;
    }
    if (found !== value) throw new RangeError(`${exchange.n}: another value is accepted: ${found}`);
  },
  allowed: (error) => error.code.startsWith('proofs/'),
};
