import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import { resetDerived } from '#drivers/store/write/derivations.js';
import { pruneBelow } from '#drivers/store/write/partitions.js';
import { confirmEvents, type VerifiedItem, type VerifiedWallet } from '#drivers/store/write/token-events.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { tokenEvents } from '#services/indexer/derivations/registered.js';
import { DerivationRunner } from '#services/indexer/derivations/run-derivations.js';
import { Retries } from '#services/indexer/retries.js';
import { buildBundleRows } from '#services/indexer/rows/build-rows.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { insertTokens } from '#test/support/token-facts.js';

const FROM = 200;
const TO = 380;
const PARTITION_ROUNDS = 64;
const ZEROSTATE = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };

let chain: RecordedBundles;
/** Of the accounts of all candidates. */
let wallets: VerifiedWallet[];
let items: VerifiedItem[];

const someToken = (n: number) => addressBytes(Address.ofParts(0, new Uint8Array(32).fill(n)));

beforeAll(() => {
  chain = recordedBundles(join(import.meta.dirname, '../../../../vectors/dev-chain'), TO);
  const context = { globalVersion: chain.globalVersion, writer: new TransactionWriter() };
  const bundles = chain.bundles.slice(FROM - 1).map((bundle) => buildBundleRows(bundle, context));
  const found = bundles.flatMap(({ transactions }) =>
    transactions.flatMap(({ token_candidate }) => token_candidate ?? []),
  );
  const addresses = (ofItems: boolean) => [
    ...new Map(
      found.filter(({ kind }) => (kind === 4) === ofItems).map(({ address }) => [toHex(address), address]),
    ).values(),
  ];
  // A third of them is not what it would be.
  wallets = addresses(false)
    .filter((address) => address[9]! % 3 > 0)
    .map((address) => ({ address, master: someToken(address[9]! % 4) }));
  items = addresses(true)
    .filter((_, i) => i % 3 < 2)
    .map((address, i) => ({ address, collection: i % 2 === 0 ? null : someToken(7) }));
  expect([wallets.length > 20, items.length > 2]).toEqual([true, true]);
});

const opened: { readonly database: Database; readonly test: TestDatabase }[] = [];
afterAll(async () => {
  for (const { database, test } of opened) {
    await database.close();
    await test.close();
  }
});

interface Index {
  readonly database: Database;
  readonly writer: BatchWriter;
}

async function newIndex(): Promise<Index> {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url, writeConnections: 3 }, { clock: systemClock });
  opened.push({ database, test });
  await database.transaction((client) => openIndex(client, ZEROSTATE, PARTITION_ROUNDS));
  const globalVersion = async (key_block: number) => chain.globalVersion(key_block);
  const modules = { database, clock: systemClock, globalVersion, mcBlockId: async () => null };
  return { database, writer: new BatchWriter({ partition_rounds: PARTITION_ROUNDS, accounts: null }, modules) };
}

const RANGES = Array.from({ length: 6 }, (_, i) => [FROM + i * 31, Math.min(FROM + i * 31 + 30, TO)] as const);

async function write({ writer }: Index, [from, to]: readonly [number, number], meanwhile = async () => {}) {
  const batch = { bundles: chain.bundles.slice(from - 1, to), zerostates: null };
  await writer.write(batch, { exclusive: false, awaitPrevious: meanwhile });
}

/** As who looks for contracts does it. */
function verify({ database }: Index, some: readonly VerifiedWallet[], others: readonly VerifiedItem[]) {
  return database.transaction(async (client) => {
    await lockTraces(client);
    await insertTokens(client, some, others);
    return confirmEvents(client, some, others);
  });
}

const RUN = { derivations: [tokenEvents], partition_rounds: PARTITION_ROUNDS };

async function deriveAll({ database }: Index): Promise<void> {
  const retries = new Retries(systemClock, silentLogger);
  const context = { database, retries, clock: systemClock, unixTimeMs: Date.now };
  await new DerivationRunner(RUN, context).run(new AbortController().signal);
}

