import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accessErrors } from '#services/access/errors.js';

/** Whether an error came from the operating system, and if a code is given, with that one. */
export function isSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) return false;
  return code === undefined || (error as NodeJS.ErrnoException).code === code;
}

/**
 * Writes a file so that it is there whole or as it was before, whenever the machine stops: the text goes to `FILE.new`, is
 * flushed to the disk, and takes the place of the old one. Only the owner may read it. Two must not do it at once.
 */
export async function replaceFile(file: string, text: string, beforeRename: () => Promise<void>): Promise<void> {
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await beforeRename();
  await rename(fresh, file);
  const folder = await open(dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
}

/** The text of a file; `null` when there is none. */
export async function readWhole(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Makes a folder for files that only their owner may read. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** What the operating system says becomes an error that names the file. @throws access/file */
export async function withFile<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw accessErrors.file({ file, problem: error.message }, error);
  }
}
