import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACTION_TYPES } from '#domain/actions/action-registry.js';
import { classify } from '#domain/actions/classify.js';
import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { accountKey, addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { endClassificationWaits, numberLayouts } from '#drivers/store/write/actions.js';
import { resetDerived } from '#drivers/store/write/derivations.js';
import {
  countWantedPastContracts,
  nextPastContracts,
  writePastContracts,
} from '#drivers/store/write/past-contracts.js';
import type { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { ClassifyLoop, type ClassifyLoopModules } from '#services/indexer/actions/classify-loop.js';
import { TraceClassification } from '#services/indexer/actions/trace-classification.js';
import { progressKey } from '#services/indexer/derivations/derivation.js';
import { derivationsLeft } from '#services/indexer/derivations/derivation-progress.js';
import { actions } from '#services/indexer/derivations/registered.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { FULL } from '#test/support/full-depth.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const PARTITION = 64;
const KEY = progressKey(actions);
/** Of a transaction of the classifier: then nothing of it is written. */
const KILLED = 'killed';
/** Of a trace that the database does not take. */
const REFUSED = 'refused';

let chain: RecordedBundles;
const opened: (Database | TestDatabase)[] = [];
beforeAll(() => {
  chain = recordedBundles(vectorPath('dev-chain'));
});
afterAll(async () => {
  for (const each of opened.reverse()) await each.close();
});

interface Index {
  readonly database: Database;
  readonly writer: BatchWriter;
  readonly classification: TraceClassification;
}

async function newIndex(): Promise<Index> {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url, writeConnections: 3 }, { clock: systemClock });
  opened.push(test, database);
  const hash = new Uint8Array(32);
  const identity = { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} };
  const layouts = await database.transaction(async (client) => {
    await openIndex(client, identity, PARTITION);
    return numberLayouts(client, ACTION_TYPES.values());
  });
  const { globalVersion } = chain;
  const modules = {
    ...{ database, clock: systemClock },
    globalVersion: async (key: number) => globalVersion(key),
    mcBlockId: async () => null,
  };
  const writer = new BatchWriter({ partition_rounds: PARTITION, accounts: null }, modules);
  const classifier = { version: 1, types: ACTION_TYPES.values(), classify };
  return { database, writer, classification: new TraceClassification(classifier, layouts) };
}

/** Starts of batches, in an order that leaves orphans to be joined when `shuffled`. */
function starts(size: number, shuffled: boolean): number[] {
  const all = Array.from({ length: Math.ceil(chain.bundles.length / size) }, (_, i) => i * size);
  if (shuffled) all.sort((a, b) => ((a / size) % 3) - ((b / size) % 3) || b - a);
  return all;
}

async function write({ writer }: Index, start: number, size: number): Promise<void> {
  const bundles = chain.bundles.slice(start, start + size);
  await writer.write({ bundles, zerostates: null }, { exclusive: false, awaitPrevious: async () => {} });
}

/** As detection does when it finds no contract. */
async function detectNothing({ database }: Index): Promise<void> {
  await database.transaction(async (client) => {
    const { rows } = await client.query<{ address: Uint8Array }>(
      `WITH detected AS (DELETE FROM contract_queue RETURNING address),
         read AS (UPDATE past_contracts SET outcome = 'read' WHERE outcome IS NULL RETURNING address)
       SELECT address FROM detected UNION SELECT address FROM read`,
    );
    await endClassificationWaits(
      client,
      rows.map(({ address }) => address),
    );
    await client.query('UPDATE accounts SET incomplete = false');
  });
}

interface RunOptions {
  readonly isLong?: boolean;
  readonly longTrace?: number;
  readonly freshFrom?: number | null;
  /** Of traces that the database refuses. */
  readonly refuses?: (roots: readonly bigint[]) => boolean;
  /** So many transactions of the database are made; then the thread is gone. */
  readonly transactions?: number;
  readonly onWritten?: (client: pg.ClientBase) => Promise<void>;
}

/** Runs a loop until nothing is due. */
async function run(
  { database, classification }: Index,
  options: RunOptions = {},
): Promise<{ left: number; queuedLong: boolean }> {
  let transactions = options.transactions ?? Number.POSITIVE_INFINITY;
  let left = -1;
  let queuedLong = false;
  const troubles: unknown[] = [];
  const counted: Pick<Database, 'transaction' | 'withWriter'> = {
    withWriter: (work) => database.withWriter(work),
    transaction: (work) =>
      database.transaction(async (client) => {
        const result = await work(client);
        await options.onWritten?.(client);
        if (--transactions < 0) throw new RangeError(KILLED);
        return result;
      }),
  };
  const { isLong = false, longTrace, refuses = () => false } = options;
  const loop: ClassifyLoop = new ClassifyLoop(
    { key: KEY, partition_rounds: PARTITION, isLong, ...(longTrace === undefined ? {} : { longTrace }) },
    {
      database: counted as unknown as ClassifyLoopModules['database'],
      classification: {
        classify: (client, roots) => classification.classify(client, roots),
        write: async (client, page) => {
          if (refuses(page.traces.map(({ root }) => root))) throw new RangeError(REFUSED);
          await classification.write(client, page);
        },
      },
      clock: systemClock,
      unixTime: () => 1000,
      pollMs: 1_000,
      onClassified: () => {},
      onLong: () => {
        queuedLong = true;
      },
      onIdle: (_, now) => {
        left = now;
        loop.stop();
      },
      onFailed: (failed) => troubles.push(...failed),
      onTrouble: (error) => {
        if (!(error instanceof RangeError)) troubles.push(error);
        if (!(error instanceof RangeError && error.message === REFUSED)) loop.stop();
      },
    },
  );
  loop.setPace({ freshFrom: options.freshFrom ?? null });
  await loop.run();
  expect(troubles).toEqual([]);
  return { left, queuedLong };
}

