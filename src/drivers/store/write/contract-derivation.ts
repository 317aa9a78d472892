import type { ClientBase } from 'pg';
import { countQueued } from '#drivers/store/write/contract-queue.js';
import { queueAgain } from '#drivers/store/write/contract-references.js';
import { forgetDerived, nextUnderived } from '#drivers/store/write/derivations.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';

/** In `derivations`: no row: accounts that were indexed before there was a queue are to be queued; no position: all are. */
const NAME = 'contracts';

/**
 * Has all contracts looked at again, and all token events derived anew; in a transaction. Whoever leads does so. What was begun
 * before and has not come to its end goes on.
 */
export async function restartDerivations(client: ClientBase): Promise<void> {
  await lockTraces(client);
  if (!(await areContractsQueued(client)) || (await nextUnderived(client, 'token_events', 1)) !== null) {
    await client.query(`INSERT INTO derivations (name, position) VALUES ($1, '') ON CONFLICT DO NOTHING`, [NAME]);
    return;
  }
  await client.query(`UPDATE derivations SET position = '' WHERE name = $1`, [NAME]);
  await forgetDerived(client, 'token_events');
}

/** What is left of deriving everything. */
export interface DerivationsLeft {
  /** Accounts that are to be looked at and can be, among those that are in the queue. */
  readonly queued: number;
  /** How much of all possible addresses has not been put into the queue: 0 to 1. */
  readonly unqueued: number;
  /** Masterchain blocks whose token events are not derived. */
  readonly rounds: number;
}

export async function derivationsLeft(client: ClientBase): Promise<DerivationsLeft> {
  const { rows } = await client.query<{
    position: Uint8Array | null;
    known: boolean;
    rounds: bigint;
    changed: boolean;
  }>(
    `SELECT d.position, d.name IS NOT NULL AS known, EXISTS (SELECT FROM changed_contracts) AS changed,
       (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(s.rounds - coalesce(e.rounds, '{}')) r) AS rounds
     FROM index_state s LEFT JOIN derivations d ON d.name = $1 LEFT JOIN derivations e ON e.name = 'token_events'`,
    [NAME],
  );
  const { position = null, known = false, rounds = 0n, changed = false } = rows[0] ?? {};
  const { soon } = await countQueued(client);
  const isQueued = known && position === null;
  return { queued: soon + Number(changed), unqueued: isQueued ? 0 : 1 - shareBefore(position), rounds: Number(rounds) };
}

/** Which part of the addresses of a workchain, as they are stored, comes before one. */
function shareBefore(address: Uint8Array | null): number {
  return ((address?.[1] ?? 0) * 256 + (address?.[2] ?? 0)) / 65_536;
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
