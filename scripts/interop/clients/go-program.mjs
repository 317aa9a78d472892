// A client of others in Go, built into a folder of its own.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/**
 * The program made of the sources in a folder.
 * @param {string} folder where it is built to
 * @param {string} sources
 * @param {import('../python-venv.mjs').Run} run
 * @returns {{ program: string } | { problem: string }}
 */
export function prepareGo(folder, sources, run) {
  const wanted = /^go (\S+)$/m.exec(readFileSync(join(sources, 'go.mod'), 'utf8'))?.[1];
  const { ok, output } = run('go', ['version']);
  if (!ok) return { problem: `there is no Go: install Go ${wanted} or newer (${output})` };
  mkdirSync(folder, { recursive: true });
  const program = join(folder, process.platform === 'win32' ? 'checks.exe' : 'checks');
  const built = run('go', ['build', '-C', sources, '-o', program, '.']);
  if (!built.ok) return { problem: `the client in Go could not be built (is Go ${wanted} there?):\n${built.output}` };
  return { program };
}
