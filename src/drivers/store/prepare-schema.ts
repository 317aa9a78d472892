import type { ClientBase } from 'pg';
import { migrate, requireSchema, schemaState } from '#drivers/store/migrate.js';
import type { Migration } from '#drivers/store/migration-files.js';
import { type NetworkIdentity, requireNetwork } from '#drivers/store/network-identity.js';

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
