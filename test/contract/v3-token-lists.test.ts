import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { systemClock } from '#kernel/clock.js';
import { compareCalls, type RecordedCall, readRecordings, readRules } from '#test/contract/recorded-calls.js';
import { callOf } from '#test/contract/v3-recorded.js';
import { addReferenceTokens } from '#test/support/reference-tokens.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { callV3 } from '#test/support/v3-method.js';
import { vectorPath } from '#test/support/vector-files.js';

const METHODS = /^\/(jetton\/(masters|wallets)|nft\/(collections|items|sales))$/;
const RULES = readRules(`${import.meta.dirname}/v3-rules.json`);
const network = vectorPath('collection/recorded-net');

type Json = Record<string, unknown>;

/** What is said of accounts is not the matter here: which of them are named is left. */
function withoutFacts(response: unknown): unknown {
  const { address_book, metadata: _, ...rest } = response as Json;
  if (address_book === undefined) return response;
  return { ...rest, address_book: Object.fromEntries(Object.keys(address_book as Json).map((name) => [name, true])) };
}

/** What each method understands beside its parameters. */
function withoutSwitches(query: string): string {
  return query.replace(/&?x_\w+=[^&]*/g, '');
}

describe('what a reference index says of its jettons and NFTs', () => {
  let test: TestDatabase;
  let database: Database;
  let index: IndexPort;
  beforeAll(async () => {
    test = await testDatabase();
    database = await Database.open({ url: test.url }, { clock: systemClock });
    index = indexReads(database);
    await addReferenceTokens(await test.connect(), `${network}/v3-tables`);
  });
  afterAll(async () => {
    await database?.close();
    await test?.close();
  });

  it('is said of the same rows in the same order, but for what the rules say', async () => {
    const asked = readRecordings(`${network}/v3-recordings.jsonl.br`)
      .filter(({ path }) => METHODS.test(path))
      .map((recording) => callOf({ ...recording, response: withoutFacts(recording.response) }));
    const answer = async ({ name, recording }: RecordedCall) => {
      const { status, body, error } = await callV3(name, withoutSwitches(recording.query ?? ''), {
        network: { index },
        profile: 'toncenter',
      });
      return { status, response: body === undefined ? { error } : withoutFacts(body) };
    };
    const compared = await compareCalls(asked, RULES, answer, 'body');
    expect(compared.differences).toEqual([]);
    expect(compared.equal + compared.skipped).toBe(asked.length);
    expect(compared.equal).toBeGreaterThan(110);
    const names = [...new Set(asked.map(({ name }) => name))];
    const own = RULES.filter(({ path }) => path !== '^/' && names.some((name) => new RegExp(path).test(`/${name}`)));
    expect(own.length).toBeGreaterThan(6);
    expect(own.filter(({ reason }) => compared.stale.includes(reason))).toEqual([]);
  });
});
