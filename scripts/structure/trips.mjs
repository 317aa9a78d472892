import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const probe = new URL('coverage-probe.mjs', import.meta.url).href;

/** An account of `vectors/dev-chain` that has a state and transactions: the elector. */
const ACCOUNT = '-1:3333333333333333333333333333333333333333333333333333333333333333';

/** How often a process is looked at that has nothing to do. */
const IDLE_WINDOWS = 8;

/** The files of the liteserver of a local or replayed network. It is part of the main thread on a recorded chain. */
const LITESERVER = /^src\/(localnet\/|drivers\/adnl\/server\.ts$)/;

/**
 * Runs Tern on a chain and reports which source files of a checkout run code on four trips: a v2 request and a v3 request (both
 * uncached, on the recorded chain), masterchain blocks of a local network from the liteserver into rows (`tern serve
 * --pending off`), and the same in `tern dev` with all else that follows the chain: pending messages, streams, webhooks. A file belongs
 * to a request if more of its functions were called than in a process that has nothing to do, which has timers too. Files of the
 * liteserver are left out, as is the thread of the local node.
 * @param {string} checkout
 * @returns {Promise<Record<'v2' | 'v3' | 'rows' | 'all', string[]>>} paths relative to the checkout
 */
export async function tripFiles(checkout) {
  const copy = copyOf(checkout);
  try {
    return await filesOf(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * The last commit of a checkout, without bundles, in which one file holds many sources: its threads, too, run from the sources.
 * @param {string} checkout
 */
function copyOf(checkout) {
  const copy = mkdtempSync(join(tmpdir(), 'tern-structure-'));
  execFileSync('git', ['clone', '--quiet', '--local', checkout, copy]);
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const none = 'export const bundle = async () => null;\nexport const bundledFile = () => null;\n';
  writeFileSync(join(copy, 'scripts/bundle.mjs'), none);
  return copy;
}

/** @param {string} checkout */
async function filesOf(checkout) {
  const replay = ['--replay', join(checkout, 'vectors/dev-chain')];
  // Without an index: its background work, which also runs meanwhile, is no part of a v2 request.
  const v2 = await withTern(checkout, ['dev', ...replay, '--index', 'off'], async ({ url, files }) => {
    await until(async () => (await fetch(`${url}/api/v2/getMasterchainInfo`)).ok);
    await delay(5000);
    return trip(files, () => fetchAll(`${url}/api/v2/getAddressInformation?address=${ACCOUNT}`));
  });
  const v3 = await withTern(checkout, ['dev', ...replay], async ({ url, files }) => {
    await until(async () => {
      const head = await answerOf(`${url}/api/v2/getMasterchainInfo`);
      const indexed = await answerOf(`${url}/api/v3/masterchainInfo`);
      return head.result.last.seqno === indexed.last.seqno;
    });
    // What is derived from the blocks is no part of a request.
    await delay(25_000);
    return trip(files, () => fetchAll(`${url}/api/v3/transactions?account=${ACCOUNT}&limit=10`));
  });
  const local = ['dev', '--block-time', '400'];
  const followed = (/** @type {Tern} */ { url, files }) =>
    files(async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ address: `0:${'1'.repeat(64)}`, amount: '1000000000', comment: 'trip' });
      await fetch(`${url}/localnet/faucet`, { method: 'POST', headers, body });
      await delay(5000);
    });
  const all = await withTern(checkout, local, async (tern) => {
    await until(async () => (await fetch(`${tern.url}/api/v3/masterchainInfo`)).ok);
    await delay(4000);
    return [...(await followed(tern)).keys()].sort();
  });
  const rows = await withTern(checkout, [...local, '--index', 'off'], async ({ url, page }) => {
    const network = /\S+global\.config\.json/.exec(page)?.[0] ?? '';
    const indexer = ['serve', '--network', network, '--database', 'embedded', '--from', 'genesis', '--pending', 'off'];
    return withTern(checkout, indexer, async ({ url: ofIndexer, files }) => {
      await until(async () => (await fetch(`${ofIndexer}/readyz`)).ok);
      await delay(4000);
      return [...(await followed({ url, page, files })).keys()].sort();
    });
  });
  return { v2, v3, rows, all };
}

/** @typedef {{ url: string, page: string, files: CallsByFile }} Tern a running process; `page` is what it printed at its start */

/** @typedef {(run: () => Promise<unknown>) => Promise<Map<string, number>>} CallsByFile */

/**
 * @param {CallsByFile} files
 * @param {() => Promise<unknown>} request
 */
async function trip(files, request) {
  /** @type {Map<string, number>} */
  const idle = new Map();
  for (let i = 0; i < IDLE_WINDOWS; i += 1) {
    for (const [path, count] of await files(() => delay(20))) idle.set(path, Math.max(count, idle.get(path) ?? 0));
  }
  const called = await files(request);
  return [...called.keys()].filter((path) => (called.get(path) ?? 0) > (idle.get(path) ?? 0)).sort();
}

/**
 * @template T
 * @param {string} checkout
 * @param {string[]} options
 * @param {(tern: Tern) => Promise<T>} use
 */
async function withTern(checkout, options, use) {
  const data = mkdtempSync(join(tmpdir(), 'tern-structure-'));
  const [command = '', ...more] = options;
  const place = command === 'dev' ? ['--port', '0'] : ['--listen', '127.0.0.1:0'];
  const args = [command, ...place, '--data', data, '--request-log', 'none', ...more];
  const main = ['--conditions=source', '--import', import.meta.resolve('tsx'), join(checkout, 'src/app/cli/main.ts')];
  const child = spawn(process.execPath, [...main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--import ${probe}`,
      TSX_TSCONFIG_PATH: join(checkout, 'tsconfig.json'),
    },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    let page = '';
    const url = await new Promise((resolve, reject) => {
      const look = (/** @type {Buffer} */ text) => {
        page += text;
        const isReady = command === 'dev' ? page.includes('Ctrl-C') : page.includes('ready for requests');
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(page);
        if (isReady && found !== null) resolve(found[0]);
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
      child.once('exit', () => reject(new Error(`tern ${command} ended: ${page}`)));
    });
    const send = (/** @type {string} */ name) =>
      new Promise((resolve) => {
        child.once('message', resolve);
        child.send(name);
      });
    const files = async (/** @type {() => Promise<unknown>} */ run) => {
      await send('reset');
      await run();
      return sources(checkout, /** @type {Record<string, number>} */ (await send('take')));
    };
    return await use({ url, page, files });
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
  }
}

/** @param {string} url */
async function fetchAll(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  await answer.text();
}

/**
 * @param {string} url
 * @returns {Promise<any>}
 */
async function answerOf(url) {
  return (await fetch(url)).json();
}

/** @param {() => Promise<boolean>} isTrue */
async function until(isTrue) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await isTrue().catch(() => false)) return;
    await delay(100);
  }
  throw new Error('Tern did not become ready within a minute');
}

/**
 * @param {string} checkout
 * @param {Readonly<Record<string, number>>} calls by URL
 * @returns {Map<string, number>} by path
 */
function sources(checkout, calls) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [url, count] of Object.entries(calls)) {
    const path = decodeURIComponent(new URL(url).pathname);
    if (!path.startsWith(`${checkout}/`)) continue;
    const source = path
      .slice(checkout.length + 1)
      .replace(/^dist\//, 'src/')
      .replace(/\.js$/, '.ts');
    if (source.startsWith('src/') && !LITESERVER.test(source)) found.set(source, count);
  }
  return found;
}
