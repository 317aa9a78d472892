import { rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';
import { type Clock, pause } from '#kernel/clock.js';
import { createFileExclusive, isRunning, isSystemError, makeFolder, readTextFile } from '#kernel/files.js';
import { accessErrors } from '#services/access/errors.js';

/** Creates a folder that only its owner may read. */
export async function makePrivateFolder(folder: string): Promise<void> {
  makeFolder(folder, 0o700);
}

/** Errors of the operating system become errors with the name of the file. @throws access/file */
export async function withFileErrors<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw accessErrors.file({ file, problem: error.message }, error);
  }
}

/** A lock is held for milliseconds. An older one belongs to a process that has ended. */
const STALE_MS = 10_000;

/** How long to wait for a lock: longer than a stale lock can exist. */
const WAIT_MS = 15_000;

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
 * Does `work` while this process alone holds the lock: a file that is created exclusively and has the id of the process. A lock
 * whose process has ended, or that is 10 s old, is removed. Two processes that see this could remove the lock of a third one
 * that came in between; so only the creator of a second file, `FILE.break`, may do it.
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
  const holds = async (): Promise<boolean> => (await readTextFile(file)) === token;
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
  for (let delayMs = 2; !createFileExclusive(file, token); delayMs = Math.min(32, delayMs * 2)) {
    if (await isStale(file, unixTimeMs)) await breakLock(file, unixTimeMs);
    const waitedMs = Math.round(clock.now() - start);
    if (waitedMs > WAIT_MS) {
      throw accessErrors.locked({ file, holder: describeHolder(await readTextFile(file)), waitedMs });
    }
    await pause(delayMs, clock);
  }
}

async function breakLock(file: string, unixTimeMs: () => number): Promise<void> {
  const guard = `${file}.break`;
  if (!createFileExclusive(guard, `${process.pid} - ${hostname()}`)) {
    // Its creator ended between two calls. Removing it is not guarded again; HeldLock.check finds what goes wrong.
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
  const [, pid, host] = /^(\d+) \S+ (.*)$/.exec((await readTextFile(file)) ?? '') ?? [];
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

function describeHolder(holder: string | null): string {
  const [, pid, host] = /^(\d+) \S+ (.*)$/.exec(holder ?? '') ?? [];
  return pid === undefined ? 'an unknown process' : `process ${pid} on ${host}`;
}
