import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const bin = resolve('bin/tern.js');
let away: string;

beforeAll(() => {
  away = mkdtempSync(join(tmpdir(), 'tern-bin-'));
  writeFileSync(join(away, 'tsconfig.json'), 'not a config: a foreign one must not matter');
});

afterAll(() => rmSync(away, { recursive: true }));

/** A package in a folder of its own, whose entry is `entry`: as a checkout (sources) or as published (build). */
function layOut(name: string, entry: 'src/app/cli/main.ts' | 'dist/program/tern/main.js', code: string): string {
  const folder = join(away, name);
  const files = [
    'bin/tern.js',
    'package.json',
    'tsconfig.json',
    'scripts/setup.mjs',
    'scripts/bundle.mjs',
    'scripts/build-web.mjs',
  ];
  for (const file of [...files, entry]) mkdirSync(dirname(join(folder, file)), { recursive: true });
  for (const file of files) copyFileSync(file, join(folder, file));
  writeFileSync(join(folder, 'package-lock.json'), '{ "packages": {} }');
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, entry), code);
  return join(folder, 'bin/tern.js');
}

it('runs the sources of a checkout from any working directory', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, '--version'], { cwd: away, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^2\.\d+\.\d+\n$/),
    stderr: '',
  });
});

it('is what npm start runs, as tern dev', () => {
  const { scripts, bin: commands } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(scripts.start).toBe(`node ${commands.tern} dev`);
});

it('passes the exit code and the error line through', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'nope'], { cwd: away, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^tern: cli\/usage/),
  });
});

it('runs the build when there are no sources', () => {
  const code = 'process.stdout.write(process.argv.slice(2).join()); process.exitCode = 3;';
  const published = layOut('published', 'dist/program/tern/main.js', code);
  const { status, stdout } = spawnSync(process.execPath, [published, 'a', 'b'], { cwd: away, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 3, stdout: 'a,b' });
});

it('hands standard input on', () => {
  const echo = layOut('echo', 'src/app/cli/main.ts', 'process.stdin.pipe(process.stdout);');
  const { stdout } = spawnSync(process.execPath, [echo], { cwd: away, encoding: 'utf8', input: 'bytes' });
  expect(stdout).toBe('bytes');
});

it.skipIf(process.platform === 'win32')('hands signals on, and ends as the command ended', async () => {
  const waiting = `console.log('ready'); setInterval(() => {}, 1000);`;
  const graceful = layOut(
    'graceful',
    'src/app/cli/main.ts',
    `process.on('SIGTERM', () => process.exit(7)); ${waiting}`,
  );
  const plain = layOut('plain', 'src/app/cli/main.ts', waiting);
  for (const [entry, signal, ending] of [
    [graceful, 'SIGTERM', [7, null]],
    [plain, 'SIGTERM', [null, 'SIGTERM']],
    [plain, 'SIGINT', [null, 'SIGINT']],
  ] as const) {
    const child = spawn(process.execPath, [entry], { cwd: away, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit'), `${entry} ${signal}`).toEqual(ending);
  }
});
