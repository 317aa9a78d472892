import { chmod, chown, type FileHandle, mkdtemp, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import {
  closedFolder,
  giveTo,
  type PostgresProgram,
  type PostgresUser,
  removeDraft,
  run,
} from '#drivers/store/embedded/postgres-program.js';
import { storeErrors } from '#drivers/store/errors.js';
import { isRunning, makeFolder } from '#kernel/files.js';

/** The files of an embedded server, all in one folder. */
export interface ServerFolder {
  readonly folder: string;
  /** The data directory of PostgreSQL; {@link initialise} creates it. */
  readonly cluster: string;
  readonly logFile: string;
}

/** Name of the only user and of the database that every cluster has. */
export const DATABASE = 'tern';

/**
 * Leaves room for `/.s.PGSQL.5432.lock`: the path of a Unix socket has at most 108 bytes on Linux and 104 on macOS, including the
 * terminating zero, and the temporary folder of macOS is long.
 */
const LONGEST_SOCKET_FOLDER = 84;

/** A larger log is rotated to `server.log.1` when the server starts. */
const LONGEST_LOG = 4 * 2 ** 20;

/**
 * Creates the folder if needed, accessible to the user of the server alone.
 *
 * @throws store/embedded-folder
 */
export async function prepareFolder(path: string, user: PostgresUser | null): Promise<ServerFolder> {
  const folder = resolve(path);
  try {
    makeFolder(folder);
    if (user !== null) await chown(folder, user.uid, user.gid);
    await chmod(folder, 0o700);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw storeErrors['embedded-folder']({ folder, problem }, error);
  }
  const closed = user === null ? null : await closedFolder(folder, user);
  if (closed !== null && user !== null) {
    const problem = `PostgreSQL, which does not run as root, runs as user ${user.uid} and may not enter ${closed}`;
    throw storeErrors['embedded-folder']({ folder, problem });
  }
  return { folder, cluster: join(folder, 'cluster'), logFile: join(folder, 'server.log') };
}

/** How a new cluster is made. */
export interface NewCluster {
  /** Whether it is synced to disk. */
  readonly sync: boolean;
  /**
   * Parent folder of empty clusters that new ones are copied from, which takes a fraction of the time that PostgreSQL takes to make
   * one. What is missing there is put there if it can be. `null`: none.
   */
  readonly templates: string | null;
  /** Called when another process is making it: `initdb`, or `cp` of the template. */
  readonly onUnderWay: () => void;
  /** Told why a template was not copied; the cluster is made without it then. */
  readonly onProblem: (problem: string) => void;
}

/** Arguments of `initdb`. */
const CLUSTER = ['--username', DATABASE, '--auth', 'trust', '--encoding', 'UTF8', '--no-locale', '--data-checksums'];

/**
 * Creates a cluster if there is none, with one user `tern`, UTF-8 and byte order collation, atomically. A cluster of another major
 * version is refused.
 *
 * @returns whether it was created now
 * @throws store/embedded-version, store/embedded-damaged, store/embedded-copied, store/embedded-folder
 */
export async function initialise(
  { folder, cluster }: ServerFolder,
  program: PostgresProgram,
  user: PostgresUser | null,
  { sync, templates, onUnderWay, onProblem }: NewCluster,
): Promise<boolean> {
  await requireOriginal(cluster);
  const found = await majorOf(cluster);
  if (found === program.major) return false;
  if (found !== null) throw storeErrors['embedded-version']({ folder: cluster, found, program: program.version });
  const draft = await mkdtemp(`${cluster}-`);
  try {
    if (user !== null) await chown(draft, user.uid, user.gid);
    const template = templates === null ? null : join(templates, `cluster-${program.version}-${process.arch}`);
    const isCopied = template !== null && (await copyCluster(template, draft, user, { onUnderWay, onProblem }));
    const making = isCopied ? null : runInitdb(draft, program, user, sync);
    onUnderWay();
    const made = await making;
    if (made === null && template !== null && !isCopied) await keepTemplate(draft, template);
    const problem = made ?? (await rename(draft, cluster).then(() => null, String));
    // A concurrent start may have been faster and have removed this draft: then its cluster is used.
    if (problem !== null && (await majorOf(cluster)) === null)
      throw storeErrors['embedded-folder']({ folder, problem });
    if (isCopied && sync) await syncCluster(cluster, program, user);
    return true;
  } finally {
    await removeDraft(draft);
  }
}

/** Makes a cluster in an empty folder. @returns why it was not made; null when it was */
async function runInitdb(
  folder: string,
  program: PostgresProgram,
  user: PostgresUser | null,
  sync: boolean,
): Promise<string | null> {
  const file = join(program.folder, 'bin', 'initdb');
  const made = await run(file, ['-D', folder, ...CLUSTER, ...(sync ? [] : ['--no-sync'])], user);
  return typeof made === 'string' ? made : null;
}

/** Syncs a cluster to disk. @returns why it was not; null when it was */
export async function syncCluster(
  cluster: string,
  program: PostgresProgram,
  user: PostgresUser | null,
): Promise<string | null> {
  const done = await run(join(program.folder, 'bin', 'initdb'), ['--sync-only', '-D', cluster], user);
  return typeof done === 'string' ? done : null;
}

/** Copies a template into an empty folder. @returns false when there is none that can be copied; then the folder is empty still */
async function copyCluster(
  template: string,
  folder: string,
  user: PostgresUser | null,
  { onUnderWay, onProblem }: Pick<NewCluster, 'onUnderWay' | 'onProblem'>,
): Promise<boolean> {
  if ((await stat(join(template, 'PG_VERSION')).catch(() => null)) === null) return false;
  try {
    const copied = copyFiles(template, folder);
    onUnderWay();
    await copied;
    if (user !== null) await giveTo(folder, user);
    return true;
  } catch (error) {
    onProblem(String(error));
    for (const name of await readdir(folder)) await removeDraft(join(folder, name));
    return false;
  }
}

/** Copies the files of a folder into an existing one, in another process: in this one it would wait for the modules that are loaded. */
async function copyFiles(from: string, to: string): Promise<void> {
  const done = await run('cp', ['-R', `${from}/.`, to], null);
  if (typeof done === 'string') throw storeErrors['embedded-folder']({ folder: to, problem: `cp: ${done}` });
}

/**
 * Keeps a copy of a new cluster as a template. It is synced to disk before it gets its name, beside what else happens: half a
 * template would make every new cluster a damaged one. Where nothing can be written there is none.
 */
async function keepTemplate(cluster: string, template: string): Promise<void> {
  const draft = `${template}.${process.pid}`;
  try {
    makeFolder(draft);
    await copyFiles(cluster, draft);
  } catch {
    await removeDraft(draft);
    return;
  }
  void syncFiles(draft)
    .then(() => rename(draft, template))
    .catch(() => removeDraft(draft));
}

/** Syncs all files of a folder to disk. */
async function syncFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const file = await open(join(entry.parentPath, entry.name), 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** Removes drafts of clusters that killed starts left behind. */
export async function removeClusterDrafts({ folder }: ServerFolder): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('cluster-')) await removeDraft(join(folder, name));
  }
}

