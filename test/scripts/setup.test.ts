import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstMissing, nodeProblem } from '../../scripts/setup.mjs';

it('wants the Node that package.json asks for', () => {
  for (const version of ['20.18.0', '20.20.2', '21.0.0', '24.1.0'])
    expect(nodeProblem(version, '>=20.18'), version).toBeNull();
  for (const version of ['20.17.9', '18.20.0', '9.0.0']) {
    expect(nodeProblem(version, '>=20.18'), version).toMatch(
      /needs Node 20\.18 or newer; this is Node [\d.]+\. Install/,
    );
  }
});

describe('what is installed', () => {
  const lock = { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'x' } };

  it('is compared by content', () => {
    expect(firstMissing(lock, { 'node_modules/a': { version: '1.0.0', integrity: 'x' } })).toBeNull();
    for (const installed of [{}, { 'node_modules/a': { version: '1.0.1', integrity: 'x' } }]) {
      expect(firstMissing(lock, installed)).toBe('node_modules/a');
    }
    expect(firstMissing({ 'node_modules/a': {} }, {})).toBe('node_modules/a');
  });

  it('need not hold the packages of other platforms', () => {
    expect(firstMissing({ 'node_modules/b': { version: '1.0.0', optional: true } }, {})).toBeNull();
  });
});

describe('in a checkout', () => {
  let folder: string;
  const write = (file: string, value: unknown) => writeFileSync(join(folder, file), JSON.stringify(value));

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tern-setup-'));
    for (const name of ['scripts', 'seed', 'home']) mkdirSync(join(folder, name));
    copyFileSync('scripts/setup.mjs', join(folder, 'scripts/setup.mjs'));
    const dependencies = { seed: 'file:seed' };
    write('package.json', { name: 'field', version: '1.0.0', engines: { node: '>=20.18' }, dependencies });
    write('seed/package.json', { name: 'seed', version: '1.0.0' });
    write('package-lock.json', {
      name: 'field',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: {
        '': { name: 'field', version: '1.0.0', dependencies },
        'node_modules/seed': { resolved: 'seed', link: true },
        seed: { version: '1.0.0' },
      },
    });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function setUp(home: string) {
    const env = { PATH: process.env.PATH, HOME: home, npm_config_offline: 'true' };
    return spawnSync(process.execPath, [join(folder, 'scripts/setup.mjs')], { encoding: 'utf8', env, cwd: tmpdir() });
  }

  it('installs once, and then does nothing', () => {
    const first = setUp(join(folder, 'home'));
    expect(first.stderr).toMatch(/^tern setup: Installing packages \(once, [^\n]*\n/);
    expect({ status: first.status, stdout: first.stdout }).toEqual({ status: 0, stdout: '' });
    expect(setUp(join(folder, 'home'))).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('does without a home directory', () => {
    rmSync(join(folder, 'node_modules'), { recursive: true });
    expect(setUp('/nonexistent/home')).toMatchObject({ status: 0, stdout: '' });
  });

  it('says what to do when the installation fails', () => {
    rmSync(join(folder, 'node_modules'), { recursive: true });
    const dependencies = { seed: 'file:nowhere' };
    write('package.json', { name: 'field', version: '1.0.0', engines: { node: '>=20.18' }, dependencies });
    const { status, stdout, stderr } = setUp(join(folder, 'home'));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(
      /tern setup: npm ci failed \(exit \d+\), see above\. Check the network, .* run the command again\.\n$/,
    );
  });
});
