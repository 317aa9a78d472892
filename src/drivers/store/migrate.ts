import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { openSession } from '#drivers/store/connection.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type NetworkIdentity, requireNetwork } from '#drivers/store/index-state.js';

/** What a database is opened for. */
export interface SchemaUse {
  /** With the incarnation of a local network. */
  readonly network: NetworkIdentity & { readonly incarnation?: string | null };
  /** Whether the schema may be migrated; if not, it must be current. */
  readonly writes: boolean;
  /** Called before each migration runs. */
  readonly onMigration?: (migration: Migration) => void;
}

/**
 * Makes sure that a database has the schema of this version. A database of another network is not changed, whatever its schema.
 *
 * @param client outside a transaction
 * @throws store/other-network, and as {@link migrate} and {@link requireSchema}
 */
export async function prepareSchema(
  client: ClientBase,
  migrations: readonly Migration[],
  { network, writes, onMigration }: SchemaUse,
): Promise<void> {
  const { version } = await schemaState(client, migrations);
  if (version > 0) await requireNetwork(client, network, writes);
  if (writes) await migrate(client, migrations, onMigration);
  else await requireSchema(client, migrations);
}

/** The schema version of a database. */
export interface SchemaState {
  /** Name of the database. */
  readonly database: string;
  /** Of the last migration that ran; 0 for an empty database. */
  readonly version: number;
  /** Migrations that have not run yet, in order. */
  readonly pending: readonly Migration[];
}

/** Advisory lock of a migration, held until its transaction ends. */
const MIGRATION_LOCK = [0x5445524e, 0];

const HISTORY = `CREATE TABLE schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

const HISTORY_COLUMNS = 'applied_at timestamptz, checksum text, name text, version int4';

/**
 * Reads the schema version of a database; changes nothing.
 *
 * @throws store/schema-foreign, store/schema-newer, store/schema-edited when this version of Tern cannot use it
 */
export async function schemaState(client: ClientBase, migrations: readonly Migration[]): Promise<SchemaState> {
  const { database, columns, tables } = await describeSchema(client);
  // Other tools use a table of this name, too.
  if (columns !== HISTORY_COLUMNS) {
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
 * Runs pending migrations, each in a transaction of its own. Concurrent runs wait for each other. After an error the database is
 * as the last completed migration left it.
 *
 * @param client outside a transaction
 * @param onMigration is called before each one runs
 * @returns the migrations that ran
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
      // Another process may have run it meanwhile.
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

/** Creates the tables of a new database. @param url of the database @throws as {@link migrate} */
export async function createTables(url: string): Promise<void> {
  const client = await openSession(url);
  try {
    await migrate(client, await readMigrations());
  } finally {
    await client.end();
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
 * Checks that a database has exactly the schema of this version; changes nothing.
 *
 * @throws store/no-schema, store/schema-old, and as {@link schemaState}
 */
export async function requireSchema(client: ClientBase, migrations: readonly Migration[]): Promise<void> {
  const { database, version, pending } = await schemaState(client, migrations);
  if (pending.length === 0) return;
  if (version === 0) throw storeErrors['no-schema']({ database });
  throw storeErrors['schema-old']({ database, version, known: migrations.length });
}

interface SchemaDescription {
  readonly database: string;
  /** The columns of the table `schema_migrations`, to compare with {@link HISTORY_COLUMNS}; null without such a table. */
  readonly columns: string | null;
  /** Some tables, views, sequences and the like that belong to no extension; '' for none. */
  readonly tables: string;
}

/** Describes the schema of the session: in one statement, because another process may be running the first migration. */
async function describeSchema(client: ClientBase): Promise<SchemaDescription> {
  const { rows } = await client.query(
    `SELECT current_database() AS database,
       (SELECT string_agg(a.attname || ' ' || t.typname, ', ' ORDER BY a.attname)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.relname = 'schema_migrations' AND c.relnamespace = current_schema()::regnamespace) AS columns,
       ARRAY(SELECT c.relname::text FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
        ORDER BY c.relname LIMIT 4) AS tables`,
  );
  const { database, columns, tables } = rows[0] as { database: string; columns: string | null; tables: string[] };
  const names = [...tables.slice(0, 3).map((name) => `"${name}"`), ...(tables.length > 3 ? ['others'] : [])];
  return { database, columns, tables: names.join(', ') };
}

/** A step of the schema's history. */
export interface Migration {
  /** 1, 2, 3, …, without gaps. */
  readonly version: number;
  /** Name of the file, such as `0001-index.sql`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hex of the text with line ends `\n`. */
  readonly checksum: string;
}

/** The same relative path from the sources and from the build. */
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
