import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v2BlockEndpoints } from '#api/v2/blocks.js';
import { locateEndpoints } from '#api/v2/locate.js';
import { configurationEndpoints } from '#api/v2/network.js';
import { accountTransactionEndpoints, blockTransactionEndpoints } from '#api/v2/transactions.js';
import { type Answer, compareCalls, type Recording, readRecordings, readRules } from '#test/contract/recorded-calls.js';
import { recordedCall } from '#test/contract/v2-recorded.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { type ServedReplay, serveReplay } from '#test/support/served-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Methods whose answers stay the same while a chain grows; those about accounts are compared at their own blocks. */
const NAMES = new Set(
  [
    ...v2BlockEndpoints,
    ...blockTransactionEndpoints,
    ...accountTransactionEndpoints,
    ...locateEndpoints,
    ...configurationEndpoints,
  ].flatMap(({ name, aliases = [] }) => [name, ...aliases]),
);

const RULES = [
  ...readRules(`${import.meta.dirname}/v2-rules.json`),
  {
    path: '^/getMasterchainInfo$',
    when: { desc: 'duplicate|twice' },
    expect: 422,
    reason: 'a JSON object that has a name twice is refused; Python takes the last one',
  },
];

const network = vectorPath('collection/recorded-net');
const folder = `${network}/chain`;
const recordings = `${network}/v2-recordings.jsonl.br`;

describe('recorded requests, sent as they were to the mount of the live dialect', () => {
  let served: ServedReplay;
  beforeAll(async () => {
    served = await serveReplay(folder);
  });
  afterAll(() => served?.close());

  async function ask({ method, path, query, body }: Recording): Promise<Answer> {
    const url = `${served.api.replace('/api/v2', '/toncenter/api/v2')}${path}${query ? `?${query}` : ''}`;
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(url, body === null || body === undefined ? { method } : { method, body: sent });
    return { status: answer.status, response: await answer.json() };
  }

  it('are answered as they were', async () => {
    const calls = readRecordings(recordings)
      .map(recordedCall)
      .filter((call) => call !== null)
      .filter(({ name }) => NAMES.has(name));
    const { equal, skipped, cases, differences } = await compareCalls(partOf(calls, 4), RULES, ({ recording }) =>
      ask(recording),
    );
    expect(differences).toEqual([]);
    expect(equal + skipped).toBe(cases);
    expect(equal).toBeGreaterThan(FULL ? 200 : 100);
  });
});
