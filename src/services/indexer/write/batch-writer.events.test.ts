import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { eventsAfter } from '#drivers/store/event-log.js';
import { openIndex } from '#drivers/store/index-state.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { systemClock } from '#kernel/clock.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { recordedBundles } from '#test/support/recorded-bundles.js';
import { testDatabase } from '#test/support/test-database.js';

const test = await testDatabase();
const database = await Database.open({ url: test.url, writeConnections: 1 }, { clock: systemClock });
afterAll(async () => {
  await database.close();
  await test.close();
});

/** Aim of the event log: bytes on disk for each transaction, with its index. */
const MOST_BYTES = 100;

const identity = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };
await database.transaction((client) => openIndex(client, identity, 64));
const chain = recordedBundles(join(import.meta.dirname, '../../../../vectors/dev-chain'));
const writer = new BatchWriter(
  { partition_rounds: 64, accounts: null },
  {
    database,
    clock: systemClock,
    globalVersion: async (key_block) => chain.globalVersion(key_block),
    mcBlockId: async () => null,
  },
);

const ZERO = accountKey(addressBytes(Address.ofParts(-1, new Uint8Array(32))));

it('records what each masterchain block touched, in few bytes', async () => {
  for (let at = 1; at < chain.bundles.length; at += 20) {
    const bundles = chain.bundles.slice(at, at + 20);
    await writer.write({ bundles, zerostates: null }, { exclusive: true, awaitPrevious: async () => {} });
  }
  const { events } = await eventsAfter(database, 1n, 10_000);
  expect(events.map(({ kind, range }) => [kind, range?.from, range?.to])).toEqual(
    chain.bundles.slice(1).map(({ mc_seqno }) => ['committed', mc_seqno, mc_seqno]),
  );
  const client = await test.connect();
  const { rows } = await client.query<{ seqno: bigint; accounts: bigint[]; hashes: bigint[]; received: bigint[] }>(
    `SELECT id >> 24 AS seqno, array_agg(DISTINCT account_key) AS accounts, array_agg(hash_key ORDER BY id) AS hashes,
       coalesce(array_agg(in_msg_key) FILTER (WHERE in_msg_key IS NOT NULL), '{}') AS received
     FROM transactions GROUP BY 1 ORDER BY 1`,
  );
  const bySeqno = new Map(events.map(({ range, touched }) => [BigInt(range!.from), touched!]));
  for (const { seqno, accounts, hashes, received } of rows) {
    const touched = bySeqno.get(seqno)!;
    // The source of the messages that mint and pay validators, which no transaction sends.
    const system = touched.accounts.includes(ZERO) ? [ZERO] : [];
    expect([...touched.accounts].sort(), String(seqno)).toEqual([...accounts, ...system].sort());
    expect(touched.transactions, String(seqno)).toEqual(hashes);
    expect(touched.messages, String(seqno)).toEqual(expect.arrayContaining(received));
  }
  expect(events.filter(({ touched }) => touched!.accounts.includes(ZERO)).length).toBeGreaterThan(10);
  const tokens = await client.query<{ seqno: bigint; owners: bigint[] }>(
    `SELECT tx_id >> 24 AS seqno, array_agg(source_key) || array_remove(array_agg(destination_key), NULL) AS owners
     FROM token_events GROUP BY 1`,
  );
  expect(tokens.rows.length).toBeGreaterThan(10);
  for (const { seqno, owners } of tokens.rows) {
    expect([...bySeqno.get(seqno)!.owners].sort(), String(seqno)).toEqual([...new Set(owners)].sort());
  }
  const roots = await client.query<{ root: bigint }>('SELECT root FROM traces');
  const touchedRoots = new Set(events.flatMap(({ touched }) => touched!.traces));
  expect(roots.rows.filter(({ root }) => !touchedRoots.has(root))).toEqual([]);
  await client.query('VACUUM FULL index_events');
  const size = await client.query<{ bytes: number }>(
    `SELECT (pg_total_relation_size('index_events')::float8 / n) AS bytes
     FROM (SELECT count(*)::float8 AS n FROM transactions) t`,
  );
  const { bytes } = size.rows[0]!;
  expect(bytes).toBeLessThan(MOST_BYTES);
});

it('records who sent what is received, when the transaction that sent it is not indexed', async () => {
  const late = await testDatabase();
  const lateDatabase = await Database.open({ url: late.url, writeConnections: 1 }, { clock: systemClock });
  try {
    await lateDatabase.transaction((client) => openIndex(client, identity, 64));
    const client = await late.connect();
    const ofLate = new BatchWriter(
      { partition_rounds: 64, accounts: null },
      {
        database: lateDatabase,
        clock: systemClock,
        globalVersion: async (key_block) => chain.globalVersion(key_block),
        mcBlockId: async () => null,
      },
    );
    // Every other masterchain block.
    for (const bundle of chain.bundles.filter(({ mc_seqno }) => mc_seqno % 2 === 0)) {
      await ofLate.write({ bundles: [bundle], zerostates: null }, { exclusive: true, awaitPrevious: async () => {} });
    }
    const { rows } = await client.query<{ seqno: bigint; sender: bigint }>(
      `SELECT m.tx_id >> 24 AS seqno, m.source_key AS sender FROM orphan_messages o
       JOIN transactions t ON t.id = o.tx_id JOIN messages m ON m.tx_id = t.id AND m.msg_key = t.in_msg_key`,
    );
    expect(rows.length).toBeGreaterThan(10);
    const { events } = await eventsAfter(lateDatabase, 0n, 10_000);
    const bySeqno = new Map(events.map(({ range, touched }) => [BigInt(range?.from ?? 0), touched]));
    for (const { seqno, sender } of rows) expect(bySeqno.get(seqno)!.accounts, String(seqno)).toContain(sender);
  } finally {
    await lateDatabase.close();
    await late.close();
  }
});

it('records the accounts of the zerostates, which have no transaction', async () => {
  const { last } = await eventsAfter(database, 0n, 1);
  const zerostates = chain.zerostates.map(({ id, root }) => ({
    ...{ workchain: id.workchain, gen_utime: 0, data: serializeBoc(root) },
  }));
  const bundles = chain.bundles.slice(0, 1);
  await writer.write({ bundles, zerostates }, { exclusive: true, awaitPrevious: async () => {} });
  const { events } = await eventsAfter(database, last, 10);
  const touched = new Set(events.flatMap((event) => event.touched?.accounts ?? []));
  const client = await test.connect();
  const { rows } = await client.query<{ address: Uint8Array }>('SELECT address FROM accounts WHERE first_tx IS NULL');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ address }) => !touched.has(accountKey(address)))).toEqual([]);
});
