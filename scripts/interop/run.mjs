// npm run interop [-- lite|clients|index|explorer|explorer-all|localnet|sdks|ton4j]: other people's clients, and a browser, read from Tern. Needs Python 3 with venv and pip, and Go.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { prepareBrowser } from './clients/browser.mjs';
import { prepareGo } from './clients/go-program.mjs';
import { prepareNpm } from './clients/npm-packages.mjs';
import { preparePython, runCommand } from './python-venv.mjs';
import { prepareMaven } from './ton4j/maven-classpath.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const place = (/** @type {string} */ name) => join(root, '.interop', name);
const near = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * What is checked: who needs what, and which program checks it. Those by name run only when they are named.
 * @type {Readonly<Record<string, { program: string, limitMs: number, isByName?: boolean, prepare: () => (string | { problem: string })[] }>>}
 */
const suites = {
  // tonlib, a lite client of npm, and Redis
  lite: {
    program: 'checks.ts',
    limitMs: 5 * 60_000,
    prepare: () => [itemOr(preparePython(place('python'), near('requirements.txt'), runCommand), 'python')],
  },
  // clients of API v2 in JavaScript, Python and Go, the reference page in a browser, requests made up from its document
  clients: {
    program: 'clients/checks.ts',
    limitMs: 5 * 60_000 + 1_000 * Number(process.env.TERN_SCHEMATHESIS_SECONDS ?? 60),
    prepare: () => [
      itemOr(preparePython(place('clients-python'), near('clients/requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('clients-npm'), near('clients/npm-packages.json'), runCommand), 'packages'),
      itemOr(prepareGo(place('tonutils-go'), near('clients/tonutils-go'), runCommand), 'program'),
      itemOr(prepareBrowser(runCommand), 'browser'),
    ],
  },
  // the same for API v3, and its index
  index: {
    program: 'clients/v3/checks.ts',
    limitMs: 7 * 60_000 + 1_000 * Number(process.env.TERN_SCHEMATHESIS_SECONDS ?? 60),
    prepare: () => [
      itemOr(preparePython(place('index-python'), near('clients/v3/requirements.txt'), runCommand), 'python'),
      itemOr(preparePython(place('clients-python'), near('clients/requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('index-npm'), near('clients/v3/npm-packages.json'), runCommand), 'packages'),
      itemOr(prepareGo(place('tonutils-go'), near('clients/tonutils-go'), runCommand), 'program'),
      itemOr(prepareBrowser(runCommand), 'browser'),
    ],
  },
  // the explorer in a browser, on a local network
  explorer: {
    program: 'explorer/checks.ts',
    limitMs: 8 * 60_000,
    prepare: () => [itemOr(prepareBrowser(runCommand), 'browser')],
  },
  // the same, each page in both widths with both themes, and on a recorded network
  'explorer-all': {
    program: 'explorer/checks.ts',
    limitMs: 30 * 60_000,
    isByName: true,
    prepare: () => [itemOr(prepareBrowser(runCommand), 'browser'), 'all'],
  },
  // SDKs of jettons, NFTs, DNS and exchanges, the remote storage of a sandbox, and a lite client, on a seeded local network
  sdks: {
    program: 'sdks/checks.ts',
    limitMs: 3 * 60_000,
    prepare: () => [
      itemOr(preparePython(place('clients-python'), near('clients/requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('sdks-npm'), near('sdks/npm-packages.json'), runCommand), 'packages'),
    ],
  },
  // the client of ton4j: needs a JDK and Maven
  ton4j: {
    program: 'ton4j/checks.ts',
    limitMs: 3 * 60_000,
    isByName: true,
    prepare: () => [itemOr(prepareMaven(place('ton4j'), near('ton4j'), runCommand), 'classpath')],
  },
  // third-party clients on a running local network
  localnet: {
    program: 'localnet/checks.ts',
    limitMs: 5 * 60_000,
    prepare: () => [
      itemOr(preparePython(place('python'), near('requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('clients-npm'), near('clients/npm-packages.json'), runCommand), 'packages'),
    ],
  },
};

/**
 * @param {Record<string, string>} prepared
 * @param {string} key
 * @returns {string | { problem: string }}
 */
function itemOr(prepared, key) {
  const problem = prepared.problem;
  return problem === undefined ? /** @type {string} */ (prepared[key]) : { problem };
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {number} limitMs
 * @returns {Promise<number>} the exit code
 */
function runChecks(program, args, limitMs) {
  const node = ['--conditions=source', '--import', import.meta.resolve('tsx'), near(program), ...args];
  // A process group of its own: ending it ends the servers and the programs that it started as well.
  const child = spawn(process.execPath, node, {
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
    process.stderr.write(`interop: not done after ${limitMs / 1000} s, given up\n`);
    end('SIGKILL');
  }, limitMs);
  const signals = /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, end);
  return new Promise((resolve) => {
    child.on('error', (error) => {
      process.stderr.write(`interop: Node could not be started: ${error.message}\n`);
      resolve(1);
    });
    child.on('exit', (code) => {
      end('SIGKILL');
      resolve(code ?? 1);
    });
  }).then((code) => {
    clearTimeout(patience);
    for (const signal of signals) process.off(signal, end);
    return /** @type {number} */ (code);
  });
}

const names = process.argv.slice(2);
const unknown = names.find((name) => suites[name] === undefined);
if (unknown !== undefined) {
  process.stderr.write(
    `interop: there is no "${unknown}"; wanted are ${Object.keys(suites).join(', ')}, or none for all\n`,
  );
  process.exitCode = 1;
} else {
  for (const name of names.length > 0 ? names : Object.keys(suites).filter((each) => suites[each]?.isByName !== true)) {
    const { program, limitMs, prepare } = /** @type {typeof suites[string]} */ (suites[name]);
    const args = [];
    let isReady = true;
    for (const prepared of prepare()) {
      if (typeof prepared === 'string') args.push(prepared);
      else {
        process.stderr.write(`interop: ${prepared.problem}\n`);
        isReady = false;
      }
    }
    const code = isReady ? await runChecks(program, args, limitMs) : 1;
    if (code !== 0) process.exitCode = 1;
  }
}
