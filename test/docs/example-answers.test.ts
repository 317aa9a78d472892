import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleAnswers, recordedApis } from '#test/docs/example-answers.js';

/** Paths that the recorded services did not have, or answered with errors alone. */
const NOT_RECORDED: Readonly<Record<string, readonly string[]>> = {
  '/api/v2': [
    'getShardAccountCell',
    'dnsResolve',
    'getTransactionsStd',
    'getOutMsgQueueSize',
    'runGetMethodStd',
    'sendBoc',
    'sendBocReturnHash',
    'sendBocReturnHashNoError',
    'sendQuery',
    'sendQuerySimple',
    'sendCellSimple',
    'estimateFeeSimple',
    'detectHash',
    'getConfigAll',
  ],
  '/api/v3': ['events', 'pendingTransactions', 'message'],
};

describe.each(recordedApis)('the example answers of $prefix', (api) => {
  const text = readFileSync(api.exampleAnswers, 'utf8');

  it('are those that npm run docs:examples writes', () => {
    expect(text).toBe(exampleAnswers(api));
  });

  it('are there for each path that was recorded', () => {
    const known = Object.keys(JSON.parse(text));
    const missing = api.endpoints.map(({ name }) => name).filter((name) => !known.includes(`${api.prefix}/${name}`));
    expect(missing).toEqual(NOT_RECORDED[api.prefix]);
  });
});
