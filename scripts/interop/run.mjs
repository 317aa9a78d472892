// npm run interop [-- lite|clients|index|streams|explorer|explorer-all|localnet|sdks|ton4j]: third-party clients, and a browser, read from Tern.
// Needs Python 3 with venv and pip, and Go. With `--prepare` what they need is installed, and nothing is checked.
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

/** Until the pipes of a suite that has ended are closed. */
const MOST_CLOSING_MS = 5_000;

/** Suites that run at the same time: with a third one on two cores, a page took longer than a browser waits for it. */
const AT_ONCE = 2;

/**
 * What is checked, what takes longest first: who needs what, and which program checks it. Those by name run only when they are named.
 * @type {Readonly<Record<string, { program: string, limitMs: number, isByName?: boolean, prepare: () => (string | { problem: string })[] }>>}
 */
const suites = {
  // the explorer and the API reference in a browser, on a local network
  explorer: {
    program: 'explorer/checks.ts',
    limitMs: 10 * 60_000,
    prepare: () => [itemOr(prepareBrowser(runCommand), 'browser')],
  },
  // the same, each page in both widths with both themes, and on a recorded network
  'explorer-all': {
    program: 'explorer/checks.ts',
    limitMs: 30 * 60_000,
    isByName: true,
    prepare: () => [itemOr(prepareBrowser(runCommand), 'browser'), 'all'],
  },
  // clients of API v3 in Python, Go and JavaScript, its index, the reference page, requests made up from its document
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
  // third-party clients on a running local network
  localnet: {
    program: 'localnet/checks.ts',
    limitMs: 5 * 60_000,
    prepare: () => [
      itemOr(preparePython(place('python'), near('requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('clients-npm'), near('clients/npm-packages.json'), runCommand), 'packages'),
    ],
  },
  // tonlib, a lite client of npm, and Redis
  lite: {
    program: 'checks.ts',
    limitMs: 5 * 60_000,
    prepare: () => [itemOr(preparePython(place('python'), near('requirements.txt'), runCommand), 'python')],
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
  // streaming clients in Python and in a browser, payments that are emulated and followed, and the validator of AsyncAPI documents
  streams: {
    program: 'streams/checks.ts',
    limitMs: 4 * 60_000,
    prepare: () => [
      itemOr(preparePython(place('index-python'), near('clients/v3/requirements.txt'), runCommand), 'python'),
      itemOr(preparePython(place('streams-python'), near('streams/requirements.txt'), runCommand), 'python'),
      itemOr(prepareNpm(place('streams-npm'), near('streams/npm-packages.json'), runCommand), 'packages'),
      itemOr(prepareBrowser(runCommand), 'browser'),
    ],
  },
  // the clients of ton4j, HTTP and ADNL: needs a JDK and Maven
  ton4j: {
    program: 'ton4j/checks.ts',
    limitMs: 3 * 60_000,
    isByName: true,
    prepare: () => [itemOr(prepareMaven(place('ton4j'), near('ton4j'), runCommand), 'classpath')],
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
 * What ends each suite that runs.
 * @type {Set<(signal: NodeJS.Signals) => void>}
 */
const running = new Set();

/**
 * Suites that have not begun.
 * @type {{ name: string, args: string[] }[]}
 */
const ready = [];

/** A signal ends all suites. Not before they run: installing would go on. */
function endOnSignals() {
  for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      process.exitCode = 1;
      ready.length = 0;
      for (const end of running) end(signal);
    });
  }
}

/**
 * @param {string} name of the suite
 * @param {readonly string[]} args
 * @param {boolean} isAlone its lines are printed at once; otherwise all of them when it ends
 * @returns {Promise<number>} the exit code
 */
async function runChecks(name, args, isAlone) {
  const { program, limitMs } = /** @type {typeof suites[string]} */ (suites[name]);
  const node = ['--conditions=source', '--import', import.meta.resolve('tsx'), near(program), ...args];
  const startedAt = performance.now();
  // A process group of its own: ending it ends the servers and the programs that it started as well.
  const child = spawn(process.execPath, node, {
    cwd: root,
    stdio: isAlone ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  /** @type {Buffer[]} */
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => lines.push(data));
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
    } catch {
      // It has ended already.
    }
  };
  running.add(end);
  let problem = '';
  const deadline = setTimeout(() => {
    problem = `interop: ${name} is not done after ${limitMs / 1000} s and was ended\n`;
    end('SIGKILL');
  }, limitMs);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      problem = `interop: Node could not be started: ${error.message}\n`;
      resolve(1);
    });
    child.on('exit', (status) => {
      end('SIGKILL');
      // What it has written comes until its pipes are closed, which a process outside of the group may have open.
      child.on('close', () => resolve(status ?? 1));
      setTimeout(() => resolve(status ?? 1), MOST_CLOSING_MS).unref();
    });
  });
  clearTimeout(deadline);
  running.delete(end);
  process.stdout.write(Buffer.concat(lines));
  process.stderr.write(problem);
  process.stdout.write(`interop: ${name} took ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
  return code;
}

/**
 * Installs what a suite needs, unless it is there.
 * @param {string} name
 * @returns {string[] | null} arguments of its program; null: something is missing, and was named
 */
function prepareSuite(name) {
  const prepared = /** @type {typeof suites[string]} */ (suites[name]).prepare();
  const args = prepared.filter((each) => typeof each === 'string');
  if (args.length === prepared.length) return args;
  for (const each of prepared) if (typeof each !== 'string') process.stderr.write(`interop: ${each.problem}\n`);
  process.exitCode = 1;
  return null;
}

const PREPARE_ONLY = '--prepare';
const given = process.argv.slice(2);
const names = given.filter((name) => name !== PREPARE_ONLY);
const unknown = names.find((name) => suites[name] === undefined);
if (unknown !== undefined) {
  process.stderr.write(
    `interop: there is no "${unknown}"; wanted are ${Object.keys(suites).join(', ')}, or none for all\n`,
  );
  process.exitCode = 1;
} else {
  const wanted = names.length > 0 ? names : Object.keys(suites).filter((each) => suites[each]?.isByName !== true);
  for (const name of wanted) {
    const args = prepareSuite(name);
    if (args !== null) ready.push({ name, args });
  }
  const takeTurns = async () => {
    for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
      if ((await runChecks(next.name, next.args, wanted.length === 1)) !== 0) process.exitCode = 1;
    }
  };
  if (!given.includes(PREPARE_ONLY)) {
    endOnSignals();
    await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  }
}
