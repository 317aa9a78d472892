// npm run interop: other people's clients read from `tern replay`. Needs Python 3 with venv and pip.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { preparePython, runCommand } from './python-venv.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const LIMIT_MS = 4 * 60_000;

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));
const prepared = preparePython(join(root, '.interop', 'python'), requirements, runCommand);
if ('problem' in prepared) {
  process.stderr.write(`interop: ${prepared.problem}\n`);
  process.exitCode = 1;
} else {
  runChecks(prepared.python);
}

/** @param {string} python */
function runChecks(python) {
  const checks = fileURLToPath(new URL('checks.ts', import.meta.url));
  const args = ['--conditions=source', '--import', import.meta.resolve('tsx'), checks, python];
  // A process group of its own: ending it ends the servers and the Python that it started as well.
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: process.platform !== 'win32',
  });
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
    } catch {
      // It has ended already.
    }
  };
  const patience = setTimeout(() => {
    process.stderr.write(`interop: not done after ${LIMIT_MS / 1000} s, given up\n`);
    end('SIGKILL');
  }, LIMIT_MS);
  for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => end(signal));
  }
  child.on('error', (error) => {
    clearTimeout(patience);
    process.stderr.write(`interop: Node could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code) => {
    clearTimeout(patience);
    end('SIGKILL');
    process.exitCode = code ?? 1;
  });
}
