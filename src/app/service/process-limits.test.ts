import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { serviceErrors } from '#app/service/errors.js';
import {
  affordableConnections,
  MIN_HEAP_MB,
  MIN_OPEN_FILES,
  processLimits,
  requireProcessLimits,
} from '#app/service/process-limits.js';
import { builtProgram } from '#test/support/built-program.js';
import { errorCode } from '#test/support/error-code.js';

const enough = { openFiles: MIN_OPEN_FILES, heapMb: MIN_HEAP_MB };

describe('the limits of a process', () => {
  it('are read', () => {
    const { openFiles, heapMb } = processLimits();
    expect(openFiles === null || openFiles > 0).toBe(true);
    expect(heapMb).toBeGreaterThan(32);
  });

  it('have a least value', () => {
    requireProcessLimits(enough);
    requireProcessLimits({ ...enough, openFiles: null });
    const openFiles = () => requireProcessLimits({ ...enough, openFiles: MIN_OPEN_FILES - 1 });
    expect(errorCode(openFiles)).toBe(serviceErrors['open-files'].code);
    const heapMb = () => requireProcessLimits({ ...enough, heapMb: MIN_HEAP_MB - 1 });
    expect(errorCode(heapMb)).toBe(serviceErrors.heap.code);
  });

  it('bound the connections', () => {
    expect(affordableConnections(20_000, { ...enough, openFiles: null }, 1)).toBe(20_000);
    expect(affordableConnections(20_000, { ...enough, openFiles: 65_536 }, 1)).toBe(20_000);
    expect(affordableConnections(20_000, { ...enough, openFiles: 1_024 }, 2)).toBe(416);
  });
});

describe('a process that is allowed too little ends with one sentence', () => {
  const run = async (before: string, options: readonly string[] = []) => {
    const program = await builtProgram();
    const command = [process.execPath, ...options, program, 'serve', '--network', 'testnet'];
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `${before} exec "$@"`, 'sh', ...command], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const sentence = (code: string) => ({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`^tern: service/${code}: [^\\n]+\\n$`)),
  });

  it.skipIf(process.platform === 'win32')('about open files', async () => {
    expect(await run('ulimit -n 40;')).toEqual(sentence('open-files'));
  });

  it.skipIf(process.platform === 'win32')('about the heap', async () => {
    expect(await run('', ['--max-old-space-size=40'])).toEqual(sentence('heap'));
  });
});
