import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { indexReads } from '#drivers/store/read/index-port.js';
import { systemClock } from '#kernel/clock.js';
import { compareCalls, type RecordedCall, readRecordings, readRules } from '#test/contract/recorded-calls.js';
import type { Json } from '#test/contract/v3-columns.js';
import { callOf } from '#test/contract/v3-recorded.js';
import { addRecordedContracts } from '#test/support/recorded-contracts.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { callV3 } from '#test/support/v3-method.js';
import { vectorPath } from '#test/support/vector-files.js';

const METHODS = /^\/(dns\/records|multisig\/(wallets|orders)|vesting)$/;
const RULES = readRules(`${import.meta.dirname}/v3-rules.json`);
const network = vectorPath('collection/recorded-net');

/** What is said of accounts is not the matter here: which of them are named is left. */
function withoutFacts(response: unknown): unknown {
  const { address_book, ...rest } = response as Json;
  if (address_book === undefined) return response;
  return { ...rest, address_book: Object.fromEntries(Object.keys(address_book).map((name) => [name, true])) };
}

describe('what a reference index says of domains, multisigs and vesting', () => {
  let test: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    test = await testDatabase();
    await addRecordedContracts(await test.connect(), network);
    database = await Database.open({ url: test.url }, { clock: systemClock });
  });
  afterAll(async () => {
    await database?.close();
    await test?.close();
  });

  it('is answered over the rows of that index, but for what the rules say', async () => {
    const index = indexReads(database);
    const asked = readRecordings(`${network}/v3-recordings.jsonl.br`)
      .filter(({ path }) => METHODS.test(path))
      .map((recording) => callOf({ ...recording, response: withoutFacts(recording.response) }));
    const answer = async ({ name, recording }: RecordedCall) => {
      const { status, body, error } = await callV3(name, recording.query ?? '', {
        ...{ network: { index }, profile: 'toncenter' },
      });
      return { status, response: status === 200 ? withoutFacts(body) : { error } };
    };
    const compared = await compareCalls(asked, RULES, answer, 'body');
    expect(compared.differences).toEqual([]);
    expect(compared.equal + compared.skipped).toBe(asked.length);
    expect(compared.equal).toBeGreaterThan(70);
    // What goes for other methods as well is about accounts.
    const others = ['/accountStates', '/jetton/masters', '/nft/items'];
    const own = RULES.filter(({ path }) => {
      const isFor = (method: string) => new RegExp(path).test(method);
      return asked.some(({ name }) => isFor(`/${name}`)) && !others.some(isFor);
    }).map(({ reason }) => reason);
    expect(own.length).toBeGreaterThan(1);
    expect(own.filter((reason) => compared.stale.includes(reason))).toEqual([]);
  });
});
