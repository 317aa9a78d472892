import ts from 'typescript';

/** One `import`, `import type`, `export … from`, `import()` or `import('…')` type. */
interface ImportSite {
  readonly specifier: string;
  readonly line: number;
}

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly ImportSite[];
}

export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const imports: ImportSite[] = [];
  visit(tree, (node) => {
    const specifier = importedBy(node);
    if (specifier !== null) imports.push({ specifier, line: lineOf(tree, node) });
  });
  return { path, text, tree, imports };
}

export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function importedBy(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isExternalModuleReference(node)) return textOf(node.expression);
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : null;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return textOf(node.arguments[0]);
  return null;
}

function textOf(node: ts.Node | undefined): string | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}

/** Tests, benchmarks and fuzz targets stand beside what they exercise, but are no part of the program. */
export function isTwin(path: string): boolean {
  return /\.(test|bench|fuzz)\.ts$/.test(path);
}

export function isGenerated(path: string): boolean {
  return path.includes('/generated/');
}

/** The file that `#module/file.js` means, or null for other specifiers. */
export function fileOf(specifier: string): string | null {
  const match = /^#(.+)\.js$/.exec(specifier);
  if (match === null) return null;
  const [, stem = ''] = match;
  return stem.startsWith('test/') ? `${stem}.ts` : `src/${stem}.ts`;
}
