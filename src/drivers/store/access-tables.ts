import type { ClientBase } from 'pg';
import { storeError } from '#drivers/store/connection.js';
import { Database, type DatabaseModules } from '#drivers/store/database.js';
import { readMigrations, requireSchema } from '#drivers/store/migrate.js';
import { dropConnection } from '#drivers/store/write/locks.js';

/** Usage of a key on a network in a day, as it is stored. */
export interface AccessUsageRow {
  readonly key: string;
  readonly network: string;
  readonly allowed: number;
  readonly limited: number;
  readonly work: number;
  /** `2025-01-31T12:00:00.000Z` */
  readonly last_used: string | null;
}

/** What of keys and plans is stored, as of one version. */
export interface StoredAccess {
  /** Grows with each change. */
  readonly version: bigint;
  /** JSON documents, the oldest first. */
  readonly keys: readonly unknown[];
  readonly plans: readonly unknown[];
}

/** Few connections: keys are read once and usage is written every few seconds. */
const CONNECTIONS = 2;

/** Each change of keys and plans is announced there. */
const CHANNEL = 'tern_access';

const USAGE_COLUMNS = 'key, network, allowed, limited, work, last_used';

interface UsageRecord extends Omit<AccessUsageRow, 'allowed' | 'limited' | 'work' | 'last_used'> {
  readonly allowed: bigint;
  readonly limited: bigint;
  readonly work: bigint;
  readonly last_used: Date | null;
}

/** The tables of API keys, plans and usage: documents in, documents out. All statements go to the server for writing. */
export class AccessTables {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Opens the tables in a database that has the schema of this version.
   *
   * @param url `postgresql://…`, of the server for writing
   * @throws store/no-schema and store/schema-old until it is migrated, store/unreachable and others
   */
  static async open(url: string, modules: DatabaseModules): Promise<AccessTables> {
    const limits = { writeConnections: CONNECTIONS, readConnections: 1, connectTimeoutMs: 5_000 };
    const database = await Database.open({ url, ...limits }, modules);
    try {
      const migrations = await readMigrations();
      await database.withWriter((client) => requireSchema(client, migrations));
      return new AccessTables(database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  version(): Promise<bigint> {
    return this.#database.withWriter(readVersion);
  }

  /**
   * Has changes announced, of other processes as well.
   *
   * @param onEnd the connection is lost: changes are not announced any more
   * @returns ends that
   * @throws store/unreachable and others
   */
  async listen(onChange: () => void, onEnd: () => void): Promise<() => void> {
    const client = await this.#database.session({ name: 'tern keys', connectTimeoutMs: 5_000 });
    let isEnded = false;
    client.on('notification', onChange);
    client.once('end', () => {
      if (!isEnded) onEnd();
    });
    const end = (): void => {
      isEnded = true;
      dropConnection(client);
    };
    try {
      await client.query(`LISTEN ${CHANNEL}`);
      return end;
    } catch (error) {
      end();
      throw storeError(error);
    }
  }

  read(): Promise<StoredAccess> {
    return this.#database.transaction(async (client) => {
      await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const version = await readVersion(client);
      const keys = await client.query<{ record: unknown }>('SELECT record FROM access_keys ORDER BY number');
      const plans = await client.query<{ plan: unknown }>('SELECT plan FROM access_plans ORDER BY name');
      return { version, keys: keys.rows.map(({ record }) => record), plans: plans.rows.map(({ plan }) => plan) };
    });
  }

  /** @returns the ids that were added; others were there already */
  addKeys(records: readonly { readonly id: string }[]): Promise<readonly string[]> {
    return this.#change(async (client) => {
      const added: string[] = [];
      for (const record of records) {
        const { rowCount } = await client.query(
          'INSERT INTO access_keys (id, record) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
          [record.id, JSON.stringify(record)],
        );
        if (rowCount === 1) added.push(record.id);
      }
      return added;
    });
  }

  /** Puts what `change` makes of a key in its place, while nobody else changes it. @returns null when there is no such key */
  changeKey<T>(id: string, change: (record: unknown) => T): Promise<T | null> {
    return this.#change(async (client) => {
      const query = 'SELECT record FROM access_keys WHERE id = $1 FOR UPDATE';
      const { rows } = await client.query<{ record: unknown }>(query, [id]);
      if (rows[0] === undefined) return null;
      const changed = change(rows[0].record);
      await client.query('UPDATE access_keys SET record = $2 WHERE id = $1', [id, JSON.stringify(changed)]);
      return changed;
    });
  }

  putPlan(name: string, plan: object): Promise<void> {
    return this.#change(async (client) => {
      await client.query(
        'INSERT INTO access_plans (name, plan) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET plan = excluded.plan',
        [name, JSON.stringify(plan)],
      );
    });
  }

  /** @returns whether there was such a plan */
  deletePlan(name: string): Promise<boolean> {
    return this.#change(async (client) => {
      const { rowCount } = await client.query('DELETE FROM access_plans WHERE name = $1', [name]);
      return rowCount === 1;
    });
  }

  /** Adds to the usage of a day (`2025-01-31`). @returns its sums of all keys */
  addUsage(day: string, rows: readonly AccessUsageRow[]): Promise<readonly AccessUsageRow[]> {
    return this.#database.transaction(async (client) => {
      if (rows.length > 0) {
        await client.query(
          `INSERT INTO access_usage AS u (day, ${USAGE_COLUMNS})
           SELECT $1::date, r.* FROM jsonb_to_recordset($2)
             AS r(key text, network text, allowed bigint, limited bigint, work bigint, last_used timestamptz)
           ORDER BY key, network
           ON CONFLICT (day, key, network) DO UPDATE SET allowed = u.allowed + excluded.allowed,
             limited = u.limited + excluded.limited, work = u.work + excluded.work,
             last_used = greatest(u.last_used, excluded.last_used)`,
          [day, JSON.stringify(rows)],
        );
      }
      return readUsage(client, day);
    });
  }

  usageOf(day: string): Promise<readonly AccessUsageRow[]> {
    return this.#database.withWriter((client) => readUsage(client, day));
  }

  /** The days of which there is usage, the oldest first. */
  usageDays(): Promise<readonly string[]> {
    return this.#database.withWriter(async (client) => {
      const { rows } = await client.query<{ day: string }>(
        "SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day FROM access_usage ORDER BY day",
      );
      return rows.map(({ day }) => day);
    });
  }

  async forgetUsageBefore(day: string): Promise<void> {
    await this.#database.withWriter((client) => client.query('DELETE FROM access_usage WHERE day < $1::date', [day]));
  }

  #change<T>(change: (client: ClientBase) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (client) => {
      const result = await change(client);
      await client.query('UPDATE access_state SET version = version + 1');
      await client.query(`NOTIFY ${CHANNEL}`);
      return result;
    });
  }
}

async function readVersion(client: ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ version: bigint }>('SELECT version FROM access_state');
  return rows[0]!.version;
}

async function readUsage(client: ClientBase, day: string): Promise<readonly AccessUsageRow[]> {
  const query = `SELECT ${USAGE_COLUMNS} FROM access_usage WHERE day = $1::date ORDER BY key, network`;
  const { rows } = await client.query<UsageRecord>(query, [day]);
  return rows.map(({ allowed, limited, work, last_used, ...row }) => ({
    ...row,
    allowed: Number(allowed),
    limited: Number(limited),
    work: Number(work),
    last_used: last_used === null ? null : last_used.toISOString(),
  }));
}
