import pg, { type ClientBase } from 'pg';
import { stagingTable } from '#drivers/store/write/contract-tables.js';

/** The tables of contracts whose content may name a link; `kind` of their metadata is the name of the table. */
const TABLES: readonly string[] = ['jetton_masters', 'nft_collections', 'nft_items'];

/**
 * Makes metadata due to be fetched where the content of staged rows names a link that is new or another than before, and
 * forgets that of contracts that name none any more. What whoever runs the service has set stays.
 */
export async function stageMetadataLinks(client: ClientBase, table: string): Promise<void> {
  if (!TABLES.includes(table)) return;
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
    `SELECT s.address FROM ${staged} s
     JOIN token_metadata m ON m.address = s.address AND m.kind = $1 AND m.uri IS NOT NULL
     JOIN ${pg.escapeIdentifier(table)} t ON t.address = s.address
     WHERE coalesce(t.content->>'uri', '') = ''`,
    [table],
  );
  await dropMetadataLinks(
    client,
    table,
    rows.map(({ address }) => address),
  );
}

/** Forgets what was or would be fetched of contracts. */
export async function dropMetadataLinks(
  client: ClientBase,
  table: string,
  addresses: readonly Uint8Array[],
): Promise<void> {
  if (!TABLES.includes(table) || addresses.length === 0) return;
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
