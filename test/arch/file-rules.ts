import ts from 'typescript';
import { isGenerated, isTwin, lineOf, type SourceFile, visit } from './source-file.js';

/** Rule 2: no `index.ts`, and no file that only passes on what others define. A benchmark is named as its command names it. */
export function findBarrels(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, tree } of files) {
    if (/(^|\/)index\.ts$/.test(path) && path !== 'bench/index.ts') {
      problems.push(`${path}: name the file for what it defines; importers name that file`);
    } else if (isLibrary(path)) {
      // The public entry points of the package are the one exception.
    } else if (tree.statements.length > 0 && tree.statements.every(isPassingOn)) {
      problems.push(`${path}: only re-exports; import from the file that defines the thing and delete this one`);
    }
  }
  return problems;
}

function isLibrary(path: string): boolean {
  return path.startsWith('src/library/');
}

function isPassingOn(statement: ts.Statement): boolean {
  return ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement);
}

const mostLines = 700;
const mostTestLines = 1000;

/** Rule 4: files stay small. Generated ones are exempt. */
export function findLongFiles(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    if (isGenerated(path)) continue;
    const lines = text.trimEnd().split('\n').length;
    const isTest = path.startsWith('test/') || path.endsWith('.test.ts');
    const most = isTest ? mostTestLines : mostLines;
    if (lines > most) problems.push(`${path}: ${lines} lines, the limit is ${most}; split it by subject`);
  }
  return problems;
}

const bareErrors = new Set([
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'EvalError',
  'URIError',
  'AggregateError',
]);

/** Rule 11: what is thrown in `src/` comes from an error table. */
export function findBareThrows(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, tree } of files) {
    if (isTwin(path)) continue;
    visit(tree, (node) => {
      if (!ts.isThrowStatement(node)) return;
      visit(node.expression, (made) => {
        if (!ts.isNewExpression(made) && !ts.isCallExpression(made)) return;
        const name = made.expression.getText(tree);
        if (!bareErrors.has(name)) return;
        problems.push(`${path}:${lineOf(tree, made)}: throws a bare ${name}; add a line to the module's errors.ts`);
      });
    });
  }
  return problems;
}

const emptyNames = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'shared', 'lib']);

/** Rule 6: folders and files are named for what is in them. */
export function findEmptyNames(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.split('/').some((part) => emptyNames.has(part.replace(/(\.\w+)?\.ts$/, ''))))
    .map(({ path }) => `${path}: the name says nothing; use the noun of the domain that it is about`);
}

/** Rule 25: `mkdir` of Node never returns from some folders when it is `recursive`. */
export function findNativeFolders(files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const { path, tree } of files) {
    if (isTwin(path) || !path.startsWith('src/')) continue;
    visit(tree, (node) => {
      if (!ts.isCallExpression(node) || !/(^|\.)mkdir(Sync)?$/.test(node.expression.getText(tree))) return;
      if (!node.arguments.some((argument) => /\brecursive\b/.test(argument.getText(tree)))) return;
      problems.push(
        `${path}:${lineOf(tree, node)}: makes folders by \`recursive\`, which never returns on /proc; use makeFolder`,
      );
    });
  }
  return problems;
}
