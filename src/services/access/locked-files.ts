import { link, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { type Clock, pause } from '#kernel/clock.js';
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
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The text of a file; `null` when there is none. */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Makes a folder for files that only their owner may read. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** What the operating system says becomes an error that names the file. @throws access/file */
export async function withFileErrors<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw accessErrors.file({ file, problem: error.message }, error);
  }
}

/** A lock is held for milliseconds. One that is so old belongs to a process that is gone. */
const STALE_MS = 10_000;

/** How long to wait for a lock: longer than one of a process that is gone can stand. */
const PATIENCE_MS = 15_000;

export interface LockModules {
  readonly clock: Clock;
  /** Milliseconds since 1970, to compare with the times of files. */
  readonly unixTimeMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** A lock that is held. */
export interface HeldLock {
  /** @throws access/lock-lost when another process took it over */
  check(): Promise<void>;
}

/**
 * Does `work` while this process alone holds the lock: a file that is made only if it is not there, and names the process
 * that made it. One whose process has ended, or that is 10 s old, is taken away. Two processes that see this might take
 * away the lock of a third one that came in between; so only who made a second file, `FILE.break`, may do it.
 *
 * @throws access/locked, access/lock-lost
 */
export async function withLock<T>(
  file: string,
  modules: LockModules,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const token = `${process.pid} ${Buffer.from(modules.randomBytes(8)).toString('hex')} ${hostname()}`;
  await acquire(file, token, modules);
  const holds = async (): Promise<boolean> => (await contentOf(file)) === token;
  try {
    return await work({
      async check() {
        if (!(await holds())) throw accessErrors['lock-lost']({ file });
      },
    });
  } finally {
    if (await holds()) await rm(file, { force: true });
  }
}

async function acquire(file: string, token: string, { clock, unixTimeMs }: LockModules): Promise<void> {
  const start = clock.now();
  for (let delayMs = 2; !(await create(file, token)); delayMs = Math.min(32, delayMs * 2)) {
    if (await isStale(file, unixTimeMs)) await breakLock(file, unixTimeMs);
    const waitedMs = Math.round(clock.now() - start);
    if (waitedMs > PATIENCE_MS) {
      throw accessErrors.locked({ file, holder: inWords(await contentOf(file)), waitedMs });
    }
    await pause(delayMs, clock);
  }
}

/**
 * Whether the file was made; `false` when it is there already. It comes into being with its content, by a link to a file
 * that is written before: a process that is killed in between leaves no lock that names nobody.
 */
async function create(file: string, content: string): Promise<boolean> {
  const draft = `${file}.${process.pid}-${process.hrtime.bigint()}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    await link(draft, file);
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function contentOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

async function breakLock(file: string, unixTimeMs: () => number): Promise<void> {
  const guard = `${file}.break`;
  if (!(await create(guard, `${process.pid} - ${hostname()}`))) {
    // Its maker ended between two calls. Taking it away is not guarded once more; HeldLock.check finds what goes wrong.
    if (await isOld(guard, unixTimeMs)) await rm(guard, { force: true });
    return;
  }
  try {
    if (await isStale(file, unixTimeMs)) await rm(file, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(file: string, unixTimeMs: () => number): Promise<boolean> {
  if (await isOld(file, unixTimeMs)) return true;
  const [, pid, host] = /^(\d+) \S+ (.*)$/.exec((await contentOf(file)) ?? '') ?? [];
  return pid !== undefined && host === hostname() && !isRunning(Number(pid));
}

async function isOld(file: string, unixTimeMs: () => number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(file);
    return unixTimeMs() - mtimeMs > STALE_MS;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isSystemError(error, 'ESRCH');
  }
}

function inWords(holder: string | null): string {
  const [, pid, host] = /^(\d+) \S+ (.*)$/.exec(holder ?? '') ?? [];
  return pid === undefined ? 'an unknown process' : `process ${pid} on ${host}`;
}
