import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { systemModules } from '#library/lite.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { libraryExamples } from '#test/support/library-examples.js';

const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), 'tern-package-'));
/** The program of somebody who installed the package: its dependencies are not there, only Node and its types. */
const consumer = join(scratch, 'consumer');
const examples = libraryExamples().map(([, code], i) => [`example-${i + 1}`, code] as const);

/** Where who runs the tests wants to find the packed package afterwards: CI installs it elsewhere. */
const PACKED = process.env.TERN_TEST_PACKED ?? scratch;

/** Builds and packs the package, and unpacks it where `npm install` would, without touching `dist/` of the repository. */
async function install(): Promise<void> {
  const staged = join(scratch, 'package');
  mkdirSync(staged);
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  for (const file of ['package.json', ...files.filter((each) => each !== 'dist' && !each.startsWith('!'))]) {
    cpSync(file, join(staged, file), { recursive: true });
  }
  await run(process.execPath, ['scripts/build.mjs', join(staged, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', PACKED], {
    cwd: staged,
  });
  const target = join(consumer, 'node_modules/tern-ton');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', join(PACKED, stdout.trim()), '-C', target, '--strip-components=1']);
  symlinkSync(resolve('node_modules/@types'), join(consumer, 'node_modules/@types'));
  symlinkSync(resolve('vectors'), join(consumer, 'vectors'));
}

function tsconfig(name: string, options: Readonly<Record<string, unknown>>): void {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    ...options,
  };
  writeFileSync(join(consumer, name), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}

beforeAll(async () => {
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  for (const [name, code] of examples) writeFileSync(join(consumer, `${name}.ts`), code);
  await install();
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the packed package', () => {
  it.each([
    ['nodenext', 'typescript', { module: 'nodenext', moduleResolution: 'nodenext', outDir: 'out' }],
    ['bundler', 'typescript-native', { module: 'esnext', moduleResolution: 'bundler', noEmit: true }],
  ])('has types that a strict consumer compiles with, resolution %s, compiler %s', async (name, compiler, options) => {
    tsconfig(`tsconfig.${name}.json`, options);
    const tsc = resolve('node_modules', compiler, 'bin/tsc');
    const compiled = run(process.execPath, [tsc, '-p', `tsconfig.${name}.json`], { cwd: consumer });
    await expect(compiled.catch((error: { stdout: string }) => error.stdout)).resolves.toMatchObject({ stdout: '' });
  });

  it('runs the examples of the guide, without any other package', async () => {
    const ledger = openReplay('vectors/recorded-chain', { to: null, head: null });
    const { randomBytes } = systemModules;
    const host = '127.0.0.1';
    const server = await startLiteserver(
      { host, port: 0, seed: randomBytes(32) },
      {
        ledger,
        clock: systemClock,
        unixTime: () => Math.floor(Date.now() / 1000),
        randomBytes,
        runGetMethod: () => Promise.reject(new Error('no example runs a get-method')),
      },
    );
    try {
      const config = globalConfig({ host, port: server.port, publicKey: server.publicKey }, ledger.zerostate);
      writeFileSync(join(consumer, 'global.config.json'), config);
      for (const [name] of examples) {
        const { stdout } = await run(process.execPath, [`out/${name}.js`], { cwd: consumer });
        expect(stdout, name).not.toBe('');
      }
    } finally {
      await server.close();
    }
  });
});
