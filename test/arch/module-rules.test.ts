import { describe, expect, it } from 'vitest';
import {
  findDoubleNames,
  findFalseModules,
  findForbiddenImports,
  findOddSpecifiers,
  findPoorReadmes,
  findUnlistedModules,
  moduleOf,
} from './module-rules.js';
import { parseSource } from './source-file.js';

const architecture = {
  kernel: [],
  'formats/cells': ['kernel', 'node:crypto'],
  'formats/tlb': ['kernel', 'formats/cells'],
};

const file = (path: string, text = '') => parseSource(path, text);

it('knows the module of a file, the deepest one that fits', () => {
  expect(moduleOf('src/formats/cells/generated/table.ts', architecture)).toBe('formats/cells');
  expect(moduleOf('src/kernel/bytes/bytes.ts', { ...architecture, 'kernel/bytes': [] })).toBe('kernel/bytes');
  expect(moduleOf('src/formats/cellsx/a.ts', architecture)).toBeNull();
});

describe('forbidden imports', () => {
  const problemsOf = (text: string, path = 'src/formats/cells/slice.ts') =>
    findForbiddenImports([file(path, text)], architecture);

  it('are found in every form, with the remedy', () => {
    for (const text of [
      `import { a } from '#formats/tlb/block.js';`,
      `import type { A } from '#formats/tlb/block.js';`,
      `export { a } from '#formats/tlb/block.js';`,
      `export * from '#formats/tlb/block.js';`,
      `import '#formats/tlb/block.js';`,
      `const block = await import('#formats/tlb/block.js');`,
      `type Block = import('#formats/tlb/block.js').Block;`,
    ]) {
      expect(problemsOf(text), text).toEqual([
        'src/formats/cells/slice.ts:1: formats/cells may not import formats/tlb; ' +
          'move the type down or pass a function in; allowed: kernel, node:crypto',
      ]);
    }
  });

  it('are also packages that are not listed', () => {
    expect(problemsOf(`import { readFileSync } from 'node:fs';\nimport { Cell } from '@ton/core/dist/boc';`)).toEqual([
      expect.stringContaining(
        'formats/cells may not import node:fs; pass what is needed in; allowed: kernel, node:crypto',
      ),
      expect.stringContaining('slice.ts:2: formats/cells may not import @ton/core;'),
    ]);
  });

  it('are not those that are listed, nor the own ones', () => {
    const text = `import '#kernel/bytes/bytes.js';\nimport '#formats/cells/cell.js';\nimport 'node:crypto';`;
    expect(problemsOf(text)).toEqual([]);
  });

  it('do not exist for tests', () => {
    expect(problemsOf(`import '#formats/tlb/block.js';`, 'src/formats/cells/slice.test.ts')).toEqual([]);
  });
});

describe('specifiers', () => {
  const problemsOf = (text: string) =>
    findOddSpecifiers([file('src/formats/cells/slice.ts', text), file('src/formats/cells/cell.ts')]);

  it('are never relative', () => {
    expect(problemsOf(`import './cell.js';`)).toEqual([
      `src/formats/cells/slice.ts:1: write '#formats/cells/cell.js' instead of './cell.js'`,
    ]);
    expect(problemsOf(`import '../../../test/fuzz/random.js';`)).toEqual([
      expect.stringContaining(`write '#test/fuzz/random.js'`),
    ]);
  });

  it('lead to a file', () => {
    expect(problemsOf(`import '#formats/cells/sell.js';`)).toEqual([expect.stringContaining('leads nowhere')]);
    expect(problemsOf(`import '#formats/cells/cell';`)).toEqual([expect.stringContaining('must end in .js')]);
    expect(problemsOf(`import '#formats/cells/cell.js';\nimport '#test/fuzz/random.js';`)).toEqual([]);
  });
});

describe('architecture.json', () => {
  const files = [file('src/kernel/a.ts'), file('src/formats/cells/a.ts'), file('src/formats/tlb/a.ts')];

  it('names modules that are there, in order, and all of them', () => {
    expect(findFalseModules(files, architecture)).toEqual([]);
    expect(findFalseModules(files, { ...architecture, drivers: [] })).toEqual([
      expect.stringContaining('drivers has no file in src/drivers'),
    ]);
    expect(findFalseModules([...files, file('src/domain/a.ts')], architecture)).toEqual([
      expect.stringContaining('src/domain/a.ts: belongs to no module'),
    ]);
  });

  it('lists upwards only', () => {
    expect(findFalseModules(files, { ...architecture, kernel: ['formats/cells'] })).toEqual([
      expect.stringContaining('kernel may only list modules above it, and formats/cells is not'),
    ]);
    expect(findFalseModules(files, { ...architecture, 'formats/tlb': ['formats/cell'] })).toEqual([
      expect.stringContaining('formats/tlb lists formats/cell, which is no module'),
    ]);
  });
});

it('a module without a README, or with a long one, is found', () => {
  const readmes = new Map([
    ['kernel', '# kernel\n'],
    ['formats/cells', 'line\n'.repeat(21)],
  ]);
  expect(findPoorReadmes(architecture, readmes)).toEqual([
    expect.stringContaining('src/formats/cells/README.md has more than 20 lines'),
    expect.stringContaining('src/formats/tlb/README.md is missing'),
  ]);
});

it('finds modules that README.md does not list, or above what they import', () => {
  const link = (name: string) => `[\`${name}\`](src/${name}/README.md)`;
  const whole = Object.keys(architecture).map(link);
  expect(findUnlistedModules(whole.join('\n'), architecture)).toEqual([]);
  expect(
    findUnlistedModules([link('formats/tlb'), link('formats/cells'), link('api/v9')].join(' '), architecture),
  ).toEqual([
    'README.md: the source tree does not list kernel',
    'README.md: formats/tlb is listed above formats/cells, which it imports',
    'README.md: api/v9 is no module',
  ]);
});

it('finds names that two modules export, but none that one passes on', () => {
  const files = [
    file('src/kernel/a.ts', 'export const name = 1;\nexport interface Only {}'),
    file('src/formats/cells/b.ts', 'export function name() {}'),
    file('src/formats/tlb/c.ts', "export { Only } from '#kernel/a.js';"),
  ];
  expect(findDoubleNames(files, architecture)).toEqual([
    'name: exported by src/kernel/a.ts and src/formats/cells/b.ts; rename the more special one',
  ]);
});
