// Pythons with the packages that the checks need, each in a folder of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

/** Python versions that tonlib's binding is used with. */
const OLDEST = [3, 9];

/** Installs packages in a tenth of the time that pip takes. */
const UV = 'uv==0.13.9';

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

/** @param {string} folder of a virtual environment */
const pythonIn = (folder) =>
  join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

// What a client imports is compiled then; compiling all that was installed takes longer than installing it.
const PIP_INSTALL = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile'];

/**
 * Makes a virtual environment anew, and installs packages in it.
 * @param {string} folder
 * @param {string} command that starts Python
 * @param {readonly string[]} wanted the packages, or `-r` and a file of them
 * @param {Run} run
 * @returns {string | null} what went wrong
 */
function installWithPip(folder, command, wanted, run) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const venv = run(command, ['-m', 'venv', folder]);
  if (!venv.ok) return `the virtual environment ${folder} could not be made:\n${venv.output}`;
  const pip = run(pythonIn(folder), [...PIP_INSTALL, ...wanted]);
  return pip.ok ? null : `pip could not install ${wanted.join(' ')} (is the network there?):\n${pip.output}`;
}

/**
 * The same with uv, which has an environment of its own beside `folder`.
 * @param {string} folder
 * @param {string} command that starts Python
 * @param {readonly string[]} wanted
 * @param {Run} run
 * @returns {boolean} whether it could be done
 */
function installWithUv(folder, command, wanted, run) {
  const own = join(dirname(folder), 'uv');
  const uv = (/** @type {readonly string[]} */ args) => run(pythonIn(own), ['-m', 'uv', ...args]).ok;
  if (!uv(['--version']) && installWithPip(own, command, [UV], run) !== null) return false;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const options = ['--quiet', '--no-cache', '--python', pythonIn(folder)];
  return run(command, ['-m', 'venv', '--without-pip', folder]).ok && uv(['pip', 'install', ...options, ...wanted]);
}

/**
 * The Python of a virtual environment that has what a requirements file names; made when it is not there yet, and again when
 * the file has changed. By uv, or by pip where uv cannot.
 * @param {string} folder of the environment
 * @param {string} requirements path of the file
 * @param {Run} run
 * @returns {{ python: string } | { problem: string }}
 */
export function preparePython(folder, requirements, run) {
  const python = pythonIn(folder);
  const stamp = join(folder, 'requirements.txt');
  const text = readFileSync(requirements, 'utf8');
  const made = existsSync(stamp) && readFileSync(stamp, 'utf8') === text;
  if (made && run(python, ['-c', 'pass']).ok) return { python };

  const found = findPython(run);
  if ('problem' in found) return found;
  const wanted = [...(text.includes('--no-deps') ? ['--no-deps'] : []), '-r', requirements];
  if (!installWithUv(folder, found.command, wanted, run)) {
    const problem = installWithPip(folder, found.command, wanted, run);
    if (problem !== null) return { problem };
  }
  writeFileSync(stamp, text);
  return { python };
}
