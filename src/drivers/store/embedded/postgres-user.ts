import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { storeErrors } from '#drivers/store/errors.js';

/** Whom a PostgreSQL process runs as, when that is not the user of this process. */
export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
}

/** Users that systems have for this or for nothing at all, the best first. */
const candidates = ['postgres', '_postgres', 'nobody'];

/**
 * The user that the server of a cluster has to run as: PostgreSQL refuses to run as root. `null` stands for the user of this
 * process. As root it is the owner of the cluster; for a new one, a user that the system has already. No user is made.
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

/** The outermost folder on the way to `path` (itself included) that a user may not enter; `null` when the way is free. */
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
