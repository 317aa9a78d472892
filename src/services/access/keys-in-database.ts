import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccessTables } from '#drivers/store/access-tables.js';
import type { Clock } from '#kernel/clock.js';
import { isSystemError, readTextFile, writeFileAtomic } from '#kernel/files.js';
import type { Logger } from '#kernel/logger.js';
import { usageRowsOf } from '#services/access/access-database.js';
import { accessErrors } from '#services/access/errors.js';
import { ConfigField } from '#services/access/json-field.js';
import { KeyFile } from '#services/access/key-file.js';
import { withFileErrors } from '#services/access/locked-files.js';
import { UsageFiles } from '#services/access/usage.js';

/** Says that the keys of a data folder are in a database, and in which one. */
const NOTE = 'keys-database.json';

interface MoveModules {
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
}

/** `127.0.0.1:5432/tern`, without user and password. */
export function databasePlace(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed === null ? 'a database' : `${parsed.host}${parsed.pathname}`;
}

/**
 * Moves the keys and the usage of a data folder into a database, and leaves a note that they are there. `keys.json` becomes
 * `keys.json.moved`, `usage` becomes `usage.moved`. Of several processes with the folder one moves the usage.
 *
 * @throws access/file, access/field, store/*
 */
export async function moveToDatabase(
  folder: string,
  url: string,
  tables: AccessTables,
  modules: MoveModules,
): Promise<void> {
  // Commands work on keys in a database without a data folder, too.
  if (!existsSync(folder)) return;
  const file = join(folder, 'keys.json');
  const keys = await new KeyFile({ path: file }, modules).list();
  const added = keys.length === 0 ? [] : await tables.addKeys(keys);
  const days = await moveUsage(folder, tables, modules);
  await withFileErrors(folder, async () => {
    await writeFileAtomic(join(folder, NOTE), `${JSON.stringify({ database: databasePlace(url) })}\n`);
    await renameIfThere(file, `${file}.moved`);
  });
  if (added.length === 0 && days === 0) return;
  modules.logger.info('keys and usage of the data folder were moved into the database', { keys: added.length, days });
}

async function moveUsage(folder: string, tables: AccessTables, modules: MoveModules): Promise<number> {
  // A process that still counts in the folder after a move makes it again.
  const moved = unusedName(join(folder, 'usage.moved'));
  if (!(await withFileErrors(folder, () => renameIfThere(join(folder, 'usage'), moved)))) return 0;
  const files = new UsageFiles({ folder: moved }, modules);
  const days = await files.days();
  for (const day of days) await tables.addUsage(day, usageRowsOf(await files.read(day)));
  return days.length;
}

/** The path, or with a number behind it, if there is something. */
function unusedName(path: string): string {
  let name = path;
  for (let number = 2; existsSync(name); number++) name = `${path}.${number}`;
  return name;
}

/** @returns whether it was there */
async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Checks that the keys of a data folder are in it. @throws access/in-database */
export async function requireKeysInFolder(folder: string): Promise<void> {
  const file = join(folder, NOTE);
  if (!existsSync(file)) return;
  const text = await withFileErrors(file, () => readTextFile(file));
  const { database } = ConfigField.parse(file, text ?? '{}').members('database');
  throw accessErrors['in-database']({ folder, database: database.text(/^.{1,300}$/, 'the name of a database') });
}
