// Pythons with the packages that the checks need, each in a folder of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Python versions that tonlib's binding is used with. */
const OLDEST = [3, 9];

/** Installing and building wait for the network, and for other work of the machine. */
const MOST_RUN_MS = 600_000;

/**
 * @typedef {{ ok: boolean, output: string }} Ran
 * @typedef {(command: string, args: readonly string[]) => Ran} Run
 */

/** @type {Run} */
export function runCommand(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: MOST_RUN_MS });
  const output = [stdout, stderr, error?.message].filter((text) => text !== undefined && text !== '').join('\n');
  return { ok: status === 0, output: output.trim() };
}

/**
 * The command that starts Python, or a sentence that says what to install.
 * @param {Run} run
 * @returns {{ command: string } | { problem: string }}
 */
export function findPython(run) {
  for (const command of ['python3', 'python']) {
    const { ok, output } = run(command, ['-c', 'import sys; print(*sys.version_info[:2])']);
    const [major = 0, minor = 0] = output.split(' ').map(Number);
    if (!ok || major !== OLDEST[0] || minor < (OLDEST[1] ?? 0)) continue;
    if (!run(command, ['-c', 'import venv, ensurepip']).ok) {
      return {
        problem: `this Python (${command}) cannot make virtual environments: install its venv and pip (on Debian and Ubuntu the package python3-venv)`,
      };
    }
    return { command };
  }
  return { problem: `there is no Python ${OLDEST.join('.')} or newer: install python3 with venv and pip` };
}

/**
 * The Python of a virtual environment that has what a requirements file names; made when it is not there yet, and again when
 * the file has changed.
 * @param {string} folder of the environment
 * @param {string} requirements path of the file
 * @param {Run} run
 * @returns {{ python: string } | { problem: string }}
 */
export function preparePython(folder, requirements, run) {
  const python = join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const stamp = join(folder, 'requirements.txt');
  const wanted = readFileSync(requirements, 'utf8');
  const made = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (made && run(python, ['-c', 'pass']).ok) return { python };

  const found = findPython(run);
  if ('problem' in found) return found;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const venv = run(found.command, ['-m', 'venv', folder]);
  if (!venv.ok) return { problem: `the virtual environment ${folder} could not be made:\n${venv.output}` };
  // What a client imports is compiled then; compiling all that was installed takes longer than installing it.
  const quick = ['--quiet', '--disable-pip-version-check', '--no-compile'];
  const install = ['-m', 'pip', 'install', ...quick, '-r', requirements];
  if (wanted.includes('--no-deps')) install.push('--no-deps');
  const pip = run(python, install);
  if (!pip.ok) return { problem: `pip could not install ${requirements} (is the network there?):\n${pip.output}` };
  writeFileSync(stamp, wanted);
  return { python };
}
