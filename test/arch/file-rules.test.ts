import { describe, expect, it } from 'vitest';
import { findCycles } from './cycles.js';
import { findBareThrows, findBarrels, findEmptyNames, findLongFiles, findNativeFolders } from './file-rules.js';
import { parseSource } from './source-file.js';

const file = (path: string, text = '') => parseSource(path, text);

describe('import cycles', () => {
  it('are found, types counted, and told once by the shortest way round', () => {
    const files = [
      file('src/m/a.ts', `import type { B } from '#m/b.js';`),
      file('src/m/b.ts', `import { c } from '#m/c.js';\nimport '#m/d.js';`),
      file('src/m/c.ts', `export { a } from '#m/a.js';`),
      file('src/m/d.ts', `import '#m/c.js';`),
    ];
    expect(findCycles(files.slice(0, 3))).toEqual([
      'import cycle: src/m/a.ts → src/m/b.ts → src/m/c.ts → src/m/a.ts; move what they share into a file below both',
    ]);
    expect(findCycles(files)[0]).toMatch(
      /^import cycle: src\/m\/a\.ts → src\/m\/b\.ts → src\/m\/c\.ts → src\/m\/a\.ts;/,
    );
    expect(findCycles([file('src/m/a.ts', `import '#m/a.js';`)])).toHaveLength(1);
  });

  it('are not seen where there is none', () => {
    const files = [
      file('src/m/a.ts', `import '#m/b.js';\nimport '#m/c.js';`),
      file('src/m/b.ts', `import '#m/c.js';`),
      file('src/m/c.ts'),
      file('src/m/c.test.ts', `import '#m/c.test.js';`),
    ];
    expect(findCycles(files)).toEqual([]);
  });
});

describe('barrels', () => {
  it('are found by name and by nature', () => {
    const barrels = [
      file('src/m/index.ts', 'export const a = 1;'),
      file('src/m/all.ts', `export * from '#m/a.js';\nexport { b } from '#m/b.js';`),
      file('src/m/both.ts', `import { a } from '#m/a.js';\nexport { a };`),
    ];
    expect(findBarrels(barrels)).toHaveLength(3);
  });

  it('are not files that define something', () => {
    expect(
      findBarrels([file('src/m/a.ts', `export { b } from '#m/b.js';\nexport const a = 1;`), file('src/m/e.ts')]),
    ).toEqual([]);
  });
});

describe('long files', () => {
  const lines = (count: number) => 'const a = 1;\n'.repeat(count);

  it('must not be above 700 lines', () => {
    expect(findLongFiles([file('src/m/a.ts', lines(250))])).toEqual([]);
    expect(findLongFiles([file('src/m/a.ts', lines(701))])).toEqual([
      expect.stringContaining('701 lines, the limit is 700'),
    ]);
  });

  it('are judged more mildly when they are tests, not at all when generated', () => {
    expect(findLongFiles([file('src/m/a.test.ts', lines(1000))])).toEqual([]);
    expect(findLongFiles([file('test/support/a.ts', lines(1000))])).toEqual([]);
    expect(findLongFiles([file('src/m/a.test.ts', lines(1001))])).toHaveLength(1);
    expect(findLongFiles([file('src/m/generated/a.ts', lines(2000))])).toEqual([]);
  });
});

describe('bare throws', () => {
  it('are found, also behind a condition', () => {
    const text = `
      if (a) throw new Error('x');
      if (b) throw RangeError('x');
      throw c ? new TypeError('x') : d;`;
    expect(findBareThrows([file('src/m/a.ts', text)])).toEqual([
      expect.stringContaining('src/m/a.ts:2: throws a bare Error; add a line to'),
      expect.stringContaining('src/m/a.ts:3: throws a bare RangeError'),
      expect.stringContaining('src/m/a.ts:4: throws a bare TypeError'),
    ]);
  });

  it('are not throws of our own, nor of tests', () => {
    expect(findBareThrows([file('src/m/a.ts', `throw errors['too-long']({ bits: 1 });\nthrow error;`)])).toEqual([]);
    expect(findBareThrows([file('src/m/a.test.ts', `throw new Error('x');`)])).toEqual([]);
  });
});

it('names that say nothing are found', () => {
  const files = ['src/m/utils/hex.ts', 'src/m/helpers.ts', 'src/m/common.test.ts'].map((path) => file(path));
  expect(findEmptyNames(files)).toHaveLength(3);
  expect(findEmptyNames([file('src/m/common-prefix.ts'), file('src/library/a.ts')])).toEqual([]);
});

describe('native recursive folders', () => {
  it('are found in src', () => {
    const call = (options: string) => `import { mkdir } from 'node:fs/promises';\nawait mkdir('a', ${options});`;
    expect(findNativeFolders([file('src/m/a.ts', call('{ recursive: true, mode: 0o700 }'))])).toEqual([
      expect.stringMatching(/^src\/m\/a\.ts:2: .*makeFolder$/),
    ]);
    expect(findNativeFolders([file('src/m/b.ts', `fs.mkdirSync('a', { recursive: true });`)])).toHaveLength(1);
    expect(findNativeFolders([file('src/m/a.ts', call('{ mode: 0o700 }'))])).toEqual([]);
    expect(findNativeFolders([file('test/a.ts', call('{ recursive: true }'))])).toEqual([]);
  });
});
