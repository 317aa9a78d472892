import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { makeFolder, readFileIfAny, writing } from '#localnet/ledger/ledger-files.js';

/** Folders that threads of this kind, in this thread, hold. */
let counter = 0;

/**
 * Takes a folder for this process alone. A lock that a killed process has left is taken over.
 *
 * The file `lock` has the number of the process and when it was started, since numbers are used again.
 *
 * @returns gives it back
 * @throws ledger/in-use, ledger/unwritable
 */
export function lockFolder(folder: string): () => void {
  makeFolder(folder);
  const file = join(folder, 'lock');
  const mine = `${process.pid} ${startOf(process.pid)} ${++counter}.${Math.random().toString(36).slice(2)}\n`;
  while (!create(file, mine)) {
    const found = textOf(file);
    if (found === '') continue;
    if (isHeld(found)) throw ledgerErrors['in-use']({ folder, holder: `process ${found.split(' ')[0]}` });
    takeAway(file, found);
  }
  return () => {
    if (textOf(file) === mine) rmSync(file, { force: true });
  };
}

/** @returns false when there is one already */
function create(file: string, text: string): boolean {
  return writing(file, () => {
    // The file appears with its text: a link to it is made once it is written.
    const draft = `${file}.${process.pid}.${counter}`;
    const descriptor = openSync(draft, 'w', 0o600);
    writeSync(descriptor, text);
    closeSync(descriptor);
    try {
      linkSync(draft, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Removes a lock of a process that has ended; a newer one, which may have come meanwhile, is put back. */
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

/** Empty when there is none. */
function textOf(file: string): string {
  const bytes = readFileIfAny(file);
  return bytes === null ? '' : new TextDecoder().decode(bytes);
}

function isHeld(text: string): boolean {
  const [pid, start] = text.split(' ');
  if (!isRunning(Number(pid))) return false;
  // Where it cannot be told when a process was started, its number has to do.
  const running = startOf(Number(pid));
  return running === '-' || start === '-' || running === start;
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** When a process was started: ticks since the machine was, and a name of that start of the machine. `-`: unknown. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // After the name of the program, which is in parentheses and may hold any character, the state is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return `${boot}:${fields[19]}`;
  } catch {
    return '-';
  }
}
