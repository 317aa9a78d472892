import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';

/** How long a start took, from the command to the first right answers; milliseconds. */
export interface StartTime {
  readonly v2: number;
  readonly v3: number;
  /** From Ctrl-C to the end of the last process. */
  readonly end: number;
}

const MOST_MS = 120_000;
const POLL_MS = 20;
const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A folder for chains of `npm start`, for as long as `work` runs. */
export async function inDataFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  // A database that root starts runs as another user, who has to get there.
  chmodSync(folder, 0o755);
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds of `tern --version`. @throws when it prints something else */
export async function measureVersion(): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string };
  const began = performance.now();
  const child = spawn(process.execPath, [join(repository, 'bin', 'tern.js'), '--version'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  await once(child, 'close');
  const took = performance.now() - began;
  if (printed !== `${version}\n`) throw new Error(`tern --version printed ${JSON.stringify(printed)}`);
  return took;
}

/** `npm start` until the first right answers, and its end. @param data folder of the chain, which is made or goes on */
export async function measureStart(data: string): Promise<StartTime> {
  const port = await freePort();
  const began = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: repository,
    env: { ...process.env, TERN_PORT: String(port), TERN_DATA: data, TERN_HOST: '127.0.0.1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  try {
    const api = `http://127.0.0.1:${port}/api`;
    const { address, balance } = fundedWallets()[1]!;
    const account = encodeURIComponent(address.toRaw());
    const right = { v2: `"${balance}"`, v3: `"balance":"${balance}"` };
    const until = async (url: string, expected: string): Promise<number> => {
      while (!(await ask(url)).includes(expected)) {
        if (performance.now() - began > MOST_MS || child.exitCode !== null) throw new Error(`no answer: ${said}`);
        await delay(POLL_MS);
      }
      return performance.now() - began;
    };
    const [v2, v3] = await Promise.all([
      until(`${api}/v2/getAddressBalance?address=${account}`, right.v2),
      until(`${api}/v3/accountStates?address=${account}`, right.v3),
    ]);
    return { v2, v3, end: await interrupt(child) };
  } catch (error) {
    await interrupt(child);
    throw error;
  }
}

/** The text of a good answer, or nothing. */
async function ask(url: string): Promise<string> {
  try {
    const response = await fetch(url);
    const text = await response.text();
    return response.ok ? text : '';
  } catch {
    return '';
  }
}

/** Ctrl-C reaches every process of the group. */
async function interrupt(child: ChildProcess): Promise<number> {
  const group = -child.pid!;
  const began = performance.now();
  if (isThere(group)) process.kill(group, 'SIGINT');
  while (isThere(group)) {
    if (performance.now() - began > MOST_MS) {
      process.kill(group, 'SIGKILL');
      throw new Error('it does not end');
    }
    await delay(POLL_MS);
  }
  return performance.now() - began;
}

function isThere(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
