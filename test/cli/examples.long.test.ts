import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runTern } from '#test/support/tern-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('the vitest example runs twenty tests that see nothing of each other', async () => {
  // The entries of the package are in the build, which every command brings up to the sources.
  expect((await runTern(['--version'])).status).toBe(0);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--root', 'examples/vitest', '--reporter', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const { numPassedTests, numTotalTests } = JSON.parse(stdout.slice(stdout.indexOf('{')));
  expect([numPassedTests, numTotalTests], stderr).toEqual([20, 20]);
});
