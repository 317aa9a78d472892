import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Page } from '#drivers/store/read/index-types.js';
import { DEFAULT_THRESHOLDS, IndexSession, ReadCaches } from '#drivers/store/read/session.js';
import { statesBefore, type WithHead } from '#drivers/store/read/transaction-assembly.js';
import { Address } from '#formats/address/address.js';
import { explain, fillLarge, LARGE, recordingDatabase } from '#test/support/explained-plans.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const hot = Address.ofParts(0, new Uint8Array(32).fill(1));
const cold = Address.ofParts(0, new Uint8Array(32).fill(2));
const key = (address: Address) => accountKey(addressBytes(address));
const hash = new Uint8Array(32).fill(9);
const lt = (bundle: number) => BigInt(bundle) * LARGE.lt;
const utime = (bundle: number) => 1000 + bundle;
const options = { signal: new AbortController().signal, timeoutMs: 1000 };

/** Blocks of 8 kB that a page of 100 may look at, each time that it does. */
const MOST_BUFFERS = 2500;
/** Of up to 200 stored transactions, which are read with the messages. */
const MOST_BUFFERS_OF_CELLS = 1000;
/** For a key that every fifth message has: each transaction is asked for its message. */
const MOST_BUFFERS_OF_WALK = 8000;

let test: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  test = await testDatabase();
  client = await test.connect();
  await fillLarge(client, { hot: key(hot), cold: key(cold) });
});
afterAll(() => test?.close());

type Read = (reads: IndexPort, page: Page) => Promise<unknown>;

/** Reads that must be quick on large tables, of few rows and of many. */
const cases: Record<string, Read> = {
  'all transactions': (reads, page) => reads.transactions({}, page, options),
  'transactions of a frequent account': (reads, page) => reads.transactions({ account: [hot] }, page, options),
  'of a rare account': (reads, page) => reads.transactions({ account: [cold] }, page, options),
  'of several accounts': (reads, page) => reads.transactions({ account: [cold, hot] }, page, options),
  'of an account in a span of time': (reads, page) =>
    reads.transactions({ account: [hot], start_utime: utime(700), end_utime: utime(703) }, page, options),
  'of an account since long ago': (reads, page) =>
    reads.transactions({ account: [hot], start_utime: utime(3) }, page, options),
  'of an account since long ago up to a lt': (reads, page) =>
    reads.transactions({ account: [hot], start_utime: utime(3), end_lt: lt(1200) }, page, options),
  'of an account in a round': (reads, page) => reads.transactions({ account: [hot], mc_seqno: 900 }, page, options),
  'of an account at a lt': (reads, page) => reads.transactions({ account: [hot], lt: lt(900) + 102n }, page, options),
  'without a frequent account': (reads, page) => reads.transactions({ exclude_account: [hot] }, page, options),
  'by hash': (reads, page) => reads.transactions({ hash: [hash, hash], account: [hot] }, page, options),
  'at a lt': (reads, page) => reads.transactions({ lt: lt(900) + 102n }, page, options),
  'of a block': (reads, page) => reads.transactions({ workchain: 0, shard: 1n << 62n, seqno: 800 }, page, options),
  'of blocks with a seqno': (reads, page) => reads.transactions({ seqno: 800 }, page, options),
  'of a shard': (reads, page) => reads.transactions({ workchain: 0, shard: 1n << 62n }, page, options),
  'of a shard that never was': (reads, page) => reads.transactions({ workchain: 0, shard: 1n << 61n }, page, options),
  'of a workchain that never was': (reads, page) => reads.transactions({ workchain: 7 }, page, options),
  'between two lts': (reads, page) => reads.transactions({ start_lt: lt(400), end_lt: lt(420) }, page, options),
  'in a span of time': (reads, page) =>
    reads.transactions({ start_utime: utime(400), end_utime: utime(420) }, page, options),
  messages: (reads, page) => reads.messages({}, page, options),
  'messages with a time': (reads, page) => reads.messages({ exclude_externals: true }, page, options),
  'messages from outside': (reads, page) => reads.messages({ source: null }, page, options),
  'messages of a source': (reads, page) => reads.messages({ source: hot }, page, options),
  'messages to a rare destination': (reads, page) => reads.messages({ destination: cold }, page, options),
  'messages by hash': (reads, page) => reads.messages({ msg_hash: [hash] }, page, options),
  'messages of an opcode': (reads, page) => reads.messages({ opcode: 395134233 }, page, options),
  'messages of an opcode to a rare destination': (reads, page) =>
    reads.messages({ opcode: 395134233, destination: cold }, page, options),
  'messages in a span of time': (reads, page) =>
    reads.messages({ start_utime: utime(400), end_utime: utime(420) }, page, options),
  'messages of a source that were received': (reads, page) =>
    reads.messages({ source: hot, direction: 'in' }, page, options),
  traces: (reads, page) => reads.traces({}, page, options),
  'traces of an account': (reads, page) => reads.traces({ account: hot }, page, options),
  'traces of an account in a span of time': (reads, page) =>
    reads.traces({ account: hot, start_utime: utime(400), end_utime: utime(420) }, page, options),
  'traces that ended in a round': (reads, page) => reads.traces({ mc_seqno: 900 }, page, options),
  'traces by transaction': (reads, page) => reads.traces({ tx_hash: [hash] }, page, options),
  'traces by message': (reads, page) => reads.traces({ msg_hash: [hash] }, page, options),
  'transactions of traces': (reads) =>
    reads.transactionsOfTraces(
      Array.from({ length: 100 }, (_, i) => (BigInt(i * 14 + 1) << 24n) | 3n),
      4000,
      options,
    ),
  'token events': (reads, page) => reads.tokenEvents('jetton_transfer', {}, page, options),
  'token events in a span of time': (reads, page) =>
    reads.tokenEvents('nft_transfer', { start_utime: utime(400), end_utime: utime(420) }, page, options),
  'token events of a frequent owner': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [hot] }, page, options),
  'token events to a frequent owner': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [hot, cold], direction: 'in' }, page, options),
  'token events of a rare owner': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [cold] }, page, options),
  'token events of a frequent owner in a span of time': (reads, page) =>
    reads.tokenEvents(
      'jetton_transfer',
      { owner: [hot], start_utime: utime(400), end_utime: utime(420) },
      page,
      options,
    ),
  'token events of a frequent owner since long ago': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [hot], start_utime: utime(3) }, page, options),
  'token events of a rare owner since long ago': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [cold], start_utime: utime(3) }, page, options),
  'token events of a frequent owner and token': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { owner: [hot], direction: 'out', token: hot }, page, options),
  'token events of a rare wallet and a frequent token': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { account: [cold], token: hot }, page, options),
  'token events of a frequent wallet': (reads, page) =>
    reads.tokenEvents('jetton_transfer', { account: [hot] }, page, options),
  'token events of a frequent token between two lts': (reads, page) =>
    reads.tokenEvents('jetton_burn', { token: hot, start_lt: lt(400), end_lt: lt(420) }, page, options),
  blocks: (reads, page) => reads.blocks({}, page, options),
  'blocks of the masterchain': (reads, page) => reads.blocks({ workchain: -1 }, page, options),
  'blocks of a workchain that never was': (reads, page) => reads.blocks({ workchain: 7 }, page, options),
  'blocks of the masterchain in a span of time': (reads, page) =>
    reads.blocks({ workchain: -1, start_utime: utime(900), end_utime: utime(950) }, page, options),
  'blocks by hash': (reads, page) => reads.blocks({ root_hash: hash }, page, options),
  'blocks of a round': (reads, page) => reads.blocks({ mc_seqno: 900 }, page, options),
  'the head': (reads) => reads.extent(options),
  'a shard state': (reads) => reads.shardState(900, options),
  'adjacent transactions': (reads, page) => reads.adjacentTransactions(hash, undefined, page, options),
  accounts: (reads) => reads.accounts({ address: [hot, cold] }, { boc: true }, options),
  'transactions by message hash': (reads, page) => reads.transactionsByMessage({ msg_hash: [hash] }, page, options),
  'transactions by a frequent opcode': (reads, page) =>
    reads.transactionsByMessage({ opcode: 395134233 }, page, options),
  'transactions by a frequent opcode and destination': (reads, page) =>
    reads.transactionsByMessage({ opcode: 0, destination: hot }, page, options),
};

