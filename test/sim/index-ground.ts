import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { differingRows, dumpIndex, type IndexTable } from '#test/support/dump-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import type { RecordedNetwork } from './recorded-network.js';

/** The index of one run, from an empty database on. */
export interface IndexUnderWay {
  readonly url: string;
  /** A folder for Tern. */
  readonly data: string;
  readonly client: pg.Client;
  /** Whether all up to the last recorded block is there, all contracts are looked at, all traces are classified, and nothing to be asked for any more. */
  isWhole(): Promise<boolean>;
  /** How many masterchain blocks are there. */
  rounds(): Promise<number>;
  close(): Promise<void>;
}

export async function emptyIndex(network: RecordedNetwork): Promise<IndexUnderWay> {
  const database: TestDatabase = await testDatabase('empty');
  const client = await database.connect();
  const data = await mkdtemp(join(network.folder, 'data-'));
  return {
    url: database.url,
    data,
    client,
    isWhole: () => isWhole(client, network.last),
    rounds: () => roundsOf(client),
    close: async () => {
      await database.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function roundsOf(client: pg.ClientBase): Promise<number> {
  try {
    const { rows } = await client.query<{ rounds: bigint }>(
      'SELECT coalesce(sum(upper(r) - lower(r)), 0) AS rounds FROM index_state, unnest(rounds) r',
    );
    return Number(rows[0]?.rounds ?? 0);
  } catch {
    return 0;
  }
}

export async function isWhole(client: pg.ClientBase, last: number): Promise<boolean> {
  try {
    const { rows } = await client.query(
      `SELECT rounds = int4multirange(int4range(1, $1)) AND NOT EXISTS (SELECT FROM accounts WHERE incomplete)
         AND NOT EXISTS (SELECT FROM contract_queue) AND NOT EXISTS (SELECT FROM changed_contracts)
         AND EXISTS (SELECT FROM derivations WHERE name = 'contracts' AND position IS NULL)
         AND NOT EXISTS (SELECT FROM classification_queue) AND NOT EXISTS (SELECT FROM classification_waits)
         AND EXISTS (SELECT FROM derivations d WHERE d.name LIKE 'actions@%' AND d.rounds @> index_state.rounds) AS whole
       FROM index_state`,
      [last + 1],
    );
    return rows[0]?.whole === true;
  } catch {
    // There is no such table yet.
    return false;
  }
}

/** Does something on a connection of its own; what fails because there is no database now is `null`. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T | null> {
  const client = new pg.Client({ ...connectionConfig(url), connectionTimeoutMillis: 3000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}

/** What differs between two indexes: rows that only the first (`-`) or only the second (`+`) has, by table. */
export async function differences(first: pg.ClientBase, second: pg.ClientBase): Promise<string[]> {
  const [a, b] = [await dumpIndex(first), await dumpIndex(second)];
  const found: string[] = [];
  for (const table of Object.keys(a) as IndexTable[]) {
    if (a[table] === b[table]) continue;
    found.push(`${table}: ${a[table]} / ${b[table]}`, ...(await differingRows(first, second, table)));
  }
  return found;
}
