import type { ClientBase } from 'pg';
import pg from 'pg';
import { recordContractChange } from '#drivers/store/event-log.js';
import { accountKey } from '#drivers/store/keys.js';
import { stagingTable } from '#drivers/store/write/contract-tables.js';
import { lockEvents } from '#drivers/store/write/locks.js';

/** The key of a row of `token_metadata`. */
interface MetadataKey {
  readonly address: Uint8Array;
  readonly kind: string;
}

/** Metadata that a process has claimed for fetching until the lease ends. */
export interface ClaimedMetadata extends MetadataKey {
  readonly uri: string;
  /** Attempts since the last success, this one included. */
  readonly attempts: number;
  /** End of the lease in unix seconds; the outcome is written with it. */
  readonly lease: bigint;
  /** Due since, in unix seconds. */
  readonly due_at: bigint;
}

/** The outcome of an attempt, and when the next one is due. */
export type MetadataOutcome = Pick<ClaimedMetadata, 'address' | 'kind' | 'uri' | 'lease'> & {
  readonly next: number;
} & (
    | { readonly result: 'fetched' /** JSON text */; readonly document: string }
    | { readonly result: 'failed'; readonly failure: { readonly code: string; readonly message: string } }
    /** It was not attempted. */
    | { readonly result: 'put-off' }
  );

export interface MetadataClaim {
  /** Unix seconds. */
  readonly now: number;
  readonly limit: number;
  /** Length of the lease by number of attempts, the last one for all further ones. Seconds. */
  readonly leases: readonly number[];
}

/**
 * Claims due metadata, the longest due first, and none that other processes have claimed. It becomes due again when the lease ends,
 * should the process be gone; leases grow, so a link that crashes the process comes later each time.
 */
export async function claimMetadata(
  client: ClientBase,
  { now, limit, leases }: MetadataClaim,
): Promise<ClaimedMetadata[]> {
  const { rows } = await client.query<ClaimedMetadata>({
    name: 'claim-metadata',
    text: `
      WITH due AS (
        SELECT address, kind, due_at FROM token_metadata
        WHERE due_at <= $1 AND uri IS NOT NULL AND NOT coalesce(override ? 'content', false)
        ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
      )
      UPDATE token_metadata m SET
        attempts = least(m.attempts + 1, 30000),
        due_at = $1 + ($3::int[])[least(m.attempts + 1, cardinality($3::int[]))]
      FROM due WHERE (m.address, m.kind) = (due.address, due.kind)
      RETURNING m.address, m.kind, m.uri, m.attempts::int AS attempts, m.due_at AS lease, due.due_at`,
    values: [now, limit, leases],
  });
  return rows;
}

/**
 * Writes outcomes of attempts whose lease still holds and whose link is still the same. In a transaction.
 *
 * @returns whether stored metadata changed
 */
export async function settleMetadata(
  client: ClientBase,
  outcomes: readonly MetadataOutcome[],
  now: number,
): Promise<boolean> {
  if (outcomes.length === 0) return false;
  await lockEvents(client);
  const { rows } = await client.query<{ changes: boolean }>({
    name: 'settle-metadata',
    text: `
      WITH given AS (
        SELECT address, kind, uri, lease, next, result, document::jsonb AS document, failure::jsonb AS failure
        FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[])
          AS g(address, kind, uri, lease, next, result, document, failure)
      ),
      held AS (
        SELECT g.*, CASE g.result
            WHEN 'fetched' THEN m.document IS DISTINCT FROM g.document
            WHEN 'failed' THEN m.document IS NULL AND m.failure IS NULL
            ELSE false
          END AS changes
        FROM given g JOIN token_metadata m ON m.address = g.address AND m.kind = g.kind
        WHERE m.due_at = g.lease AND m.uri = g.uri
        ORDER BY m.address, m.kind FOR UPDATE OF m
      )
      UPDATE token_metadata m SET
        due_at = h.next,
        attempts = CASE h.result WHEN 'fetched' THEN 0 WHEN 'put-off' THEN greatest(m.attempts - 1, 0) ELSE m.attempts END,
        document = CASE h.result WHEN 'fetched' THEN h.document ELSE m.document END,
        fetched_at = CASE h.result WHEN 'fetched' THEN $9 ELSE m.fetched_at END,
        failure = CASE h.result WHEN 'fetched' THEN NULL WHEN 'failed' THEN h.failure ELSE m.failure END
      FROM held h WHERE (m.address, m.kind) = (h.address, h.kind)
      RETURNING h.changes`,
    values: [
      outcomes.map(({ address }) => address),
      outcomes.map(({ kind }) => kind),
      outcomes.map(({ uri }) => uri),
      outcomes.map(({ lease }) => lease),
      outcomes.map(({ next }) => next),
      outcomes.map(({ result }) => result),
      outcomes.map((each) => (each.result === 'fetched' ? each.document : null)),
      outcomes.map((each) => (each.result === 'failed' ? JSON.stringify(each.failure) : null)),
      now,
    ],
  });
  const changes = rows.some((row) => row.changes);
  if (changes) await recordContractChange(client, [...new Set(outcomes.map(({ address }) => accountKey(address)))]);
  return changes;
}

/** Operator-supplied content that replaces what a contract says. */
export interface StoredOverride extends MetadataKey {
  /** JSON text */
  readonly override: string;
}

/**
 * Replaces all overrides. Tokens that lost an override of their content become due. In a transaction.
 *
 * @returns how many were set, changed or removed
 */
