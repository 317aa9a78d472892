// Runs before every npm script. Needs nothing but Node: checks its version and installs what the lock file names.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage */

/**
 * What stands in the way of running on this Node, or null.
 * @param {string} running such as `20.18.1`
 * @param {string} range such as `>=20.18`
 */
export function nodeProblem(running, range) {
  const [wantMajor = 0, wantMinor = 0] = range.replace('>=', '').split('.').map(Number);
  const [major = 0, minor = 0] = running.split('.').map(Number);
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return null;
  return `Tern needs Node ${wantMajor}.${wantMinor} or newer; this is Node ${running}. Install a newer one and run the command again.`;
}

/**
 * The first package of the lock file that is not installed as it stands there, or null. Optional packages may be
 * absent: they belong to other platforms.
 * @param {Record<string, LockedPackage>} locked
 * @param {Record<string, LockedPackage>} installed
 */
export function firstMissing(locked, installed) {
  for (const [path, wanted] of Object.entries(locked)) {
    if (path === '') continue;
    const found = installed[path];
    if (found === undefined && wanted.optional === true) continue;
    if (found === undefined || found.version !== wanted.version || found.integrity !== wanted.integrity) return path;
  }
  return null;
}

/** @param {string} file */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

/** @param {string} sentence */
function say(sentence) {
  process.stderr.write(`tern setup: ${sentence}\n`);
}

/** npm wants a cache it can write to. An account without a home directory has none: it gets one for this time. */
function spareCache() {
  const home = homedir();
  const usual = join(home, '.npm');
  try {
    accessSync(existsSync(usual) ? usual : home, constants.W_OK);
    return null;
  } catch {
    return mkdtempSync(join(tmpdir(), 'tern-npm-'));
  }
}

/** The npm that runs us; else the one beside this Node or in the path. */
function npmCommand() {
  const started = process.env.npm_execpath;
  if (started?.endsWith('.js')) return { command: process.execPath, first: [started], shell: false };
  const windows = process.platform === 'win32';
  return { command: windows ? 'npm.cmd' : 'npm', first: [], shell: windows };
}

function install() {
  const { command, first, shell } = npmCommand();
  const cache = spareCache();
  const options = ['ci', '--include=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  const cacheOption = cache === null ? [] : [`--cache=${cache}`];
  const result = spawnSync(command, [...first, ...options, '--loglevel=error', ...cacheOption], {
    cwd: root,
    shell,
    env: { ...process.env, PATH: `${process.env.PATH}${delimiter}${dirname(process.execPath)}` },
    stdio: ['ignore', 2, 2],
  });
  if (cache !== null) rmSync(cache, { recursive: true, force: true });
  return result;
}

/** Leaves a checkout ready to run and returns true, or says why it cannot and returns false. */
export function setUp() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const problem = nodeProblem(process.versions.node, engines.node);
  if (problem !== null) {
    say(problem);
    return false;
  }
  const locked = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  const missing = firstMissing(locked, installed);
  if (missing === null) return true;

  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    say(
      `${missing} is not installed as package-lock.json has it, and node_modules is a link: run npm ci where it leads to.`,
    );
    return false;
  }
  if (process.platform === 'win32') {
    say(
      'on Windows, use WSL, where everything works; without it, tern dev needs a PostgreSQL of yours (--database-url) or --index off.',
    );
  }
  say('Installing packages (once, about 15 s)…');
  const { status, error } = install();
  if (status === 0) return true;
  say(
    error === undefined
      ? `npm ci failed (exit ${status}), see above. Check the network, and that ${root} is writable; then run the command again.`
      : `npm could not be started (${error.message}). It comes with Node: install it, then run the command again.`,
  );
  return false;
}

const startedDirectly = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (startedDirectly && !setUp()) process.exitCode = 1;
