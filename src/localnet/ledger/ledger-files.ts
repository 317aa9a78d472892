import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { threadId } from 'node:worker_threads';
import {
  createFileExclusive,
  fileProblem,
  isRunning,
  makeFolder,
  readRegularFile,
  WRITE_AT_ONCE,
} from '#kernel/files.js';
import { isTernError } from '#kernel/tern-error.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';

/** @throws ledger/unreadable */
export function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isTernError(error) || (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw ledgerErrors.unreadable({ file, problem: fileProblem(error) }, error);
  }
}

/** @throws ledger/unwritable */
export function writing<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (isTernError(error) || (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw ledgerErrors.unwritable({ file, problem: fileProblem(error) }, error);
  }
}

/** The whole file; `null` if it does not exist. @throws ledger/unreadable */
export function readFileIfAny(file: string): Uint8Array | null {
  return reading(file, () => {
    try {
      const bytes = readRegularFile(file);
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  });
}

/** @param needed purpose of the file, for the error. @throws ledger/unreadable, ledger/missing-file */
export function readNeeded(file: string, needed: string): Uint8Array {
  const bytes = readFileIfAny(file);
  if (bytes === null) throw ledgerErrors['missing-file']({ file, needed });
  return bytes;
}

/** Sorted names in a folder; empty if there is no folder. @throws ledger/unreadable */
export function listFolder(folder: string): string[] {
  return reading(folder, () => {
    try {
      return readdirSync(folder).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Writes a file atomically. @throws ledger/unwritable */
export function writeWhole(file: string, bytes: Uint8Array | string): void {
  const draft = `${file}.draft`;
  writing(file, () => {
    const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
    // Not readable by other users: it may contain keys.
    const descriptor = openSync(draft, WRITE_AT_ONCE, 0o600);
    try {
      try {
        for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at);
      } finally {
        closeSync(descriptor);
      }
      renameSync(draft, file);
    } catch (error) {
      // It would take the space that a full disk has left.
      removeIfPossible(draft);
      throw error;
    }
  });
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The error that made it useless says more.
  }
}

/** @throws files/no-folder */
export function ensureFolder(folder: string): void {
  makeFolder(folder, 0o700);
}

/** What a chain needs at its start, generously: its zerostates, first blocks and first checkpoint. */
const START_BYTES = 4 * 2 ** 20;

/** Checks that a chain can be started in a folder: by writing as much as it needs. @throws ledger/unwritable */
export function requireSpace(folder: string): void {
  const file = join(folder, 'space.draft');
  try {
    writeWhole(file, new Uint8Array(START_BYTES));
  } finally {
    for (const each of [file, `${file}.draft`]) rmSync(each, { force: true });
  }
}

/** Renames a file or folder within one file system. @throws ledger/unwritable */
export function moveTo(from: string, to: string): void {
  writing(to, () => renameSync(from, to));
}

/** Removes a file or folder, if it exists. @throws ledger/unwritable */
export function removeAll(path: string): void {
  writing(path, () => rmSync(path, { recursive: true, force: true }));
}

/**
 * Hard-links a file that is never written to again; copies it where links are not supported. @throws ledger/unwritable
 */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    writing(to, () => copyFileSync(from, to, constants.COPYFILE_FICLONE));
  }
}

/** @param needed purpose of the file, for the error. @throws ledger/missing-file, ledger/unreadable */
export function openToChange(file: string, needed: string): number {
  return reading(file, () => {
    try {
      const descriptor = openSync(file, 'r+');
      if (fstatSync(descriptor).isFile()) return descriptor;
      closeSync(descriptor);
      throw ledgerErrors.damaged({ file, offset: 0, problem: 'it is not a file' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw ledgerErrors['missing-file']({ file, needed });
    }
  });
}

/** Reads bytes of an open file. @throws ledger/damaged when the file is shorter, ledger/unreadable */
export function readAt(file: string, descriptor: number, place: { readonly at: number; readonly length: number }) {
  const { at, length } = place;
  const bytes = new Uint8Array(length);
  reading(file, () => {
    for (let done = 0; done < length; ) {
      const read = readSync(descriptor, bytes, done, length - done, at + done);
      if (read === 0) {
        throw ledgerErrors.damaged({ file, offset: at + done, problem: `${length - done} more bytes should be here` });
      }
      done += read;
    }
  });
  return bytes;
}

/** @throws ledger/unwritable */
export function writeAt(file: string, descriptor: number, bytes: Uint8Array, at: number): void {
  writing(file, () => {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
    }
  });
}

/** @throws ledger/unwritable */
export function cutTo(file: string, descriptor: number, length: number): void {
  writing(file, () => ftruncateSync(descriptor, length));
}

/** Number of locks taken by this process, which makes each lock text unique. */
let counter = 0;

/**
 * Locks a folder for this thread. A lock that a killed process left is taken over. One of a thread of this process that was
 * terminated is removed by {@link removeThreadLock}: only who started a thread knows that it has ended.
 *
 * The file `lock` has the process id, the start time of the process, since ids are reused, the thread id, which is not, and the
 * identity of the folder, since a copy that was made meanwhile is not locked.
 *
 * @returns releases the lock
 * @throws ledger/in-use, ledger/unwritable
 */
export function lockFolder(folder: string): () => void {
  ensureFolder(folder);
  const file = join(folder, 'lock');
  const mine = `${ownerOf(threadId)} ${identityOf(folder)} ${++counter}.${Math.random().toString(36).slice(2)}\n`;
  while (!writing(file, () => createFileExclusive(file, mine))) {
    const found = textOf(file);
    if (found === '') continue;
    if (isHeld(found, folder)) throw ledgerErrors['in-use']({ folder, holder: `process ${found.split(' ')[0]}` });
    takeAway(file, found);
  }
  return () => {
    if (textOf(file) === mine) rmSync(file, { force: true });
  };
}

/** Removes the lock that a thread of this process held when it ended, if it did. @throws ledger/unwritable */
export function removeThreadLock(folder: string, thread: number): void {
  const file = join(folder, 'lock');
  const found = textOf(file);
  if (found.startsWith(`${ownerOf(thread)} `)) takeAway(file, found);
}

/** The beginning of a lock: process, its start time, thread. */
function ownerOf(thread: number): string {
  return `${process.pid} ${startOf(process.pid)} ${thread}`;
}

/** Removes a stale lock; a newer one, which may have been created meanwhile, is put back. */
function takeAway(file: string, stale: string): void {
  const aside = `${file}.${process.pid}.${counter}.old`;
  writing(file, () => {
    try {
      renameSync(file, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    if (readFileSync(aside, 'utf8') !== stale) linkSync(aside, file);
    rmSync(aside, { force: true });
  });
}

/** Empty if there is none. */
function textOf(file: string): string {
  const bytes = readFileIfAny(file);
  return bytes === null ? '' : new TextDecoder().decode(bytes);
}

/** Device and inode: a moved folder keeps them, a copy has others. */
function identityOf(folder: string): string {
  return writing(folder, () => {
    const { dev, ino } = statSync(folder, { bigint: true });
    return `${dev}:${ino}`;
  });
}

function isHeld(text: string, folder: string): boolean {
  const [pid, start, , of = ''] = text.split(' ');
  if (!isRunning(Number(pid))) return false;
  // Locks of older versions do not name their folder.
  if (of.includes(':') && of !== identityOf(folder)) return false;
  // Without known start times, the process id decides.
  const running = startOf(Number(pid));
  return running === '-' || start === '-' || running === start;
}

/** Start time of a process: clock ticks since boot, and the boot id. `-`: unknown. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // Field 3 (state) follows the program name, which is in parentheses and may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return `${boot}:${fields[19]}`;
  } catch {
    return '-';
  }
}
