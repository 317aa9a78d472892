import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { filesErrors } from '#kernel/errors.js';

let drafts = 0;

/** Without O_NONBLOCK the opening of a named pipe waits for its other side. Windows has no such flag. */
const AT_ONCE = constants.O_NONBLOCK ?? 0;
const READ_AT_ONCE = constants.O_RDONLY | AT_ONCE;

/** Flags of `open` for a file that is written from its beginning; a named pipe in its place is an error (ENXIO). */
export const WRITE_AT_ONCE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | AT_ONCE;

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

/** Why an operation of the file system failed, without the name of the system call and of the file: `no space left on device (ENOSPC)`. */
export function fileProblem(error: unknown): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : String(error);
  return `${error.message.replace(/^\w+: /, '').replace(/, .*$/s, '')} (${error.code})`;
}

/**
 * The bytes of a regular file. Anything else is refused at once: a pipe would be waited for, a device may have no end.
 *
 * @throws files/not-a-file, and errors of the operating system
 */
export function readRegularFile(file: string): Buffer {
  const descriptor = openSync(file, READ_AT_ONCE);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw filesErrors['not-a-file']({ file, found: kindOf(found) });
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a regular file, by default in UTF-8; `null` when there is none. @throws as {@link readRegularFile} */
export async function readTextFile(file: string, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<string | null> {
  let handle: FileHandle;
  try {
    handle = await open(file, READ_AT_ONCE);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw filesErrors['not-a-file']({ file, found: kindOf(found) });
    return await handle.readFile(encoding);
  } finally {
    await handle.close();
  }
}

/** What stands in the place of a file or folder. */
function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFile()) return 'a file';
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  return 'a device';
}

/**
 * Creates a folder, and those above it that are missing, level by level. Node's own `recursive` never returns where the file system
 * denies that the level above is there, as on `/proc`.
 *
 * @param mode permissions of new folders; those that root creates belong to the owner of the folder above
 * @throws files/no-folder, which names the level that cannot be created
 */
export function makeFolder(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let level = resolve(folder); !isFolder(level, folder); level = dirname(level)) missing.push(level);
  for (const level of missing.reverse()) {
    try {
      mkdirSync(level, { mode });
      if (isRoot()) {
        const { uid, gid } = statSync(dirname(level));
        chownSync(level, uid, gid);
      }
    } catch (error) {
      // Another process was faster.
      if (isSystemError(error, 'EEXIST') && isFolder(level, folder)) continue;
      throw filesErrors['no-folder']({ folder, level, problem: fileProblem(error) }, error);
    }
  }
}

/** Whether it is there. @throws files/no-folder when something else is, or it cannot be looked at */
function isFolder(level: string, folder: string): boolean {
  let found: Stats | undefined;
  try {
    found = statSync(level, { throwIfNoEntry: false });
  } catch (error) {
    // A level above is a file: that one is reported.
    if (isSystemError(error, 'ENOTDIR')) return false;
    throw filesErrors['no-folder']({ folder, level, problem: fileProblem(error) }, error);
  }
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw filesErrors['no-folder']({ folder, level, problem: `it is ${kindOf(found)}` });
}

/**
 * Replaces a file atomically, whenever the machine stops: the text goes to `FILE.new`, is flushed to the disk, takes the place of
 * the old file, and the folder is flushed. Only one caller at a time may do so. A file that root writes belongs to the owner of the
 * folder, so that a service with a user of its own can go on with it.
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
  const handle = await open(fresh, WRITE_AT_ONCE, mode);
  try {
    await handle.chmod(mode);
    if (isRoot()) {
      const { uid, gid } = await stat(dirname(file));
      await handle.chown(uid, gid);
    }
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

/** Whether this process may give files to other users, and has to: what it creates belongs to root otherwise. */
function isRoot(): boolean {
  return process.getuid?.() === 0;
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
