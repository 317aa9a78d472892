import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compile } from '../../scripts/compile.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tern-compile-'));
  mkdirSync(join(root, 'src/inner'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const source = (name: string, code: string) => writeFileSync(join(root, 'src', name), code);
const built = (name: string) => readFileSync(join(root, 'dist', name), 'utf8');
const timeOf = (name: string) => statSync(join(root, 'dist', name)).mtimeMs;

it('makes JavaScript of sources, and of those that have changed only', async () => {
  source('a.ts', "import type { B } from './inner/b.js';\nimport './inner/b.js';\nexport const a: B = 1;\n");
  source('inner/b.ts', 'export type B = number;\n');
  source('a.test.ts', 'throw new Error();\n');
  expect(await compile(root)).toBe(true);
  expect(built('a.js')).toBe('import "./inner/b.js";\nconst a = 1;\nexport {\n  a\n};\n');
  expect(existsSync(join(root, 'dist/a.test.js'))).toBe(false);

  const before = timeOf('inner/b.js');
  source('a.ts', 'export const a = 22;\n');
  await compile(root);
  expect(built('a.js')).toContain('22');
  expect(timeOf('inner/b.js')).toBe(before);
  const after = timeOf('a.js');
  await compile(root);
  expect(timeOf('a.js')).toBe(after);
});

it('makes again what was taken away, and takes away what is gone', async () => {
  source('a.ts', 'export {};\n');
  source('b.ts', 'export {};\n');
  await compile(root);
  rmSync(join(root, 'dist/a.js'));
  rmSync(join(root, 'src/b.ts'));
  await compile(root);
  expect(readdirSync(join(root, 'dist')).sort()).toEqual(['.sources.json', 'a.js', 'package.json']);
  writeFileSync(join(root, 'dist/.sources.json'), '{ half of');
  await compile(root);
  expect(JSON.parse(built('.sources.json'))).toHaveProperty(['a.ts']);
});

it('fails where a source is none', async () => {
  source('a.ts', 'const a: = ;\n');
  await expect(compile(root)).rejects.toThrow('Build failed');
  expect(existsSync(join(root, 'dist/.sources.json'))).toBe(false);
});