/** The major version of a cluster; null: there is none. @throws store/embedded-damaged */
async function majorOf(cluster: string): Promise<number | null> {
  if ((await stat(cluster).catch(() => null)) === null) return null;
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null) throw storeErrors['embedded-damaged']({ folder: cluster, problem: 'it has no PG_VERSION' });
  if (/^\d{1,4}\n?$/.test(version)) return Number.parseInt(version, 10);
  throw storeErrors['embedded-damaged']({ folder: cluster, problem: 'PG_VERSION does not contain a version' });
}

/**
 * Refuses a copy of a cluster that was made while its server ran: its files are of different moments. Such a copy has a
 * `postmaster.pid` that names the folder of the original.
 *
 * @throws store/embedded-copied
 */
async function requireOriginal(cluster: string): Promise<void> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const original = text.split('\n')[1] ?? '';
  if (original === '') return;
  const [own, named] = await Promise.all([stat(cluster), stat(original).catch(() => null)]);
  // A folder that was moved or mounted elsewhere is no copy.
  if (named === null || (named.ino === own.ino && named.dev === own.dev)) return;
  throw storeErrors['embedded-copied']({ folder: cluster, original });
}

/** What PostgreSQL logs when files of a cluster are missing or damaged. */
const DAMAGE =
  /PANIC:|could not find the database system|pg_control|control file|checkpoint record|global\/pg_filenode\.map|PG_VERSION|pg_xact|pg_wal|invalid page|invalid data in file|is not a valid data directory|relation mapping file/;

/** The part of a log that names damage of the cluster; null: none. */
export function damageIn(log: string): string | null {
  const lines = log
    .split('; ')
    .filter(
      (line) =>
        /^(FATAL|PANIC|postgres:)/.test(line) && DAMAGE.test(line) && !/No space left|out of memory/i.test(line),
    );
  return lines.at(-1) ?? null;
}

/** Creates a folder for the socket that only the user of the server may enter: in the folder, or elsewhere if its path is too long. */
export async function makeSocketFolder({ folder }: ServerFolder, user: PostgresUser | null): Promise<string> {
  const near = join(folder, 'run');
  const path = Buffer.byteLength(near) <= LONGEST_SOCKET_FOLDER ? near : await mkdtemp(join(tmpdir(), 'tern-'));
  makeFolder(path);
  if (user !== null) await chown(path, user.uid, user.gid);
  await chmod(path, 0o700);
  return path;
}

/** A server process as `postmaster.pid` describes it. */
export interface RunningServer {
  readonly pid: number;
  /** Empty while it is starting. */
  readonly socketFolder: string;
  readonly port: number;
}

/** The server of the file `postmaster.pid` of a cluster, if a process with its id runs. */
export async function readRunningServer({ cluster }: ServerFolder): Promise<RunningServer | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, socketFolder] = text.split('\n');
  if (!isRunning(Number(pid))) return null;
  return { pid: Number(pid), port: Number(port), socketFolder: socketFolder ?? '' };
}

/** Opens the log for the server to write to; returns its current length, too. */
export async function openLog({
  logFile,
}: ServerFolder): Promise<{ readonly log: FileHandle; readonly start: number }> {
  const found = await stat(logFile).catch(() => null);
  if (found !== null && found.size > LONGEST_LOG) await rename(logFile, `${logFile}.1`);
  const log = await open(logFile, 'a', 0o600);
  return { log, start: (await log.stat()).size };
}

/** The last kilobyte of the log, at most from a byte offset on, in one line. */
export async function readLog({ logFile }: ServerFolder, start: number): Promise<string> {
  const bytes = await readFile(logFile).catch(() => Buffer.alloc(0));
  const text = bytes.subarray(Math.max(start, bytes.length - 1024)).toString();
  const said = text.split('\n').map((line) => line.replace(/^\S+ \S+ UTC \[\d+\] /, '').trim());
  return said.filter((line) => line !== '').join('; ') || 'server.log is empty';
}
