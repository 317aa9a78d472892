import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Listed, Page } from '#drivers/store/read/index-types.js';
import { explain, recordingDatabase, type SentStatement } from '#test/support/explained-plans.js';
import { fillTokens, GREAT, tokenAddress } from '#test/support/large-tokens.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const options = { signal: new AbortController().signal, timeoutMs: 1000 };

/** Jetton wallets, and items. */
const COUNT = 60_000;

/** Blocks of 8 kB that a page of 100 may look at: for each row its index and table, and some of what is joined. */
const MOST_BUFFERS = 2_500;

const small = tokenAddress('owner5');
const other = tokenAddress('owner7');
const nobody = tokenAddress('nobody');
const jetton = tokenAddress('jetton8');
const collection = tokenAddress('collection5');
/** Not all of them have something. */
const owners = [GREAT.owner, small, other, nobody];
const many = Array.from({ length: 300 }, (_, n) => tokenAddress(`owner${n}`));

let test: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  test = await testDatabase();
  client = await test.connect();
  await fillTokens(client, COUNT);
});
afterAll(() => test?.close());

type Read = (reads: IndexPort, page: Page) => Promise<Listed<object>>;

const cases: Record<string, Read> = {
  jettons: (reads, page) => reads.jettonMasters({}, page, options),
  'jettons of an admin': (reads, page) => reads.jettonMasters({ admin: [GREAT.owner] }, page, options),
  'jettons of several admins': (reads, page) => reads.jettonMasters({ admin: owners }, page, options),
  collections: (reads, page) => reads.nftCollections({}, page, options),
  'collections of an owner': (reads, page) => reads.nftCollections({ owner: [GREAT.owner] }, page, options),
  'collections of several owners': (reads, page) => reads.nftCollections({ owner: owners }, page, options),
};
for (const exclude_zero_balance of [false, true]) {
  for (const by_balance of [false, true]) {
    const how = { exclude_zero_balance, by_balance };
    const name = `${exclude_zero_balance ? ' that are not empty' : ''}${by_balance ? ' by balance' : ''}`;
    const wallets = (of: object): Read => {
      return (reads, page) => reads.jettonWallets({ ...of, ...how }, page, options);
    };
    cases[`wallets${name}`] = wallets({});
    cases[`wallets of a great owner${name}`] = wallets({ owner: [GREAT.owner] });
    cases[`wallets of a small owner${name}`] = wallets({ owner: [small] });
    cases[`wallets of nobody${name}`] = wallets({ owner: [nobody] });
    cases[`wallets of several owners${name}`] = wallets({ owner: owners });
    cases[`wallets of many owners${name}`] = wallets({ owner: many });
    cases[`wallets of a great jetton${name}`] = wallets({ jetton: [GREAT.jetton] });
    cases[`wallets of a small jetton${name}`] = wallets({ jetton: [jetton] });
    cases[`wallets of both${name}`] = wallets({ owner: [GREAT.owner], jetton: [GREAT.jetton, jetton] });
    cases[`wallets of many owners and a jetton${name}`] = wallets({ owner: many, jetton: [GREAT.jetton] });
    cases[`wallets by address${name}`] = wallets({ address: many, owner: owners });
  }
}
for (const include_on_sale of [false, true]) {
  for (const by_lt of [false, true]) {
    const how = { include_on_sale, by_lt };
    const name = `${include_on_sale ? ' with those on sale' : ''}${by_lt ? ' by lt' : ''}`;
    const items = (of: object): Read => {
      return (reads, page) => reads.nftItems({ ...of, ...how }, page, options);
    };
    cases[`items${name}`] = items({});
    cases[`items of a great owner${name}`] = items({ owner: [include_on_sale ? GREAT.seller : GREAT.owner] });
    cases[`items of a small owner${name}`] = items({ owner: [small] });
    cases[`items of several owners${name}`] = items({ owner: owners });
    cases[`items of a great collection${name}`] = items({ collection: [GREAT.collection] });
    cases[`items of a small collection${name}`] = items({ collection: [collection] });
    cases[`items of both, great${name}`] = items({ owner: [GREAT.owner], collection: [GREAT.collection] });
    cases[`items of both, one small${name}`] = items({ owner: [GREAT.owner], collection: [collection] });
    cases[`items of several owners in a collection${name}`] = items({ owner: owners, collection: [GREAT.collection] });
    cases[`items of an owner in several collections${name}`] = items({
      owner: [GREAT.owner],
      collection: [GREAT.collection, collection, nobody],
    });
    cases[`items by index${name}`] = items({ collection: [GREAT.collection], index: [1n, 4n, 7n, 8n] });
    cases[`items by address${name}`] = items({ address: many, owner: owners });
  }
}

/** Runs each statement that is sent, and explains it by the plan for any values and by the one for these. */
function explaining() {
  const explained: { statement: SentStatement; scanned: readonly string[]; buffers: number }[] = [];
  const { database } = recordingDatabase(async (statement) => {
    for (const mode of ['force_generic_plan', 'force_custom_plan'] as const) {
      if (mode === 'force_generic_plan' && !statement.isPrepared) continue;
      explained.push({ statement, ...(await explain(client, statement, mode)) });
    }
    return (await client.query(statement.text, [...statement.values])).rows;
  });
  return { reads: indexReads(database), explained };
}

describe(`plans on ${COUNT} rows scan no table, and look at few blocks, on the first page and on later ones:`, () => {
  it.each(Object.entries(cases))('%s', async (_, read) => {
    for (const sort of ['asc', 'desc'] as const) {
      const { reads, explained } = explaining();
      const page = { limit: 100, offset: 0, sort, cursor: null };
      const first = await read(reads, page);
      if (first.next !== null) await read(reads, { ...page, cursor: first.next });
      expect(explained.length).toBeGreaterThan(0);
      for (const { statement, scanned, buffers } of explained) {
        expect(scanned, statement.text).toEqual([]);
        expect(buffers, statement.text).toBeLessThan(MOST_BUFFERS);
      }
    }
  });
});
