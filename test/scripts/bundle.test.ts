import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundle, bundledFile } from '../../scripts/bundle.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tern-bundle-'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', imports: { '#*.js': './src/*.ts' } }));
  source('app/cli/main.ts', "import { three } from '#kernel/three.js';\nexport const main: number = three;\n");
  source('kernel/three.ts', 'export const three = 3;\n');
  source('library/numbers.ts', "export { three } from '#kernel/three.js';\n");
});
afterEach(() => rmSync(root, { recursive: true }));

function source(name: string, code: string): void {
  const file = join(root, 'src', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
}

async function bundled(): Promise<string> {
  const folder = await bundle(root);
  if (folder === null) throw new Error('no bundle was written');
  return folder;
}

const scriptsOf = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.js'));

it('has the program, the threads that sources name, and the library', async () => {
  source('drivers/sums/sums.ts', "export const entry = new URL('./sum-main.js', import.meta.url);\n");
  source('drivers/sums/sum-main.ts', "import { three } from '#kernel/three.js';\nexport const six = three + three;\n");
  source('app/cli/main.test.ts', 'throw new Error();\n');
  const folder = await bundled();
  const [chunk] = scriptsOf(folder).filter((name) => name.includes('-') && name !== 'sum-main.js');
  expect(scriptsOf(folder).sort()).toEqual([chunk, 'main.js', 'numbers.js', 'sum-main.js'].sort());
  expect((await import(bundledFile(folder, 'src/app/cli/main.ts') as string)).main).toBe(3);
  expect((await import(bundledFile(folder, 'file:///src/drivers/sums/sum-main.ts') as string)).six).toBe(6);
  expect((await import(pathToFileURL(join(root, 'dist/library/numbers.js')).href)).three).toBe(3);
  expect(bundledFile(folder, 'src/app/cli/other.ts')).toBeNull();
});

it('names the sources in its source maps', async () => {
  const folder = await bundled();
  const { sources } = JSON.parse(readFileSync(join(folder, 'main.js.map'), 'utf8')) as { sources: string[] };
  expect(sources).toContain('../../../src/app/cli/main.ts');
});

it('is made once, and anew when a source has changed; the last ones stay for the programs that run', async () => {
  const folders = [await bundled()];
  const { mtimeMs } = statSync(join(folders[0]!, 'main.js'));
  expect(await bundled()).toBe(folders[0]);
  expect(statSync(join(folders[0]!, 'main.js')).mtimeMs).toBe(mtimeMs);

  for (const three of [33, 333, 3333]) {
    // By age, whatever the resolution of the file system's clock.
    for (const [i, folder] of folders.entries()) utimesSync(folder, i, i);
    source('kernel/three.ts', `export const three = ${three};\n`);
    folders.push(await bundled());
  }
  expect(new Set(folders).size).toBe(4);
  expect(readdirSync(join(root, 'dist/program')).sort()).toEqual(
    folders
      .slice(1)
      .map((each) => basename(each))
      .sort(),
  );
  expect((await import(pathToFileURL(join(root, 'dist/library/numbers.js')).href)).three).toBe(3333);
});

it('fails where a source is none, and leaves nothing behind', async () => {
  source('app/cli/main.ts', 'const a: = ;\n');
  await expect(bundle(root)).rejects.toThrow('Build failed');
  expect(readdirSync(join(root, 'dist/program'))).toEqual([]);
});

it('refuses two sources that would be one file of it', async () => {
  source('library/main.ts', 'export {};\n');
  await expect(bundle(root)).rejects.toThrow('app/cli/main.ts');
});

it('finds the files of the package from the same depth as the sources', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.(test|bench|fuzz)\.ts$/.test(name))
    .flatMap((name) =>
      [...readFileSync(join('src', name), 'utf8').matchAll(/new URL\([`']([^`']*)[`'], import\.meta\.url\)/g)].map(
        ([, path]) => ({ name, path: path as string, depth: name.split('/').length }),
      ),
    );
  expect(paths.length).toBeGreaterThan(10);
  const astray = paths.filter(
    ({ path, depth }) => !(path.startsWith('./') || (/^(\.\.\/){3}[a-z]/.test(path) && depth === 3)),
  );
  expect(astray).toEqual([]);
});
