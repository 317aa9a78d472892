// JavaScript clients of others, in a folder of their own.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/**
 * The folder that has what a package.json names installed; made when it is not there yet, and again when the file changed.
 * @param {string} folder
 * @param {string} manifest path of the package.json
 * @param {import('../python-venv.mjs').Run} run
 * @returns {{ packages: string } | { problem: string }}
 */
export function prepareNpm(folder, manifest, run) {
  const stamp = join(folder, 'installed.json');
  const wanted = readFileSync(manifest, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { packages: folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(manifest, join(folder, 'package.json'));
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const install = [
    'install',
    '--prefix',
    folder,
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--omit=optional',
    '--silent',
  ];
  const { ok, output } = run(npm, install);
  if (!ok) return { problem: `npm could not install ${manifest} (is the network there?):\n${output}` };
  writeFileSync(stamp, wanted);
  return { packages: folder };
}
