import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const stuckProcess = fileURLToPath(new URL('../../../test/support/stuck-process.ts', import.meta.url));

/** Starts a process that gets stuck in one way, and waits until it runs. */
async function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', stuckProcess, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    said.out += text;
  });
  child.stderr.on('data', (text) => {
    said.err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  running.push(child);
  await expect.poll(() => said.out).toContain('running');
  return { child, said, ended };
}

// Tests run at the same time: what one of them has left running is ended after all of them.
const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

describe('a second signal', () => {
  it.each([
    ['SIGINT', 'hangs'],
    ['SIGTERM', 'hangs'],
    // A thread that is stuck in a native call: process.exit() would wait for it for ever.
    ['SIGTERM', 'native-thread'],
  ] as const)('%s ends a process whose shutdown %s', async (signal, mode) => {
    const { child, said, ended } = await start(mode, '/proc/tern/localnet');
    child.kill(signal);
    await expect.poll(() => said.out).toContain('closing');
    child.kill(signal);
    expect(await ended).toEqual({ code: null, signal });
    expect(said.err).toBe('');
  });

  it.each(['before', 'native'])('ends a process whose main loop was stuck before the first one: %s', async (mode) => {
    const { child, said, ended } = await start(mode, '/proc/tern/localnet');
    await delay(200);
    child.kill('SIGTERM');
    await delay(200);
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(said.err).toBe('tern: the main loop has been stuck after a second signal; the process is killed\n');
  });
});

describe('a process whose shell is ended', () => {
  /** As npm starts scripts: in a shell that stays between them. */
  async function startInShell(environment: NodeJS.ProcessEnv) {
    const program = ['--conditions=source', '--import', 'tsx', stuckProcess, 'hangs'];
    const { npm_lifecycle_event: _, ...others } = process.env;
    const shell = spawn('sh', ['-c', '"$0" "$@"; true', process.execPath, ...program], {
      env: { ...others, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    shell.stdout.on('data', (text) => {
      out += text;
    });
    running.push(shell);
    await expect.poll(() => out).toContain('running');
    const pid = Number(/running (\d+)/.exec(out)![1]);
    orphans.push(pid);
    shell.kill('SIGTERM');
    await once(shell, 'exit');
    return { said: () => out, isRunning: () => isRunning(pid) };
  }
  const orphans: number[] = [];
  afterAll(() => {
    for (const pid of orphans) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });

  it('begins to end when npm has started it, as by one signal', async () => {
    const { said, isRunning } = await startInShell({ npm_lifecycle_event: 'start' });
    await expect.poll(said).toContain('closing');
    await delay(1_000);
    expect(isRunning()).toBe(true);
  });

  it('goes on when a person has started it', async () => {
    const { said, isRunning } = await startInShell({});
    await delay(2_000);
    expect(said()).not.toContain('closing');
    expect(isRunning()).toBe(true);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the watchdog', () => {
  it.concurrent.each(['shutdown', 'blocked'])('ends a process whose main loop is stuck: %s', async (mode) => {
    const { child, said, ended } = await start(mode);
    const since = performance.now();
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(performance.now() - since).toBeGreaterThan(25_000);
    expect(said.err).toBe('tern: the main loop has been stuck for 30 s during shutdown; the process is killed\n');
  });
});
