import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../../test/support/stuck-process.ts', import.meta.url));

/** Starts a process that gets stuck in one way, and waits until it runs. */
async function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', program, ...args], {
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
