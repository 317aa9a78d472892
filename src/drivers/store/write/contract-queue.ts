import type { ClientBase } from 'pg';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';

/**
 * Extends a statement that changes accounts so that it also queues them for contract detection: accounts whose newest state is
 * completely known, except those without code or with a code of `$<plain>`, unless they have a row in `contracts`.
 *
 * @param change statement on `accounts` without RETURNING; `account` is its alias of the row
 * @param plain number of the parameter with the hashes of codes
 * @param mayBeContracts false: none of the accounts has a row in `contracts`
 */
export function queueingContracts(change: string, account: string, plain: number, mayBeContracts = true): string {
  const known = '(SELECT true FROM contracts known WHERE known.address = changed.address)';
  const returned = ['address', 'last_trans_lt', 'mc_seqno', 'code_hash', 'incomplete'];
  return `
    WITH changed AS (${change} RETURNING ${returned.map((column) => `${account}.${column}`).join(', ')})
    INSERT INTO contract_queue (address, last_trans_lt, mc_seqno)
    SELECT address, last_trans_lt, mc_seqno FROM changed
    WHERE NOT incomplete AND (code_hash <> ALL($${plain}::bytea[])${mayBeContracts ? ` OR ${known}` : ''})
    ORDER BY address
    ON CONFLICT (address) DO UPDATE SET
      last_trans_lt = excluded.last_trans_lt, mc_seqno = excluded.mc_seqno, attempts = 0, not_before = 0`;
}

/** An account that is queued for contract detection. */
export interface QueuedContract {
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  /** Failed attempts for transient reasons. */
  readonly attempts: number;
  /** Whether not the account changed, but a contract that it references. */
  readonly again: boolean;
}

/** Order of the queue. */
export interface QueueOrder {
  readonly newestFirst: boolean;
  /** Unix seconds. */
  readonly now: number;
}

/** Columns of {@link QueuedContract}. */
const QUEUED = 'address, last_trans_lt, mc_seqno, attempts, not_before > 0 AND attempts = 0 AS again';

/** Due entries: first changed accounts, then those to be detected again. */
export async function nextQueued(
  client: ClientBase,
  { newestFirst, now }: QueueOrder,
  limit: number,
): Promise<QueuedContract[]> {
  const direction = newestFirst ? 'DESC' : 'ASC';
  const { rows } = await client.query<QueuedContract>({
    name: `next-queued-${direction}`,
    text: `
      (SELECT ${QUEUED} FROM contract_queue WHERE not_before = 0 ORDER BY mc_seqno ${direction} LIMIT $1)
      UNION ALL
      (SELECT ${QUEUED} FROM contract_queue
        WHERE not_before > 0 AND not_before <= $2 ORDER BY not_before, mc_seqno LIMIT $1)
      LIMIT $1`,
    values: [limit, now],
  });
  return rows;
}

/** After so many failed attempts an account is not waited for any more, nor is a trace to be classified. */
export const ABANDONED_AFTER = 4;

/** The number of entries, and of those that are due or will be within seconds. */
export async function countQueued(client: ClientBase): Promise<{ readonly all: number; readonly soon: number }> {
  const { rows } = await client.query<{ all: bigint; soon: bigint }>({
    name: 'count-queued',
    text: 'SELECT count(*) AS all, count(*) FILTER (WHERE attempts < $1) AS soon FROM contract_queue',
    values: [ABANDONED_AFTER],
  });
  return { all: Number(rows[0]!.all), soon: Number(rows[0]!.soon) };
}

/** Whether accounts are due, or will be within seconds. */
export async function isDetectionDue(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query({
    name: 'is-detection-due',
    text: 'SELECT FROM contract_queue WHERE attempts < $1 LIMIT 1',
    values: [ABANDONED_AFTER],
  });
  return rows.length > 0;
}

/** A queue entry whose detection has ended. */
export interface DetectedEntry extends Pick<QueuedContract, 'address' | 'last_trans_lt'> {
  /** Since which masterchain block the account has had the state with `last_trans_lt`, as far as was known when it was read. */
  readonly mc_seqno: number;
  /** Nothing was detected, because the state was incomplete. */
  readonly incomplete: boolean;
}

/**
 * Removes entries that have not changed since their detection, in a transaction that holds the lock of `lockTraces`. An older block may
 * have shown meanwhile that an account has had the same state since before: then it is detected again, as is one whose state was
 * incomplete and has been completed.
 */
export async function removeQueued(client: ClientBase, detected: readonly DetectedEntry[]): Promise<void> {
  await client.query({
    name: 'remove-queued',
    text: `DELETE FROM contract_queue q
           USING unnest($1::bytea[], $2::bigint[], $3::integer[], $4::boolean[]) AS l (address, last_trans_lt, mc_seqno, incomplete)
           WHERE q.address = l.address
             AND (q.last_trans_lt < l.last_trans_lt OR (q.last_trans_lt = l.last_trans_lt AND q.mc_seqno >= l.mc_seqno))
             AND (NOT l.incomplete OR EXISTS (SELECT FROM accounts a WHERE a.address = q.address AND a.incomplete))`,
    values: [
      detected.map(({ address }) => address),
      detected.map(({ last_trans_lt }) => last_trans_lt),
      detected.map(({ mc_seqno }) => mc_seqno),
      detected.map(({ incomplete }) => incomplete),
    ],
  });
}

