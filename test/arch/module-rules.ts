import { posix } from 'node:path';
import ts from 'typescript';
import { fileOf, isTwin, type SourceFile } from './source-file.js';

/** `architecture.json`: what each module may import, modules and packages alike. */
export type Architecture = Readonly<Record<string, readonly string[]>>;

/** The module a file of `src/` belongs to, or null. */
export function moduleOf(path: string, architecture: Architecture): string | null {
  const owners = Object.keys(architecture).filter((name) => path.startsWith(`src/${name}/`));
  return owners.sort((a, b) => b.length - a.length)[0] ?? null;
}

/** Rules 1 and 3: a module imports what its line in architecture.json lists, types included. */
export function findForbiddenImports(files: readonly SourceFile[], architecture: Architecture): string[] {
  const problems: string[] = [];
  for (const { path, imports } of files) {
    const owner = moduleOf(path, architecture);
    if (owner === null || isTwin(path)) continue;
    const allowed = architecture[owner] ?? [];
    for (const { specifier, line } of imports) {
      if (specifier.startsWith('.')) continue;
      const target = fileOf(specifier);
      const wanted = target === null ? packageOf(specifier) : (moduleOf(target, architecture) ?? posix.dirname(target));
      if (wanted === owner || allowed.includes(wanted)) continue;
      const remedy = target === null ? 'pass what is needed in' : 'move the type down or pass a function in';
      const list = allowed.join(', ') || 'nothing';
      problems.push(`${path}:${line}: ${owner} may not import ${wanted}; ${remedy}; allowed: ${list}`);
    }
  }
  return problems;
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Inside `src/` every import of our own is written `#module/file.js` and leads to a file. */
export function findOddSpecifiers(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path));
  const problems: string[] = [];
  for (const { path, imports } of files) {
    for (const { specifier, line } of imports) {
      if (specifier.startsWith('.')) {
        const target = posix.join(posix.dirname(path), specifier);
        const better = target.startsWith('src/') ? `#${target.slice('src/'.length)}` : `#${target}`;
        problems.push(`${path}:${line}: write '${better}' instead of '${specifier}'`);
        continue;
      }
      if (!specifier.startsWith('#')) continue;
      const target = fileOf(specifier);
      if (target === null) problems.push(`${path}:${line}: '${specifier}' must end in .js`);
      else if (target.startsWith('src/') && !known.has(target)) {
        problems.push(`${path}:${line}: '${specifier}' leads nowhere: there is no ${target}`);
      }
    }
  }
  return problems;
}

/** What begins like this is meant as a module; everything else is a package. */
const layer = /^(kernel|formats|domain|drivers|services|api|localnet|app)\b/;

/** Every line of architecture.json names a module that is there, and depends on modules listed above it. */
export function findFalseModules(files: readonly SourceFile[], architecture: Architecture): string[] {
  const problems: string[] = [];
  const above = new Set<string>();
  const names = new Set(Object.keys(architecture));
  for (const [name, allowed] of Object.entries(architecture)) {
    if (!files.some(({ path }) => path.startsWith(`src/${name}/`))) {
      problems.push(`architecture.json: ${name} has no file in src/${name}; add one or take the line out`);
    }
    for (const other of allowed) {
      if (names.has(other) && !above.has(other)) {
        problems.push(`architecture.json: ${name} may only list modules above it, and ${other} is not`);
      }
      if (!names.has(other) && layer.test(other)) {
        problems.push(`architecture.json: ${name} lists ${other}, which is no module`);
      }
    }
    above.add(name);
  }
  for (const { path } of files) {
    if (moduleOf(path, architecture) === null) {
      problems.push(`${path}: belongs to no module of architecture.json; add a line for its folder`);
    }
  }
  return problems;
}

const readmeLines = 20;

/** Each module says in a few lines what it is for. `readmes` maps module folders to the text of their README.md. */
export function findPoorReadmes(architecture: Architecture, readmes: ReadonlyMap<string, string>): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(architecture)) {
    const text = readmes.get(name);
    const file = `src/${name}/README.md`;
    if (text === undefined) problems.push(`${file} is missing; say purpose, inputs, outputs, invariants and limits`);
    else if (text.trimEnd().split('\n').length > readmeLines) {
      problems.push(`${file} has more than ${readmeLines} lines; move the rest to docs/ or into doc comments`);
    }
  }
  return problems;
}

/** The table of README.md: each module has a link to its own README.md, below the modules that it imports. */
export function findUnlistedModules(readme: string, architecture: Architecture): string[] {
  const listed = [...readme.matchAll(/\]\(src\/([a-z0-9/-]+)\/README\.md\)/g)].map(([, name]) => name!);
  const problems: string[] = [];
  for (const [name, allowed] of Object.entries(architecture)) {
    const at = listed.indexOf(name);
    if (at < 0) problems.push(`README.md: the source tree does not list ${name}`);
    const later = allowed.filter((other) => listed.indexOf(other) > at);
    if (later.length > 0) problems.push(`README.md: ${name} is listed above ${later.join(', ')}, which it imports`);
  }
  for (const name of listed) if (architecture[name] === undefined) problems.push(`README.md: ${name} is no module`);
  return problems;
}

/** Rule 6: a name that two modules export means the same thing in both: who searches for it finds one declaration. */
export function findDoubleNames(files: readonly SourceFile[], architecture: Architecture): string[] {
  const places = new Map<string, { readonly path: string; readonly owner: string | null }[]>();
  for (const { path, tree } of files) {
    if (isTwin(path)) continue;
    for (const name of new Set(exportedNames(tree))) {
      places.set(name, [...(places.get(name) ?? []), { path, owner: moduleOf(path, architecture) }]);
    }
  }
  return [...places]
    .filter(([, found]) => new Set(found.map(({ owner }) => owner)).size > 1)
    .map(
      ([name, found]) =>
        `${name}: exported by ${found.map(({ path }) => path).join(' and ')}; rename the more special one`,
    );
}

/** Names that a file declares and exports; what it passes on from others is theirs. */
function exportedNames(tree: ts.SourceFile): string[] {
  return tree.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return [];
    if (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(tree));
    }
    const { name } = statement as ts.Statement & { readonly name?: ts.Node };
    return name === undefined ? [] : [name.getText(tree)];
  });
}
