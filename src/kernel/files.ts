import { closeSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';

let drafts = 0;

/** Whether an error came from the operating system, and if a code is given, with that one. */
export function isSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall === undefined) return false;
  return code === undefined || (error as NodeJS.ErrnoException).code === code;
}

/** Whether there is a process with this id. */
export function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isSystemError(error, 'ESRCH');
  }
}

/** The text of a file in UTF-8; `null` when there is none. */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Replaces a file atomically, whenever the machine stops: the text goes to `FILE.new`, is flushed to the disk, takes the place of
 * the old file, and the folder is flushed. Only one caller at a time may do so.
 *
 * @param options `mode`: permissions, default 0o600; `beforeRename`: may still refuse, by throwing
 */
export async function writeFileAtomic(
  file: string,
  text: string,
  options: { readonly mode?: number; readonly beforeRename?: () => Promise<void> } = {},
): Promise<void> {
  const { mode = 0o600, beforeRename } = options;
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await beforeRename?.();
  await rename(fresh, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Creates a file with its text unless there is one: the basis of lock files. The file appears with its whole text, by a link to a
 * draft: a process that is killed in between leaves no empty lock.
 *
 * @returns false when there is one already
 */
export function createFileExclusive(file: string, text: string): boolean {
  const draft = `${file}.${process.pid}-${++drafts}-${process.hrtime.bigint()}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      writeSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