async function rowsOf({ database }: Index): Promise<Record<string, string[]>> {
  return database.withWriter(async (client) => {
    const dump: Record<string, string[]> = {};
    for (const [table, order] of [
      ['classified_traces', 'root'],
      ['actions', 'root, position'],
      ['action_accounts', 'root, position, account_key'],
    ] as const) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY ${order}`);
      dump[table] = rows.map(({ row }) => row);
    }
    return dump;
  });
}

async function count({ database }: Index, text: string): Promise<number> {
  const { rows } = await database.withWriter((client) => client.query<{ n: number }>(`SELECT (${text})::int AS n`));
  return rows[0]!.n;
}

describe('actions of a chain', () => {
  let whole: Index;
  let expected: Record<string, string[]>;
  beforeAll(async () => {
    whole = await newIndex();
    for (const start of starts(50, false)) await write(whole, start, 50);
    await detectNothing(whole);
    expect(await run(whole)).toEqual({ left: 0, queuedLong: false });
    expected = await rowsOf(whole);
  });

  it('are those of all complete traces', async () => {
    const complete = await count(whole, 'SELECT count(*) FROM traces WHERE state = 0');
    expect(complete).toBeGreaterThan(100);
    expect(expected.classified_traces).toHaveLength(complete);
    expect(expected.actions!.length).toBeGreaterThan(100);
    expect(await count(whole, 'SELECT count(*) FROM classified_traces WHERE state <> 1')).toBe(0);
    expect(
      await count(
        whole,
        'SELECT count(*) FROM actions a WHERE NOT EXISTS (SELECT FROM action_accounts p WHERE p.root = a.root AND p.position = a.position)',
      ),
    ).toBe(0);
  });

  it.each(FULL ? [1, 7] : [7])(
    'are the same when blocks come in another order, and are classified in between (%s)',
    async (size) => {
      const index = await newIndex();
      for (const start of starts(size * 10, true)) {
        await write(index, start, size * 10);
        await detectNothing(index);
        if (start % 3 === 0) await run(index);
      }
      expect((await run(index)).left).toBe(0);
      expect(await rowsOf(index)).toEqual(expected);
    },
  );

  it('are the same when the thread is killed again and again', async () => {
    const index = await newIndex();
    for (const start of starts(100, true)) {
      await write(index, start, 100);
      await detectNothing(index);
      for (const transactions of [0, 1, 2]) await run(index, { transactions });
    }
    while ((await run(index, { transactions: FULL ? 2 : 10 })).left !== 0);
    expect(await rowsOf(index)).toEqual(expected);
  });

  it('stand while they are derived again, and are the same then', async () => {
    await whole.database.transaction((client) => resetDerived(client, KEY));
    const actionsBefore = expected.actions!.length;
    const seen = new Set<number>();
    const onWritten = async () => void seen.add(await count(whole, 'SELECT count(*) FROM actions'));
    expect((await run(whole, { onWritten })).left).toBe(0);
    expect([...seen]).toEqual([actionsBefore]);
    expect(await rowsOf(whole)).toEqual(expected);
  });

  it('of long traces come from a thread of their own', async () => {
    const index = await newIndex();
    for (const start of starts(100, false)) await write(index, start, 100);
    await detectNothing(index);
    const short = await run(index, { longTrace: 1 });
    expect(short).toEqual({ left: 0, queuedLong: true });
    const isLong = await count(index, 'SELECT count(*) FROM classification_queue WHERE is_long');
    expect(isLong).toBe(await count(index, 'SELECT count(*) FROM traces WHERE nodes > 1 AND state = 0'));
    expect(await count(index, 'SELECT count(*) FROM classified_traces')).toBe(
      expected.classified_traces!.length - isLong,
    );
    // Those that are queued already are told of as well.
    expect(await run(index, { longTrace: 1 })).toEqual({ left: 0, queuedLong: true });
    const [{ root: refused }] = (
      await index.database.withWriter((client) =>
        client.query<{ root: bigint }>('SELECT root FROM classification_queue ORDER BY root LIMIT 1'),
      )
    ).rows as [{ root: bigint }];
    // The last time it is not waited for any more, but tried again.
    for (const [attempts, not_before, left] of [
      [1, 1002, 1],
      [2, 1004, 1],
      [3, 1008, 1],
      [4, 1016, 0],
    ]) {
      const refuses = (roots: readonly bigint[]) => roots.includes(refused);
      expect((await run(index, { isLong: true, longTrace: 1, refuses })).left).toBe(left);
      const [ofActions] = await index.database.withWriter((client) => derivationsLeft(client, actions.name));
      expect(ofActions!.queued).toBe(left);
      const { rows } = await index.database.withWriter((client) =>
        client.query('SELECT root, is_long, attempts, not_before FROM classification_queue'),
      );
      expect(rows).toEqual([{ root: refused, is_long: true, attempts, not_before: BigInt(not_before!) }]);
      await index.database.withWriter((client) => client.query('UPDATE classification_queue SET not_before = 0'));
    }
    expect((await run(index, { isLong: true, longTrace: 1 })).left).toBe(0);
    expect(await run(index, { longTrace: 1 })).toEqual({ left: 0, queuedLong: false });
    expect(await rowsOf(index)).toEqual(expected);
  });

  it('wait for the detection of contracts that they depend on, old ones for all of it', async () => {
    const index = await newIndex();
    for (const start of starts(100, false)) await write(index, start, 100);
    await index.database.withWriter((client) => client.query('UPDATE accounts SET incomplete = false'));
    expect(await count(index, 'SELECT count(*) FROM contract_queue')).toBeGreaterThan(0);
    // Old blocks wait.
    await run(index);
    expect(await count(index, 'SELECT count(*) FROM classified_traces')).toBe(0);
    // New ones do not.
    await run(index, { freshFrom: 1 });
    const waiting = await count(
      index,
      'SELECT count(DISTINCT root) FROM classification_waits JOIN contract_queue USING (address)',
    );
    expect(waiting).toBeGreaterThan(0);
    expect(await count(index, 'SELECT count(*) FROM classified_traces')).toBe(
      expected.classified_traces!.length - waiting,
    );
    // What is not known for a longer time is left out, and said to be unclassified.
    await index.database.withWriter((client) => client.query('UPDATE contract_queue SET attempts = 1'));
    await index.database.transaction(async (client) => {
      const { rows } = await client.query<{ address: Uint8Array }>('SELECT address FROM contract_queue');
      await endClassificationWaits(
        client,
        rows.map(({ address }) => address),
      );
    });
    await run(index, { freshFrom: 1 });
    expect(await count(index, 'SELECT count(*) FROM classified_traces WHERE state = 0')).toBe(waiting);
    expect(await count(index, 'SELECT count(*) FROM classified_traces')).toBe(expected.classified_traces!.length);
    await detectNothing(index);
    expect((await run(index)).left).toBe(0);
    expect(await rowsOf(index)).toEqual(expected);
    expect(await count(index, 'SELECT count(*) FROM classification_waits')).toBe(0);
  });

  it('are made again with what contracts were at the end of their traces, when that is read', async () => {
    const index = await newIndex();
    for (const start of starts(100, false)) await write(index, start, 100);
    await detectNothing(index);
    const { database } = index;
    const ofType = `FROM actions a JOIN action_layouts l ON l.id = a.layout WHERE l.type = 'jetton_transfer'`;
    // Wallets that received jettons in a trace, and have been destroyed since.
    const wallets = await database.withWriter(async (client) => {
      const events = await client.query<{ account_key: bigint }>(
        'SELECT DISTINCT account_key FROM token_events WHERE kind = 3 AND NOT aborted',
      );
      const keys = new Set(events.rows.map(({ account_key }) => account_key));
      const { rows } = await client.query<{ address: Uint8Array }>('SELECT address FROM accounts');
      const found = rows.map(({ address }) => address).filter((address) => keys.has(accountKey(address)));
      const none = 'code_hash = NULL, data_hash = NULL, data_boc = NULL';
      await client.query(`UPDATE accounts SET ${none} WHERE address = ANY($1::bytea[])`, [found]);
      return found;
    });
    await run(index);
    // Those that failed messages ordered.
    const intended = await count(index, `SELECT count(*) ${ofType}`);
    const wanted = await database.withWriter((client) => nextPastContracts(client, 1000, 1000));
    expect(wanted.length).toBeGreaterThan(0);
    const [owner, jetton] = wallets.map(addressOfBytes) as [Address, Address];
    const rows = [{ kind: 'jetton_wallet', table: jettonWallet.table, values: { owner, jetton } }];
    await database.transaction(async (client) => {
      await writePastContracts(
        client,
        wanted.map((past) => ({ ...past, outcome: 'read', code_hash: null, rows })),
      );
      await endClassificationWaits(
        client,
        wanted.map(({ address }) => addressBytes(address)),
      );
    });
    expect((await run(index)).left).toBe(0);
    const transfers = await count(index, `SELECT count(*) ${ofType}`);
    expect(transfers).toBeGreaterThan(intended);
    // Derived again, they are the same without another read.
    const before = await rowsOf(index);
    await database.transaction((client) => resetDerived(client, KEY));
    await run(index);
    expect(await rowsOf(index)).toEqual(before);
    expect(await database.withWriter(countWantedPastContracts)).toBe(0);
    expect(await count(index, 'SELECT count(*) FROM classification_waits')).toBe(0);
  });
});