export async function replaceOverrides(
  client: ClientBase,
  overrides: readonly StoredOverride[],
  now: number,
): Promise<number> {
  await lockEvents(client);
  const given = [
    overrides.map(({ address }) => address),
    overrides.map(({ kind }) => kind),
    overrides.map(({ override }) => override),
  ];
  const isGone = `override IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest($1::bytea[], $2::text[]) AS g(address, kind) WHERE g.address = m.address AND g.kind = m.kind)`;
  const removed = await client.query(`DELETE FROM token_metadata m WHERE uri IS NULL AND ${isGone}`, given.slice(0, 2));
  const cleared = await client.query(
    `UPDATE token_metadata m SET override = NULL, due_at = CASE WHEN override ? 'content' THEN $3 ELSE due_at END
     WHERE ${isGone}`,
    [given[0], given[1], now],
  );
  const set = await client.query(
    `INSERT INTO token_metadata AS m (address, kind, override)
     SELECT address, kind, override::jsonb FROM unnest($1::bytea[], $2::text[], $3::text[]) AS g(address, kind, override)
     ORDER BY address, kind
     ON CONFLICT (address, kind) DO UPDATE SET override = excluded.override,
       due_at = CASE WHEN m.override ? 'content' AND NOT excluded.override ? 'content' AND m.uri IS NOT NULL
         THEN $4 ELSE m.due_at END
     WHERE m.override IS DISTINCT FROM excluded.override`,
    [...given, now],
  );
  const changes = [removed, cleared, set].reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
  if (changes > 0) await recordContractChange(client, null);
  return changes;
}

/** Contract tables whose content may have a link (TEP-64 `uri`); the `kind` of their metadata is the name of the table. */
const TABLES_WITH_METADATA: readonly string[] = ['jetton_masters', 'nft_collections', 'nft_items'];

/**
 * Makes metadata due where the link in the content of staged rows is new or changed, and drops that of contracts without a link.
 * Overrides stay.
 */
export async function stageMetadataLinks(client: ClientBase, table: string): Promise<void> {
  if (!TABLES_WITH_METADATA.includes(table)) return;
  const staged = pg.escapeIdentifier(stagingTable(table));
  await client.query(
    `INSERT INTO token_metadata AS known (address, kind, uri, due_at)
     SELECT t.address, $1, t.content->>'uri', extract(epoch FROM now())::bigint
     FROM ${staged} s JOIN ${pg.escapeIdentifier(table)} t ON t.address = s.address
     WHERE t.lapsed IS NULL AND t.content->>'uri' <> ''
     ORDER BY t.address
     ON CONFLICT (address, kind) DO UPDATE SET uri = excluded.uri, due_at = excluded.due_at, document = NULL,
       fetched_at = NULL, attempts = 0, failure = NULL
     WHERE known.uri IS DISTINCT FROM excluded.uri`,
    [table],
  );
  const { rows } = await client.query<{ address: Uint8Array }>(
    // OFFSET 0: looked up by address for each staged row, whatever the planner takes the tables for.
    `SELECT s.address FROM ${staged} s
     WHERE EXISTS (SELECT FROM token_metadata m WHERE m.address = s.address AND m.kind = $1 AND m.uri IS NOT NULL OFFSET 0)
       AND EXISTS (SELECT FROM ${pg.escapeIdentifier(table)} t WHERE t.address = s.address AND coalesce(t.content->>'uri', '') = '' OFFSET 0)`,
    [table],
  );
  await dropMetadataLinks(
    client,
    table,
    rows.map(({ address }) => address),
  );
}

/**
 * Makes metadata due where the content of the next contracts names a link that is not the stored one, as
 * {@link stageMetadataLinks} does for contracts that change.
 *
 * @returns the address of the last one; null: no more contracts
 */
export async function linkNextMetadata(
  client: ClientBase,
  after: Uint8Array,
  most: number,
): Promise<Uint8Array | null> {
  const contracts = TABLES_WITH_METADATA.map(
    (table) => `(SELECT address, '${table}' AS kind, content->>'uri' AS uri FROM ${pg.escapeIdentifier(table)}
                 WHERE address > $1 AND lapsed IS NULL ORDER BY address LIMIT $2)`,
  );
  const { rows } = await client.query<{ last: Uint8Array | null; count: bigint }>({
    name: 'link-next-metadata',
    text: `
      WITH page AS (SELECT * FROM (${contracts.join(' UNION ALL ')}) c ORDER BY address LIMIT $2),
      linked AS (
        INSERT INTO token_metadata AS known (address, kind, uri, due_at)
        SELECT address, kind, uri, extract(epoch FROM now())::bigint FROM page WHERE uri <> '' ORDER BY address, kind
        ON CONFLICT (address, kind) DO UPDATE SET uri = excluded.uri, due_at = excluded.due_at, document = NULL,
          fetched_at = NULL, attempts = 0, failure = NULL
        WHERE known.uri IS DISTINCT FROM excluded.uri
      )
      SELECT (SELECT address FROM page ORDER BY address DESC LIMIT 1) AS last, (SELECT count(*) FROM page) AS count`,
    values: [after, most],
  });
  const { last, count } = rows[0]!;
  return Number(count) < most ? null : last;
}

/** Drops fetched and pending metadata of contracts. */
export async function dropMetadataLinks(
  client: ClientBase,
  table: string,
  addresses: readonly Uint8Array[],
): Promise<void> {
  if (!TABLES_WITH_METADATA.includes(table) || addresses.length === 0) return;
  const values = [addresses, table];
  await client.query(
    'DELETE FROM token_metadata WHERE address = ANY($1::bytea[]) AND kind = $2 AND override IS NULL',
    values,
  );
  await client.query(
    `UPDATE token_metadata SET uri = NULL, document = NULL, fetched_at = NULL, due_at = NULL, attempts = 0, failure = NULL
     WHERE address = ANY($1::bytea[]) AND kind = $2`,
    values,
  );
}
