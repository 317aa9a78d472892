import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerQuery } from '#formats/tl/lite-api.js';
import { decodeLiteQuery } from '#formats/tl/lite-query.js';
import { answerCall } from '#localnet/liteserver/answer.js';
import { toLiteError } from '#localnet/liteserver/errors.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import { contextOf, genesisLedger } from '#test/support/genesis-ledger.js';
import { questionsAbout } from '#test/support/lite-survey.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const questions = [...questionsAbout(ledger, 6)].map(({ request }) => request);

/** Each query gets an answer: an invalid query never causes an internal error. */
export const fuzzTarget: FuzzTarget = {
  name: 'liteserver-queries',
  make: (random) => mutate(random.pick(questions), random, random.between(1, 3)),
  run: (input) => {
    const { call } = decodeLiteQuery(encodeBoxed(LiteServerQuery, { data: input }));
    answerCall(call, context);
  },
  allowed: (error) => toLiteError(error).code !== 602,
};
