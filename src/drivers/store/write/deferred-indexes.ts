import type { ClientBase } from 'pg';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import type { Database } from '#drivers/store/database.js';

/** Tables that an import fills and whose indexes it does not read, and the same of single indexes. */
const TABLES = [...new Set(CONTRACT_INTERFACES.map(({ table }) => table.name))];
const INDEXES = ['accounts_balance', 'accounts_code'];

/** Indexes that are built at once: of several tables, since a build keeps others from writing its own. */
const CONCURRENCY = 2;
const BUILD_SETTINGS = "SET LOCAL maintenance_work_mem = '128MB'; SET LOCAL synchronous_commit = on";

/**
 * Drops the indexes that only reads need, if the index has no accounts yet: built at once at the end they take a fraction of the time
 * that millions of rows in random order cost them. Their definitions are kept until {@link buildDeferredIndexes}.
 *
 * @param client in a transaction
 * @returns how many were dropped
 */
export async function deferIndexes(client: ClientBase): Promise<number> {
  const { rows: known } = await client.query('SELECT FROM accounts LIMIT 1');
  if (known.length > 0) return 0;
  const { rows } = await client.query<{ name: string }>(
    `INSERT INTO deferred_indexes (name, definition)
     SELECT c.relname, pg_get_indexdef(c.oid)
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisunique
       AND (t.relname = ANY($1::text[]) OR c.relname = ANY($2::text[]))
     RETURNING quote_ident(name) AS name`,
    [TABLES, INDEXES],
  );
  if (rows.length > 0) await client.query(`DROP INDEX ${rows.map(({ name }) => name).join(', ')}`);
  return rows.length;
}

/**
 * Builds the indexes that an import has dropped; several processes may do so at once.
 *
 * @param onBegin called with their number if there are any
 */
export async function buildDeferredIndexes(database: Database, onBegin: (count: number) => void): Promise<void> {
  const { rows } = await database.withWriter((client) => client.query('SELECT name FROM deferred_indexes'));
  if (rows.length === 0) return;
  onBegin(rows.length);
  const built = await Promise.all(Array.from({ length: CONCURRENCY }, () => buildNext(database)));
  if (!built.includes(true)) return;
  await database.withWriter((client) => client.query(`ANALYZE accounts, ${TABLES.join(', ')}`));
}

/** @returns whether it built any; resolves when none is left, those of other processes included */
async function buildNext(database: Database): Promise<boolean> {
  for (let any = false; ; any = true) {
    const isOver = await database.transaction(async (client) => {
      const next = async (how: string) =>
        (
          await client.query<{ name: string; definition: string }>(
            `SELECT name, definition FROM deferred_indexes ORDER BY name ${how}`,
          )
        ).rows[0];
      // Behind those that others build: when they have ended, their rows are gone.
      const row = (await next('LIMIT 1 FOR UPDATE SKIP LOCKED')) ?? (await next('LIMIT 1 FOR UPDATE'));
      if (row === undefined) return true;
      await client.query(BUILD_SETTINGS);
      await client.query(row.definition);
      await client.query('DELETE FROM deferred_indexes WHERE name = $1', [row.name]);
      return false;
    });
    if (isOver) return any;
  }
}
