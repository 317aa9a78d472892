import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tern-fuzz-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the fuzz command on the fixture targets. */
function fuzz(...options: string[]) {
  const loader = ['--conditions=source', '--import', 'tsx'];
  const settings = ['--from', 'test/fuzz/fixtures', '--keep', folder, '--seconds', '1'];
  return spawnSync(process.execPath, [...loader, 'test/fuzz/run.ts', ...settings, ...options], { encoding: 'utf8' });
}

it('is content with a sound target', () => {
  const { status, stdout } = fuzz('--target', 'sound', '--seed', 'a');
  expect(stdout).toMatch(/^sound: \d+ inputs, \d+ accepted; fixture\/odd \d+; slowest/m);
  expect(status).toBe(0);
});

it('reports a crash with its input, keeps it, and shows it again', () => {
  const { status, stdout } = fuzz('--target', 'crashing', '--seed', 'a', '--workers', '1');
  expect(status).toBe(1);
  expect(stdout).toMatch(/FAILED crashing: threw what is no TernError: TypeError: seven/);
  const [, file = '', replay = ''] = stdout.match(/kept in (\S+); again: npm run -s fuzz -- (.*)/) ?? [];
  expect(readFileSync(file, 'utf8')).toMatch(/^0[78][0-9a-f]*\n$/);

  const again = fuzz(...replay.split(' '));
  expect(again.status).toBe(1);
  expect(again.stdout).toMatch(/crashing: 1 inputs/);
});

it('notices a call that does not return', () => {
  const { status, stdout } = fuzz('--target', 'hanging', '--seed', 'a', '--hang', '1');
  expect(status).toBe(1);
  expect(stdout).toMatch(/FAILED hanging: did not return within 1 seconds\n {4}input: 09/);
});

it('notices a call that eats the heap', () => {
  const { status, stdout } = fuzz('--target', 'hoarding', '--seed', 'a', '--workers', '1');
  expect(status).toBe(1);
  expect(stdout).toMatch(/FAILED hoarding: filled a heap of \d+ MiB\n {4}input: 09/);
});

it('lists the known targets when asked for another one', () => {
  const { status, stdout, stderr } = fuzz('--target', 'nope');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('there is no target "nope"; known: sound, crashing, hanging, hoarding');
});

it('refuses two targets of one name', () => {
  const from = join(folder, 'twice');
  mkdirSync(from);
  for (const file of ['a.fuzz.ts', 'b.fuzz.ts']) {
    writeFileSync(join(from, file), "export const fuzzTarget = { name: 'same', make() {}, run() {}, allowed() {} };");
  }
  const { status, stdout, stderr } = fuzz('--from', from);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^fuzz: two targets are named "same", in \S*a\.fuzz\.ts and in \S*b\.fuzz\.ts$/m);
});
