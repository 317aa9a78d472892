import type { ClientBase } from 'pg';

/** What the events of a webhook are signed with: `whsec_` and base64. */
export interface WebhookSecrets {
  readonly secret: string;
  /** The one before it, which signs as well for some time; null: there is none. */
  readonly previous_secret: string | null;
  /** Unix milliseconds. */
  readonly previous_until: bigint;
}

/** A webhook. */
export interface StoredWebhook {
  readonly id: string;
  /** Id of the API key that made it; null: the operator. */
  readonly owner: string | null;
  readonly url: string;
  readonly secrets: WebhookSecrets;
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

const SECRETS = ['secret', 'previous_secret', 'previous_until'] as const;
const HOOK = ['id', 'owner', 'url', 'filter', 'cursor', 'created_at', ...SECRETS];

type HookRow = Omit<StoredWebhook, 'secrets'> & WebhookSecrets;

function hookOf({ secret, previous_secret, previous_until, ...row }: HookRow): StoredWebhook {
  return { ...row, secrets: { secret, previous_secret, previous_until } };
}

/** A webhook in a list. */
export interface ListedWebhook extends Pick<StoredWebhook, 'id' | 'owner' | 'url' | 'cursor' | 'created_at'> {
  /** JSON; null: the filters before it are as long as all may be together. */
  readonly filter: string | null;
}

/**
 * The webhooks of one owner, the oldest first.
 *
 * @param owner null: all webhooks
 * @param mostCharacters of their filters together
 */
export async function readWebhooks(
  client: Client,
  owner: string | null,
  mostCharacters: number,
): Promise<readonly ListedWebhook[]> {
  const { rows } = await client.query<ListedWebhook>(
    `SELECT id, owner, url, cursor, created_at,
       CASE WHEN sum(length(filter::text)) OVER (ORDER BY created_at, id) <= $2 THEN filter::text END AS filter
     FROM webhooks WHERE $1::text IS NULL OR owner = $1 ORDER BY created_at, id`,
    [owner, mostCharacters],
  );
  return rows;
}

/** @param owner null: whoever has it @returns null: there is none, or it is of another owner */
export async function readWebhook(client: Client, owner: string | null, id: string): Promise<StoredWebhook | null> {
  const { rows } = await client.query<HookRow>(
    `SELECT ${HOOK.join()} FROM webhooks WHERE id = $2 AND ($1::text IS NULL OR owner = $1)`,
    [owner, id],
  );
  return rows.map(hookOf)[0] ?? null;
}

/** A webhook, and whether the first of its waiting events may be sent. */
interface WebhookState extends Pick<StoredWebhook, 'id' | 'owner'> {
  readonly is_due: boolean;
}

/** All webhooks in the order of {@link readWebhooks}, without their filters: those of a thousand may be 256 MB. */
export async function readWebhookStates(client: Client, now: number): Promise<readonly WebhookState[]> {
  const { rows } = await client.query<WebhookState>({
    name: 'webhook-states',
    text: `SELECT id, owner, coalesce(first.not_before <= $1, false) AS is_due
           FROM webhooks h LEFT JOIN LATERAL (
             SELECT not_before FROM webhook_deliveries WHERE hook = h.id AND state = 0 ORDER BY number LIMIT 1
           ) AS first ON true ORDER BY h.created_at, h.id`,
    values: [now],
  });
  return rows;
}

/** How many webhooks an owner has. */
interface WebhookCount extends Pick<StoredWebhook, 'owner'> {
  readonly count: number;
}

export async function countWebhooks(client: Client): Promise<readonly WebhookCount[]> {
  const { rows } = await client.query<WebhookCount>(
    'SELECT owner, count(*)::int AS count FROM webhooks GROUP BY owner',
  );
  return rows;
}

export async function insertWebhook(client: Client, hook: StoredWebhook): Promise<void> {
  const { id, owner, url, filter, cursor, created_at, secrets } = hook;
  const { secret, previous_secret, previous_until } = secrets;
  await client.query(`INSERT INTO webhooks (${HOOK.join()}) VALUES (${HOOK.map((_, i) => `$${i + 1}`).join()})`, [
    ...[id, owner, url, JSON.stringify(filter), cursor, created_at, secret, previous_secret, previous_until],
  ]);
}

/** Gives a webhook a new secret; the present one signs as well until some time. @param until unix milliseconds */
export async function replaceSecret(client: Client, id: string, secret: string, until: number): Promise<void> {
  await client.query('UPDATE webhooks SET previous_secret = secret, previous_until = $3, secret = $2 WHERE id = $1', [
    id,
    secret,
    until,
  ]);
}

/** @returns whether there was one */
export async function deleteWebhook(client: Client, id: string): Promise<boolean> {
  const { rowCount } = await client.query('DELETE FROM webhooks WHERE id = $1', [id]);
  return (rowCount ?? 0) > 0;
}

/**
 * Stores events of a webhook behind those that are there, and the cursor behind them, all or nothing.
 *
 * @param bodies at least one
 * @param cursors before: the cursor that it must have
 * @returns false: it has another one, or is gone; then nothing was stored
 */
export async function storeDeliveries(
  client: Client,
  id: string,
  bodies: readonly string[],
  cursors: { readonly before: string; readonly after: string },
  now: number,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'store-deliveries',
    text: `WITH moved AS (UPDATE webhooks SET cursor = $5 WHERE id = $1 AND cursor = $4 RETURNING id)
           INSERT INTO webhook_deliveries (hook, number, body, since, changed_at)
           SELECT moved.id, l.last + n.place, n.body, $3, $3
           FROM moved, (SELECT coalesce(max(number), 0) AS last FROM webhook_deliveries WHERE hook = $1) AS l,
             unnest($2::text[]) WITH ORDINALITY AS n (body, place)`,
    values: [id, bodies, now, cursors.before, cursors.after],
  });
  return rowCount === bodies.length;
}

