import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect, it } from 'vitest';

/** Three leaks as Node sees them, while the log of a command is open. */
const LEAKING = `
import { EventEmitter } from 'node:events';
import { openCommandLog } from '#app/cli/environment.js';
const log = openCommandLog({ logLevel: 'warn', logInterval: 30_000, logFormat: 'json' });
for (let leak = 0; leak < 3; leak++) {
  const emitter = new EventEmitter();
  for (let i = 0; i < 11; i++) emitter.on('event', () => {});
}
await new Promise(setImmediate);
await log.close();
`;

it('warnings of Node are lines of the log, the first one with its place', () => {
  const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '--eval', LEAKING];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toBe('');
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: 'Node warns',
      code: 'MaxListenersExceededWarning',
      problem: expect.stringContaining(' at '),
    },
    { level: 'warn', message: 'Node warns', repeated: 2, kinds: 'MaxListenersExceededWarning: 2' },
  ]);
});