const eventsOf = ({ database }: Index) =>
  database.withWriter(async (client: pg.PoolClient) => {
    const { rows } = await client.query<{ row: string }>('SELECT e::text AS row FROM token_events e ORDER BY tx_id');
    return rows.map(({ row }) => row);
  });

const half = <T>(list: readonly T[], rest: 0 | 1): T[] => list.filter((_, i) => i % 2 === rest);

describe('token events', () => {
  let sequential: Index;
  let expected: string[];
  beforeAll(async () => {
    sequential = await newIndex();
    for (const range of RANGES) await write(sequential, range);
    await verify(sequential, wallets, items);
    expected = await eventsOf(sequential);
  });

  it('are confirmed where wallets and items are verified, and of mints where the master is the sender', async () => {
    const count = async (condition: string) => {
      const rows = await sequential.database.query<{ count: bigint }>({
        text: `SELECT count(*) FROM token_events WHERE ${condition}`,
      });
      return Number(rows[0]!.count);
    };
    expect(expected.length).toBeGreaterThan(200);
    expect(await count('confirmed AND kind IN (1, 5)')).toBeGreaterThan(50);
    expect(await count('NOT confirmed AND kind IN (1, 5)')).toBeGreaterThan(20);
    expect(await count('kind = 5 AND aborted')).toBe(await count('kind = 5'));
    expect(await count('kind = 1 AND aborted')).toBe(0);
    expect(await count('confirmed AND kind = 4 AND token_key IS NULL')).toBeGreaterThan(0);
    expect(await count('confirmed AND kind = 4 AND token_key IS NOT NULL')).toBeGreaterThan(0);
    expect(await count('confirmed AND kind = 3 AND source_key <> token_key')).toBe(0);
    expect(await count('NOT confirmed AND token_key IS NOT NULL')).toBe(0);
  });

  it('are the same when wallets and items were known before', async () => {
    const index = await newIndex();
    await verify(index, wallets, items);
    for (const range of [...RANGES].reverse()) await write(index, range);
    expect(await eventsOf(index)).toEqual(expected);
  });

  it('are the same when wallets and items become known between batches, and change their token', async () => {
    const index = await newIndex();
    const other = someToken(0x77);
    await write(index, RANGES[3]!);
    await verify(index, half(wallets, 0), half(items, 0));
    await write(index, RANGES[0]!);
    const changed = (list: readonly VerifiedWallet[]) => list.map((wallet) => ({ ...wallet, master: other }));
    await verify(
      index,
      changed(wallets),
      items.map((item) => ({ ...item, collection: other })),
    );
    await write(index, RANGES[5]!);
    await verify(index, half(wallets, 1), half(items, 1));
    for (const i of [4, 1]) await write(index, RANGES[i]!);
    await verify(index, wallets, items);
    await write(index, RANGES[2]!);
    expect(await eventsOf(index)).toEqual(expected);
  });

  it('are the same when wallets and items become known while their batch is written', async () => {
    const index = await newIndex();
    await verify(index, half(wallets, 0), half(items, 0));
    for (const [i, range] of RANGES.entries()) {
      await write(index, range, async () => {
        if (i === 2) await verify(index, half(wallets, 1), half(items, 1));
      });
    }
    expect(await eventsOf(index)).toEqual(expected);
  });

  it('say of which tokens they are and were, when they are confirmed', async () => {
    const index = await newIndex();
    for (const range of RANGES) await write(index, range);
    const tokens = async () => {
      const rows = await index.database.query<{ token_key: bigint }>({
        text: 'SELECT DISTINCT token_key FROM token_events WHERE token_key IS NOT NULL',
      });
      return rows.map(({ token_key }) => token_key);
    };
    const sorted = (keys: readonly bigint[]) => [...keys].sort((a, b) => (a < b ? -1 : 1));
    const { tokens: first } = await verify(index, wallets, items);
    const before = await tokens();
    expect(before.length).toBeGreaterThan(2);
    expect(sorted(first)).toEqual(sorted(before));
    expect(await verify(index, wallets, items)).toEqual({ owners: [], tokens: [] });
    const other = someToken(0x77);
    const { tokens: second } = await verify(
      index,
      wallets.map((wallet) => ({ ...wallet, master: other })),
      items.map((item) => ({ ...item, collection: other })),
    );
    expect(await tokens()).toEqual([accountKey(other)]);
    expect(sorted(second)).toEqual(sorted([...before, accountKey(other)]));
  });

  it('of mints are those of the master', async () => {
    const index = await newIndex();
    for (const range of RANGES) await write(index, range);
    const [mint] = await index.database.query<{ source: Uint8Array; address: Uint8Array }>({
      text: `SELECT a.address AS source, w.address FROM token_events e
        JOIN transactions t ON t.id = e.tx_id
        CROSS JOIN LATERAL (SELECT m.source_key FROM messages m WHERE m.msg_key = t.in_msg_key LIMIT 1) m
        JOIN accounts a ON a.last_trans_lt > 0 JOIN accounts w ON w.last_trans_lt > 0
        WHERE e.kind = 3 AND e.source_key = ('x' || encode(substring(sha256(a.address) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
          AND e.account_key = ('x' || encode(substring(sha256(w.address) FROM 1 FOR 8), 'hex'))::bit(64)::bigint LIMIT 1`,
    });
    const mints = `SELECT count(*) FROM token_events WHERE kind = 3 AND confirmed AND token_key = source_key`;
    const counted = async () => Number((await index.database.query<{ count: bigint }>({ text: mints }))[0]!.count);
    expect(await counted()).toBe(0);
    await verify(index, [{ address: mint!.address, master: mint!.source }], []);
    expect(await counted()).toBeGreaterThan(0);
    await verify(index, [{ address: mint!.address, master: someToken(0x77) }], []);
    expect(await counted()).toBe(0);
  });

  it('are derived from what was indexed before there were any', async () => {
    const index = await newIndex();
    for (const i of [1, 4, 0]) await write(index, RANGES[i]!);
    await verify(index, half(wallets, 0), half(items, 0));
    await index.database.withWriter((client) => client.query('DELETE FROM token_events; DELETE FROM derivations'));
    for (const i of [5, 2, 3]) await write(index, RANGES[i]!);
    await verify(index, half(wallets, 1), half(items, 1));
    expect((await eventsOf(index)).length).toBeLessThan(expected.length);
    await deriveAll(index);
    expect(await eventsOf(index)).toEqual(expected);
  });

  it('are derived again in the place of what is there, and go on where they were left', async () => {
    const { database } = sequential;
    await database.withWriter((client) => client.query('UPDATE token_events SET source_key = 1, confirmed = false'));
    await deriveAll(sequential);
    expect(await eventsOf(sequential)).not.toEqual(expected);
    await database.withWriter((client) => resetDerived(client, 'token_events'));
    const stop = new AbortController();
    const retries = {
      run: async <T>(work: () => Promise<T>) => {
        if (stop.signal.aborted) throw new RangeError('stopped');
        const result = await work();
        stop.abort();
        return result;
      },
    };
    const some = new DerivationRunner(RUN, { database, retries } as never).run(stop.signal);
    await expect(some).rejects.toThrow('stopped');
    const text = `SELECT rounds::text FROM derivations WHERE name = 'token_events'`;
    const rows = await database.query<{ rounds: string }>({ text });
    expect(rows[0]!.rounds).toBe(`{[${FROM},${FROM + 32})}`);
    await deriveAll(sequential);
    expect(await eventsOf(sequential)).toEqual(expected);
  });

  it('go with their blocks', async () => {
    const { database } = sequential;
    const bound = await database.withWriter((client) => pruneBelow(client, 330));
    expect(bound).toBe(320);
    const left = await eventsOf(sequential);
    expect(left).toEqual(expected.slice(-left.length));
    expect(left.length).toBeGreaterThan(10);
    expect(left.length).toBeLessThan(expected.length);
    await database.withWriter((client) => resetDerived(client, 'token_events'));
    await deriveAll(sequential);
    expect(await eventsOf(sequential)).toEqual(left);
  });
});
