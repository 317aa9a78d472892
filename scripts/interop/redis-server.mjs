// A real Redis for the checks of shared limits.
import process from 'node:process';

/** @typedef {(command: string, args: readonly string[]) => { ok: boolean, output: string }} Run */

const PACKAGE = 'redis-server';

/**
 * The command of a Redis server; installed from the packages of Debian or Ubuntu when it is missing and root runs this.
 * Otherwise a sentence that says what to install.
 * @param {Run} run
 * @param {boolean} isRoot
 * @returns {{ command: string } | { problem: string }}
 */
export function prepareRedis(run, isRoot = process.getuid?.() === 0) {
  const found = () => ['redis-server', 'valkey-server'].find((command) => run(command, ['--version']).ok);
  const command = found();
  if (command !== undefined) return { command };
  const wanted = `there is no redis-server: install it (on Debian and Ubuntu the package ${PACKAGE})`;
  if (!isRoot || !run('apt-get', ['--version']).ok) return { problem: wanted };
  // RUNLEVEL=1 keeps the package from starting a server of its own.
  const install = ['RUNLEVEL=1', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-qq'];
  const args = [...install, '--no-install-recommends', PACKAGE];
  const first = run('env', args);
  if (!first.ok) {
    const update = run('apt-get', ['update', '-qq']);
    const second = update.ok ? run('env', args) : update;
    if (!second.ok) return { problem: `${wanted}; apt-get could not:\n${second.output}` };
  }
  const installed = found();
  return installed === undefined ? { problem: wanted } : { command: installed };
}
