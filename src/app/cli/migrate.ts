import process from 'node:process';
import { Command } from 'commander';
import { addSettings, type CliEnvironment } from '#app/cli/environment.js';
import { type GivenSettings, readSettings } from '#app/config/setting.js';
import { migrateSettings } from '#app/config/settings.js';
import { systemClock } from '#kernel/clock.js';

/** `tern migrate`: migrates the schema of databases to this version. */
export function migrateCommand(environment: CliEnvironment): Command {
  const command = new Command('migrate')
    .description('create or migrate the index tables of a database; tern serve also does this at startup')
    .option('--check', 'only check; exit code 1 if a migration is required')
    .action(async (given: GivenSettings['flags'] & { readonly check?: true }, self: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text) } = self.configureOutput();
      const { check, ...flags } = given;
      const { values } = readSettings(migrateSettings, { flags, environment });
      for (const { url } of values.databaseUrl) writeOut(await migrateDatabase(url, check === true));
    });
  return addSettings(command, migrateSettings);
}

/** @returns the output. @throws store/* */
async function migrateDatabase(url: string, isCheck: boolean): Promise<string> {
  const { Database } = await import('#drivers/store/database.js');
  const { readMigrations } = await import('#drivers/store/migrate.js');
  const { migrate, requireSchema, schemaState } = await import('#drivers/store/migrate.js');
  const migrations = await readMigrations();
  const database = await Database.open({ url, readOnly: isCheck }, { clock: systemClock });
  try {
    return await database.withWriter(async (client) => {
      if (isCheck) await requireSchema(client, migrations);
      const ran = isCheck ? [] : await migrate(client, migrations);
      const { database: name, version } = await schemaState(client, migrations);
      if (ran.length === 0) return `${name}: up to date, schema version ${version}\n`;
      return `${name}: ran ${ran.map((migration) => migration.name).join(', ')}; schema version ${version}\n`;
    });
  } finally {
    await database.close();
  }
}