describe('plans on tables of some 200,000 rows scan none of them, and look at few of their blocks:', () => {
  for (const [name, read] of Object.entries(cases)) {
    it.each(['asc', 'desc'] as const)(`${name}, %s`, async (sort) => {
      // Keys that many rows have, as the counts of the true tables would say of the frequent ones.
      const frequent = !name.includes('rare');
      const { database, sent } = recordingDatabase(async ({ text, values }) => {
        if (text.startsWith('SELECT ARRAY[')) return [{ counts: frequent ? [50_000n, 50_000n] : [5n, 50_000n] }];
        // Bounds are what the tables say.
        return / AS bound|^SELECT (min|max)\(/.test(text) ? (await client.query(text, [...values])).rows : [];
      });
      await read(indexReads(database), { limit: 100, offset: 0, sort, cursor: null });
      expect(sent.length).toBeGreaterThan(0);
      for (const statement of sent) {
        const modes = statement.isPrepared
          ? (['force_generic_plan', 'force_custom_plan'] as const)
          : (['force_custom_plan'] as const);
        for (const mode of modes) {
          const { scanned, buffers, ms } = await explain(client, statement, mode);
          if (process.env.TERN_SHOW_PLANS !== undefined) console.log(name, sort, mode, buffers, ms);
          const grown = scanned.filter((table) => table !== 'index_state' && table !== 'accounts' && table !== 'codes');
          expect(grown, `${mode}: ${statement.text}`).toEqual([]);
          const most = name.startsWith('transactions by a frequent') ? MOST_BUFFERS_OF_WALK : MOST_BUFFERS;
          const cells = statement.text.startsWith('WITH found') ? MOST_BUFFERS_OF_CELLS : 0;
          expect(buffers, `${mode}: ${statement.text}`).toBeLessThan(most + cells);
        }
      }
    });
  }

  it('states before transactions', async () => {
    const { rows } = await client.query('SELECT * FROM transactions t ORDER BY lt DESC LIMIT 100');
    const transactions = rows.map((found: WithHead['found']) => ({
      found,
      head: {
        ...{ account_addr: hash, prev_trans_hash: hash, prev_trans_lt: found.lt - 2n },
        wasNonexist: false,
        isNonexist: false,
      },
    }));
    const { database, sent } = recordingDatabase(() => []);
    await database.read((reader) =>
      statesBefore(new IndexSession(reader, new ReadCaches(), DEFAULT_THRESHOLDS), transactions),
    );
    const { scanned, buffers } = await explain(client, sent[0]!, 'force_generic_plan');
    expect(scanned).toEqual([]);
    expect(buffers).toBeLessThan(MOST_BUFFERS);
  });
});
