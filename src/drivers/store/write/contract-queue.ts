import type { ClientBase } from 'pg';

/**
 * Lets a statement that changes accounts put them into the queue, too, in the same go: only where the newest state is known as a
 * whole, and not those whose code is one of `$<plain>`, or that have none, unless something was found of them before.
 *
 * @param change of `accounts`, without RETURNING; `account` is what it calls the row
 * @param plain the number of its parameter with hashes of codes
 */
export function alsoQueued(change: string, account: string, plain: number): string {
  const returned = ['address', 'last_trans_lt', 'mc_seqno', 'code_hash', 'incomplete'];
  return `
    WITH changed AS (${change} RETURNING ${returned.map((column) => `${account}.${column}`).join(', ')})
    INSERT INTO contract_queue (address, last_trans_lt, mc_seqno)
    SELECT address, last_trans_lt, mc_seqno FROM changed
    WHERE NOT incomplete AND (code_hash <> ALL($${plain}::bytea[])
      OR (SELECT true FROM contracts known WHERE known.address = changed.address))
    ORDER BY address
    ON CONFLICT (address) DO UPDATE SET
      last_trans_lt = excluded.last_trans_lt, mc_seqno = excluded.mc_seqno, attempts = 0, not_before = 0`;
}

/** An account to be looked at. */
export interface QueuedContract {
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  /** How often looking at it failed for something that may pass. */
  readonly attempts: number;
  /** Whether it has not changed, but whom it names. */
  readonly again: boolean;
}

/** What the next ones are chosen by. */
export interface QueueOrder {
  readonly newestFirst: boolean;
  /** Unix seconds. */
  readonly now: number;
}

/** Some of those that are due: first what has changed, then what is to be looked at again. */
export async function nextQueued(
  client: ClientBase,
  { newestFirst, now }: QueueOrder,
  limit: number,
): Promise<QueuedContract[]> {
  const direction = newestFirst ? 'DESC' : 'ASC';
  const { rows } = await client.query<QueuedContract>({
    name: `next-queued-${direction}`,
    text: `
      (SELECT address, last_trans_lt, attempts, not_before > 0 AND attempts = 0 AS again FROM contract_queue WHERE not_before = 0 ORDER BY mc_seqno ${direction} LIMIT $1)
      UNION ALL
      (SELECT address, last_trans_lt, attempts, not_before > 0 AND attempts = 0 AS again FROM contract_queue
        WHERE not_before > 0 AND not_before <= $2 ORDER BY not_before, mc_seqno LIMIT $1)
      LIMIT $1`,
    values: [limit, now],
  });
  return rows;
}

/** Who could not be asked so often is not waited for any more. */
const GIVEN_UP_AFTER = 4;

/** How many there are, and how many of them are due or will be within seconds. */
export async function countQueued(client: ClientBase): Promise<{ readonly all: number; readonly soon: number }> {
  const { rows } = await client.query<{ all: bigint; soon: bigint }>({
    name: 'count-queued',
    text: 'SELECT count(*) AS all, count(*) FILTER (WHERE attempts < $1) AS soon FROM contract_queue',
    values: [GIVEN_UP_AFTER],
  });
  return { all: Number(rows[0]!.all), soon: Number(rows[0]!.soon) };
}

/** Takes out those that have not changed since they were looked at. */
export async function removeQueued(
  client: ClientBase,
  looked: readonly Pick<QueuedContract, 'address' | 'last_trans_lt'>[],
): Promise<void> {
  await client.query({
    name: 'remove-queued',
    text: `DELETE FROM contract_queue q USING unnest($1::bytea[], $2::bigint[]) AS l (address, last_trans_lt)
           WHERE q.address = l.address AND q.last_trans_lt <= l.last_trans_lt`,
    values: [looked.map(({ address }) => address), looked.map(({ last_trans_lt }) => last_trans_lt)],
  });
}

/** Notes that looking at some failed, and when to try again. */
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
