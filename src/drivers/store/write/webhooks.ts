import type { ClientBase } from 'pg';

/** A webhook. */
export interface StoredWebhook {
  readonly id: string;
  /** Id of the API key that made it; null: the operator. */
  readonly owner: string | null;
  readonly url: string;
  /** `whsec_` and base64 */
  readonly secret: string;
  /** A subscription of the streaming API. */
  readonly filter: object;
  /** Behind the last event that was stored for it. */
  readonly cursor: string;
  /** Unix milliseconds. */
  readonly created_at: bigint;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event of a webhook. */
export interface StoredDelivery {
  readonly number: bigint;
  /** JSON, as it is sent. */
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Unix milliseconds. */
  readonly since: bigint;
  readonly not_before: bigint;
  readonly changed_at: bigint;
  /** HTTP status of the last attempt; null: there was no answer. */
  readonly status: number | null;
  readonly problem: string | null;
}

type Client = Pick<ClientBase, 'query'>;

const HOOK = 'id, owner, url, secret, filter, cursor, created_at';

/** All webhooks; those of one owner when it is given. @param owner undefined: any */
export async function readWebhooks(client: Client, owner?: string | null): Promise<readonly StoredWebhook[]> {
  const { rows } = await client.query<StoredWebhook>(
    `SELECT ${HOOK} FROM webhooks WHERE $1::boolean OR owner IS NOT DISTINCT FROM $2 ORDER BY created_at, id`,
    [owner === undefined, owner ?? null],
  );
  return rows;
}

export async function insertWebhook(client: Client, hook: StoredWebhook): Promise<void> {
  const { id, owner, url, secret, filter, cursor, created_at } = hook;
  await client.query(`INSERT INTO webhooks (${HOOK}) VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
    ...[id, owner, url, secret, JSON.stringify(filter), cursor, created_at],
  ]);
}

/** @returns whether there was one */
export async function deleteWebhook(client: Client, id: string): Promise<boolean> {
  const { rowCount } = await client.query('DELETE FROM webhooks WHERE id = $1', [id]);
  return (rowCount ?? 0) > 0;
}

/**
 * Stores events of a webhook behind those that are there, and the cursor behind them; in the transaction of the caller.
 *
 * @param before the cursor that it must have
 * @returns false: it has another one, or is gone; then nothing was stored
 */
export async function storeDeliveries(
  client: Client,
  id: string,
  bodies: readonly string[],
  cursors: { readonly before: string; readonly after: string },
  now: number,
): Promise<boolean> {
  const moved = await client.query('UPDATE webhooks SET cursor = $3 WHERE id = $1 AND cursor = $2', [
    ...[id, cursors.before, cursors.after],
  ]);
  if (moved.rowCount !== 1) return false;
  await client.query(
    `INSERT INTO webhook_deliveries (hook, number, body, since, changed_at)
     SELECT $1, (SELECT coalesce(max(number), 0) FROM webhook_deliveries WHERE hook = $1) + n.place, n.body, $3, $3
     FROM unnest($2::text[]) WITH ORDINALITY AS n (body, place)`,
    [id, bodies, now],
  );
  return true;
}

const DELIVERY = 'number, body, state, attempts, since, not_before, changed_at, status, problem';

type DeliveryRow = Omit<StoredDelivery, 'state'> & { readonly state: number };

function deliveryOf({ state, ...row }: DeliveryRow): StoredDelivery {
  return { ...row, state: DELIVERY_STATES[state] ?? 'waiting' };
}

/** The first waiting events of a webhook. */
export async function readWaiting(client: Client, id: string, most: number): Promise<readonly StoredDelivery[]> {
  const { rows } = await client.query<DeliveryRow>({
    name: 'waiting-deliveries',
    text: `SELECT ${DELIVERY} FROM webhook_deliveries WHERE hook = $1 AND state = 0 ORDER BY number LIMIT $2`,
    values: [id, most],
  });
  return rows.map(deliveryOf);
}

/** Waiting events of a webhook, counted up to `most`. */
export async function countWaiting(client: Client, id: string, most: number): Promise<number> {
  const { rows } = await client.query<{ count: bigint }>({
    name: 'count-deliveries',
    text: `SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE hook = $1 AND state = 0 LIMIT $2) AS d`,
    values: [id, most],
  });
  return Number(rows[0]?.count ?? 0);
}

/** Events of a webhook in a state, the newest first: up to `count`, whose bodies have up to `bytes` together; at least one. */
export async function listDeliveries(
  client: Client,
  id: string,
  state: DeliveryState | null,
  most: { readonly count: number; readonly bytes: number },
): Promise<readonly StoredDelivery[]> {
  const { rows } = await client.query<DeliveryRow>(
    `SELECT ${DELIVERY} FROM (
       SELECT *, sum(octet_length(body)) OVER newest - octet_length(body) AS bytes_before FROM (
         SELECT * FROM webhook_deliveries WHERE hook = $1 AND ($2::smallint IS NULL OR state = $2)
         ORDER BY number DESC LIMIT $3) AS l
       WINDOW newest AS (ORDER BY number DESC)) AS d
     WHERE bytes_before < $4 ORDER BY number DESC`,
    [id, state === null ? null : DELIVERY_STATES.indexOf(state), most.count, most.bytes],
  );
  return rows.map(deliveryOf);
}

/** What became of an attempt. */
export interface AttemptOutcome {
  readonly state: DeliveryState;
  readonly not_before: number;
  readonly status: number | null;
  readonly problem: string | null;
}

export async function noteAttempt(
  client: Client,
  id: string,
  number: bigint,
  { state, not_before, status, problem }: AttemptOutcome,
  now: number,
): Promise<void> {
  await client.query({
    name: 'note-delivery',
    text: `UPDATE webhook_deliveries SET state = $3, attempts = attempts + 1, not_before = $4, status = $5, problem = $6,
             changed_at = $7 WHERE hook = $1 AND number = $2`,
    values: [id, number, DELIVERY_STATES.indexOf(state), not_before, status, problem, now],
  });
}

/** Has dead events tried again, before those behind them. @param number null: all @returns how many */
export async function replayDead(client: Client, id: string, number: bigint | null, now: number): Promise<number> {
  const { rowCount } = await client.query(
    `UPDATE webhook_deliveries SET state = 0, attempts = 0, since = $3, not_before = 0, changed_at = $3
     WHERE hook = $1 AND state = 2 AND ($2::bigint IS NULL OR number = $2)`,
    [id, number, now],
  );
  return rowCount ?? 0;
}

/** Drops what was delivered, and dead events, some time after that. @param before unix milliseconds, by state */
export async function dropDeliveries(
  client: Client,
  before: { readonly delivered: number; readonly dead: number },
): Promise<void> {
  await client.query(
    `DELETE FROM webhook_deliveries d WHERE (state = 1 AND changed_at < $1 OR state = 2 AND changed_at < $2)
       AND number < (SELECT max(number) FROM webhook_deliveries m WHERE m.hook = d.hook)`,
    [before.delivered, before.dead],
  );
}
