import type { ClientBase } from 'pg';

/** Whom a contract names. */
export interface ContractReferences {
  readonly address: Uint8Array;
  readonly named: readonly Uint8Array[];
}

/** Notes whom contracts name now, instead of whom they named before. */
export async function writeReferences(client: ClientBase, references: readonly ContractReferences[]): Promise<void> {
  const pairs = references.flatMap(({ address, named }) => named.map((each) => ({ address, each })));
  await client.query({
    name: 'write-contract-references',
    text: `
      WITH named AS (SELECT * FROM unnest($2::bytea[], $3::bytea[]) AS n (address, named)),
      gone AS (DELETE FROM contract_references r WHERE r.address = ANY($1::bytea[])
        AND NOT EXISTS (SELECT FROM named n WHERE n.address = r.address AND n.named = r.named))
      INSERT INTO contract_references SELECT address, named FROM named ORDER BY address, named ON CONFLICT DO NOTHING`,
    values: [
      references.map(({ address }) => address),
      pairs.map(({ address }) => address),
      pairs.map(({ each }) => each),
    ],
  });
}

/** Notes that all who name some contracts are to be looked at again. */
export async function noteChanged(client: ClientBase, addresses: readonly Uint8Array[]): Promise<void> {
  await client.query({
    name: 'note-changed-contracts',
    text: `INSERT INTO changed_contracts (address)
           SELECT n.address FROM unnest($1::bytea[]) AS n (address)
           WHERE EXISTS (SELECT FROM contract_references r WHERE r.named = n.address)
           ORDER BY n.address ON CONFLICT (address) DO UPDATE SET position = ''`,
    values: [addresses],
  });
}

/** So many are looked at again when one changes that they name. */
const MOST_REFUSED = 256;

/**
 * Puts those into the queue that name contracts whose data has changed and that were refused, the newest of them: it may be that
 * they were not known there yet.
 *
 * @param now unix seconds
 */
export async function queueRefused(client: ClientBase, changed: readonly Uint8Array[], now: number): Promise<void> {
  if (changed.length === 0) return;
  const { rows } = await client.query<{ address: Uint8Array }>({
    name: 'refused-referring-contracts',
    text: `SELECT r.address FROM contract_references r JOIN contracts c ON c.address = r.address
           WHERE r.named = ANY($1::bytea[]) AND c.refused IS NOT NULL ORDER BY c.last_trans_lt DESC LIMIT ${MOST_REFUSED}`,
    values: [changed],
  });
  if (rows.length > 0) {
    await queueAgain(
      client,
      rows.map(({ address }) => address),
      now,
    );
  }
}

/**
 * Puts some of those into the queue that name a contract which has changed; in a transaction, under the lock of the batches.
 *
 * @param now unix seconds: they come after what has changed itself
 * @returns how many; 0: nothing is left to be done
 */
export async function queueReferring(client: ClientBase, now: number, most: number): Promise<number> {
  const { rows } = await client.query<{ address: Uint8Array; position: Uint8Array }>(
    'SELECT address, position FROM changed_contracts ORDER BY address LIMIT 1',
  );
  const changed = rows[0];
  if (changed === undefined) return 0;
  const referring = await client.query<{ address: Uint8Array }>({
    name: 'referring-contracts',
    text: 'SELECT address FROM contract_references WHERE named = $1 AND address > $2 ORDER BY address LIMIT $3',
    values: [changed.address, changed.position, most],
  });
  const addresses = referring.rows.map(({ address }) => address);
  await queueAgain(client, addresses, now);
  if (addresses.length < most)
    await client.query('DELETE FROM changed_contracts WHERE address = $1', [changed.address]);
  else {
    const values = [changed.address, addresses.at(-1)];
    await client.query('UPDATE changed_contracts SET position = $2 WHERE address = $1', values);
  }
  return Math.max(addresses.length, 1);
}

/** Puts accounts into the queue that have not changed. Who waits there already does not come later for that. */
export async function queueAgain(client: ClientBase, addresses: readonly Uint8Array[], now: number): Promise<void> {
  await client.query({
    name: 'queue-again',
    text: `INSERT INTO contract_queue (address, last_trans_lt, mc_seqno, not_before)
           SELECT address, last_trans_lt, mc_seqno, $2 FROM accounts WHERE address = ANY($1::bytea[]) ORDER BY address
           ON CONFLICT (address) DO UPDATE SET not_before = least(contract_queue.not_before, excluded.not_before)`,
    values: [addresses, now],
  });
}