/**
 * Moves the cursor of a webhook without events.
 *
 * @param cursors before: the cursor that it must have
 * @returns false: it has another one, or is gone
 */
export async function moveCursor(
  client: Client,
  id: string,
  cursors: { readonly before: string; readonly after: string },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'move-cursor',
    text: 'UPDATE webhooks SET cursor = $3 WHERE id = $1 AND cursor = $2',
    values: [id, cursors.before, cursors.after],
  });
  return rowCount === 1;
}

/**
 * Takes the name of the chain from the cursors that are beyond its newest masterchain block: they are of the chain before it was set
 * back. So the events that go on from them begin where the index begins, and `gap` comes first, as for a cursor of another chain.
 *
 * @param mc_seqno of that block
 */
export async function disownCursorsAfter(client: Client, mc_seqno: number): Promise<void> {
  await client.query(
    `UPDATE webhooks SET cursor = substring(cursor FROM '[.].*')
     WHERE substring(cursor FROM '^[^.]+[.]([0-9]+)')::bigint > $1`,
    [mc_seqno],
  );
}

const DELIVERY = 'number, body, state, attempts, since, not_before, changed_at, status, problem';

type DeliveryRow = Omit<StoredDelivery, 'state'> & { readonly state: number };

function deliveryOf({ state, ...row }: DeliveryRow): StoredDelivery {
  return { ...row, state: DELIVERY_STATES[state] ?? 'waiting' };
}

/** The first waiting events of a webhook: up to `count`, whose bodies have up to `bytes` together; at least one. */
export async function readWaiting(
  client: Client,
  id: string,
  most: { readonly count: number; readonly bytes: number },
): Promise<readonly StoredDelivery[]> {
  const { rows } = await client.query<DeliveryRow>({
    name: 'waiting-deliveries',
    text: `SELECT ${DELIVERY} FROM (
             SELECT *, sum(octet_length(body)) OVER oldest - octet_length(body) AS bytes_before FROM (
               SELECT * FROM webhook_deliveries WHERE hook = $1 AND state = 0 ORDER BY number LIMIT $2) AS l
             WINDOW oldest AS (ORDER BY number)) AS d
           WHERE bytes_before < $3 ORDER BY number`,
    values: [id, most.count, most.bytes],
  });
  return rows.map(deliveryOf);
}

/** What waits to be sent to a webhook. */
export interface WaitingAmount {
  readonly events: number;
  readonly bytes: number;
}

/** Waiting events of a webhook and the bytes of their bodies, counted up to `most` events. */
export async function countWaiting(client: Client, id: string, most: number): Promise<WaitingAmount> {
  const { rows } = await client.query<{ events: bigint; bytes: bigint }>({
    name: 'count-deliveries',
    text: `SELECT count(*) AS events, coalesce(sum(octet_length(body)), 0)::bigint AS bytes
           FROM (SELECT body FROM webhook_deliveries WHERE hook = $1 AND state = 0 LIMIT $2) AS d`,
    values: [id, most],
  });
  return { events: Number(rows[0]?.events ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
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

/** An attempt that has begun. */
interface Attempt {
  /** Its number, from 1. */
  readonly attempt: number;
  /** When the first one began; unix milliseconds. */
  readonly since: bigint;
  readonly secrets: WebhookSecrets;
}

/**
 * Begins an attempt to send an event.
 *
 * @param before attempts so far
 * @param until when another process may begin one, unless the end of this attempt is noted before
 * @returns null: it does not wait any more, or not yet again, or another process has begun an attempt
 */
export async function beginAttempt(
  client: Client,
  id: string,
  { number, attempts: before }: Pick<StoredDelivery, 'number' | 'attempts'>,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<Attempt | null> {
  const { rows } = await client.query<Omit<Attempt, 'secrets'> & WebhookSecrets>({
    name: 'begin-delivery',
    text: `UPDATE webhook_deliveries d SET attempts = d.attempts + 1, changed_at = $4, not_before = $5,
             since = CASE WHEN d.attempts = 0 THEN $4 ELSE d.since END
           FROM webhooks h WHERE h.id = d.hook AND d.hook = $1 AND d.number = $2 AND d.attempts = $3 AND d.state = 0
             AND d.not_before <= $4
           RETURNING d.attempts AS attempt, d.since, h.secret, h.previous_secret, h.previous_until`,
    values: [id, number, before, now, until],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { attempt, since, ...secrets } = row;
  return { attempt, since, secrets };
}

/** What became of an attempt. */
export interface AttemptOutcome {
  readonly state: DeliveryState;
  readonly not_before: number;
  readonly status: number | null;
  readonly problem: string | null;
}

/** @param attempt its number @returns false: another process has begun one since then, whose outcome counts */
export async function noteAttempt(
  client: Client,
  id: string,
  { number, attempt }: { readonly number: bigint; readonly attempt: number },
  { state, not_before, status, problem }: AttemptOutcome,
  now: number,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note-delivery',
    text: `UPDATE webhook_deliveries SET state = $3, not_before = $4, status = $5, problem = $6, changed_at = $7
           WHERE hook = $1 AND number = $2 AND attempts = $8 AND state = 0`,
    values: [id, number, DELIVERY_STATES.indexOf(state), not_before, status, problem, now, attempt],
  });
  return rowCount === 1;
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