/** Records failed attempts and when to retry. */
export async function postponeQueued(
  client: ClientBase,
  postponed: readonly { readonly contract: QueuedContract; readonly not_before: number }[],
): Promise<void> {
  await client.query({
    name: 'postpone-queued',
    text: `UPDATE contract_queue q SET attempts = least(q.attempts + 1, 1000), not_before = p.not_before
           FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS p (address, last_trans_lt, not_before)
           WHERE q.address = p.address AND q.last_trans_lt = p.last_trans_lt`,
    values: [
      postponed.map(({ contract }) => contract.address),
      postponed.map(({ contract }) => contract.last_trans_lt),
      postponed.map(({ not_before }) => not_before),
    ],
  });
}

/** The contracts that a contract references. */
export interface ContractReferences {
  readonly address: Uint8Array;
  readonly referenced: readonly Uint8Array[];
}

/**
 * Replaces the references of contracts.
 *
 * @param known those that may have references already
 */
export async function writeReferences(
  client: ClientBase,
  references: readonly ContractReferences[],
  known: readonly ContractReferences[] = references,
): Promise<void> {
  const staged = new CopyRows(references.length * 96);
  for (const { address, referenced } of references) {
    for (const each of referenced) {
      staged.row(2);
      staged.bytea(address);
      staged.bytea(each);
    }
  }
  await client.query(
    'CREATE TEMP TABLE IF NOT EXISTS staged_references (LIKE contract_references) ON COMMIT DELETE ROWS',
  );
  await copyBinary(client, 'staged_references', ['address', 'named'], [staged.finish()]);
  if (known.length > 0) {
    await client.query({
      name: 'drop-contract-references',
      text: `DELETE FROM contract_references r WHERE r.address = ANY($1::bytea[])
               AND NOT EXISTS (SELECT FROM staged_references n WHERE n.address = r.address AND n.named = r.named)`,
      values: [known.map(({ address }) => address)],
    });
  }
  await client.query({
    name: 'write-contract-references',
    text: `INSERT INTO contract_references SELECT address, named FROM staged_references ORDER BY address, named
           ON CONFLICT DO NOTHING`,
  });
  await client.query('DELETE FROM staged_references');
}

/** Records that contracts which reference these are to be detected again. */
export async function recordChangedContracts(client: ClientBase, addresses: readonly Uint8Array[]): Promise<void> {
  await client.query({
    name: 'note-changed-contracts',
    text: `INSERT INTO changed_contracts (address)
           SELECT n.address FROM unnest($1::bytea[]) AS n (address)
           WHERE EXISTS (SELECT FROM contract_references r WHERE r.named = n.address)
           ORDER BY n.address ON CONFLICT (address) DO UPDATE SET position = ''`,
    values: [addresses],
  });
}

/** So many refused referrers are detected again when a contract changes. */
const MOST_REFUSED = 256;

/**
 * Queues refused contracts that reference contracts whose data changed, the newest ones: the referenced contract may not have known
 * them before.
 *
 * @param now unix seconds
 */
export async function queueRefusedReferrers(
  client: ClientBase,
  changed: readonly Uint8Array[],
  now: number,
): Promise<void> {
  if (changed.length === 0) return;
  const { rows } = await client.query<{ address: Uint8Array }>({
    name: 'refused-referring-contracts',
    text: `SELECT r.address FROM contract_references r JOIN contracts c ON c.address = r.address
           WHERE r.named = ANY($1::bytea[]) AND c.refused IS NOT NULL ORDER BY c.last_trans_lt DESC LIMIT ${MOST_REFUSED}`,
    values: [changed],
  });
  if (rows.length > 0) {
    await requeueContracts(
      client,
      rows.map(({ address }) => address),
      now,
    );
  }
}

/**
 * Queues some contracts that reference a changed contract; in a transaction that holds the lock of `lockTraces`.
 *
 * @param now unix seconds: they come after accounts that changed themselves
 * @returns how many; 0: none is left
 */
export async function queueReferrers(client: ClientBase, now: number, most: number): Promise<number> {
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
  await requeueContracts(client, addresses, now);
  if (addresses.length < most)
    await client.query('DELETE FROM changed_contracts WHERE address = $1', [changed.address]);
  else {
    const values = [changed.address, addresses.at(-1)];
    await client.query('UPDATE changed_contracts SET position = $2 WHERE address = $1', values);
  }
  return Math.max(addresses.length, 1);
}

/** Queues unchanged accounts for detection. Entries that are queued already keep their place. */
export async function requeueContracts(
  client: ClientBase,
  addresses: readonly Uint8Array[],
  now: number,
): Promise<void> {
  await client.query({
    name: 'queue-again',
    text: `INSERT INTO contract_queue (address, last_trans_lt, mc_seqno, not_before)
           SELECT address, last_trans_lt, mc_seqno, $2 FROM accounts WHERE address = ANY($1::bytea[]) ORDER BY address
           ON CONFLICT (address) DO UPDATE SET not_before = least(contract_queue.not_before, excluded.not_before)`,
    values: [addresses, now],
  });
}
