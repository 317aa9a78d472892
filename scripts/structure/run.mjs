// What the sources look like in numbers: `npm run -s structure [-- --trips] [CHECKOUT]`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import process from 'node:process';
import ts from 'typescript';
import { tripFiles } from './trips.mjs';

const options = process.argv.slice(2);
const checkout = resolve(options.find((option) => !option.startsWith('--')) ?? '.');

/** Hand-written modules of `src/`: no tests, no fuzz targets, nothing generated. */
const files = new Map(
  execFileSync('git', ['-C', checkout, 'ls-files', 'src'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.ts$/.test(path) && !/\.(test|fuzz|d)\.ts$/.test(path) && !path.includes('/generated/'))
    .map((path) => [path, readFileSync(join(checkout, path), 'utf8')]),
);

const lengths = [...files.values()].map((text) => text.split('\n').length - 1).sort((a, b) => a - b);
const at = (/** @type {number} */ share) => lengths[Math.floor(share * (lengths.length - 1))];

/** @type {Map<string, Set<string>>} importers by file */
const importers = new Map();
/** @type {Map<string, Set<string>>} files by exported name; a value and its type under one name are one thing */
const exported = new Map();
for (const [path, text] of files) {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, false);
  for (const statement of tree.statements) {
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      const name = statement.moduleSpecifier.text.replace(/\.js$/, '.ts');
      const target = name.startsWith('#') ? `src/${name.slice(1)}` : posix.join(posix.dirname(path), name);
      if (files.has(target)) importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
    for (const name of exportedNames(statement)) exported.set(name, (exported.get(name) ?? new Set()).add(path));
  }
}

/**
 * @param {ts.Statement} statement
 * @returns {string[]}
 */
function exportedNames(statement) {
  if (!ts.canHaveModifiers(statement)) return [];
  if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  }
  const { name } = /** @type {{ name?: ts.Node }} */ (/** @type {unknown} */ (statement));
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

const twice = [...exported].filter(([, paths]) => paths.size > 1);
const small = [...importers].filter(([, by]) => by.size === 1);
const row = (/** @type {string} */ name, /** @type {unknown} */ value) => console.log(`${name.padEnd(44)} ${value}`);
row('files', files.size);
row(
  'lines',
  lengths.reduce((sum, count) => sum + count, 0),
);
row('lines per file: median', at(0.5));
row('lines per file: p90', at(0.9));
row('lines per file: most', at(1));
row('files under 50 lines', lengths.filter((count) => count < 50).length);
row('files with one importer', small.length);
row('exported names that stand in two files', twice.length);
if (options.includes('--names')) for (const [name, paths] of twice) console.log(`  ${name}: ${[...paths].join(' ')}`);

/** Of the files of a trip: the command that runs it and its APIs, which learn what was written, and what is derived from the rows. */
const PARTS = {
  'the program, APIs and streams': /^src\/(api|app)\//,
  'actions and webhooks': /\/actions?\b|\/action-row\.ts$|\/webhooks\b/,
};

if (options.includes('--trips')) {
  const trips = await tripFiles(checkout);
  const titles = {
    v2: 'v2 getAddressInformation',
    v3: 'v3 transactions?account',
    rows: 'masterchain block → rows',
    all: 'all that follows the chain',
  };
  for (const [key, title] of Object.entries(titles)) {
    const all = trips[/** @type {keyof typeof trips} */ (key)];
    const codecs = all.filter((path) => /^src\/(kernel|formats)\//.test(path));
    row(`files that run: ${title}`, `${all.length - codecs.length} and ${codecs.length} of kernel and formats`);
    for (const [name, pattern] of key === 'rows' ? Object.entries(PARTS) : []) {
      row(`  of these: ${name}`, all.filter((path) => pattern.test(path)).length);
    }
    if (options.includes('--names')) for (const path of all) console.log(`  ${path}`);
  }
}
