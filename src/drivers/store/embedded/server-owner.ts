import process from 'node:process';
import pg from 'pg';
import { DATABASE } from '#drivers/store/embedded/server-folder.js';
import { PORT } from '#drivers/store/embedded/server-process.js';

/** Session-level advisory lock in the database `postgres` of the cluster: held by the Tern that the server belongs to. */
const OWNER_LOCK = [0x5465726e, 1];

/** A connection to the database `postgres` of the server behind a socket, or the code of the error. */
export async function connectToServer(socketFolder: string): Promise<pg.Client | string> {
  if (socketFolder === '') return 'no socket yet';
  const client = new pg.Client({
    host: socketFolder,
    port: PORT,
    user: DATABASE,
    database: 'postgres',
    application_name: `process ${process.pid}`,
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

/** Resolves with `null` when the server belonged to nobody and now does to the client's session; else with its owner. */
export async function takeOwnership(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', OWNER_LOCK);
  return rows[0].taken ? null : ((await ownerOf(client)) ?? 'unknown');
}

/** Whom the server belongs to: `process 123`; `null` for nobody. */
export async function ownerOf(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2`,
    OWNER_LOCK,
  );
  return rows[0]?.name ?? null;
}
