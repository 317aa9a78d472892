import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { loadTransaction } from '#drivers/store/stored-transaction.js';
import { resetDerived } from '#drivers/store/write/derivations.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import {
  type AccountDerivation,
  type Derivation,
  progressKey,
  type TraceDerivation,
} from '#services/indexer/derivations/derivation.js';
import { contracts, DERIVATIONS } from '#services/indexer/derivations/registered.js';
import { DerivationRunner } from '#services/indexer/derivations/run-derivations.js';
import { Retries } from '#services/indexer/retries.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const PARTITION = 64;
const PAGE = 50;

/** The number of transactions and the sum of their fees, of each complete trace. */
const traceFees: TraceDerivation = {
  name: 'test_trace_fees',
  version: 1,
  input: 'complete-traces',
  tables: ['test_trace_fees'],
  write: async (client, traces) => {
    const fees = traces.map(({ transactions }) =>
      transactions
        .map(
          ({ boc }) =>
            decodeCell(
              Transaction,
              loadTransaction(boc, () => null),
            ).total_fees.grams,
        )
        .reduce((sum, fee) => sum + fee, 0n),
    );
    await client.query(
      `INSERT INTO test_trace_fees SELECT * FROM unnest($1::bigint[], $2::int[], $3::numeric[])
       ON CONFLICT (root) DO UPDATE SET nodes = excluded.nodes, fees = excluded.fees`,
      [traces.map(({ root }) => root), traces.map(({ transactions }) => transactions.length), fees],
    );
  },
};

/** Addresses of all accounts that were ever seen. */
const seenAccounts: AccountDerivation = {
  name: 'test_accounts',
  version: 1,
  input: 'changed-accounts',
  tables: ['test_accounts'],
  changed: async (client, addresses) => {
    await client.query('INSERT INTO test_accounts SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING', [addresses]);
  },
  rederive: async (client, after) => {
    const { rows } = await client.query<{ address: Uint8Array }>(
      `INSERT INTO test_accounts SELECT address FROM accounts WHERE address > $1 ORDER BY address LIMIT ${PAGE}
       ON CONFLICT (address) DO UPDATE SET address = excluded.address RETURNING address`,
      [after],
    );
    const last = rows
      .map(({ address }) => Buffer.from(address))
      .sort(Buffer.compare)
      .at(-1);
    return rows.length < PAGE ? null : last!;
  },
};

const OWN: readonly Derivation[] = [traceFees, seenAccounts];

let chain: RecordedBundles;
const opened: (Database | TestDatabase)[] = [];
beforeAll(() => {
  chain = recordedBundles(vectorPath('dev-chain'));
});
afterAll(async () => {
  for (const each of opened.reverse()) await each.close();
});

async function newIndex(derivations: readonly Derivation[]): Promise<{ database: Database; writer: BatchWriter }> {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url, writeConnections: 2 }, { clock: systemClock });
  opened.push(test, database);
  const hash = new Uint8Array(32);
  const identity = { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} };
  await database.transaction(async (client) => {
    await openIndex(client, identity, PARTITION);
    await client.query('CREATE TABLE test_trace_fees (root bigint PRIMARY KEY, nodes int, fees numeric)');
    await client.query('CREATE TABLE test_accounts (address bytea PRIMARY KEY)');
  });
  const { globalVersion } = chain;
  const modules = {
    database,
    clock: systemClock,
    globalVersion: async (key: number) => globalVersion(key),
    mcBlockId: async () => null,
    derivations,
  };
  return { database, writer: new BatchWriter({ partition_rounds: PARTITION, accounts: null }, modules) };
}

/** Writes all blocks in batches of a size; in an order that leaves orphans to be joined when `shuffled`. */
async function fill(writer: BatchWriter, size: number, shuffled: boolean): Promise<void> {
  const starts = Array.from({ length: Math.ceil(chain.bundles.length / size) }, (_, i) => i * size);
  if (shuffled) starts.sort((a, b) => ((a / size) % 3) - ((b / size) % 3) || b - a);
  for (const start of starts) {
    const bundles = chain.bundles.slice(start, start + size);
    await writer.write({ bundles, zerostates: null }, { exclusive: !shuffled, awaitPrevious: async () => {} });
  }
}

