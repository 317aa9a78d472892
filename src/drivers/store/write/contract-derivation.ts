import type { ClientBase } from 'pg';
import { queueAgain } from '#drivers/store/write/contract-references.js';

/** In `derivations`: no row: accounts that were indexed before there was a queue are to be queued; no position: all are. */
const NAME = 'contracts';

/** Has all accounts with code looked at again, from the first one on. Whoever leads does so; it can be ended and goes on. */
export async function restartContracts(client: ClientBase): Promise<void> {
  await client.query(
    `INSERT INTO derivations (name, position) VALUES ($1, '') ON CONFLICT (name) DO UPDATE SET position = ''`,
    [NAME],
  );
}

/** Whether all accounts with code have been put into the queue. */
export async function areContractsQueued(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM derivations WHERE name = $1 AND position IS NULL', [NAME]);
  return rows.length === 1;
}

/**
 * Puts the next accounts with code into the queue; in a transaction, under the lock of the batches.
 *
 * @param plain hashes of codes that are left out
 * @param now unix seconds: they come after what has changed
 * @returns whether there are no more
 */
export async function queueNextAccounts(
  client: ClientBase,
  plain: readonly Uint8Array[],
  now: number,
  most: number,
): Promise<boolean> {
  const derivation = await client.query<{ position: Uint8Array | null }>(
    'SELECT position FROM derivations WHERE name = $1',
    [NAME],
  );
  const row = derivation.rows[0];
  if (row !== undefined && row.position === null) return true;
  const page = await client.query<{ address: Uint8Array; wanted: boolean }>({
    name: 'next-accounts-to-queue',
    text: `SELECT address, NOT incomplete AND (code_hash <> ALL($2::bytea[])
             OR (SELECT true FROM contracts c WHERE c.address = a.address)) IS TRUE AS wanted
           FROM accounts a WHERE address > $1 ORDER BY address LIMIT $3`,
    values: [row?.position ?? new Uint8Array(), plain, most],
  });
  const wanted = page.rows.filter((each) => each.wanted).map(({ address }) => address);
  if (wanted.length > 0) await queueAgain(client, wanted, now);
  const done = page.rows.length < most;
  await client.query({
    name: 'note-queued-accounts',
    text: 'INSERT INTO derivations (name, position) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET position = $2',
    values: [NAME, done ? null : page.rows.at(-1)!.address],
  });
  return done;
}
