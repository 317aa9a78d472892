import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { storeErrors } from '#drivers/store/errors.js';

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
