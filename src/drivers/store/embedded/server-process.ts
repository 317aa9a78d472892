import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import type { PostgresProgram } from '#drivers/store/embedded/postgres-program.js';
import type { PostgresUser } from '#drivers/store/embedded/postgres-user.js';
import { isRunning } from '#drivers/store/embedded/server-folder.js';
import { type ServerSettings, settingArguments } from '#drivers/store/embedded/server-settings.js';

/** The number in the name of the socket. */
export const PORT = 5432;

/**
 * Becomes the server, after leaving a process behind that stops it when the pipe on its standard input ends without a line:
 * when the process that started it is gone, however it went. `$$` stays the same through `exec`. The process that watches
 * must not be a child of the server, which takes a child that it does not know for one of its own that crashed.
 */
const WATCHED_SERVER = `exec 3<&0
( { read -r _ <&3 || kill -INT $$; } </dev/null >/dev/null 2>&1 & )
exec "$@" 3<&- </dev/null`;

/** What a server process is made of. */
export interface ServerProcess {
  readonly program: PostgresProgram;
  readonly user: PostgresUser | null;
  /** The data directory. */
  readonly cluster: string;
  readonly socketFolder: string;
  readonly settings: ServerSettings;
  /** Descriptor of the open file that the log goes to. */
  readonly log: number;
}

/** Starts a server that ends with this process, and in its own time after Ctrl-C: that is for this process, which stops it. */
export function spawnServer({ program, user, cluster, socketFolder, settings, log }: ServerProcess): ChildProcess {
  const server = [
    ...[join(program.folder, 'bin', 'postgres'), '-D', cluster, '-k', socketFolder, '-p', String(PORT)],
    ...settingArguments(settings),
  ];
  const child = spawn('/bin/sh', ['-c', WATCHED_SERVER, 'sh', ...server], {
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', log, log],
    detached: true,
  });
  child.stdin?.on('error', () => {});
  // A line, so that the process that watches ends and does nothing.
  void exitOf(child).then(() => child.stdin?.end('\n'));
  return child;
}

/** Resolves when a process is gone, with the reason in words. */
export function exitOf(child: ChildProcess): Promise<string> {
  const inWords = (code: number | null, signal: string | null) => (signal === null ? `exit code ${code}` : `${signal}`);
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(inWords(child.exitCode, child.signalCode));
  }
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(inWords(code, signal)));
    child.once('error', (error) => resolve(error.message));
  });
}

/** Does nothing when the process is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal);
}
