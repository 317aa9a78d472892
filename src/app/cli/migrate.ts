import process from 'node:process';
import { Command } from 'commander';
import { addSettings, type CliEnvironment } from '#app/cli/environment.js';
import { type GivenSettings, readSettings } from '#app/config/setting.js';
import { migrateSettings } from '#app/config/settings.js';
import { systemClock } from '#kernel/clock.js';

const toStandardError = (text: string) => void process.stderr.write(text);

/** `tern migrate`: migrates the schema of databases to this version. */
export function migrateCommand(environment: CliEnvironment): Command {
  const command = new Command('migrate')
    .description('create or migrate the index tables of a database; tern serve also does this at startup')
    .option('--check', 'only check; exit code 1 if a migration is required')
    .option('--json', 'print JSON, and progress as lines of JSON to standard error')
    .action(async (given: MigrateFlags, self: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text), writeErr = toStandardError } =
        self.configureOutput();
      const { check, json, ...flags } = given;
      const { values } = readSettings(migrateSettings, { flags, environment });
      const migrated: MigratedDatabase[] = [];
      for (const { url } of values.databaseUrl) {
        const one = await migrateDatabase(url, check === true, (progress) =>
          writeErr(`${json === true ? JSON.stringify({ progress }) : migratingText(progress)}\n`),
        );
        migrated.push(one);
        if (json !== true) writeOut(migratedText(one));
      }
      if (json === true) writeOut(`${JSON.stringify(migrated, null, 2)}\n`);
    });
  return addSettings(command, migrateSettings);
}

type MigrateFlags = Omit<GivenSettings['flags'], 'check' | 'json'> & { readonly check?: true; readonly json?: true };

interface MigratedDatabase {
  readonly database: string;
  readonly schema_version: number;
  /** Names of the migrations that ran now. */
  readonly ran: readonly string[];
}

function migratedText({ database, schema_version, ran }: MigratedDatabase): string {
  if (ran.length === 0) return `${database}: up to date, schema version ${schema_version}\n`;
  return `${database}: ran ${ran.join(', ')}; schema version ${schema_version}\n`;
}

/** A migration that begins: how long one takes is not known before. */
interface MigrationProgress {
  readonly done: number;
  readonly total: number;
  readonly unit: 'migrations';
  readonly note: string;
}

function migratingText({ done, total, note }: MigrationProgress): string {
  return `[${'#'.repeat(done)}${'.'.repeat(total - done)}] ${done} of ${total} migrations, running ${note}`;
}

/** @throws store/* */
async function migrateDatabase(
  url: string,
  isCheck: boolean,
  onProgress: (progress: MigrationProgress) => void,
): Promise<MigratedDatabase> {
  const { Database } = await import('#drivers/store/database.js');
  const { readMigrations } = await import('#drivers/store/migrate.js');
  const { migrate, requireSchema, schemaState } = await import('#drivers/store/migrate.js');
  const migrations = await readMigrations();
  const database = await Database.open({ url, readOnly: isCheck }, { clock: systemClock });
  try {
    return await database.withWriter(async (client) => {
      if (isCheck) await requireSchema(client, migrations);
      const { pending } = isCheck ? { pending: [] } : await schemaState(client, migrations);
      let done = 0;
      const onMigration = (migration: { readonly name: string }) =>
        onProgress({ done: done++, total: pending.length, unit: 'migrations', note: migration.name });
      const ran = isCheck ? [] : await migrate(client, migrations, onMigration);
      const { database: name, version } = await schemaState(client, migrations);
      return { database: name, schema_version: version, ran: ran.map((migration) => migration.name) };
    });
  } finally {
    await database.close();
  }
}
