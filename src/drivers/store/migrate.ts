import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import { type NetworkIdentity, requireNetwork } from '#drivers/store/index-state.js';

/** For what a database is opened. */
export interface SchemaUse {
  readonly network: NetworkIdentity;
  /** Whether the schema may be changed; if not, it must be there. */
  readonly writes: boolean;
  /** Is told of each migration before it runs. */
  readonly onMigration?: (migration: Migration) => void;
}

/**
 * Sees that a database has the schema of this Tern. That of another network is left as it is, whatever its schema.
 *
 * @param client outside of a transaction
 * @throws store/other-network, and as {@link migrate} and {@link requireSchema}
 */
export async function prepareSchema(
  client: ClientBase,
  migrations: readonly Migration[],
  { network, writes, onMigration }: SchemaUse,
): Promise<void> {
  const { version } = await schemaState(client, migrations);
  if (version > 0) await requireNetwork(client, network);
  if (writes) await migrate(client, migrations, onMigration);
  else await requireSchema(client, migrations);
}

/** How far the schema of a database is. */
export interface SchemaState {
  /** Name of the database. */
  readonly database: string;
  /** Of the last migration that ran; 0 for an empty database. */
  readonly version: number;
  /** Those that have not run yet, in order. */
  readonly pending: readonly Migration[];
}

/** Held by who changes the schema, until the end of the transaction. */
const MIGRATION_LOCK = [0x5445524e, 0];

const HISTORY = `CREATE TABLE schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

const HISTORY_COLUMNS = 'applied_at timestamptz, checksum text, name text, version int4';

/**
 * Looks at the schema of a database and changes nothing.
 *
 * @throws store/schema-foreign, store/schema-newer, store/schema-edited when it is not for this Tern
 */
export async function schemaState(client: ClientBase, migrations: readonly Migration[]): Promise<SchemaState> {
  const { rows } = await client.query(
    `SELECT current_database() AS database, string_agg(a.attname || ' ' || t.typname, ', ' ORDER BY a.attname) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relname = 'schema_migrations' AND c.relnamespace = current_schema()::regnamespace`,
  );
  const { database, columns } = rows[0];
  // Other tools keep a table of this name, too.
  if (columns !== HISTORY_COLUMNS) {
    const tables = await foreignTables(client);
    if (tables !== '') throw storeErrors['schema-foreign']({ database, tables });
    return { database, version: 0, pending: migrations };
  }
  const history = await client.query('SELECT version, name, checksum FROM schema_migrations ORDER BY version');
  const version: number = history.rows.at(-1)?.version ?? 0;
  if (version > migrations.length) throw storeErrors['schema-newer']({ database, version, known: migrations.length });
  for (const [index, { version: ran, name, checksum }] of history.rows.entries()) {
    const migration = migrations[index];
    if (ran !== index + 1 || checksum !== migration?.checksum) {
      throw storeErrors['schema-edited']({ database, migration: name });
    }
  }
  return { database, version, pending: migrations.slice(version) };
}

/**
 * Runs what has not run yet, each migration in a transaction of its own. Two that do this at the same time wait for each
 * other. After an error the database is as the last migration that ended has left it.
 *
 * @param client outside of a transaction
 * @param onMigration is told of each one before it runs
 * @returns those that ran
 * @throws as {@link schemaState}
 */
export async function migrate(
  client: ClientBase,
  migrations: readonly Migration[],
  onMigration: (migration: Migration) => void = () => {},
): Promise<readonly Migration[]> {
  const ran: Migration[] = [];
  for (;;) {
    const { pending } = await schemaState(client, migrations);
    if (pending.length === 0) return ran;
    await client.query('BEGIN');
    try {
      await client.query('SET LOCAL statement_timeout = 0');
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', MIGRATION_LOCK);
      // Another may have run it while this one waited.
      const [next] = (await schemaState(client, migrations)).pending;
      if (next !== undefined) {
        onMigration(next);
        await runMigration(client, next);
        ran.push(next);
      }
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }
}

async function runMigration(client: ClientBase, { version, name, sql, checksum }: Migration): Promise<void> {
  if (version === 1) await client.query(HISTORY);
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
    version,
    name,
    checksum,
  ]);
}

/**
 * That a database has exactly the schema of this Tern; nothing is changed.
 *
 * @throws store/no-schema, store/schema-old, and as {@link schemaState}
 */
export async function requireSchema(client: ClientBase, migrations: readonly Migration[]): Promise<void> {
  const { database, version, pending } = await schemaState(client, migrations);
  if (pending.length === 0) return;
  if (version === 0) throw storeErrors['no-schema']({ database });
  throw storeErrors['schema-old']({ database, version, known: migrations.length });
}

/** Some tables, views, sequences and the like in the schema of the session that belong to no extension; '' for none. */
async function foreignTables(client: ClientBase): Promise<string> {
  const { rows } = await client.query(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY c.relname LIMIT 4`,
  );
  const names = rows.slice(0, 3).map(({ name }) => `"${name}"`);
  return [...names, ...(rows.length > 3 ? ['others'] : [])].join(', ');
}

/** A step of the schema. */
export interface Migration {
  /** 1, 2, 3, …, without gaps. */
  readonly version: number;
  /** Name of the file, such as `0001-index.sql`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hex of the text with line ends `\n`. */
  readonly checksum: string;
}

/** As far from the sources as from the build. */
const OWN_MIGRATIONS = new URL('../../../migrations/', import.meta.url);

/**
 * The migrations of a folder, in order.
 *
 * @throws store/migration-file
 */
export async function readMigrations(folder: URL = OWN_MIGRATIONS): Promise<readonly Migration[]> {
  const files = await readdir(folder).catch((error) => {
    throw storeErrors['migration-file']({ file: folder.pathname, problem: 'there is no such folder' }, error);
  });
  const names = files.filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const version = index + 1;
      if (!name.startsWith(`${String(version).padStart(4, '0')}-`)) {
        throw storeErrors['migration-file']({ file: name, problem: `its number should be ${version}` });
      }
      const sql = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n');
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