async function rowsOf(database: Database): Promise<{ readonly traces: string[]; readonly accounts: string[] }> {
  return database.withWriter(async (client) => {
    const traces = await client.query<{ row: string }>('SELECT f::text AS row FROM test_trace_fees f ORDER BY root');
    const accounts = await client.query<{ row: string }>('SELECT a::text AS row FROM test_accounts a ORDER BY address');
    return { traces: traces.rows.map(({ row }) => row), accounts: accounts.rows.map(({ row }) => row) };
  });
}

function run(database: Database, derivations: readonly Derivation[], retries = new Retries(systemClock, silentLogger)) {
  const context = { database, retries, clock: systemClock, unixTimeMs: Date.now };
  return new DerivationRunner({ derivations, partition_rounds: PARTITION }, context).run(new AbortController().signal);
}

/** Does so much of the work, and then ends as a killed process does. */
function stoppingAfter(steps: number): Retries {
  let left = steps;
  return {
    run: async <T>(work: () => Promise<T>) => {
      if (left-- === 0) throw new RangeError('killed');
      return work();
    },
  } as unknown as Retries;
}

describe('a derivation', () => {
  let expected: Awaited<ReturnType<typeof rowsOf>>;
  let database: Database;

  beforeAll(async () => {
    const index = await newIndex([...DERIVATIONS, ...OWN]);
    database = index.database;
    await fill(index.writer, 7, false);
    expected = await rowsOf(database);
  });

  it('gets each complete trace and each changed account with the batch', async () => {
    const { traces, transactions, accounts } = await database.withWriter(async (client) => {
      const { rows } = await client.query<{ traces: bigint; transactions: bigint; accounts: bigint }>(
        `SELECT (SELECT count(*) FROM traces WHERE state = 0) AS traces, (SELECT count(*) FROM accounts) AS accounts,
           (SELECT sum(nodes) FROM traces WHERE state = 0) AS transactions`,
      );
      return rows[0]!;
    });
    const nodes = await database.withWriter((client) =>
      client.query('SELECT sum(nodes) AS nodes FROM test_trace_fees'),
    );
    expect(expected.traces.length).toBe(Number(traces));
    expect(expected.traces.length).toBeGreaterThan(100);
    expect(Number(nodes.rows[0].nodes)).toBe(Number(transactions));
    expect(expected.accounts.length).toBe(Number(accounts));
  });

  it('has the same rows in whatever order blocks are written', async () => {
    const index = await newIndex([...DERIVATIONS, ...OWN]);
    await fill(index.writer, 11, true);
    expect(await rowsOf(index.database)).toEqual(expected);
  });

  it('has the same rows when it is derived later from indexed rows, and continues after a kill', async () => {
    const index = await newIndex(DERIVATIONS);
    await fill(index.writer, 50, false);
    expect((await rowsOf(index.database)).traces).toEqual([]);
    await expect(run(index.database, OWN, stoppingAfter(2))).rejects.toThrow('killed');
    const startedAt = await rowsOf(index.database);
    expect(startedAt.traces.length).toBeGreaterThan(0);
    expect(startedAt.traces.length).toBeLessThan(expected.traces.length);
    // What was derived before the kill is not derived again.
    await index.database.withWriter((client) => client.query('UPDATE test_trace_fees SET fees = 0'));
    await run(index.database, OWN);
    const { traces, accounts } = await rowsOf(index.database);
    expect(traces.slice(startedAt.traces.length)).toEqual(expected.traces.slice(startedAt.traces.length));
    expect(traces[0]).toMatch(/,0\)$/);
    expect(accounts).toEqual(expected.accounts);
    await index.database.withWriter((client) => resetDerived(client, traceFees.name));
    await run(index.database, OWN);
    expect(await rowsOf(index.database)).toEqual(expected);
  });

  it('is derived again when its version is another one', async () => {
    await database.withWriter((client) => client.query('UPDATE test_trace_fees SET fees = 0; TRUNCATE test_accounts'));
    await run(database, OWN);
    expect(await rowsOf(database)).not.toEqual(expected);
    await run(
      database,
      OWN.map((each) => ({ ...each, version: 2 })),
    );
    expect(await rowsOf(database)).toEqual(expected);
  });

  it('stores its progress by name and version', () => {
    expect(progressKey(contracts)).toBe('contracts');
    expect(progressKey({ name: 'contracts', version: 2 })).toBe('contracts@2');
    expect(DERIVATIONS.map(({ name }) => name)).toEqual([
      ...['code_methods', 'first_transactions', 'token_events', 'contracts', 'metadata', 'actions'],
    ]);
  });
});
